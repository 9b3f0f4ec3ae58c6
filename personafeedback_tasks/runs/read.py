"""Logs of either harness -> runs. The cells of a run may be in several logs.

A log is recognized by its content, never by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..common.errors import PersonaFeedbackError
from ..common.strict_json import cut
from . import lm_eval_log
from .lm_eval_log import results_beside
from .run import UNREADABLE, ForeignError, Run, RunError


def read_runs(paths: Iterable[str | Path]) -> list[Run]:
    """Read the runs that the arguments name, in order.

    Args:
        paths: each a folder (our logs in it, one run per model; other files are skipped), an Inspect log, a results file of lm-eval, or one of
            its samples files. Samples files of one invocation of lm-eval make one run.

    Raises:
        RunError: a file is no log of ours, is damaged or has no samples, or logs that would share a row differ in what
            moves a score.
    """
    named = list(dict.fromkeys(map(Path, paths)))
    runs: list[Run] = []
    for path in named:
        if path.is_dir():
            runs += _of_folder(path)
        elif results_beside(path) not in named:  # `results/MODEL/*` names both: the results file brings its samples
            runs.append(_read(path))
    return _join_leaves(runs)


def read_run(path: str | Path) -> Run:
    """Read the one run that an argument names.

    Raises:
        RunError: as `read_runs`, and where a folder has the runs of several models.
    """
    runs = read_runs([path])
    if len(runs) > 1:
        models = ", ".join(run.model for run in runs)
        raise RunError(
            f"{path}: found runs of {len(runs)} models ({models}), expected one. Pass the folder of one model."
        )
    return runs[0]


def _of_folder(folder: Path) -> list[Run]:
    """One run per model. Samples files are read through the results file beside them."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".eval") and path.is_file())
    found, foreign = [], ""
    for path in files:
        if _kind(path) != "foreign":
            try:
                found.append(_read(path))
            except ForeignError as error:
                foreign = foreign or f" Skipped: {error}"
    if not found:
        raise RunError(
            f"{folder}: found no log of these tasks in it, expected an .eval file of Inspect or a results_*.json of lm-eval "
            f"(--output_path). Pass the folder that the harness wrote to.{foreign}"
        )
    models: dict[str, list[Run]] = {}
    for run in _superseded(found):
        models.setdefault(run.model, []).append(run)
    return [_merge(parts) for parts in models.values()]


def _superseded(runs: list[Run]) -> list[Run]:
    """Without the logs that `inspect eval-retry` or `inspect score` continued: the later log contains their samples.

    A log that was scored again has the date of its run.
    """
    last: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: (run.date, run.logs[0].stat().st_mtime_ns)):
        last[run.resumed or str(run.logs[0])] = run
    return list(last.values())


def _join_leaves(runs: list[Run]) -> list[Run]:
    """Runs of the same results file become one: the samples files of one invocation, named one by one."""
    joined: dict[object, list[Run]] = {}
    for run in runs:
        joined.setdefault(run.logs[0] if len(run.logs) == 2 else id(run), []).append(run)
    return [_merge(parts) for parts in joined.values()]


def _merge(parts: Sequence[Run]) -> Run:
    """The parts as one run.

    Raises:
        RunError: they differ in what moves a score, or contain the same case twice.
    """
    first, *others = parts
    merged = first
    for other in others:
        for name, here, there in (
            ("benchmark", first.signature["benchmark"], other.signature["benchmark"]),
            *((name, first.signature[name], other.signature.get(name)) for name in first.same),
            ("model", first.model, other.model),
            ("harness", first.harness, other.harness),
            ("conditions", first.conditions_line, other.conditions_line),
        ):
            if here != there:
                raise RunError(
                    f"{other.logs[0]} and {first.logs[0]} differ in {name} ({there} and {here}), expected the same in one "
                    "row. Pass each as a run of its own."
                )
        twice = sorted(merged.cases.keys() & other.cases.keys())
        if twice:
            raise RunError(
                f"{other.logs[0]}: {twice[0]} is also in {' or '.join(map(str, merged.logs))} ({len(twice)} in all), expected "
                "each once in a run. Pass only the log that counts."
            )
        merged = replace(
            merged,
            date=min(merged.date, other.date),
            cells={**merged.cells, **other.cells},
            cases={**merged.cases, **other.cases},
            logs=tuple(dict.fromkeys((*merged.logs, *other.logs))),
            otherwise=merged.otherwise + other.otherwise,
        )
    return merged


def _kind(path: Path) -> str:
    """`inspect`, `lm-eval`, `samples` or `foreign`, from the beginning of the content.

    Raises:
        RunError: the file cannot be read or is empty.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise RunError(f"{path}: could not be read ({error.strerror}). Check the path.") from error
    if not head.strip():
        raise RunError(
            f"{path}: found an empty file, expected a log. The run may have stopped before it wrote anything."
        )
    if head.startswith(b"PK"):
        return "inspect"
    if not head.lstrip().startswith(b"{"):
        return "foreign"
    if b'"doc_id"' in head[:64]:
        return "samples"
    if b'"eval"' in head and b'"version"' in head[:64]:
        return "inspect"
    return "lm-eval" if b'"results"' in head[:64] else "foreign"


def _read(path: Path) -> Run:
    kind = _kind(path)
    try:
        if kind == "inspect":
            from . import inspect_log  # needs Inspect

            return inspect_log.read(path)
        if kind in ("lm-eval", "samples"):
            return lm_eval_log.read(path) if kind == "lm-eval" else lm_eval_log.read_leaf(path)
    except UNREADABLE as error:
        if isinstance(error, PersonaFeedbackError):
            raise
        raise RunError(
            f"{path}: found a log that cannot be read ({type(error).__name__}: {cut(' '.join(str(error).split()), 200)}), expected one of Inspect or "
            "lm-eval 0.4 as the harness wrote it. If a newer version wrote this log, upgrade personafeedback-tasks."
        ) from error
    raise RunError(
        f"{path}: found no log, expected an Inspect log (.eval, .json), or a results_*.json or samples_*.jsonl of lm-eval."
    )
