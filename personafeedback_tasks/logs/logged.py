"""A run -> the replies in its logs, and their tokens where the log counts none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..common.tokens import Count, counted_by
from ..core.documents import of_settings
from ..core.evidence import Reply
from ..core.recorded import Key, require_text
from ..core.thinking import settled, shows_thinking
from ..core.usage import NONE, Usage
from .log import LoggedDocument, LoggedTask
from .read import open_logs
from .run import Run, RunError


def logged(run: Run) -> Iterator[tuple[Key, Reply]]:
    """Every reply of a run to the calls of its method, in the order of its logs, which are read again for the texts."""
    require_text(run.method, RunError, str(run.logs[0]))
    for task, document in documents_of(run):
        if document.mark or not document.evidence:
            continue
        evidence = of_settings(document.evidence, len(task.settings))[task.settings.index(run.setting)]
        for call, given in zip(run.method.calls, evidence, strict=True):
            if isinstance(given, Reply):
                yield Key(document.id, call, document.epoch), given


def tasks_of(run: Run) -> Iterable[LoggedTask]:
    """The tasks of a run's logs, each once: lm-eval's results file already has those of all its samples files."""
    tasks = {task.path: task for path in run.logs for log in open_logs(path) for task in log.tasks}
    return [task for path, task in tasks.items() if path in run.logs]


def documents_of(run: Run) -> Iterator[tuple[LoggedTask, LoggedDocument]]:
    """Every document of a run's logs with its task; its replies are read in view of all others."""
    tasks = tasks_of(run)
    thinks = any(any(map(shows_thinking, document.evidence)) for task in tasks for document in task.documents())
    for task in tasks:
        for document in task.documents():
            evidence = [settled(given, run.method, task.max_tokens) if thinks else given for given in document.evidence]
            yield task, replace(document, evidence=evidence)


def with_tokens(run: Run, tokenizer: str | None) -> Run:
    """The run with an estimate where its log counts no tokens: of the texts as they are logged, each call on its own.

    Args:
        tokenizer: its name, loaded for the first run that needs it.
    """
    if tokenizer is None or run.usage.counted:
        return run
    whole, count = NONE, counted_by(tokenizer)
    for task, document in documents_of(run):
        if document.document is None or document.asked is None:
            continue
        whole += _usage(document, task.settings.index(run.setting), task.staged, count)
    return replace(run, usage=whole, tokenizer=tokenizer)


def _usage(document: LoggedDocument, place: int, staged: Sequence[bool], count: Count) -> Usage:
    assert document.asked is not None  # checked by the caller
    asked: Any = document.asked().under(place, staged).calls
    evidence = of_settings(document.evidence, len(staged))[place]
    replies = [reply.text for reply in evidence if isinstance(reply, Reply)]
    return Usage(
        calls=len(asked),
        input=sum(count([text for call in asked for _, text in call])),
        output=sum(count(replies)),
    )
