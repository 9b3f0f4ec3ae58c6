"""The record of PrefEval: the authors' stated preference before the question. The wording is ours."""

from __future__ import annotations

from ..pairwise.benchmark import ChoiceBenchmark, ChoiceWording
from ..pairwise.orders import rotations
from .data import ENVIRONMENT_VARIABLE, REPOSITORY, ROWS, SAMPLE_ROWS, load

_CHOOSE = (
    "Put yourself in this user's place and choose the response that suits you best. The order of the responses says "
    "nothing about their quality."
)
_ASK = "As this user, which response suits you best?"


class PrefEval(ChoiceBenchmark):
    """Which of four responses respects a preference that the user stated?"""

    name = "prefeval"
    title = "PrefEval"
    version = "1.2"
    read = staticmethod(load)
    wording = ChoiceWording(
        version="v1",
        orders=rotations(4),
        tag="preference",
        told=(
            "Below are a preference that a user stated, a question that this user asked an assistant, and four "
            f"responses to it, A, B, C and D. {_CHOOSE} A response that goes against the preference does not suit you."
        ),
        not_told=(
            "Below are a question that a user asked an assistant, and four responses to it, A, B, C and D. Nothing "
            f"is known about this user beyond the question itself. {_CHOOSE}"
        ),
        ask=f"{_ASK} Reply with the letter alone: A, B, C or D.\nAnswer:",
        ask_cot=(
            f"{_ASK} Reason about it first, step by step. Then end with one last line that reads "
            '"Answer: A", "Answer: B", "Answer: C" or "Answer: D".'
        ),
        told_reward="The user you are talking to has stated this preference. A good reply respects it.",
    )
    counts = ROWS
    sample_counts = SAMPLE_ROWS
    environment = ENVIRONMENT_VARIABLE
    dataset = REPOSITORY
    known = "preference"
    asks = (
        "[PrefEval](https://arxiv.org/abs/2502.09597), in its multiple-choice form, asks which of four responses "
        "respects a preference that the user stated."
    )
    caveats = (
        "Preferences, questions and responses are synthetic and in English (CC BY-NC 4.0).",
        "The paper also puts other turns between preference and question. Here nothing is between them.",
    )


PREFEVAL = PrefEval()
