"""Log-probabilities of labels in Inspect: which are requested, and where they are read.

They are read at the first generated token that is not white space, which decides. A model that reasons first has no
label there.
"""

from __future__ import annotations

from inspect_ai.model import ChatCompletionChoice, GenerateConfig

from ..common.errors import OptionError
from ..core.evidence import FirstToken
from ..core.method import TOP_TOKENS
from ..parsing.letter_probabilities import first_written

CONFIG = GenerateConfig(
    logprobs=True,
    top_logprobs=20,  # OpenAI's and vLLM's maximum; where fewer are allowed, set --top-logprobs
    max_tokens=TOP_TOKENS,
    # Servers that scale log-probabilities by the temperature leave them alone at 0, and white space is never left to luck.
    temperature=0.0,
    cache_prompt=False,
)

PROVIDERS = (
    "openai/, google/, grok/, vllm/, sglang/ or hf/, or of openai-api/, openrouter/, fireworks/, deepseek/, ollama/ or "
    "llama-cpp-python/ where the server returns them"
)
"""Providers that return alternatives to each token in inspect-ai 0.3.285. together/ returns only the generated
token."""


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
        f"method=logprobs compares. Use a model that does not reason before it answers, from {PROVIDERS}; or leave "
        "method=logprobs out."
    )
