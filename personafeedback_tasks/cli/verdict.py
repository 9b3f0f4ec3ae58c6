"""The command that says how often a model's replies win, and how far to trust the judge: verdict."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..common.errors import OptionError, require
from ..common.strict_json import jsonable
from ..engine.cases import CaseSet
from ..engine.duels import Duels
from ..runs.data import RunData, cases_of, refuse_misfits
from ..runs.run import Run, RunError
from .options import RUN, json_option, markdown_option, out_option, places_option, risk_option
from .output import progress, say, show, write_json
from .runs import passed_over, read, the_run

if TYPE_CHECKING:
    from ..analysis.cascade import Cascade
    from ..analysis.human_file import People


@click.command()
@click.argument("runs", metavar="DUEL_RUN...", nargs=-1, required=True, type=RUN)
@click.option(
    "--exam",
    "exam_paths",
    metavar="RUN",
    multiple=True,
    required=True,
    type=RUN,
    help="The same judge on the benchmark itself, asked in the same way: how far its votes can be trusted; given for each judge.",
)
@click.option(
    "--human",
    metavar="FILE",
    type=RUN,
    help="People's votes on some of the duels: the folder of --ask-people, or, best on randomly drawn ones, a CSV or .jsonl with the columns `case` (the `source` of "
    "the duel's row) and `winner` (reply, other or tie). With two people's votes a duel, or with votes of the same people on pairs of the "
    "exam (winner: better or worse, by the label), it is tested whether the judge errs on replies as in its exam. Needs the extra `verdict`.",
)
@risk_option(
    "Let the judge abstain: a threshold on its certainty is chosen by the exam, so that at most this SHARE of its verdicts is wrong, such as 0.1. "
    "Needs an exam of 30 users."
)
@click.option(
    "--then",
    metavar="DUEL_RUN",
    type=RUN,
    help="A second judge's run on the same duels, or on those that `export --abstained` wrote: it decides where the first abstains. Needs --risk, and "
    "--exam for each.",
)
@click.option(
    "--ask-people",
    metavar="N",
    type=int,
    help="Instead: draw the N duels on which votes of people narrow the win rate most, and write a pack of them for each of two people. Needs --out.",
)
@out_option("DIR", "With --ask-people: a new folder.")
@places_option
@markdown_option
@json_option
def verdict(
    runs: tuple[Path, ...],
    exam_paths: tuple[Path, ...],
    human: Path | None,
    risk: float | None,
    then: Path | None,
    ask_people: int | None,
    out: Path | None,
    places: Sequence[RunData],
    as_markdown: bool,
    json_file: Path | None,
) -> None:
    """Say how often a model's replies win, and how good the judge is.

    DUEL_RUN is a run of any judge on a folder that `personafeedback duel` wrote: a log, or a folder of logs; or a writing run
    with a grader, which is the judge then. RUN is the same judge's run on the benchmark, where people say which response is better: its exam.

    Printed: the win rate with ties, position consistency and intervals by user; the judge's accuracy in the exam on the
    same cells; the win rate without the judge's errors, where the exam is good enough, or the reason why there is none;
    and the win rate at equal length. A judge from the writer's own family is named.

    \b
        personafeedback verdict logs/duels --exam logs/exam.eval
        personafeedback verdict chosen.eval rejected.eval --exam exam.eval --json verdict.json
        personafeedback verdict chosen.eval --exam exam.eval --human votes.csv
        personafeedback verdict chosen.eval --exam exam.eval --ask-people 100 --out asked
        personafeedback verdict chosen.eval --exam exam.eval --human asked
        personafeedback verdict chosen.eval --exam exam.eval --risk 0.1
        personafeedback verdict cheap.eval --then dear.eval --exam exam.eval --exam dear_exam.eval --risk 0.1
    """
    from ..analysis.duel_runs import exam_of, exams
    from ..analysis.verdict import make_verdict
    from ..reports import abstaining_text, verdict_text

    if then is not None and (risk is None or len(runs) > 1):
        raise OptionError("--then goes with --risk and one run of duels.")
    if (ask_people is None) != (out is None) or (out is not None and (risk, human, json_file) != (None, None, None)):
        raise OptionError("--ask-people and --out go together, without --risk, --then, --human and --json.")
    if human is not None:
        require("ppi_py", extra="verdict")
    exam = exam_paths[0]
    if then is not None and risk is not None:  # the second follows from the first
        candidates = exams(read(exam_paths, places))
        made = _cascade(runs[0], then, exam, candidates, places, risk, human)
        if write_json(json_file, {"verdicts": [], "cascade": jsonable(abstaining_text.cascade_document(made))}):
            show(abstaining_text.cascade_blocks(made), as_markdown)
        return
    on_duels = _on_duels(runs, places)
    if (human or out) is not None and len(on_duels) > 1:
        raise OptionError(
            f"--human and --ask-people go with one run of duels, found {len(on_duels)}. Give one verdict for each."
        )
    candidates = exams(read(exam_paths, places))
    if ask_people is not None and out is not None:
        _ask(*on_duels[0], exam_of(on_duels[0][0], exam, candidates), ask_people, out)
        return
    verdicts = []
    for run, duels, cases in on_duels:
        examined = exam_of(run, exam, candidates)
        people = _people(human, duels, cases, examined) if human is not None else None
        exam_cases, why_not = cases_of(examined, places)
        with progress() as tell:  # ppi_py takes seconds to import
            tell(f"Computing the verdict on {run.logs[0]}")
            verdicts.append(make_verdict(run, examined, duels, cases, exam_cases, people, why_not, risk))
    refuse_misfits(places)
    if write_json(json_file, {"verdicts": [verdict_text.document(made) for made in verdicts], "cascade": None}):
        show(verdict_text.all_blocks(verdicts), as_markdown)


def _on_duels(paths: Sequence[Path], places: Sequence[RunData]) -> list[tuple[Run, Duels, CaseSet[Any]]]:
    """The runs on duels, also those of a grader in the same run as the replies; of a folder others are passed over."""
    from ..analysis.duel_runs import duels_of, votes_in

    found = []
    for run in read(paths, places):
        if votes := votes_in(run, places):
            found += votes
            continue
        try:
            found.append((run, *duels_of(run, places)))
        except RunError as error:
            if run.named:
                raise
            passed_over(f"Passed over {error}")
    if not found:
        raise RunError(
            f"{paths[0]}: found no run on duels in it, expected a judge's run on a folder of `personafeedback duel`."
        )
    return found


def _ask(run: Run, duels: Duels, cases: CaseSet[Any], exam: Run, count: int, out: Path) -> None:
    from ..analysis.duel_runs import asked
    from ..building.imported.drawn import write_drawn

    drawn = asked(run, exam, duels, count)
    write_drawn(out, cases, duels.sources, drawn, say)
    say(
        f"Then: personafeedback verdict {shlex.quote(str(run.logs[0]))} --exam {shlex.quote(str(exam.logs[0]))} --human {shlex.quote(str(out))}"
    )


def _people(path: Path, duels: Duels, cases: CaseSet[Any], exam: Run) -> People:
    """What --human has."""
    from ..analysis.human_file import People, human_votes
    from ..building.imported.drawn import votes_on_drawn

    if not path.is_dir():
        return human_votes(path, duels, exam.cases)
    votes, likely = votes_on_drawn(path, cases, duels.sources)
    return People(votes, {}, likely)


def _cascade(
    first: Path,
    then: Path,
    exam: Path,
    candidates: Sequence[Run],
    places: Sequence[RunData],
    risk: float,
    human: Path | None,
) -> Cascade:
    from ..analysis.cascade import Examinee, cascade
    from ..analysis.duel_runs import duels_of, exam_of
    from ..analysis.human_file import by_source
    from ..analysis.verdict import make_verdict

    judges: list[Examinee] = []
    people = None
    for path in (first, then):
        run, _ = the_run(path, places)
        of = exam_of(run, exam, candidates, "--then needs the exam of each judge: pass --exam twice.")
        duels, cases = duels_of(run, places)
        differs, untested = False, ""
        if human is not None and judges and len(run.cases) < len(judges[0].run.cases):
            untested = (
                f"It has seen only the duels that {judges[0].run.model} leaves, which are harder than the exam's pairs."
            )
        elif human is not None:
            people = by_source(people, judges[0].duels, duels) if people else _people(human, duels, cases, of)
            beside = make_verdict(run, of, duels, cases, cases_of(of, places)[0], people).people
            differs, untested = beside.contradict, beside.untested
        judges.append(Examinee(run, of, duels, differs, untested))
    return cascade(judges[0], judges[1], risk)
