"""Recorded replies -> a run, as a harness would have scored them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ..common.errors import DataError, OptionError
from ..core.asked import AskedTask
from ..core.recorded import Key, Recorded, calls_of, keys, require_text
from ..core.result import Result
from ..core.thinking import mark_open_thinking
from .run import Run

HARNESS = "recorded replies"
"""Name of the harness in reports."""


def run_of(
    task: AskedTask,
    recorded: Recorded,
    partial: bool = False,
    say: Callable[[str], object] = lambda line: None,
) -> Run:
    """The run that has these replies.

    Args:
        task: under one setting.
        partial: leave out the cases without any record.
        say: gets a line on records that no call needs.

    Raises:
        OptionError: the method reads no text.
        DataError: a case, or a call of one, has no record.
    """
    method, documents = require_text(task.method, OptionError, task.task), task.documents
    names = calls_of(task.benchmark, vars(task.options))
    asked = keys(documents, names, recorded.epochs)
    gaps: dict[str, list[Key]] = {}
    for key in recorded.missing(asked):
        gaps.setdefault(key.case_id, []).append(key)
    each = len(names) * len(recorded.epochs)
    left_out = {name for name, missing in gaps.items() if partial and len(missing) == each}
    if gaps.keys() - left_out or len(left_out) == len(documents):
        raise _refused(recorded, asked, {one: gaps[one] for one in gaps if one not in left_out} or gaps, len(documents))
    if unused := recorded.compared(asked):
        say(unused)
    in_view = dict(zip(recorded.replies, mark_open_thinking(recorded.replies.values(), method), strict=True))
    recorded = replace(recorded, replies=in_view)
    results: list[Result] = []
    for logged in task.logged():
        if logged["id"] not in left_out:
            for epoch in recorded.epochs:
                replies = [recorded.get(Key(logged["id"], call, epoch)) for call in method.calls]
                (of_setting,) = task.benchmark.logged_cases(method, logged, epoch)
                results += method.judge(of_setting, replies)
    (signature,) = task.signatures
    written = datetime.fromtimestamp(recorded.path.stat().st_mtime, UTC)
    epochs = len(recorded.epochs)
    return Run(
        model=recorded.path.stem,
        harness=HARNESS,
        date=written.isoformat(timespec="seconds"),
        signature=signature,
        conditions={"epochs": epochs} if epochs > 1 else {},
        cells={cell: of["cases"] for cell, of in signature.cells.items()},
        results=results,
        logs=(recorded.path,),
    )


def _refused(recorded: Recorded, asked: Sequence[Key], gaps: Mapping[str, Sequence[Key]], cases: int) -> DataError:
    first, calls = next(iter(gaps.values()))[0], sum(map(len, gaps.values()))
    unused = recorded.unused(asked)
    return DataError(
        f"{recorded.path}: found no reply to {first}{recorded.unnamed(first)}, expected one to every call of every "
        f"case: calls without one: {calls:,}, in {len(gaps):,} of {cases:,} cases.{f' {unused}.' if unused else ''} Add their records; if the run asked "
        "only some of the cases, --partial leaves out those without any record."
    )
