"""The command that says how often a model's replies win, and how far to trust the judge: verdict."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import OptionError, require
from ..common.files import write
from ..common.strict_json import json_text
from ..runs.run import RunError
from .output import progress
from .runs import RUN, passed_over, read


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
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="People's votes on some of the duels, best on randomly drawn ones: CSV or .jsonl with the columns `case` (the `source` of "
    "the duel's row) and `winner` (reply, other or tie). With two people's votes a duel, or with votes of the same people on pairs of the "
    "exam (winner: better or worse, by the label), it is tested whether the judge errs on replies as in its exam. Needs the extra `verdict`.",
)
@click.option(
    "--data",
    "places",
    metavar="DIR",
    multiple=True,
    help="Where the data of the duels, or of the exam, are now, if they were moved; may be given for each. Default: where the logs "
    "say, else PERSONAFEEDBACK_DATA.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write everything to FILE.",
)
def verdict(
    runs: tuple[Path, ...],
    exam: Path,
    human: Path | None,
    places: tuple[str, ...],
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
    """
    from ..analysis.duel_runs import cases_of, duels_of, exam_of, exams, votes_in
    from ..analysis.human_file import human_votes
    from ..analysis.run_data import RunData
    from ..analysis.verdict import make_verdict
    from ..reports import blocks, verdict_text
    from ..reports.terminal import show

    if human is not None:
        require("ppi_py", extra="verdict")
    data = [RunData(place) for place in places] + [RunData(None)]
    found = []
    for run in read(runs):
        if votes := votes_in(run, data):
            found += votes
            continue
        try:
            found.append((run, *duels_of(run, data)))
        except RunError as error:
            if run.named:
                raise
            passed_over(f"Passed over {error}")
    if not found:
        raise RunError(
            f"{runs[0]}: found no run on duels in it, expected a judge's run on a folder of `personafeedback duel`."
        )
    if human is not None and len(found) > 1:
        raise OptionError(f"--human goes with one run of duels, found {len(found)}. Give one verdict for each.")
    candidates = exams(read([exam]))
    made = []
    for run, duel, cases in found:
        of = exam_of(run, exam, candidates)
        people = human_votes(human, duel, of.cases) if human is not None else None
        examined, why_not = cases_of(of, data)
        with progress() as tell:  # ppi_py takes seconds to import
            tell(f"Computing the verdict on {run.logs[0]}")
            made.append(make_verdict(run, of, duel, cases, examined, people, why_not))
    if as_markdown:
        click.echo("\n".join(blocks.markdown(verdict_text.blocks(one)) for one in made), nl=False)
    else:
        for number, one in enumerate(made):
            show(blocks.terminal([*([blocks.Paragraph()] if number else []), *verdict_text.blocks(one)]))
    if json_file is not None:
        write(json_file, json_text({"verdicts": [verdict_text.document(one) for one in made]}))
