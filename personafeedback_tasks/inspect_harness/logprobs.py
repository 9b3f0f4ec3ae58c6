"""Log-probabilities of labels in Inspect: which are requested, and where they are read.

They are read at the first generated token that is not white space, and nowhere later: that token decides. The
text of the reply is not read. A model that reasons first has no label there.
"""

from __future__ import annotations

from inspect_ai.model import ChatCompletionChoice, GenerateConfig

from ..common.errors import OptionError
from ..engine.benchmark import Benchmark, Method
from ..engine.judged import LogLikelihoods, likeliest
from ..replies.letter_probabilities import first_written

CONFIG = GenerateConfig(
    logprobs=True,
    top_logprobs=20,  # OpenAI's and vLLM's maximum; where fewer are allowed, set --top-logprobs
    max_tokens=16,  # one is enough, but OpenAI's responses API refuses fewer than 16
    # Servers that scale log-probabilities by the temperature leave them alone at 0, and white space is never left to luck.
    temperature=0.0,
    cache_prompt=False,
)

PROVIDERS = (
    "openai/, google/, grok/, vllm/, sglang/ or hf/, or of openai-api/, openrouter/, fireworks/, deepseek/, ollama/ or "
    "llama-cpp-python/ where the server returns them"
)
"""Providers whose replies contain alternatives to each token in inspect-ai 0.3.285. together/ has the generated token alone."""

_UNASKED = {"content_filter": "refusal", "model_length": "truncated"}
"""Stop reasons of a reply that the model itself left without log-probabilities -> why it is unreadable."""


def read_first_token(
    reply: ChatCompletionChoice, benchmark: Benchmark, method: Method, case_id: str, model: str
) -> tuple[str, LogLikelihoods | None]:
    """The answer of one reply, and the log-probability of each label behind it; None if there is none.

    Raises:
        OptionError: the model returned none.
    """
    assert method.read_tokens is not None  # of top_tokens
    tokens = reply.logprobs.content if reply.logprobs else []
    if not tokens and reply.stop_reason in _UNASKED:
        return _UNASKED[reply.stop_reason], None
    if reply.logprobs is None or (reply.message.text and not tokens):
        raise _none_returned(case_id, model, "no log-probabilities")
    place = first_written([token.token for token in tokens])
    if place is None:
        return ("truncated" if reply.stop_reason == "max_tokens" else "no_response"), None
    token = tokens[place]
    if not token.top_logprobs:
        raise _none_returned(case_id, model, "only the log-probability of the generated token")
    # What was generated need not be among the most likely.
    found = method.read_tokens(
        [(token.token, token.logprob), *((one.token, one.logprob) for one in token.top_logprobs)]
    )
    return likeliest(benchmark.labels, found), found


def _none_returned(case_id: str, model: str, found: str) -> OptionError:
    return OptionError(
        f"{case_id}: found {found} in the reply of {model}, expected those of the most likely tokens, which "
        f"method=logprobs compares. Use a model that does not reason before it answers, from {PROVIDERS}; or leave "
        "method=logprobs out."
    )
