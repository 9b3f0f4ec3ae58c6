"""Logs of either harness -> runs. The cells of a run may be in several logs.

A log is recognized by its content, never by its name.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

from ..common.errors import PersonaFeedbackError
from ..common.foreign import terminal
from ..common.records import cut
from . import log
from .compare import runs_of
from .errors import UNREADABLE, ForeignError, RunError, advice, state_of
from .lm_eval_log import results_beside
from .log import open_logs, reader_of
from .names import without_folder
from .run import Run


def read_runs(
    paths: Iterable[str | Path],
    say: Callable[[str], object] = lambda line: None,
    reading: Callable[[Path], object] = lambda path: None,
    benchmarks: Collection[str] = (),
) -> list[Run]:
    """Read the runs that the arguments name, in order.

    Args:
        paths: folders, Inspect logs, results files of lm-eval, or its samples files. Samples files of one invocation of
            lm-eval make one run; a log of several settings has one run of each. In a folder, logs of one model that
            were asked the same make one run, its cells and shards such as `--limit 1-505`; other files are skipped.
        say: gets one line per log of a folder that is skipped (failed, damaged, continued by another log, or with
            cases that another log has too).
        reading: gets each file before it is read, for a sign of life: a log takes seconds.
        benchmarks: those whose runs are needed, empty for all. Runs of others are skipped whatever is wrong with them.

    Raises:
        RunError: a file is no log of ours, is damaged or empty, or logs of one run have a case in common.
    """
    named = list(dict.fromkeys(map(Path, paths)))
    files: dict[Path, list[Path]] = {}  # file or folder -> of a results file, the samples files to read; empty for all
    for path in named:
        results = results_beside(path)
        if results is None:
            files.setdefault(path, [])
        elif results not in named:  # `results/MODEL/*` names both
            files.setdefault(results, []).append(path)
    runs: list[Run] = []
    say = cache(say)  # the runs of one log share what is said of it
    for path, samples in files.items():
        if path.is_dir():
            runs += _of_folder(path, say, reading, benchmarks)
        else:
            reading(path)
            runs += _needed(_read(path, samples), benchmarks, say)
    found = list(map(_counted, runs))
    refuse_shared(found)
    return told_apart(found)


def read_run(path: str | Path) -> Run:
    """Read the one run that an argument names. Raises RunError where a folder has several."""
    return only(path, read_runs([path]))


def only(path: str | Path, runs: Sequence[Run]) -> Run:
    """The one run that was found. Raises RunError if there are several."""
    if len(runs) > 1:
        raise RunError(
            f"{path}: found {len(runs)} runs ({'; '.join(f'{run.task}, {run.label}' for run in runs)}), expected one. "
            "Pass the log of one (of several tasks in lm-eval, its samples_*.jsonl), or a folder with its logs alone."
        )
    return runs[0]


def told_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs with `apart`, of those here."""
    alike: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        alike.setdefault((run.label, run.harness, run.setting), []).append(run)
    found = []
    for run in runs:
        others = alike[run.label, run.harness, run.setting]
        same = [other for other in others if other.task == run.task]
        values = {name: mine for other in same for name, (mine, _) in run.other_conditions(other).items()}
        apart = [f"{name}={cut(terminal(without_folder(values[name])), 60)}" for name in sorted(values)]
        if len(same) < len(others):
            apart.insert(0, run.task)
        if any(other.model != run.model for other in others):  # whose short names are the same
            apart.insert(0, terminal(run.model))
        found.append(run.said(apart=", ".join(apart)))
    return found


def _counted(run: Run) -> Run:
    """Without the cases that do not count alone."""
    ids, units = {*run.benchmark.counted(run.cases)}, run.benchmark.units
    if units is None or len(ids) == len(run.cases):
        return run
    alone = {f"without the rest of their {units.name}": len(run.cases) - len(ids)}
    return replace(run.part(ids), left_out={**run.left_out, **alone})


def _needed(runs: Iterable[Run], benchmarks: Collection[str], say: Callable[[str], object]) -> list[Run]:
    needed = []
    for run in runs:
        if not benchmarks or run.benchmark.name in benchmarks:
            needed.append(run)
        else:
            expected = " or ".join(benchmarks)
            say(f"Skipped {run.logs[0]}: found a run of {run.benchmark.name}, expected one of {expected}.")
    return needed


def _read(path: Path, samples: Sequence[Path] = ()) -> list[Run]:
    try:
        return [run for found in open_logs(path, only=samples) for run in runs_of(found)]
    except UNREADABLE as error:
        if isinstance(error, PersonaFeedbackError):
            raise
        why = f"{type(error).__name__}: {cut(' '.join(str(error).split()), 200)}"
        raise RunError(
            f"{path}: found a log that cannot be read ({why}), expected one of Inspect or lm-eval 0.4 as the harness "
            "wrote it. If a newer version wrote this log, upgrade personafeedback-tasks."
        ) from error


def _of_folder(
    folder: Path,
    say: Callable[[str], object],
    reading: Callable[[Path], object],
    benchmarks: Collection[str],
) -> list[Run]:
    found, foreign, broken = [], "", []
    suffixes = {suffix for reader in log.READERS for suffix in reader.suffixes}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in suffixes or not path.is_file():
            continue
        try:
            reader = reader_of(path)
            if reader is not None and path.suffix in reader.suffixes:  # samples files come with their results file
                reading(path)
                found += _read(path)
        except ForeignError as error:
            foreign = foreign or f" Skipped: {error}"
        except RunError as error:
            broken.append(error)
    if broken and not found:
        raise broken[0]
    if not found:
        raise RunError(
            f"{folder}: found no log of these tasks in it, expected an .eval file of Inspect or a results_*.json of "
            f"lm-eval (--output_path). Pass the folder that the harness wrote to.{foreign}"
        )
    for reason in broken:
        say(f"Skipped {reason}")
    found = _needed(found, benchmarks, say)
    alike: dict[str, list[Run]] = {}
    for run in _finished(_superseded(found, say), say):
        alike.setdefault(repr(run.same), []).append(run)
    return [_merged(_without_repeats(parts, say)) for parts in alike.values()]


