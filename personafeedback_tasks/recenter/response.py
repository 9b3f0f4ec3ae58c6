"""The record of `recenter_response`: is the response that uses an attribute of the user better than the other?

People and models rate it from 1 to 5. A model's rating is the mean over both orders.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ..core.method import LabelMethod, Metric
from ..core.report import SIGNED, Line, Shown
from ..core.result import Answers, Result
from ..core.rewards import pearson
from ..parsing.verdicts import read_rating
from ..stats.estimates import mean
from .data import Rows
from .rows import SCALE, Response
from .stages import JudgedStage, filled

SECOND, FIRST = "personalized_second", "personalized_first"
"""The calls: where the personalized response stands."""

LABELS = tuple(map(str, SCALE))
LOWEST, HIGHEST = SCALE[0], SCALE[-1]
NO_DIFFERENCE = (LOWEST + HIGHEST) / 2

PROMPT = """\
An AI assistant knows one thing about a user. The user sends it a prompt, and there are two responses. For this \
user, how does response B compare with response A?

<about_the_user>
{attribute}
</about_the_user>

<prompt>
{prompt}
</prompt>

<response_a>
{a}
</response_a>

<response_b>
{b}
</response_b>

Reply with one number: 1 if B is much worse, 2 if it is somewhat worse, 3 if there is no difference, 4 if B is \
somewhat better, 5 if it is much better."""


def mirrored(rating: float) -> float:
    """The rating of the two responses in swapped order."""
    return LOWEST + HIGHEST - rating


def rated(answers: Answers) -> tuple[float, float] | None:
    """Ratings of the personalized response against the generic one, from both orders; None if one is unreadable.

    Args:
        answers: with the personalized response second, then first.
    """
    if not all(answer in LABELS for answer in answers):
        return None
    second, first = map(int, answers)
    return float(second), mirrored(first)


def people(outcome: Result) -> float:
    """People's mean rating of a row, in [1, 5]."""
    return float(outcome.targets[0])


def ratings(outcomes: Sequence[Result]) -> list[float]:
    """The model's rating of each row, in [1, 5]: the end farther from people's mean if a reply is unreadable.

    None where no row has a rating: what is made of them alone says nothing of the model.
    """
    found = [rated(outcome.answers) for outcome in outcomes]
    if not any(found):
        return []
    wrong = [float(HIGHEST if people(outcome) < NO_DIFFERENCE else LOWEST) for outcome in outcomes]
    return [sum(both) / 2 if both else instead for both, instead in zip(found, wrong, strict=True)]


def score(targets: Sequence[str], answers: Answers) -> dict[str, float]:
    """acc, consistency and invalid of one row.

    acc: model and people are on the same side, above 3 or not; consistency: both orders give the same rating. Both are
    0 with an unreadable reply.
    """
    both = rated(answers)
    acc = both is not None and (sum(both) / 2 > NO_DIFFERENCE) == (float(targets[0]) > NO_DIFFERENCE)
    return {
        "acc": float(acc),
        "consistency": float(both is not None and both[0] == both[1]),
        "invalid": mean(float(answer not in LABELS) for answer in answers),
    }


def spearman(outcomes: Sequence[Result]) -> float:
    """Spearman's rank correlation with people's means; ties have their mean rank; nan if all of a side are equal."""
    of_model = ratings(outcomes)
    return pearson(_ranks(of_model), _ranks([people(outcome) for outcome in outcomes])) if of_model else math.nan


def _ranks(values: Sequence[float]) -> list[float]:
    # from 1; equal values share the mean of their ranks
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + 1 + bisect_right(ordered, value)) / 2 for value in values]


def no_better(outcomes: Sequence[Result]) -> float:
    """The share of rows whose personalized response the model rates no better than the generic one."""
    return mean(float(rating <= NO_DIFFERENCE) for rating in ratings(outcomes))


def no_better_people(outcomes: Sequence[Result]) -> float:
    """The share of rows whose personalized response people rate no better than the generic one."""
    return mean(float(people(outcome) <= NO_DIFFERENCE) for outcome in outcomes)


GENERATE = LabelMethod(
    name="generate", help="a number from 1 to 5 in the reply, in both orders",
    calls=(SECOND, FIRST), per_case="both orders", score=score,
    metrics=(Metric("acc"), Metric("consistency"), Metric("invalid", higher_is_better=False)),
    max_tokens=1024, read=read_rating,
)  # fmt: skip


class ResponseTask(JudgedStage):
    """Does a reply that uses an attribute of the user beat one that does not?"""

    row = Response
    stand_ins = {"generate": Response("", "", "P", "A", "G", "B")}
    unscored = "without_votes"
    values = SCALE
    level = "ordinal"
    methods = {"generate": GENERATE}
    labels = LABELS
    corpus = {"spearman": spearman, "no_better": no_better, "no_better_people": no_better_people}
    report_fields = {
        "headline": (
            Line(
                "acc", "agrees whether it is better", strong=True, interval=True, compared=True,
                meaning="share of the rows in which the model and people agree whether the personalized reply is "
                "better",
            ),
            Line(
                "spearman", unit=SIGNED, strong=True, ranked=True, compared=True,
                meaning="rank correlation with people's means",
            ),
        ),
        "asks": "Each row is a prompt, an attribute of a user and two replies, one of which uses it. People rated "
        "which is better; the model does the same.",
        "details": (
            Line("no_better", "no better than generic", table="", compared=True, higher_is_better=None),
            Line("no_better_people", "people: no better than generic", higher_is_better=None),
            Line("consistency", table="Both orders", ranked=True, meaning="share of the rows rated alike in both orders"),
            Line("invalid", table="Both orders", meaning="share of the replies that could not be read", ranked=True),
        ),
    }  # fmt: skip

    def prompt(self, case: Response, options: Any, call: str) -> str:
        a, b = (case.generic, case.personalized) if call == SECOND else (case.personalized, case.generic)
        return filled(PROMPT, attribute=case.attribute, prompt=case.prompt, a=a, b=b)

    def targets(self, case: Response) -> list[str]:
        """People's mean rating, for each order."""
        assert case.judgment is not None  # the others are not asked
        return [repr(case.judgment), repr(mirrored(case.judgment))]

    def constant(self) -> dict[str, Answers]:
        worst, *_, best = LABELS
        middle = LABELS[len(SCALE) // 2]
        return {"always no difference": (middle, middle), "always much better": (best, worst)}

    def subsets(self, rows: Rows[Any]) -> dict[str, tuple[str, frozenset[str]]]:
        by_fault: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            for side, faults in row.found.items():
                for fault in faults:
                    by_fault[f"{side} is {fault}"].add(row.id)
        return {name: (name, frozenset(ids)) for name, ids in sorted(by_fault.items())}

    def shown(self, rows: Rows[Any], asked: Collection[str]) -> Shown:
        responses = {row.id: (row.personalized, row.generic) for row in rows if row.id in asked}
        return replace(super().shown(rows, asked), labels=("personalized", "generic"), responses=responses)

    def texts(self, row: Response) -> dict[str, str]:
        votes = ", ".join(map(str, sorted(row.votes)))
        people = f"{row.judgment:.2f} on average: {votes}" if votes else "nobody was asked"
        return {"About the user": row.attribute, "People": people}


RESPONSE = ResponseTask()
