"""The command that says how often a model's replies win, and how far to trust the judge: verdict."""

from __future__ import annotations

from pathlib import Path

import click

from ..logs.data import RunData
from .options import RUN, json_option, places_option
from .output import show, write_json
from .runs import note_skipped, read


@click.command()
@click.argument("runs", metavar="DUEL_RUN...", nargs=-1, required=True, type=RUN)
@click.option(
    "--calibration",
    "calibration_paths",
    metavar="RUN",
    multiple=True,
    required=True,
    type=RUN,
    help="Run of the same judge with the same options on the benchmark itself, which shows how far to trust its "
    "votes; repeat for each judge.",
)
@click.option(
    "--human",
    metavar="FILE",
    type=RUN,
    help="People's votes on some of the duels, which were drawn at random: a CSV file with the columns `case` (the "
    "`source` of the duel's row) and `winner` (reply, other or tie).",
)
@places_option
@json_option
def verdict(
    runs: tuple[Path, ...],
    calibration_paths: tuple[Path, ...],
    human: Path | None,
    data: RunData,
    json_file: Path | None,
) -> None:
    """Say how often a model's replies win, and how good the judge is.

    DUEL_RUN is a run of any judge on a folder that `personafeedback duel` wrote: a log, or a folder of logs. RUN is the
    same judge's run on the benchmark, where people have said which response is better: its calibration set.

    Printed: the win rate with ties, position consistency and intervals by user; the judge's accuracy in the calibration
    set on the same cells; and the win rate without the judge's errors, where that accuracy is good enough, or the
    reason why there is none.

    \b
        personafeedback verdict logs/duels --calibration logs/calibration.eval
        personafeedback verdict chosen.eval rejected.eval --calibration calibration.eval --json verdict.json
        personafeedback verdict chosen.eval --calibration calibration.eval --human votes.csv
    """
    from ..analysis.duel_runs import verdicts_of
    from ..reports import verdict_text

    document = verdicts_of(read(runs, data), read(calibration_paths, data), data, note_skipped, human)
    if write_json(json_file, document):
        show(verdict_text.all_blocks(document))
