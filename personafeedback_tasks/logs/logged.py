"""A run -> the replies in its logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..core.documents import of_settings
from ..core.evidence import Reply
from ..core.recorded import Key, require_text
from ..core.thinking import settled, shows_thinking
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