def _finished(runs: list[Run], say: Callable[[str], object]) -> list[Run]:
    if not any(run.finished for run in runs):
        return runs
    for run in runs:
        if not run.finished:
            say(
                f"Skipped {run.logs[0]}: {state_of(run.status)}, with {len(run.cases):,} cases answered. "
                f"{advice(run.status)} Name the log to report it as it is."
            )
    return [run for run in runs if run.finished]


def _without_repeats(parts: list[Run], say: Callable[[str], object]) -> list[Run]:
    # Of equal logs the latest stays. Logs that share only some cases all stay, for `merged` to refuse: none may lose
    # the rest.
    kept: list[Run] = []
    for run in sorted(parts, key=lambda run: (len(run.cases), run.date), reverse=True):
        other = next((other for other in kept if run.cases and run.cases.keys() <= other.cases.keys()), None)
        if other is None:
            kept.append(run)
        else:
            why = f"{other.logs[0]} has the same cases of the same run"
            say(f"Skipped {run.logs[0]}: {why}. Name the log to report it.")
    return sorted(kept, key=lambda run: run.date)


def _superseded(runs: list[Run], say: Callable[[str], object]) -> list[Run]:
    # The last log that came to its end has the samples of those that it continues; where none did, the last one counts.
    # A log that was scored again keeps the date of its run.
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.date, run.logs[0].stat().st_mtime_ns)):
        before = next((other for other in kept if _continues(run, other)), None)
        if before is None:
            kept.append(run)
        elif before.finished and not run.finished:
            why = f"{state_of(run.status)}; {before.logs[0]}, which it continues, is complete"
            say(f"Skipped {run.logs[0]}: {why}. Name the log to report it.")
        else:
            say(f"Skipped {before.logs[0]}: {run.logs[0]} continues it and has its samples. Name the log to report it.")
            kept[kept.index(before)] = run
    return kept


def _continues(run: Run, other: Run) -> bool:
    # an id may be copied, but who continues a log asks the same model in the same way, and has its samples
    task, its_task = ((of.resumed, of.model, of.signature.benchmark, of.signature.options) for of in (run, other))
    if not run.resumed or task != its_task:
        return False
    samples, its_samples = ({asked.id for asked in of.asked or ()} for of in (run, other))
    return samples <= its_samples if other.finished and not run.finished else its_samples <= samples


def _merged(parts: Sequence[Run]) -> Run:
    """The parts, which have the same in `Run.same`, as one run. Raises RunError if they share a case."""
    merged, *others = parts
    for other in others:
        twice = sorted(merged.cases.keys() & other.cases.keys())
        if twice:
            raise RunError(
                f"{other.logs[0]}: {twice[0]} is also in {' or '.join(map(str, merged.logs))} ({len(twice)} in all), "
                "expected each once in a run. Pass only the log that counts."
            )
        merged = replace(
            merged,
            date=min(merged.date, other.date),
            cells={**merged.cells, **other.cells},
            results=[*merged.results, *other.results],
            cached={**merged.cached, **other.cached},
            logs=tuple(dict.fromkeys((*merged.logs, *other.logs))),
            status=merged.status if other.finished else other.status,
            left_out=dict(Counter(merged.left_out) + Counter(other.left_out)),
            asked=(*(merged.asked or ()), *(other.asked or ())),
            unchecked=tuple(dict.fromkeys((*merged.unchecked, *other.unchecked))),
            prompts=merged.prompts + other.prompts,
            usage=merged.usage + other.usage,
            elsewhere=merged.elsewhere + other.elsewhere,
        )
    return merged


# --- a cache file of two models: lm-eval's `--use_cache` looks requests up by their arguments, whatever the model -----

TELLING = 10
"""So many different shared replies are no chance, whatever else differs: letters alone are fewer."""


def refuse_shared(runs: Sequence[Run]) -> None:
    """Raise RunError if runs of other models, or under other conditions, have the replies of one cache file."""
    for one, other in combinations([run for run in runs if run.cached], 2):
        models = {"model": (one.model, other.model)} if one.model != other.model else {}
        differing = models | one.other_conditions(other)
        if differing and _may_be_one_file(one.cache, other.cache) and _share_replies(one, other):
            what = "; ".join(f"{name} {mine} and {its}" for name, (mine, its) in differing.items())
            raise RunError(
                f"{one.logs[0]} and {other.logs[0]} have the same replies and name the same cache, {other.cache} "
                f"(--use_cache), but differ ({what}): what ran later was never asked. Use one cache file per model, "
                "and run it again without this one."
            )


def _may_be_one_file(one: str, other: str) -> bool:
    # relative paths may begin in other folders
    paths = [f"/{os.path.normpath(path)}" for path in (one, other)]
    return paths[0].endswith(paths[1]) or paths[1].endswith(paths[0])


def _share_replies(one: Run, other: Run) -> bool:
    # one reply to everything may be chance; all requests, or many different replies, are not
    pairs = [(one.cached[request], other.cached[request]) for request in one.cached.keys() & other.cached.keys()]
    shared = {mine for mine, its in pairs if mine == its}
    return len(shared) >= TELLING or (len(shared) > 1 and all(mine == its for mine, its in pairs))
