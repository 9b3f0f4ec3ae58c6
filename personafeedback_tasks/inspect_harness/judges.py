"""Judges without a language model as an Inspect model API: `--model <benchmark>/<judge>`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, StopReason, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from ..common.errors import OptionError, PersonaFeedbackError, choose
from ..core.benchmark import Benchmark, find
from ..core.method import Reply
from ..core.recorded import Key, Recorded, read
from .errors import errors_in_one_line

REPLAY = "replay"
"""The name of the judge that every benchmark has: it gives each call the reply that a file has for it."""


class JudgeAPI(ModelAPI):
    """A judge that answers from the last message alone, or from what it says of itself."""

    benchmark: Benchmark

    @errors_in_one_line()
    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature that Inspect's own providers have
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        choose(f"{self.benchmark.name} judge", model_name, (*self.benchmark.judges, REPLAY))
        known = ("replies",) if model_name == REPLAY else ()
        for name in model_args.keys() - {*known}:
            raise OptionError(f"{self.benchmark.name}/{model_name}: -M {name} is none of its arguments. Leave it out.")
        self.recorded = recorded(model_args.get("replies")) if model_name == REPLAY else None

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        about = input[-1].metadata or {}
        try:
            if self.recorded is None:
                reply = Reply(self.benchmark.judges[self.model_name](input[-1].text))
            else:
                reply = self.recorded.get(Key(about["case_id"], about["call"], about.get("epoch", 1)))
        except PersonaFeedbackError:
            raise
        except ValueError as error:
            raise OptionError(
                f"{about.get('case_id', 'a message')}: {error}. {self.benchmark.name}/{self.model_name} reads "
                f"only prompts in the form of {self.benchmark.name}'s."
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


def recorded(replies: object) -> Recorded:
    """The replies of the file that `-M replies=` names."""
    if not isinstance(replies, str) or not replies:
        found = "" if replies is None else f", got {replies!r}"
        raise OptionError(f"replay needs -M replies=FILE, a file as `personafeedback score-replies` takes it{found}.")
    return read(Path(replies).expanduser())


@cache
def judges(name: str) -> Any:
    """The model API named after a benchmark, with its judges and those for all benchmarks."""

    @modelapi(name=name)
    def api() -> type[ModelAPI]:
        return type("JudgeAPI", (JudgeAPI,), {"benchmark": find(name)})

    return api
