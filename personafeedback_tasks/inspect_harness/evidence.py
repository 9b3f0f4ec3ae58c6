"""Inspect's replies -> evidence, for scorers and for readers of logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.event import Event, ModelEvent
from inspect_ai.model import ChatCompletionChoice, GenerateConfig, ModelOutput

from ..common.errors import OptionError
from ..core.benchmark import Benchmark
from ..core.evidence import Evidence, FirstToken, Reply, Reward
from ..core.method import TOP_TOKENS, Method, RewardMethod, TopTokenMethod
from ..core.rewards import RewardError
from ..parsing.letter_probabilities import first_written
from .reward_api import API

LOGPROBS = GenerateConfig(
    logprobs=True,
    top_logprobs=20,  # OpenAI's and vLLM's maximum; where fewer are allowed, set --top-logprobs
    max_tokens=TOP_TOKENS,
    # Some servers scale log-probabilities by the temperature, but not at 0; and white space is not left to luck.
    temperature=0.0,
    cache_prompt=False,
)

_PROVIDERS = (
    "openai/, google/, grok/, vllm/, sglang/ or hf/, or of openai-api/, openrouter/, fireworks/, deepseek/, ollama/ or "
    "llama-cpp-python/ where the server returns them"
)
"""They return alternatives to each token in inspect-ai 0.3.285. together/ returns only the generated token."""


def replies(output: ModelOutput, events: Iterable[Event], calls: Sequence[str]) -> dict[str, ChatCompletionChoice]:
    """Call -> its reply; of a sample that a limit, an error or a kill ended, the replies that exist.

    Args:
        events: of the sample. They tell where it ended early: then Inspect knows at most the last output.
        calls: in the order in which they were made.
    """
    if len(output.choices) == len(calls):
        return dict(zip(calls, output.choices, strict=True))
    # One that a limit or an error ended has an output, too: an empty one.
    answered = [(call, about) for call, about in made(events) if not (call.error or call.pending)]
    found = {about.get("call"): choice(call.output) for call, about in answered}
    return {call: found[call] for call in calls if call in found}


def first_outcome(events: Iterable[Event], call: str) -> dict[str, str]:
    """How the reply to a first call was read, where a sample has nothing but events: of a killed run."""
    for _, about in made(events):
        if call in about:
            return {call: about[call]}
    return {}


def made(events: Iterable[Event]) -> list[tuple[ModelEvent, dict[str, Any]]]:
    """The calls of a model, each with what its last message says about it."""
    return [
        (event, event.input[-1].metadata or {}) for event in events if isinstance(event, ModelEvent) and event.input
    ]


def choice(output: ModelOutput) -> ChatCompletionChoice:
    """The reply of one call; an empty one where the provider returned no choice, or several."""
    if len(output.choices) == 1:
        return output.choices[0]
    return ModelOutput.from_content(output.model, "", stop_reason="unknown").choices[0]


def said(reply: ChatCompletionChoice) -> Reply:
    """The text of a reply and, from its stop reason, whether it was cut off or withheld."""
    stopped, content = reply.stop_reason, reply.message.content
    thinking = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    return Reply(
        reply.message.text,
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


def first_token(reply: ChatCompletionChoice, case_id: str, model: str) -> FirstToken:
    """The token where the label of a reply must be. Raises OptionError if the model returned no log-probabilities."""
    stopped = reply.stop_reason
    tokens = reply.logprobs.content if reply.logprobs else []
    if not tokens and stopped in ("content_filter", "model_length"):
        return FirstToken((), filtered=stopped == "content_filter", prompt_cut=stopped == "model_length")
    if reply.logprobs is None or (reply.message.text and not tokens):
        raise _none_returned(case_id, model, "no log-probabilities")
    place = first_written([token.token for token in tokens])
    if place is None:
        return FirstToken((), stopped == "max_tokens")
    token = tokens[place]
    if not token.top_logprobs:
        raise _none_returned(case_id, model, "only the log-probability of the generated token")
    # What was generated need not be among the most likely.
    return FirstToken([(token.token, token.logprob), *((other.token, other.logprob) for other in token.top_logprobs)])


def _none_returned(case_id: str, model: str, found: str) -> OptionError:
    return OptionError(
        f"{case_id}: found {found} in the reply of {model}, expected those of the most likely tokens, which "
        f"method=logprobs compares. Use a model that does not reason before it answers, from {_PROVIDERS}; or leave "
        "method=logprobs out."
    )


def _rewards(method: Method, replies: Mapping[str, ChatCompletionChoice], case_id: str) -> list[Reward]:
    abouts = [about_of(reply) for reply in replies.values()]
    abouts = [about for about in abouts if "reward" in about]
    if len(abouts) != max(len(replies), len(method.calls)):
        raise RewardError(
            f"sample {case_id}: found the rewards of {len(abouts)} responses, expected both. "
            f"Run the case again with --model {API}/... -T method=reward."
        )
    rewards = []
    for about in abouts:
        aspects = {name: float(value) for name, value in about["aspects"].items()}
        rewards.append(Reward(float(about["reward"]), aspects))
    return rewards


def about_of(reply: ChatCompletionChoice) -> dict[str, Any]:
    """A reward model's numbers beside the text of its reply."""
    return reply.message.metadata or {}


def score_name(benchmark: Benchmark, method: Method) -> str:
    """The scorer's name. A method has one of its own: a log that is scored again tells the scorer no method."""
    return benchmark.task("", method.suffix)
