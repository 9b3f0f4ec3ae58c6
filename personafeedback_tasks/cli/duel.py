"""The commands about replies that models write: duel, and verdict on how often they win."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import click

from ..common.errors import DataError, OptionError
from ..common.files import Content, write_all
from ..core.method import Reply
from ..logs.data import RunData
from ..logs.errors import RunError, advice, state_of
from ..logs.run import Run
from ..writing.cases import Questions
from ..writing.duel import SIDES, Writer, files, pairs, people
from ..writing.record import WRITE
from .options import RUN, data_option, json_option, out_option, places_option
from .output import publish, say
from .runs import note_skipped, read


@click.command()
@click.argument("run", type=RUN)
@click.option(
    "--against",
    metavar="SIDE",
    required=True,
    help="`chosen` or `rejected`, the benchmark's own responses, or the writing run of another model.",
)
@out_option("A new folder.", required=True)
@data_option
def duel(run: Path, against: str, out: Path, data: RunData) -> None:
    """Make a data set of duels: a model's replies against other responses.

    RUN is a log, or a folder of logs, of a writing task. DIR gets the layout of the release, with each reply as the
    chosen response, and a set.json that says what the set is. Every task, method and judge then compares the two in
    both orders, and acc is the win rate of the writer over the pairs that the judge saw. Ties and empty replies are
    listed in set.json and not judged: `verdict` counts them, acc does not.

    \b
        inspect eval personafeedback_tasks/personafeedback_write --model openai/gpt-4o --log-dir written
        personafeedback duel written --against chosen --out duels/chosen
        inspect eval personafeedback_tasks/personafeedback -T data=duels/chosen --model JUDGE --log-dir judged
        personafeedback verdict judged --calibration logs/JUDGE
    """
    if out.is_dir() and any(out.iterdir()):  # another set must not be mixed with this one
        raise OptionError(f"{out}: found a folder that is not empty, expected a new one. Pass another --out.")
    if against not in SIDES and not Path(against).exists():
        raise OptionError(
            f"--against must be {', '.join(SIDES)} or a log of a writing task, got {against!r}: there is no such "
            "file or folder."
        )
    run_of_writer, writer = _writing(run, data)
    cases, why_not = data.of(run_of_writer)
    if not isinstance(cases, Questions):
        raise DataError(f"{run_of_writer.logs[0]}: the data of the run were not found. {why_not} Pass --data.")
    other: str | Writer = against
    named = against
    models = [writer.model]
    if against not in SIDES:
        rival, other = _writing(Path(against), data)
        if rival.signature.data != run_of_writer.signature.data:
            raise RunError(
                f"{rival.logs[0]}: found a run on other data ({rival.signature.source}) than {run_of_writer.logs[0]} "
                f"({run_of_writer.signature.source}), expected the same. Run one of them again."
            )
        named = other.name
        models.append(other.model)
    compared = pairs(cases, writer, other)
    contents: dict[str, Content] = {
        **people(cases.pairs.release.root),
        **files(compared, writer.name, named, tuple(models), out, run_of_writer.signature.demonstration),
    }
    write_all({out / name: content for name, content in contents.items()})
    why = Counter(pair.why_not for pair in compared if pair.why_not)
    asked = len(compared) - why.total()
    say(f"wrote {out}: {asked:,} {'pair' if asked == 1 else 'pairs'}, {writer.name} against {named}")
    if why:
        counted = ", ".join(f"{why[reason]:,} {words}" for reason, words in _WHY.items() if why[reason])
        say(f"not asked, and counted by `verdict`, not in acc: {counted}")
    if run_of_writer.partial:
        say(f"The writing run is partial ({run_of_writer.unfinished}): the duel has what was written.")
    say("Judge it:")
    cells = [Path(name).with_suffix("").parts[1:] for name in contents if name.startswith("data/")]
    tasks = ",".join("_".join(("personafeedback", *cell)) for cell in cells)
    data_argument = shlex.quote(f"data={out}")
    say(f"    inspect eval personafeedback_tasks/personafeedback -T {data_argument} --model JUDGE")
    say(f"    lm_eval run --tasks {tasks} --metadata {data_argument} --log_samples --output_path DIR ...")


_WHY = {"tie": "ties", "empty": "empty replies", "other_empty": "empty replies of the other side"}


def _writing(path: Path, data: RunData) -> tuple[Run, Writer]:
    from ..analysis.control import one_of, with_controls
    from ..logs.earlier import logged, refuse_void, writer_of

    found = read([path], data, benchmarks=[WRITE.name])
    if not found:
        raise RunError(
            f"{path}: found no run of {WRITE.name}, expected one. Write first: inspect eval "
            f"personafeedback_tasks/{WRITE.name} --model MODEL"
        )
    run, _ = one_of(with_controls(found), path)
    refuse_void(run)
    replies: dict[str, Reply] = {}
    for key, reply in logged(run):
        if key.epoch > 1:
            raise RunError(
                f"{run.logs[0]}: found several epochs, expected one reply to each question. Run without --epochs."
            )
        replies[key.case_id] = reply
    if not replies:
        why = f" The run is {state_of(run.status)}. {advice(run.status, run.harness)}" if not run.finished else ""
        raise RunError(f"{run.logs[0]}: found no written replies, expected one to each question.{why}")
    return run, Writer(run.model, writer_of(run), replies, run.logs[0])


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
    publish(document, lambda: verdict_text.blocks(document), json_file)
