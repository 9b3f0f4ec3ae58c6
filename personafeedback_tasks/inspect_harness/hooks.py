"""Messages of an Inspect run: one at the start and, if many replies are unreadable, one at the end.

Only Inspect's hooks know `--limit` and the end of a run. They are registered when one of our tasks is first built.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import rich
from inspect_ai.hooks import Hooks, SampleEnd, TaskEnd, TaskStart, hooks
from inspect_ai.model import ChatMessage, ChatMessageSystem, Model, get_model
from inspect_ai.util import display_type

from ..core import messages, recorded, window
from ..core.asked import AskedTask
from ..core.benchmark import find
from ..core.signature import KEY, Signature, signatures, signed
from ..core.window import PromptCheck, Window, check, made_for
from . import calls
from .calls import REFUSAL
from .judges import JudgeAPI
from .reward_api import RewardModelAPI
from .scorers import in_view

logger = logging.getLogger(__name__)


def watch(asked: AskedTask) -> dict[str, Any]:
    """Print the two messages about every run of this task; returns the signatures for `Task(metadata=...)`."""
    _register()
    _TASKS[_key(asked.signatures)] = asked
    return signed(asked.signatures)


# signatures -> the task that they were made of
_TASKS: dict[str, AskedTask] = {}


def _key(found: Sequence[Signature]) -> str:
    return json.dumps(signed(found), sort_keys=True)


@dataclass
class _Running:
    """One of our evaluations, from its start to its end."""

    samples: int = 0  # that were scored
    notes: list[Mapping[str, Any]] = field(default_factory=list)  # the metadata of their scores
    sizes: list[Any] = field(default_factory=list)  # (bytes, tokens) of their prompts, for `core.window.counted`
    waiting: bool = True  # until the first call is answered, or the user is warned that none is


# id of an evaluation -> what is known about it
_RUNNING: dict[str, _Running] = {}


@cache
def _register() -> None:
    @hooks(name=KEY, description="says what a run of personafeedback-tasks asks, and whether its replies are readable")
    class Notices(Hooks):
        async def on_task_start(self, data: TaskStart) -> None:
            found = signatures(data.spec.metadata)
            if found:
                _RUNNING[data.eval_id] = _Running()
                ids, epochs = data.spec.dataset.sample_ids, data.spec.config.epochs or 1
                opening, prompts = _opening(found, ids, epochs, data.plan.config.system_message)
                _inform(opening)
                data.spec.metadata = {**(data.spec.metadata or {}), window.KEY: prompts.as_dict()}
                REFUSAL.set(prompts.refusal)

        async def on_model_retry(self, data: Any) -> None:  # from inspect-ai 0.3.285 on, of which it names the class
            # The second failure of a call comes after about ten seconds. Inspect itself shows a count of retries alone.
            running = _RUNNING.get(data.eval_id)
            if running and running.waiting and data.attempt > 1:
                running.waiting = False
                logger.warning(
                    messages.unanswered(data.task_name, data.model_name, data.status_code, data.exception_type)
                )

        async def on_model_usage(self, data: Any) -> None:
            if running := _RUNNING.get(data.eval_id):
                running.waiting = False

        async def on_sample_end(self, data: SampleEnd) -> None:
            if running := _RUNNING.get(data.eval_id):
                running.waiting = False
                if data.sample.scores:
                    running.samples += 1
                    running.notes += [score.metadata or {} for score in data.sample.scores.values()]
                    running.sizes += (data.sample.output.metadata or {}).get(window.KEY, ())

        async def on_task_end(self, data: TaskEnd) -> None:
            if running := _RUNNING.pop(data.eval_id, None):
                # A resumed run takes its first samples from the log. Accessing them reads the whole log again.
                if data.log.results and running.samples < data.log.results.completed_samples and data.log.samples:
                    running.notes = []
                    for sample in data.log.samples:
                        running.notes += [score.metadata or {} for score in (sample.scores or {}).values()]
                for warning in _warnings(signatures(data.log.eval.metadata)[0], running):
                    if warning is not None:
                        logger.warning(warning)


def _warnings(signature: Signature, running: _Running) -> list[str | None]:
    benchmark, task = find(signature.benchmark), signature.task
    answers: list[str] = []
    for result in in_view(running.notes):
        answers += result.answers
    first = benchmark.first_call
    outcomes = [note[first] for note in running.notes if first in note]
    return [
        messages.unreadable(benchmark, task, answers, benchmark.methods[signature.method], "inspect-ai"),
        messages.cut(task, window.counted(running.sizes)),
        messages.unreadable_first(task, first, outcomes),
    ]


def _inform(text: str) -> None:
    # by default, Inspect shows no log message below WARNING
    if display_type() != "none":
        rich.get_console().print(text, markup=False, highlight=False, soft_wrap=True)


def _opening(
    found: Sequence[Signature], ids: list[Any] | None, epochs: int, system: str | None
) -> tuple[str, PromptCheck]:
    task = _TASKS[_key(found)]
    chosen = set(map(str, ids or ()))
    asked = [document for name, document in task.documents.items() if name in chosen]
    before: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    texts = (
        [*before, *calls.messages(task.benchmark, document, options, call)]
        for document, options, call in product(asked, task.every, task.method.calls)
    )
    number = len(asked) * len(task.every) * len(task.method.calls)
    prompts = _check_prompts(task.name, get_model(), number, texts)
    made = len(asked) * len(recorded.calls_of(task.benchmark, *map(vars, task.every))) * epochs
    return messages.opening(task, chosen, calls=made, prompts=prompts), prompts


def _check_prompts(task: str, model: Model, asked: int, prompts: Iterable[list[ChatMessage]]) -> PromptCheck:
    # Only a model that runs in this process can be checked before it is asked. Windows of servers show in their replies
    # and in the tokens that they count.
    api: Any = model.api
    if isinstance(api, JudgeAPI):
        return PromptCheck(asked, 0 if api.recorded is None else None)
    if isinstance(api, RewardModelAPI):  # it refuses what does not fit, or says what it cuts
        return PromptCheck(asked, 0)
    if not hasattr(api, "hf_chat"):
        return PromptCheck(asked)
    window, passed = made_for(api.model.config), api.tokenizer_call_args
    if passed.get("truncation"):
        size = passed.get("max_length") or api.tokenizer.model_max_length
        if window is None or size < window.room:
            window = Window(size, size, "tokenizer_call_args", "Leave truncation out of -M tokenizer_call_args.")
    if window is None:
        return PromptCheck(asked, 0)
    texts = [api.hf_chat(messages, []) for messages in prompts]
    return check(task, texts, window, lambda text: len(api.tokenizer(text).input_ids))
