"""The command that says where the chain from conversations to a reply breaks: chain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from ..common.errors import OptionError
from ..runs.run import Run
from .options import FOLDER, json_option, markdown_option, name_option, out_option, runs_argument
from .output import progress, show, write_files, write_json
from .runs import check_names, read


@click.command()
@runs_argument
@click.option(
    "--people",
    metavar="DIR",
    multiple=True,
    help="A folder with what people said of what the models made: any of extraction.jsonl, relevance.jsonl, response.jsonl and missing.jsonl; "
    "may be given for each. Default: RECENTER_DATA, else the data that the logs name.",
)
@click.option(
    "--filter",
    "filters",
    metavar="DIR",
    multiple=True,
    type=FOLDER,
    help="A filter of `recenter train`: acceptance or over-selection with and without it, paired. May be given for each stage.",
)
@click.option(
    "--embeddings",
    metavar="MODEL",
    help="The filters' embedding model, where it is not at the place that their folders name.",
)
@name_option
@click.option(
    "--paper", is_flag=True, help="Add the figures of the authors' project page, under a line on what is comparable."
)
@markdown_option
@json_option
@out_option("DIR", "Write chain.md, chain.json and the picture of the funnels there.")
def chain(
    runs: tuple[Path, ...],
    people: tuple[str, ...],
    filters: tuple[Path, ...],
    embeddings: str | None,
    names: dict[str, str],
    paper: bool,
    as_markdown: bool,
    json_file: Path | None,
    out: Path | None,
) -> None:  # fmt: skip
    """Where does the chain from conversations to a reply break?

    RUN is a log or a folder of logs of recenter_extract, recenter_select and recenter_respond, of either harness; runs of one model
    make one funnel. Of each step it has the share that people find right: attributes that are extracted, accepted, selected and
    relevant, and replies that are better than generic. A step without human judgments is left out with a note.

    \b
        personafeedback chain logs --people votes --out chain
        personafeedback chain a.eval b.eval c.eval --people votes --filter filter --paper
    """
    from ..common.outputs import output_text
    from ..recenter.data import ENVIRONMENT_VARIABLE
    from ..recenter.filter.effect import effect_of
    from ..recenter.filter.judge import step_filter
    from ..recenter.funnel import made_chain, make_funnel
    from ..recenter.funnel_sheet import ChainResult, document, published, sheet
    from ..recenter.judgments import read_judgments
    from ..recenter.rating_model import model_of_rating
    from ..reports import files
    from ..reports.funnel_text import blocks
    from ..runs.earlier import of_run
    from ..runs.signature_line import signature_line

    found = read(runs, names)
    check_names(names, found)
    of_models = _of_models(found)
    logged = dict.fromkeys(str(run.signature["source"]) for own in of_models.values() for run in own.values())
    said = read_judgments(people or ([None] if ENVIRONMENT_VARIABLE in os.environ else list(logged)))
    judges = [step_filter(str(folder), embeddings=embeddings) for folder in filters]
    results = []
    with progress() as tell:
        for model, own in of_models.items():
            tell(model)
            made = made_chain(model, {name: of_run(run) for name, run in own.items()})
            effects = [effect for judge in judges if (effect := effect_of(judge, made, said))]
            results.append(ChainResult(make_funnel(made, said), model_of_rating(made, said), effects))
    others = published() if paper else []
    shown = sheet(results, others)
    signatures = {model: {name: signature_line(run) for name, run in own.items()} for model, own in of_models.items()}
    lines = {f"{model}, {name}": line for model, own in signatures.items() for name, line in own.items()}
    as_json = document(results, others, signatures)
    if write_json(json_file, as_json):
        show(blocks(shown, lines), as_markdown)
    if out is not None:
        contents = {"chain.json": output_text(as_json), **files.funnel_files(shown, lines)}
        write_files(contents, out, err=as_markdown or str(json_file) == "-")


def _of_models(runs: Sequence[Run]) -> dict[str, dict[str, Run]]:
    """Model -> stage -> its run, in the order of the runs. Runs of other tasks are left out.

    Raises:
        OptionError: none is of the chain, or a model has two runs of one stage.
    """
    from ..recenter.funnel import STAGES

    found: dict[str, dict[str, Run]] = {}
    for run in runs:
        name = run.benchmark.name
        if name not in STAGES:
            continue
        other = found.setdefault(run.name, {}).setdefault(name, run)
        if other is not run:
            raise OptionError(
                f"{run.logs[0]}: found a second run of {name} by {run.name} (the first: {other.logs[0]}), expected one of each stage. "
                "Pass one of them."
            )
    if not found:
        raise OptionError(
            f"Found no run of {', '.join(STAGES)}, expected one at least. `inspect eval personafeedback_tasks/recenter_chain` runs all."
        )
    return found
