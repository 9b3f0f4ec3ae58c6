"""A run -> the replies in its logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..engine.evidence import Reply
from ..engine.recorded import Key, refuse_without_text
from ..engine.thinking import settled, shows_thinking
from .log import LoggedDocument, LoggedTask
from .read import open_logs
from .run import Run, RunError


def logged(run: Run) -> Iterator[tuple[Key, Reply]]:
    """Every reply of a run in the order of its logs, which are read again: a run in memory has no texts.

    A run with a stage has the replies to that call, too.

    Raises:
        RunError: the run's method reads no text.
    """
    refuse_without_text(run.method, RunError, str(run.logs[0]))
    stage, setting = run.benchmark.stage, run.setting
    for task, document in documents_of(run):
        before = task.settings.index(setting) * len(run.method.calls)
        if document.mark:
            continue
        if stage and run.signature.get(stage.name) and (reply := document.stage_reply()):
            yield Key(document.id, stage.name, document.epoch), reply
        for call, given in zip(run.method.calls, document.evidence[before:], strict=False):
            if isinstance(given, Reply):
                yield Key(document.id, call, document.epoch), given


def tasks_of(run: Run) -> Iterable[LoggedTask]:
    """The tasks of a run's logs. lm-eval's results file has those of all its samples files, each of which names them again."""
    tasks = {task.path: task for path in run.logs for log in open_logs(path) for task in log.tasks}
    return [task for path, task in tasks.items() if path in run.logs]


def documents_of(run: Run) -> Iterator[tuple[LoggedTask, LoggedDocument]]:
    """Every document of a run's logs, its replies in view of all others, with the task that it belongs to."""
    tasks = tasks_of(run)
    thinks = any(any(map(shows_thinking, document.evidence)) for task in tasks for document in task.documents())
    for task in tasks:
        for document in task.documents():
            evidence = [settled(given, run.method, task.room) if thinks else given for given in document.evidence]
            yield task, replace(document, evidence=evidence)
