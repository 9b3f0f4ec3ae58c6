"""A grader that compares each reply with the release's responses as soon as it is written: the same prompts as in a duel's data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..choice import scoring
from ..choice.orders import ORDERS
from ..common.errors import DataError
from ..engine.graded import Ask, Graded
from ..engine.method import FACTS
from ..engine.outcome import Answers
from ..personafeedback import prompts
from ..personafeedback.record import METHODS
from ..replies.answers import read_reply
from .cases import Question
from .duel import SIDES, Pair
from .measures import text_of

METRICS = {"win": "acc", "consistency": "consistency", "first_rate": "first_rate", "invalid": "invalid"}
"""Metric -> what it is called where a judge chooses. `win` is 0.5 for a tie, which nobody is asked about."""


def asks(question: Question, logged: Mapping[str, Any], against: Sequence[str], reply: str) -> list[dict[str, Ask]]:
    """One row for each case of the run with this question, one comparison for each side that the reply stands against.

    Args:
        question: with all cases that the release has of it; logged: its `facts` name those of the run.

    Raises:
        DataError: a case of the run is not there, or has other texts.
    """
    text, asked = text_of(reply) or "", logged[FACTS]["cases"]
    pairs = [case for case in question.pairs if case.id in asked]
    here = {case.id: case.digest for case in pairs}
    for case_id, digest in asked.items():
        if here.get(case_id) != digest:
            found = "other texts than" if case_id in here else "no such case, unlike"
            raise DataError(f"{case_id}: found {found} in the run that wrote the reply, expected the same data.")
    return [{side: _ask(side, Pair(case, text, SIDES[side](case))) for side in against} for case in pairs]


def _ask(side: str, pair: Pair) -> Ask:
    name = f"{side} {pair.case.id}"
    if pair.why_not:
        undefined = dict.fromkeys(METRICS, math.nan)  # a table has the metrics of its first row
        return Ask(name, known={**undefined, "win": pair.worth, "tie": float(pair.why_not == "tie")})
    case = replace(pair.case, chosen=pair.reply, rejected=pair.other)
    return Ask(name, {order: prompts.build(case, prompts.Template(), order) for order in ORDERS})


def score(answers: Answers) -> dict[str, float]:
    """The scores of one comparison, see METRICS; and `tie`, 0 for one that was asked."""
    found = scoring.score_answers(answers)
    return {**{name: found[of] for name, of in METRICS.items()}, "tie": 0.0}


GRADED = Graded(
    role="grader", option="against", compared=tuple(SIDES), room=METHODS["generate"].room, asks=asks, read=read_reply,
    score=score,
)  # fmt: skip
