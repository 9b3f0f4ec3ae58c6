"""The calls of a case, made concurrently.

A sample has ids and the question; the transcript has every prompt as it was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from itertools import product
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import span

from ..common.errors import OptionError
from ..core import window
from ..core.benchmark import FIRST_TOKENS, Benchmark
from ..core.cases import Case, CaseSet
from ..core.method import Method
from ..core.options import Options
from .evidence import choice

_ROLES: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


REFUSAL: ContextVar[str] = ContextVar("refusal", default="")
"""Why the model of the running task must not be asked; empty if it may. A hook finds out, and can stop nothing
itself."""


def ask_every_call(
    benchmark: Benchmark,
    cases: CaseSet[Any],
    every: Sequence[Options],
    refuse: Callable[[Model], None] | None = None,
) -> Solver:
    """A solver that makes the calls of a case or document concurrently, after the benchmark's first call, if any.

    Args:
        refuse: raises for a model that does not support these calls.
    """
    of_method = benchmark.methods[every[0].method]
    names = of_method.asked(benchmark.settings(every))
    firsts = [benchmark.first(vars(options)) for options in every]
    first_tokens = None if of_method.max_tokens else FIRST_TOKENS
    document_of = {document.id: document for document in of_method.documents(cases)}

    # Inspect writes a solver's arguments into the log: the cases come in from outside, the method is an argument.
    @solver(name="ask_every_call")
    def asking(method: str) -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            model, case = get_model(), document_of[str(state.sample_id)]
            if REFUSAL.get():
                raise OptionError(REFUSAL.get())
            if refuse is not None:
                refuse(model)
            if (model.config.num_choices or 1) > 1:
                raise OptionError(
                    f"num_choices must be 1, got {model.config.num_choices}: each call has one reply. Leave it out."
                )
            about = {"case_id": case.id, **({"epoch": state.epoch} if state.epoch > 1 else {})}
            told = []
            for options, first in zip(every, firsts, strict=True):
                outcome = {}
                if first:
                    prompt = benchmark.prompt(case, options, first)
                    message = ChatMessageUser(content=prompt, metadata={**about, "call": first})
                    (output,) = await concurrently(model, {first: [message]}, first_tokens)
                    options, outcome[first] = benchmark.after(case, options, output.completion)
                told.append((options, outcome))
            prompts: dict[str, list[ChatMessage]] = {}
            noted: dict[str, str] = {}
            for name, ((options, outcome), call) in zip(names, product(told, of_method.calls), strict=True):
                prompts[name] = messages(benchmark, of_method, case, options, call)
                # for judges, and for what a killed run left
                prompts[name][-1].metadata = {**about, **outcome, "call": name}
                noted |= outcome
            outputs = await concurrently(model, prompts)
            # One output with one choice per call: what the scorer reads, also when a log is scored again.
            state.output = ModelOutput(
                model=outputs[0].model,
                choices=[choice(output) for output in outputs],
                metadata={window.KEY: list(map(_size, prompts.values(), outputs)), **noted},
            )
            return state

        return solve

    return asking(of_method.name)


def _size(prompt: Sequence[ChatMessage], output: ModelOutput) -> tuple[int, int | None]:
    # Inspect's input tokens leave out those of a cache
    size, usage = sum(window.bytes_of(message.text) for message in prompt), output.usage
    if usage is None:
        return size, None
    return size, usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def text_config(max_tokens: int) -> GenerateConfig:
    """Generation settings for a model whose text is read."""
    return GenerateConfig(
        max_tokens=max_tokens,
        temperature=0.0,
        # The part of a prompt that cases share is shorter than what Anthropic caches: a cache write is never read back.
        cache_prompt=False,
    )


def messages(benchmark: Benchmark, method: Method, case: Case, options: Options, call: str) -> list[ChatMessage]:
    """The messages of one call."""
    turns = benchmark.turns(method, case, options, call)
    return [_ROLES[turn["role"]](content=turn["content"]) for turn in turns]


async def concurrently(
    model: Model, prompts: Mapping[str, list[ChatMessage]], max_tokens: int | None = None
) -> list[ModelOutput]:
    """The outputs of the calls, in order. If one fails, the others are cancelled and its error is raised.

    Inspect's `collect` wraps each call in one more span, `task-1`, which only makes the log larger.
    """
    outputs: dict[str, ModelOutput] = {}
    config = GenerateConfig(max_tokens=max_tokens)
    failed: list[Exception] = []

    async def one(call: str) -> None:
        try:
            async with span(call.replace("_", " "), type="call"):
                outputs[call] = await model.generate(prompts[call], config=config)
        except Exception as error:  # the group would raise a group of errors
            failed.append(error)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for call in prompts:
            group.start_soon(one, call)
    if failed:
        raise failed[0]
    return [outputs[call] for call in prompts]
