"""Judges without a model as an Inspect model API: `--model <benchmark>/<judge>`."""

from __future__ import annotations

from functools import cache
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from ..common.errors import choose
from ..engine.benchmark import Benchmark, find


class Judge(ModelAPI):
    """A judge that answers from the text of the last message alone."""

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
        judges = self.benchmark.judges
        self.judge = judges[choose(f"{self.benchmark.name} judge", model_name, tuple(judges))]

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        try:
            answer = self.judge(input[-1].text)
        except ValueError as error:
            raise ValueError(f"{(input[-1].metadata or {}).get('case_id', 'a message')}: {error}") from error
        output = ModelOutput.from_content(f"{self.benchmark.name}/{self.model_name}", answer)
        output.usage = ModelUsage()
        return output


@cache
def judges(name: str) -> Any:
    """The model API named after a benchmark, with its judges."""

    @modelapi(name=name)
    def api() -> type[ModelAPI]:
        return type("Judge", (Judge,), {"benchmark": find(name)})

    return api
