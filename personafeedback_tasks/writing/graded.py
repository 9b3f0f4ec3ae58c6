"""A grader that compares each reply with the release's responses as soon as it is written: the same prompts as in a duel's data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..choice.orders import ORDERS
from ..choice.scoring import score_answers
from ..common.errors import DataError
from ..engine.duels import WON
from ..engine.graded import Ask, Graded
from ..engine.method import FACTS
from ..engine.outcome import Answers
from ..personafeedback import prompts
from ..personafeedback.record import METHODS, PERSONAFEEDBACK
from ..replies.answers import read_reply
from ..replies.written import text_of
from .cases import UserQuestion
from .duel import SIDES, DuelPair

METRICS = {"win": "acc", "consistency": "consistency", "first_rate": "first_rate", "invalid": "invalid"}
"""Metric -> what it is called where a judge chooses. `win` is 0.5 for a tie, which nobody is asked about."""


def asks(question: UserQuestion, logged: Mapping[str, Any], against: Sequence[str], reply: str) -> list[dict[str, Ask]]:
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
            differs = "other texts than" if case_id in here else "no such case, unlike"
            raise DataError(f"{case_id}: found {differs} in the run that wrote the reply, expected the same data.")
    return [{side: _ask(side, DuelPair(case, text, SIDES[side](case))) for side in against} for case in pairs]


def _ask(side: str, pair: DuelPair) -> Ask:
    name, case = f"{side} {pair.case.id}", replace(pair.case, chosen=pair.reply, rejected=pair.other)
    if pair.why_not:
        undefined = dict.fromkeys(METRICS, math.nan)  # a table has the metrics of its first row
        known = {**undefined, "win": WON[pair.why_not], "tie": float(pair.why_not == "tie")}
        return Ask(name, case, known=known, why_not=pair.why_not)
    return Ask(name, case, {order: prompts.build(case, prompts.Template(), order) for order in ORDERS})


def score(answers: Answers) -> dict[str, float]:
    """The scores of one comparison, see METRICS; and `tie`, 0 for one that was asked."""
    scores = score_answers(answers)
    return {**{name: scores[metric] for name, metric in METRICS.items()}, "tie": 0.0}


GRADED = Graded(
    role="grader", benchmark=PERSONAFEEDBACK.name, option="against", compared=tuple(SIDES), room=METHODS["generate"].room, asks=asks, read=read_reply,
    score=score,
    cases=lambda questions, cases: questions.pairs if cases is None else replace(questions.pairs, cases=tuple(cases)),
)  # fmt: skip
