"""Inspect's method `logprobs`: the model's choice is read from the log-probabilities of the letters.

They are read at the first generated token that is not white space, and nowhere later: what stands there decides. The
text of the reply is not read. A model that reasons first has no letter there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from inspect_ai.model import ChatCompletionChoice, GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Solver, TaskState

from ..common.errors import OptionError
from ..personafeedback import scoring
from ..personafeedback.cases import CaseSet
from ..personafeedback.options import Options
from ..personafeedback.orders import ORDERS
from ..replies.answers import LETTERS, joined
from ..replies.letter_probabilities import first_written, mass, read_top
from . import rag as inspect_rag
from . import tasks as inspect_task

CONFIG = GenerateConfig(
    logprobs=True,
    top_logprobs=20,  # OpenAI's and vLLM's maximum; where fewer are allowed, --top-logprobs says how many
    max_tokens=16,  # one would do, but OpenAI's responses API refuses fewer than 16
    # Servers that scale log-probabilities by the temperature leave them alone at 0, and white space is never left to luck.
    temperature=0.0,
    cache_prompt=False,
)

PROVIDERS = (
    "openai/, google/, grok/, vllm/, sglang/ or hf/, or of openai-api/, openrouter/, fireworks/, deepseek/, ollama/ or "
    "llama-cpp-python/ where the server returns them"
)
"""Whose replies hold alternatives to each token in inspect-ai 0.3.285. together/ has the generated token alone."""

_UNASKED = {"content_filter": "refusal", "model_length": "truncated"}
"""Stop reasons of a reply without log-probabilities that is the model's doing -> why it is unreadable."""


def logprobs(cases: CaseSet, options: Options) -> tuple[Solver, Scorer, GenerateConfig]:
    """Method `logprobs`: the likelier letter in each order, and how likely it is."""
    return inspect_task.ask_both_orders(cases, options), letter_logprobs(), CONFIG


@scorer(metrics=[inspect_task.measures()], name="personafeedback_logprobs")
def letter_logprobs() -> Scorer:
    """Score one case from the log-probabilities of both orders; see `scoring` for the keys."""

    async def score(state: TaskState, target: Target) -> Score:
        replies = inspect_task.choices(state.output, inspect_task.events)
        read = [read_choice(choice, f"{state.sample_id}", f"{state.model}") for choice in replies]
        answers, pairs = [answer for answer, _ in read], [pair for _, pair in read]
        return Score(
            value=cast(Any, values(answers, pairs)),
            answer=joined(answers),
            reason=next((answer for answer in answers if answer not in LETTERS), None),
            metadata={
                "p_letters": dict(zip(ORDERS, map(mass, pairs), strict=True)),
                **inspect_rag.outcome(state),
            },
        )

    return score


def values(answers: Sequence[str], pairs: Sequence[scoring.LogLikelihoods]) -> dict[str, float]:
    """What is scored of one case."""
    return {
        **scoring.as_dict(scoring.score_answers(answers)),
        "acc_sym": scoring.score_symmetric(pairs),
        "p_chosen": scoring.p_chosen(pairs),
    }


def read_choice(choice: ChatCompletionChoice, case_id: str, model: str) -> tuple[str, scoring.LogLikelihoods]:
    """The answer of one reply, and the log-probabilities of (A, B) that it rests on.

    Raises:
        OptionError: the model returned none.
    """
    unreadable = (math.nan, math.nan)
    tokens = choice.logprobs.content if choice.logprobs else []
    if not tokens and choice.stop_reason in _UNASKED:
        return _UNASKED[choice.stop_reason], unreadable
    if choice.logprobs is None or (choice.message.text and not tokens):
        raise _none_returned(case_id, model, "no log-probabilities")
    place = first_written([token.token for token in tokens])
    if place is None:
        return ("truncated" if choice.stop_reason == "max_tokens" else "no_response"), unreadable
    token = tokens[place]
    if not token.top_logprobs:
        raise _none_returned(case_id, model, "the log-probability of the generated token alone")
    # What was generated need not be among the most likely.
    pair = read_top([(token.token, token.logprob), *((other.token, other.logprob) for other in token.top_logprobs)])
    return scoring.read_log_likelihoods(pair), pair


def _none_returned(case_id: str, model: str, found: str) -> OptionError:
    return OptionError(
        f"{case_id}: found {found} in the reply of {model}, expected those of the most likely tokens, which "
        f"method=logprobs compares. Use a model that does not reason before it answers, of {PROVIDERS}; or leave "
        "method=logprobs out."
    )
