"""The command that says where the chain from conversations to a reply breaks: chain."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.errors import OptionError
from ..logs.data import RunData
from ..logs.run import Run
from .options import FOLDER, json_option, markdown_option, name_option, out_option, places_option, runs_argument
from .output import files_written, progress, show, write_json
from .runs import check_names, read

if TYPE_CHECKING:
    from ..recenter.chains import StageRun
    from ..recenter.funnel import Funnel


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
    help="A filter of `recenter train`: over-selection with and without it, paired. May be given several times.",
)
@places_option
@name_option
@markdown_option
@json_option
@out_option("DIR", "Write chain.md and chain.json there.")
def chain(
    runs: tuple[Path, ...],
    people: tuple[str, ...],
    filters: tuple[Path, ...],
    places: Sequence[RunData],
    names: dict[str, str],
    as_markdown: bool,
    json_file: Path | None,
    out: Path | None,
) -> None:  # fmt: skip
    """Where does the chain from conversations to a reply break?

    RUN is a log or a folder of logs of recenter_extract, recenter_select and recenter_respond, of either harness; runs of one model
    make one funnel, or two if a stage is there with a filter and without. Of each step it has the share that people find right: attributes that
    are extracted, accepted, selected and relevant, and replies that are better than generic. A step without human judgments is left out with a
    note.

    \b
        personafeedback chain logs --people votes --out chain
        personafeedback chain a.eval b.eval c.eval --people votes --filter filter
    """
    from ..common.outputs import output_text
    from ..recenter.chains import chains
    from ..recenter.data import ENVIRONMENT_VARIABLE
    from ..recenter.effect import effect_of
    from ..recenter.filter import folder as filter_folder
    from ..recenter.funnel import make_funnel
    from ..recenter.select import SELECT
    from ..recenter.study import read_judgments
    from .chain_text import ChainResult, blocks, document, text

    found = read(runs, places, names)
    check_names(names, found)
    made_by = chains(_stage_runs(found))
    lines = {model: {task: run.signature for task, run in own.items()} for model, own in made_by.items()}
    by_log = {str(run.logs[0]): run for run in found}
    logged = dict.fromkeys(run.source for own in made_by.values() for run in own.values())
    default = [None] if ENVIRONMENT_VARIABLE in os.environ else list(logged)
    said = read_judgments(people or default)
    dropping = [filter_folder.read(folder) for folder in filters]
    results = []
    with progress() as tell:
        for model, own in made_by.items():
            tell(model)
            made = {task: run.earlier for task, run in own.items()}
            asked = dropping if SELECT.name in made else []
            effects = [effect for one in asked if (effect := effect_of(one, made[SELECT.name], said))]
            funnel = make_funnel(model, made, said)
            logged_as = {task: by_log[run.earlier.where] for task, run in own.items()}
            unknown = [effect.note for effect in effects if not effect.rows]
            funnel = replace(funnel, notes=[*_cautions(funnel, logged_as), *unknown, *funnel.notes])
            results.append(ChainResult(funnel, effects))
    signatures = {f"{model}, {task}": line for model, own in lines.items() for task, line in own.items()}
    as_json = document(results, lines)
    contents = {"chain.json": output_text(as_json), "chain.md": text(results, signatures)} if out else {}
    with files_written(contents, out, err=as_markdown or str(json_file) == "-"):
        if write_json(json_file, as_json):
            show(blocks(results, signatures), as_markdown)


def _stage_runs(runs: Sequence[Run]) -> list[StageRun]:
    from ..logs.earlier import of_run
    from ..logs.signature_line import signature_line
    from ..recenter.chains import TASKS, StageRun

    made = [
        StageRun(
            run.name, run.benchmark.name, of_run(run), signature_line(run),
            *(str(run.signature.get(name, "none")) for name in ("source", "attributes_of", "filtered_by")),
        )
        for run in runs if run.benchmark.name in TASKS
    ]  # fmt: skip
    if not made:
        raise OptionError(
            f"Found no run of {', '.join(TASKS)}, expected one at least. `inspect eval personafeedback_tasks/recenter_chain` runs all."
        )
    return made


def _cautions(funnel: Funnel, made: Mapping[str, Run]) -> list[str]:
    from ..analysis import caveats
    from ..logs.caveat import grouped, ordered
    from ..reports.sentences import sentence

    found = grouped([(name, caveats.of_run(run)) for name, run in made.items()])
    if funnel.steps:
        found += caveats.of_users(min(funnel.steps.values(), key=lambda one: one.users))
    return list(dict.fromkeys(map(sentence, ordered(found))))
