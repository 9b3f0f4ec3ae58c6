"""Messages of an Inspect run: one at the start and, if many replies are unreadable, one at the end.

Only Inspect's hooks know `--limit` and the end of a run. They are registered when one of our tasks is first built.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import rich
from inspect_ai.hooks import Hooks, SampleEnd, TaskEnd, TaskStart, hooks
from inspect_ai.model import ChatMessage, ChatMessageSystem, Model, get_model
from inspect_ai.scorer import Score
from inspect_ai.util import display_type

from ..core import messages, recorded, window
from ..core.benchmark import Benchmark, find
from ..core.cases import CaseSet
from ..core.options import Options
from ..core.signature import KEY, Signature, signatures, signed
from ..core.window import PromptCheck, Window, check, made_for
from . import calls
from .calls import REFUSAL
from .judges import JudgeAPI
from .reward_api import RewardModelAPI
from .scorers import in_view

logger = logging.getLogger(__name__)


def watch(benchmark: Benchmark, name: str, cases: CaseSet[Any], every: Sequence[Options]) -> dict[str, Any]:
    """Print the two messages about every run of this task; returns the signatures for `Task(metadata=...)`."""
    _register()
    found = [Signature.of(benchmark, name, cases, options) for options in every]
    _TASKS[_key(found)] = cases, every
    return signed(found)


# signatures -> the cases and options that they were made of
_TASKS: dict[str, tuple[CaseSet[Any], Sequence[Options]]] = {}


def _key(found: Sequence[Signature]) -> str:
    return json.dumps(signed(found), sort_keys=True)


# id of one of our running evaluations -> the scores of each finished sample
_SCORES: dict[str, list[list[Score]]] = {}

# id of one of our running evaluations -> (bytes, tokens) of its prompts, for `core.window.counted`
_CALLS: dict[str, list[Any]] = {}

# ids of our running evaluations of which no call was answered yet
_UNANSWERED: set[str] = set()


@cache
def _register() -> None:
    @hooks(name=KEY, description="says what a run of personafeedback-tasks asks, and whether its replies are readable")
    class Notices(Hooks):
        async def on_task_start(self, data: TaskStart) -> None:
            found = signatures(data.spec.metadata)
            if found:
                _SCORES[data.eval_id], _CALLS[data.eval_id] = [], []
                _UNANSWERED.add(data.eval_id)
                ids, epochs = data.spec.dataset.sample_ids, data.spec.config.epochs or 1
                opening, prompts = _opening(found, ids, epochs, data.plan.config.system_message)
                _inform(opening)
                data.spec.metadata = {**(data.spec.metadata or {}), window.KEY: prompts.as_dict()}
                REFUSAL.set(prompts.refusal)

        async def on_model_retry(self, data: Any) -> None:  # from inspect-ai 0.3.285 on, of which it names the class
            # The second failure of a call comes after about ten seconds. Inspect itself shows a count of retries alone.
            if data.attempt > 1 and data.eval_id in _UNANSWERED:
                _UNANSWERED.discard(data.eval_id)
                logger.warning(
                    messages.unanswered(data.task_name, data.model_name, data.status_code, data.exception_type)
                )

        async def on_model_usage(self, data: Any) -> None:
            _UNANSWERED.discard(data.eval_id)

        async def on_sample_end(self, data: SampleEnd) -> None:
            _UNANSWERED.discard(data.eval_id)
            if data.eval_id in _SCORES and data.sample.scores:
                _SCORES[data.eval_id].append(list(data.sample.scores.values()))
                _CALLS[data.eval_id] += (data.sample.output.metadata or {}).get(window.KEY, ())

        async def on_task_end(self, data: TaskEnd) -> None:
            seen = _SCORES.pop(data.eval_id, None)
            _UNANSWERED.discard(data.eval_id)
            if seen is not None:
                signature, *_ = signatures(data.log.eval.metadata)
                # A resumed run takes its first samples from the log. Accessing them reads the whole log again.
                if data.log.results and len(seen) < data.log.results.completed_samples:
                    seen = [list((sample.scores or {}).values()) for sample in data.log.samples or ()] or seen
                noted = [score.metadata or {} for sample in seen for score in sample]
                benchmark = find(signature.benchmark)
                method, first = benchmark.methods[signature.method], benchmark.first_call
                results = (result for of_sample in in_view(noted) for result in of_sample)
                answers = [answer for result in results for answer in result.answers]
                warnings = [
                    messages.unreadable(benchmark, signature.task, answers, method, "inspect-ai"),
                    messages.cut(signature.task, window.counted(_CALLS.pop(data.eval_id))),
                    messages.unreadable_first(
                        signature.task, first, [about[first] for about in noted if first in about]
                    ),
                ]
                for warning in warnings:
                    if warning is not None:
                        logger.warning(warning)


def _inform(text: str) -> None:
    # by default, Inspect shows no log message below WARNING
    if display_type() != "none":
        rich.get_console().print(text, markup=False, highlight=False, soft_wrap=True)


def _opening(
    found: Sequence[Signature], ids: list[Any] | None, epochs: int, system: str | None
) -> tuple[str, PromptCheck]:
    cases, every = _TASKS[_key(found)]
    benchmark = find(found[0].benchmark)
    chosen = set(map(str, ids or ()))
    method = benchmark.methods[every[0].method]
    asked = [document for document in method.documents(cases) if document.id in chosen]
    before: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
    texts = (
        [*before, *calls.messages(benchmark, method, document, options, call)]
        for document in asked
        for options in every
        for call in method.calls
    )
    number = len(asked) * len(every) * len(method.calls)
    prompts = _check_prompts(found[0].task, get_model(), number, texts)
    opening = messages.opening(
        benchmark,
        task=found[0].task,
        asked=asked,
        calls=len(asked) * len(recorded.calls_of(benchmark, *map(vars, every))) * epochs,
        options=every,
        data=cases,
        prompts=prompts,
    )
    return opening, prompts


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
