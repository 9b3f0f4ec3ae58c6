"""The command that says where the chain from conversations to a reply breaks: chain."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.errors import OptionError
from ..runs.data import RunData
from ..runs.run import Run
from .options import FOLDER, RUN, json_option, markdown_option, name_option, out_option, places_option, runs_argument
from .output import files_written, progress, show, write_json
from .runs import check_names, read

if TYPE_CHECKING:
    from ..engine.funnel import Funnel
    from ..recenter.chains import StageRun
    from ..recenter.judgments import StageJudge


@click.command()
@runs_argument
@click.option(
    "--people",
    metavar="DIR",
    multiple=True,
    help="A folder with what people said of what the models made: any of extraction.jsonl, relevance.jsonl, response.jsonl and missing.jsonl; "
    "may be given for each. Default: RECENTER_DATA, else, without --judge, the data that the logs name.",
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
@click.option(
    "--judge",
    "judged",
    metavar="RUN",
    multiple=True,
    type=RUN,
    help="A judge in people's place: its run of a task such as recenter_relevance, with rows=unjudged, on what the models made. May be given for "
    "each stage.",
)
@click.option(
    "--exam",
    "exams",
    metavar="RUN",
    multiple=True,
    type=RUN,
    help="The same judge on rows of the same stage that people judged, which its errors are read from. Without it the judge's run is left out.",
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
    embeddings: str | None,
    judged: tuple[Path, ...],
    exams: tuple[Path, ...],
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
    note, or estimated through a judge that has passed an exam.

    \b
        personafeedback chain logs --people votes --out chain
        personafeedback chain a.eval b.eval c.eval --people votes --filter filter
        personafeedback chain logs --judge judged --exam exam
    """
    from ..common.outputs import output_text
    from ..recenter.chains import chains, made_chain
    from ..recenter.data import ENVIRONMENT_VARIABLE
    from ..recenter.filter.effect import effect_of
    from ..recenter.filter.judge import step_filter
    from ..recenter.funnel import make_funnel
    from ..recenter.funnel_sheet import ChainResult, document, sheet
    from ..recenter.judgments import read_judgments
    from ..recenter.rating_model import model_of_rating
    from ..reports import files
    from ..reports.funnel_text import blocks
    from ..runs.signature_line import signature_line

    found = read(runs, places, names)
    check_names(names, found)
    made_by = chains(_stage_runs(found))
    lines = {model: {task: run.signature for task, run in own.items()} for model, own in made_by.items()}
    judges, of_judges = _judges(judged, exams, places)
    by_log = {str(run.logs[0]): run for run in found}
    judge_lines = {name: signature_line(run) for name, run in of_judges.items()}
    logged = dict.fromkeys(run.source for own in made_by.values() for run in own.values())
    default = [None] if ENVIRONMENT_VARIABLE in os.environ else [] if judges else list(logged)
    said = read_judgments(people or default, judges)
    dropping = [step_filter(str(folder), embeddings=embeddings) for folder in filters]
    results = []
    with progress() as tell:
        for model, own in made_by.items():
            tell(model)
            made = made_chain(model, {task: run.earlier for task, run in own.items()})
            effects = [effect for one in dropping if (effect := effect_of(one, made, said))]
            funnel = make_funnel(made, said)
            logged_as = {task: by_log[run.earlier.where] for task, run in own.items()}
            funnel = replace(funnel, notes=[*_cautions(funnel, logged_as, of_judges), *funnel.notes])
            results.append(ChainResult(funnel, model_of_rating(made, said), effects))
    shown = sheet(results)
    signatures = {f"{model}, {task}": line for model, own in lines.items() for task, line in own.items()} | judge_lines
    as_json = document(results, {model: {**own, **judge_lines} for model, own in lines.items()})
    contents = {"chain.json": output_text(as_json), **files.funnel_files(shown, signatures)} if out else {}
    with files_written(contents, out, err=as_markdown or str(json_file) == "-"):
        if write_json(json_file, as_json):
            show(blocks(shown, signatures), as_markdown)


def _stage_runs(runs: Sequence[Run]) -> list[StageRun]:
    """Runs of other tasks are left out. Raises OptionError: none is of the chain."""
    from ..recenter.chains import TASKS, StageRun
    from ..runs.earlier import of_run
    from ..runs.signature_line import signature_line

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


def _cautions(funnel: Funnel, made: Mapping[str, Run], of_judges: Mapping[str, Run]) -> list[str]:
    """What a reader must know before the numbers of a model, in sentences.

    Args:
        made: task -> the run of the model.
        of_judges: a judge's run or exam, by name.
    """
    from ..analysis import caveats
    from ..reports.sentences import sentence
    from ..runs.caveat import grouped, ordered

    used = {**made, **(of_judges if funnel.judged else {})}
    found = grouped([(name, caveats.of_run(run)) for name, run in used.items()])
    if funnel.steps:
        found += caveats.of_users(min(funnel.steps.values(), key=lambda one: one.users))
    return list(dict.fromkeys(map(sentence, ordered(found))))


def _judges(
    runs: Sequence[Path], exams: Sequence[Path], places: Sequence[RunData]
) -> tuple[dict[str, StageJudge], dict[str, Run]]:
    """(stage -> the judge in people's place, its run and its exam by name)."""
    from ..analysis.shares import rows_of, with_exams
    from ..recenter.judgments import StageJudge, about

    if exams and not runs:
        raise OptionError("--exam needs --judge: the judge's run on what the models made.")
    judges, of_judges = {}, dict[str, Run]()
    for run, of, exam in with_exams(read(runs, places), read(exams, places)):
        stage = run.benchmark.name
        cases = {about(row): run.cases[row.id] for row in rows_of(run, places) if row.id in run.cases}
        judges[next(iter(cases))[0]] = StageJudge(run.model, of, cases, list(exam.cases.values()) if exam else [])
        of_judges |= {f"judge, {stage}": run} | ({f"exam, {stage}": exam} if exam else {})
    return judges, of_judges
