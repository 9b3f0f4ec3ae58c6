"""The windows of Inspect's models that run in this process. Those of servers show in their replies and in the tokens that they count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inspect_ai.model import ChatMessage, Model

from ..engine.replay import Replay
from ..engine.window import PromptCheck, Window, check, made_for
from .judges import JudgeAPI
from .reward_api import RewardModelAPI


def check_prompts(task: str, model: Model, asked: int, prompts: Iterable[list[ChatMessage]]) -> PromptCheck:
    """Count the prompts that do not fit into the window of a model, before it is asked.

    Args:
        asked: number of prompts.
    """
    api: Any = model.api
    if isinstance(api, JudgeAPI):
        return PromptCheck(asked, None if isinstance(api.judge, Replay) else 0)
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
