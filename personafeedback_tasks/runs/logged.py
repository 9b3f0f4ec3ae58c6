"""A run -> the replies in its logs."""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.judges import Reply
from ..engine.recorded import Key, refuse_without_text
from . import lm_eval_log
from .run import Run, RunError


def logged(run: Run) -> Iterator[tuple[Key, Reply]]:
    """Every reply of a run in the order of its logs, which are read again: a run in memory has no texts.

    A run with a stage has the replies to that call, too.

    Raises:
        RunError: the run's method reads no text.
    """
    refuse_without_text(run.method, RunError, str(run.logs[0]))
    if run.harness.startswith("lm-eval"):
        for path in run.logs:
            if path.suffix == ".jsonl":  # the others are results files
                yield from lm_eval_log.replies(path, run.method)
        return
    from . import inspect_log  # needs Inspect

    stage = run.benchmark.stage
    for path in run.logs:
        yield from inspect_log.replies(
            path, run.benchmark, run.method, stage if stage and run.signature.get(stage.name) else None
        )
