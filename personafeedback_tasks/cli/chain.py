"""The command that says where the chain from conversations to a reply breaks: chain."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.errors import OptionError
from ..common.records import jsonable
from ..logs.data import RunData
from ..logs.run import Run
from .options import json_option, name_option, out_option, places_option, runs_argument
from .output import STDOUT, files_written, progress, show, write_json
from .runs import check_names, read

if TYPE_CHECKING:
    from ..common.statistics import Estimate
    from ..recenter.chains import StageRun
    from ..recenter.funnel import Funnel
    from ..reports.blocks import Block

ABOUT = "Intervals: over users, and over prompts as well where users share them."

NOUNS = {"source": "conversations", "sensitive": "prompts"}
"""Split -> what its parts are of."""


@click.command()
@runs_argument
@click.option(
    "--people",
    metavar="DIR",
    multiple=True,
    help="A folder with what people said of what the models made: any of extraction.jsonl, relevance.jsonl, response.jsonl and missing.jsonl; "
    "may be given for each. Default: RECENTER_DATA, else the data that the logs name.",
)
@places_option
@name_option
@json_option
@out_option("DIR", "Write chain.md and chain.json there.")
def chain(
    runs: tuple[Path, ...],
    people: tuple[str, ...],
    places: Sequence[RunData],
    names: dict[str, str],
    json_file: Path | None,
    out: Path | None,
) -> None:
    """Say where the chain from conversations to a reply breaks.

    RUN is a log or a folder of logs of recenter_extract, recenter_select and recenter_respond, of either harness; runs of one model
    make one funnel, or two if a stage is there with a filter and without. Of each step it has the share that people find right: attributes that
    are extracted, accepted, selected and relevant, and replies that are better than generic. A step without human judgments is left out with a
    note.

    \b
        personafeedback chain logs --people votes --out chain
        personafeedback chain a.eval b.eval c.eval --people votes
    """
    from ..common.outputs import output_text
    from ..recenter.chains import chains
    from ..recenter.data import ENVIRONMENT_VARIABLE
    from ..recenter.funnel import make_funnel
    from ..recenter.study import read_judgments
    from ..reports.blocks import markdown

    found = read(runs, places, names)
    check_names(names, found)
    made_by = chains(_stage_runs(found))
    by_log = {str(run.logs[0]): run for run in found}
    logged = dict.fromkeys(run.source for own in made_by.values() for run in own.values())
    judgments = read_judgments(people or ([None] if ENVIRONMENT_VARIABLE in os.environ else list(logged)))
    funnels = []
    with progress() as tell:
        for model, own in made_by.items():
            tell(model)
            funnel = make_funnel(model, {task: run.earlier for task, run in own.items()}, judgments)
            logged_as = {task: by_log[run.earlier.where] for task, run in own.items()}
            funnels.append(replace(funnel, notes=[*_cautions(funnel, logged_as), *funnel.notes]))
    lines = {model: {task: run.signature for task, run in own.items()} for model, own in made_by.items()}
    as_json = jsonable({"models": [{**vars(funnel), "signatures": lines[funnel.model]} for funnel in funnels]})
    shown = _blocks(funnels, {f"{model}, {task}": line for model, own in lines.items() for task, line in own.items()})
    text = f"# Where the chain breaks\n\n{markdown(shown)}"
    contents = {"chain.json": output_text(as_json), "chain.md": text} if out else {}
    with files_written(contents, out, err=json_file == STDOUT):
        if write_json(json_file, as_json):
            show(shown)


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


def _blocks(funnels: Sequence[Funnel], of_runs: Mapping[str, str]) -> list[Block]:
    """The output: one table of all models and their parts, with the signature of each run."""
    from ..recenter.funnel import STEPS
    from ..reports.blocks import bullets, signatures
    from ..reports.table import Table, with_interval

    rows = [row for funnel in funnels for row in _rows(funnel)]
    found = [step for step in STEPS if any(step.name in shares for _, shares in rows)]
    columns = [
        column
        for step in found
        for column in with_interval(step.label, [shares.get(step.name) for _, shares in rows], strong=False)
    ]
    return [
        *(bullets(list(funnel.notes), f"{funnel.model}:") for funnel in funnels),
        Table("", tuple(label for label, _ in rows), tuple(columns), whole=True),
        bullets([*(f"{step.label}: {step.meaning}." for step in found), ABOUT]),
        signatures(of_runs),
    ]


def _rows(funnel: Funnel) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
    yield funnel.model, funnel.steps
    for split, parts in funnel.parts.items():
        for part, steps in parts.items():
            yield f"  {part} {NOUNS[split]}", steps
