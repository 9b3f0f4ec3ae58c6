"""The command that says how often a model's replies win, and how far to trust the judge: verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..analysis.run_data import RunData
from ..common.errors import OptionError, require
from ..runs.run import RunError
from .options import READABLE, RUN, json_option, markdown_option, places_option
from .output import progress, show, write_json
from .runs import passed_over, read


@click.command()
@click.argument("runs", metavar="DUEL_RUN...", nargs=-1, required=True, type=RUN)
@click.option(
    "--exam",
    metavar="RUN",
    required=True,
    type=RUN,
    help="The same judge on the benchmark itself, asked in the same way: how far its votes can be trusted.",
)
@click.option(
    "--human",
    metavar="FILE",
    type=READABLE,
    help="People's votes on some of the duels, best on randomly drawn ones: CSV or .jsonl with the columns `case` (the `source` of "
    "the duel's row) and `winner` (reply, other or tie). With two people's votes a duel, or with votes of the same people on pairs of the "
    "exam (winner: better or worse, by the label), it is tested whether the judge errs on replies as in its exam. Needs the extra `verdict`.",
)
@click.option(
    "--risk",
    metavar="SHARE",
    type=float,
    callback=lambda context, option, value: _share(value),
    help="Let the judge abstain: a threshold on its certainty is chosen by the exam, so that at most this share of its verdicts is wrong, such "
    "as 0.1. Needs an exam of 30 users.",
)
@places_option
@markdown_option
@json_option
def verdict(
    runs: tuple[Path, ...],
    exam: Path,
    human: Path | None,
    risk: float | None,
    places: Sequence[RunData],
    as_markdown: bool,
    json_file: Path | None,
) -> None:
    """Say how often a model's replies win, beside how good the judge is.

    DUEL_RUN is a run of any judge on a folder that `personafeedback duel` wrote: a log, or a folder of logs; or a writing run
    with a grader, which is the judge then. RUN is the same judge's run on the benchmark, where people say which response is better: its exam.

    Printed: the win rate with ties, position consistency and intervals by user; the judge's accuracy in the exam on the
    same cells; the win rate without the judge's errors, where the exam is good enough, or the reason why there is none;
    and the win rate at equal length. A judge from the writer's own family is named.

    \b
        personafeedback verdict logs/duels --exam logs/exam.eval
        personafeedback verdict chosen.eval rejected.eval --exam exam.eval --json verdict.json
        personafeedback verdict chosen.eval --exam exam.eval --human votes.csv
        personafeedback verdict chosen.eval --exam exam.eval --risk 0.1
    """
    from ..analysis.duel_runs import cases_of, duels_of, exam_of, exams, votes_in
    from ..analysis.human_file import human_votes
    from ..analysis.verdict import make_verdict
    from ..reports import verdict_text

    if human is not None:
        require("ppi_py", extra="verdict")
    on_duels = []
    for run in read(runs):
        if votes := votes_in(run, places):
            on_duels += votes
            continue
        try:
            on_duels.append((run, *duels_of(run, places)))
        except RunError as error:
            if run.named:
                raise
            passed_over(f"Passed over {error}")
    if not on_duels:
        raise RunError(
            f"{runs[0]}: found no run on duels in it, expected a judge's run on a folder of `personafeedback duel`."
        )
    if human is not None and len(on_duels) > 1:
        raise OptionError(f"--human goes with one run of duels, found {len(on_duels)}. Give one verdict for each.")
    candidates = exams(read([exam]))
    verdicts = []
    for run, duels, cases in on_duels:
        examined = exam_of(run, exam, candidates)
        people = human_votes(human, duels, examined.cases) if human is not None else None
        exam_cases, why_not = cases_of(examined, places)
        with progress() as tell:  # ppi_py takes seconds to import
            tell(f"Computing the verdict on {run.logs[0]}")
            verdicts.append(make_verdict(run, examined, duels, cases, exam_cases, people, why_not, risk))
    if write_json(json_file, {"verdicts": [verdict_text.document(made) for made in verdicts]}):
        show(verdict_text.all_blocks(verdicts), as_markdown)


def _share(value: float | None) -> float | None:
    """The value of --risk."""
    if value is not None and not 0 < value < 1:
        raise OptionError(f"--risk must be a share above 0 and below 1, such as 0.1 for 10 %, got {value:g}.")
    return value
