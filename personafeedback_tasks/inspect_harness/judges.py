"""The judges as an Inspect model API: `--model personafeedback/longest`, `--model personafeedback/first`."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from ..common.errors import choose
from ..personafeedback.judges import JUDGES


@modelapi(name="personafeedback")
class Judge(ModelAPI):
    """Answers from the text of the last message alone."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature that Inspect's own providers have
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.judge = JUDGES[choose("personafeedback judge", model_name, tuple(JUDGES))]

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        try:
            letter = self.judge(input[-1].text)
        except ValueError as error:
            raise ValueError(f"{(input[-1].metadata or {}).get('case_id', 'a message')}: {error}") from error
        output = ModelOutput.from_content(f"personafeedback/{self.model_name}", letter)
        output.usage = ModelUsage()
        return output
