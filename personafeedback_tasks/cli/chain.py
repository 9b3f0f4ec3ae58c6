"""The command that says where the chain from conversations to a reply breaks: chain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from ..common.errors import OptionError
from ..logs.run import Run
from .options import json_option, name_option, runs_argument
from .output import progress, publish
from .runs import read

if TYPE_CHECKING:
    from ..recenter.funnel import Funnel, StageRun


@click.command()
@runs_argument
@click.option(
    "--people", metavar="DIR",
    help="A folder with people's judgments of what the models made: any of extraction.jsonl, relevance.jsonl, "
    "response.jsonl and missing.jsonl. Default: RECENTER_DATA.",
)  # fmt: skip
@name_option
@json_option
def chain(runs: tuple[Path, ...], people: str | None, names: dict[str, str], json_file: Path | None) -> None:
    """Say where the chain from conversations to a reply breaks.

    RUN is a log or a folder of logs of recenter_extract, recenter_select and recenter_respond, of either harness. Runs
    of one model make one funnel, or two if there are replies with a filter and without. It has the share of each step
    that people find right: attributes that are extracted, accepted, selected and relevant, and replies that are better
    than generic. A step without human judgments is left out with a note.

    \b
        personafeedback chain logs --people votes
        personafeedback chain a.eval b.eval c.eval --people votes --json chain.json
    """
    from ..logs.names import signature_line
    from ..recenter.funnel import TASKS, ChainDocument, chains, make_funnel
    from ..recenter.judgments import read_judgments
    from ..reports import chain_text

    judgments = read_judgments(people)  # before the logs, which take long
    found = read(runs, names=names, benchmarks=TASKS)
    if not found:
        raise OptionError(
            f"Found no run of {', '.join(TASKS)}, expected at least one. `inspect eval "
            "personafeedback_tasks/recenter_chain` runs all."
        )
    logs = {str(run.logs[0]): run for run in found}
    funnels: list[Funnel] = []
    with progress() as tell:
        for model, own in chains([*map(_stage_run, found)]).items():
            tell(model)
            of_stage = {task: logs[run.earlier.where] for task, run in own.items()}
            funnel = make_funnel(model, {task: run.earlier for task, run in own.items()}, judgments)
            lines = {task: signature_line(run) for task, run in of_stage.items()}
            funnels.append(replace(funnel, signatures=lines, notes=[*_cautions(funnel, of_stage), *funnel.notes]))
    document = ChainDocument(models=funnels)
    publish(document, lambda: chain_text.blocks(document), json_file)


def _stage_run(run: Run) -> StageRun:
    from ..logs.earlier import of_run
    from ..recenter.funnel import StageRun

    came_from, filtered_by = (
        str(run.signature.defining.get(name, "none")) for name in ("attributes_of", "filtered_by")
    )
    return StageRun(run.name, run.benchmark.name, of_run(run), came_from, filtered_by)


def _cautions(funnel: Funnel, made: Mapping[str, Run]) -> list[str]:
    from ..analysis import caveats
    from ..analysis.sentences import sentence
    from ..logs.caveat import grouped, ordered

    found = grouped([(name, caveats.of_run(run)) for name, run in made.items()])
    if funnel.steps:
        found += caveats.of_users(min(funnel.steps.values(), key=lambda one: one.users))
    return list(dict.fromkeys(map(sentence, ordered(found))))
