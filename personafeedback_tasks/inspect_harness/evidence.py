"""Inspect's replies -> evidence, for scorers and for readers of logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ChatCompletionChoice

from ..core.benchmark import Benchmark
from ..core.evidence import Evidence, Reply, Reward
from ..core.method import Method, RewardMethod, TopTokenMethod
from ..core.rewards import RewardError
from .logprobs import first_token
from .reward_api import API


def said(choice: ChatCompletionChoice) -> Reply:
    """The text of a reply and, from its stop reason, whether it was cut off or withheld."""
    stopped, content = choice.stop_reason, choice.message.content
    thinking = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    return Reply(
        choice.message.text,
        None if stopped == "unknown" else stopped == "max_tokens",
        stopped == "content_filter",
        thinking,
        stopped == "model_length",
    )


def given(method: Method, replies: Mapping[str, ChatCompletionChoice], case_id: str, model: str) -> list[Evidence]:
    """Evidence from the model's replies to each call, as far as there are any.

    Raises:
        OptionError: the method compares log-probabilities and the model returned none.
        RewardError: a reply is no reward.
    """
    if isinstance(method, RewardMethod):
        return [*_rewards(method, replies, case_id)]
    if isinstance(method, TopTokenMethod):
        return [first_token(reply, case_id, model) for reply in replies.values()]
    return [said(reply) for reply in replies.values()]


def _rewards(method: Method, replies: Mapping[str, ChatCompletionChoice], case_id: str) -> list[Reward]:
    abouts = [about_of(reply) for reply in replies.values()]
    abouts = [about for about in abouts if "reward" in about]
    if len(abouts) != max(len(replies), len(method.calls)):
        raise RewardError(
            f"sample {case_id}: found the rewards of {len(abouts)} responses, expected both. "
            f"Run the case again with --model {API}/... -T method=reward."
        )
    return [
        Reward(float(about["reward"]), {name: float(value) for name, value in about["aspects"].items()})
        for about in abouts
    ]


def about_of(reply: ChatCompletionChoice) -> dict[str, Any]:
    """A reward model's numbers beside the text of its reply."""
    return reply.message.metadata or {}


def score_name(benchmark: Benchmark, method: Method) -> str:
    """The scorer's name. A method has one of its own: a log that is scored again tells the scorer no method."""
    return benchmark.task("", method.suffix)
