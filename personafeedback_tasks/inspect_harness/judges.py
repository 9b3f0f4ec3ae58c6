"""Judges without a language model as an Inspect model API: `--model <benchmark>/<judge>`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, StopReason, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from ..common.errors import OptionError, PersonaFeedbackError, choose
from ..core.benchmark import Benchmark, find
from ..core.evidence import Reply
from ..core.recorded import Judge, Replay

FACTORIES: dict[str, Callable[..., Judge]] = {"replay": Replay}
"""Name -> factory of a judge for all benchmarks; it raises TypeError for unknown model arguments. `_registry` adds to
it."""


class JudgeAPI(ModelAPI):
    """A judge that answers from the last message alone, or from what it says of itself."""

    benchmark: Benchmark

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature that Inspect's own providers have
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        known = {**{name: _of_prompt(judge) for name, judge in self.benchmark.judges.items()}, **FACTORIES}
        make = known[choose(f"{self.benchmark.name} judge", model_name, tuple(known))]
        try:
            self.judge = make(**model_args)
        except TypeError as error:
            raise OptionError(f"{self.benchmark.name}/{model_name}: {error}. Pass its arguments with -M.") from error

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        about = input[-1].metadata or {}
        try:
            reply = self.judge(input[-1].text, about)
        except PersonaFeedbackError:
            raise
        except ValueError as error:
            raise OptionError(
                f"{about.get('case_id', 'a message')}: {error}. {self.benchmark.name}/{self.model_name} judges tasks "
                f"of {self.benchmark.name} alone."
            ) from None
        stopped: StopReason = "unknown" if reply.truncated is None else "stop"
        if reply.filtered:
            stopped = "content_filter"
        if reply.truncated:
            stopped = "max_tokens"
        if reply.prompt_cut:
            stopped = "model_length"
        output = ModelOutput.from_content(f"{self.benchmark.name}/{self.model_name}", reply.text, stopped)
        output.usage = ModelUsage()
        return output


def _of_prompt(judge: Callable[[str], str]) -> Callable[..., Judge]:
    def make() -> Judge:
        return lambda prompt, about: Reply(judge(prompt))

    return make


@cache
def judges(name: str) -> Any:
    """The model API named after a benchmark, with its judges and those for all benchmarks."""

    @modelapi(name=name)
    def api() -> type[ModelAPI]:
        return type("JudgeAPI", (JudgeAPI,), {"benchmark": find(name)})

    return api
