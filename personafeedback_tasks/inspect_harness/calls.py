"""The calls of a case: made concurrently, and recovered from the log of a killed run.

A sample has ids and the question; the transcript has every prompt as it was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from itertools import product
from typing import Any

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
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
from ..core.asked import AskedTask
from ..core.benchmark import FIRST_TOKENS, Benchmark
from ..core.options import Options

_ROLES: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}

REFUSAL: ContextVar[str] = ContextVar("refusal", default="")
"""Why the model of the running task must not be asked; empty if it may. A hook finds out, and can stop nothing
itself."""


def ask_every_call(task: AskedTask, refuse: Callable[[Model], None] | None = None) -> Solver:
    """A solver that makes the calls of a case or document concurrently, after the benchmark's first call, if any.

    Args:
        refuse: raises for a model that does not support these calls.
    """
    benchmark, of_method = task.benchmark, task.method
    names = of_method.asked(task.settings)
    first_tokens = None if of_method.max_tokens else FIRST_TOKENS

    # Inspect writes a solver's arguments into the log: the cases come in from outside, the method is an argument.
    @solver(name="ask_every_call")
    def asking(method: str) -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            model, case = get_model(), task.documents[str(state.sample_id)]
            if REFUSAL.get():
                raise OptionError(REFUSAL.get())
            if refuse is not None:
                refuse(model)
            if (model.config.num_choices or 1) > 1:
                raise OptionError(
                    f"num_choices must be 1, got {model.config.num_choices}: each call has one reply. Leave it out."
                )
            about = {"case_id": case.id, **({"epoch": state.epoch} if state.epoch > 1 else {})}
            outputs: dict[str, ModelOutput] = {}
            told, noted = [], dict[str, str]()
            for options in task.every:
                outcome = {}
                if first := benchmark.first(vars(options)):
                    prompt = benchmark.prompt(case, options, first)
                    message = ChatMessageUser(content=prompt, metadata={**about, "call": first})
                    await ask(model, first, [message], outputs, first_tokens)
                    options, outcome[first] = benchmark.after(case, options, outputs[first].completion)
                told.append((options, outcome))
                noted |= outcome
            prompts: dict[str, list[ChatMessage]] = {}
            for name, ((options, outcome), call) in zip(names, product(told, of_method.calls), strict=True):
                prompts[name] = messages(benchmark, case, options, call)
                # for judges, and for what a killed run left
                prompts[name][-1].metadata = {**about, **outcome, "call": name}
            try:
                # Inspect's `collect` wraps each call in one more span, which only makes the log larger.
                async with anyio.create_task_group() as group:
                    for name, asked in prompts.items():
                        group.start_soon(ask, model, name, asked, outputs)
            except ExceptionGroup as failed:  # the first one cancelled the others
                error = failed.exceptions[0]
                raise error from error.__cause__
            choices, sizes = [], []
            for name, asked in prompts.items():
                choices.append(choice(outputs[name]))
                text, tokens = "".join(message.text for message in asked), None
                if usage := outputs[name].usage:  # its input tokens leave out those of a cache
                    tokens = usage.input_tokens
                    tokens += (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
                sizes.append((len(text.encode(errors="surrogatepass")), tokens))
            # One output with one choice per call: what the scorer reads, also when a log is scored again.
            state.output = ModelOutput(
                model=outputs[names[0]].model, choices=choices, metadata={window.KEY: sizes, **noted}
            )
            return state

        return solve

    return asking(of_method.name)


async def ask(
    model: Model, call: str, prompt: list[ChatMessage], outputs: dict[str, ModelOutput], max_tokens: int | None = None
) -> None:
    """Make one call, in a span of its name, and add its output."""
    async with span(call.replace("_", " "), type="call"):
        outputs[call] = await model.generate(prompt, config=GenerateConfig(max_tokens=max_tokens))


def messages(benchmark: Benchmark, document: Any, options: Options, call: str) -> list[ChatMessage]:
    """The messages of one call."""
    return [_ROLES[turn["role"]](content=turn["content"]) for turn in benchmark.turns(document, options, call)]


def choice(output: ModelOutput) -> ChatCompletionChoice:
    """The reply of one call; an empty one where the provider returned no choice, or several."""
    if len(output.choices) == 1:
        return output.choices[0]
    return ModelOutput.from_content(output.model, "", stop_reason="unknown").choices[0]
