"""A task around any other task: each sample gets one system message before its own, and keeps everything else."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from inspect_ai import Task, task_with
from inspect_ai._eval.loader import load_tasks  # inspect-evals-lint: ignore[private_api_imports] -- no public one
from inspect_ai._util.registry import (
    registry_params,
)  # inspect-evals-lint: ignore[private_api_imports] -- no public one
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.model._model import active_model  # inspect-evals-lint: ignore[private_api_imports] -- no public one

from ..common.errors import OptionError, did_you_mean
from ..common.records import short
from .errors import errors_in_one_line

KEY = "with_user"
"""Key in the metadata of a log and of each message."""

logger = logging.getLogger(__name__)


Telling = Callable[[object, Mapping[str, Any]], tuple[str, str] | None]
"""(id of a sample, its metadata) -> (user, text of the message), or None for no message."""


@errors_in_one_line()
def with_messages(name: str, arguments: Mapping[str, Any], telling: Callable[[], Telling], setting: str) -> Task:
    """The task of that name, with a message before those of each sample.

    Args:
        name: as `inspect eval` takes it.
        arguments: the task's own options.
        telling: called where an error of its own is shown in one line.
        setting: for the log.

    Raises:
        OptionError: there is no such task, its samples cannot be listed, or the model's chat template refuses the
            message.
    """
    inner, told, samples = _load(name, arguments), telling(), list[Sample]()
    tried = set[tuple[str, ...]]()
    for number, sample in enumerate(inner.dataset, start=1):
        # Equal ids in all runs, so that their samples can be paired.
        sample = sample.model_copy(update={"id": number if sample.id is None else sample.id})
        message = told(sample.id, sample.metadata or {})
        if message is not None:
            own: list[ChatMessage] = (
                [ChatMessageUser(content=sample.input, source="input")]
                if isinstance(sample.input, str)
                else list(sample.input)
            )
            user, text = message
            first = ChatMessageSystem(content=text, metadata={KEY: user})
            sample = sample.model_copy(update={"input": [first, *own]})
            roles = tuple(message.role for message in (first, *own))
            if roles not in tried:
                tried.add(roles)
                _refuse_template([first, *own], sample.id)
        samples.append(sample)
    if setting != "no_persona":
        _register()
    about = {"task": name, "setting": setting, "name": inner.name}
    dataset = MemoryDataset(samples, name=inner.dataset.name, location=inner.dataset.location)
    return task_with(
        inner, dataset=dataset, name=f"{inner.name} {setting}", metadata={**(inner.metadata or {}), KEY: about}
    )


def _load(name: str, arguments: Mapping[str, Any]) -> Task:
    if not isinstance(name, str) or not name:
        raise OptionError(f"task must be one task, such as -T task=FILE.py@task, got {name!r}.")
    file, at, rest = name.partition("@")
    # A task that is run by path starts in the folder of its own file; and Inspect looks for relative paths alone.
    there = next((path for path in (Path(file), Path(os.environ.get("PWD", ""), file)) if path.is_file()), None)
    try:
        found = load_tasks([name if there is None else f"{os.path.relpath(there)}{at}{rest}"], dict(arguments))
    except Exception as error:  # of Inspect, or of the task's own code
        said = getattr(error, "message", "") or str(error)
        raise OptionError(
            f"task={name!r} cannot be loaded ({type(error).__name__}: {' '.join(str(said).split())[:300].rstrip('.')}). "
            "Pass a task as `inspect eval` takes it, such as FILE.py@task, and its own options as further -T."
        ) from error
    if len(found) != 1:
        raise OptionError(f"task={name!r}: found {len(found)} tasks, expected one. Pass FILE.py@task.")
    for option in arguments:
        if option not in registry_params(found[0]):  # Inspect only warns, and the run would go on without it
            raise OptionError(
                f"{option} is no option of with_user or of task={name!r}.{did_you_mean(option, ('user', 'setting', 'data'))}"
            )
    if getattr(found[0], "sample_source", None) is not None:
        raise OptionError(
            f"task={name!r} makes its samples while it runs, so users cannot be assigned beforehand. Use a task whose "
            "samples can be listed."
        )
    return found[0]


def _refuse_template(messages: list[ChatMessage], sample: object) -> None:
    # Only the template of a model that runs in this process is known before it is asked.
    model = active_model()
    render = getattr(model.api, "hf_chat", None) if model else None
    if render is None:
        return
    try:
        render(messages, [])
    except Exception as error:  # of jinja, or of the template's own
        count = sum(message.role == "system" for message in messages)
        raise OptionError(
            f"{model}: its chat template refuses sample {sample} with {count} system messages, one of which is about "
            f"the user ({short(str(error))}). Use a model whose template takes them."
        ) from error


# --- whether the model got it -----------------------------------------------------------------------------------------


def calls_without(sample: EvalSample, model: str) -> tuple[int, int]:
    """(calls of the model whose leading system messages lack the sample's message, all its calls)."""
    first = sample.input[0] if isinstance(sample.input, list) and sample.input else None
    if first is None or KEY not in (first.metadata or {}):
        return 0, 0
    names = model, model.partition("/")[2]
    asked = [event for event in sample.events if isinstance(event, ModelEvent) and event.role is None]
    reached = [_reached(event.input, first.text) for event in asked if event.model in names]
    return reached.count(False), len(reached)


def _reached(messages: Iterable[ChatMessage], text: str) -> bool:
    # in the first two system messages, or in one text with an agent's own, as some providers join them
    for place, message in enumerate(messages):
        if not isinstance(message, ChatMessageSystem) or place > 1:
            return False
        if text in message.text:
            return True
    return False


_WARNED: set[str] = set()
"""Ids of running evaluations."""


@cache
def _register() -> None:
    @hooks(name=f"personafeedback_{KEY}", description="warns when a model did not get the message about its user")
    class Missed(Hooks):
        async def on_sample_end(self, data: SampleEnd) -> None:
            missed, calls = calls_without(data.sample, str(get_model()))
            if missed and data.eval_id not in _WARNED:
                _WARNED.add(data.eval_id)
                logger.warning(
                    f"VOID: the message about the user is missing in {missed:,} of {calls:,} calls of the main model "
                    "to one sample. The task's solver builds its messages anew, or runs an agent that does not get "
                    "them."
                )
