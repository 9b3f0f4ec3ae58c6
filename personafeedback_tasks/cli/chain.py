"""The command that says where the chain from conversations to a reply breaks: chain."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.errors import OptionError
from .options import FOLDER, json_option, markdown_option, name_option, out_option, runs_argument
from .output import progress, show, write_files, write_json
from .runs import check_names, read

if TYPE_CHECKING:
    from ..recenter.filter.judge import FilterJudge


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
    help="A filter of `recenter train`: what acceptance or over-selection come to with and without it, paired. May be given for each stage.",
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
    relevant, and replies that are better than generic. A step that nobody judged is left out, and a sentence says so.

    \b
        personafeedback chain logs --people votes --out chain
        personafeedback chain a.eval b.eval c.eval --people votes --filter filter --paper
    """
    from ..analysis.filtered import effect_of
    from ..analysis.funnel import chains, make_funnel
    from ..analysis.rating import model_of_rating
    from ..recenter.data import ENVIRONMENT_VARIABLE
    from ..recenter.people import read_people
    from ..recenter.reference import beside
    from ..recenter.rows import Relevance, Response
    from ..reports import files
    from ..reports.funnel_text import ChainReport, blocks, document

    found = read(runs, names)
    check_names(names, found)
    made = chains(found)
    sources = dict.fromkeys(str(run.signature["source"]) for one in made for run in one.runs.values())
    said = read_people(people or ([None] if ENVIRONMENT_VARIABLE in os.environ else list(sources)))
    judges = [_judge(folder, embeddings) for folder in filters]
    reports = []
    with progress() as tell:
        for one in made:
            tell(f"{one.model}")
            effects = [effect for judge in judges if (effect := effect_of(judge, one, said))]
            reports.append(ChainReport(one, make_funnel(one, said), model_of_rating(one, said), effects))
    published = [beside(stage.stage)(None, ()) for stage in (Relevance, Response)] if paper else []
    if write_json(json_file, document(reports, published)):
        show(blocks(reports, published), as_markdown)
    if out is not None:
        write_files(files.chain_files(reports, published), out, err=as_markdown or str(json_file) == "-")


def _judge(folder: Path, embeddings: str | None) -> FilterJudge:
    """
    Raises:
        OptionError: the filter weighs a language model's recorded answers, which the chain has none of.
    """
    from ..recenter.filter.folder import read as read_filter
    from ..recenter.filter.judge import FilterJudge

    trained = read_filter(folder)
    if trained.with_answers:
        raise OptionError(
            f"{folder}: this filter weighs a language model's recorded answers, which no run of the chain has. Train one without --answers."
        )
    return FilterJudge(trained, None, embeddings)
