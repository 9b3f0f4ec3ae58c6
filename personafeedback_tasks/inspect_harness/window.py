"""The windows of Inspect's models that run in this process. Those of servers show in their replies and in the tokens that they count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inspect_ai.model import ChatMessage, Model

from ..engine.replay import Replay
from ..engine.window import PromptCheck, Window, check
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
    if not hasattr(api, "hf_chat") or api.tokenizer_call_args.get("truncation"):
        return PromptCheck(asked)
    size = _positions(api.model.config)
    if size is None:
        return PromptCheck(asked, 0)
    texts = [api.hf_chat(messages, []) for messages in prompts]
    remedy = "Beyond them, a model replies at random: take one with at least {smallest:,}."
    window = Window(size, size, "the positions that it was made for", remedy)
    return check(task, texts, window, lambda text: len(api.tokenizer(text).input_ids))


def _positions(config: Any) -> int | None:
    """The longest text that a model was made for; None where its positions have no end."""
    config = getattr(config, "text_config", None) or config
    return getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
