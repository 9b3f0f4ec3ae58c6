"""The record of `recenter_response`: is the response that uses an attribute of the user better than the one that does not?"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any

from ..core.conversation import Message
from ..core.method import LabelMethod, Metric, RewardMethod
from ..core.report import Line
from ..core.result import Answers
from ..pairwise import prompts
from ..parsing.rating import read_rating
from . import ratings
from .data import Rows
from .rows import SCALE, Response
from .stages import JudgedStage, filled

SECOND, FIRST = "personalized_second", "personalized_first"
"""The calls: where the personalized response stands."""

SIDES = ("personalized", "generic")
"""The responses that a reward model scores, one call each."""

PROMPT = """\
An AI assistant knows one thing about a user. The user sends it a prompt, and there are two responses. For this user, how does response B compare with response A?

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

Reply with one number: 1 if B is much worse, 2 if it is somewhat worse, 3 if there is no difference, 4 if B is somewhat better, 5 if it is much better."""


def build(row: Response, call: str) -> str:
    a, b = (row.generic, row.personalized) if call == SECOND else (row.personalized, row.generic)
    return filled(PROMPT, attribute=row.attribute, prompt=row.prompt, a=a, b=b)


def targets(row: Response) -> list[str]:
    """People's mean rating, for each order."""
    assert row.judgment is not None  # the others are not asked
    return [repr(row.judgment), repr(ratings.mirrored(row.judgment))]


TOLD = """\
This is something you know about the user you are talking to. A good reply makes use of it where that helps the user.

<about_the_user>
{attribute}
</about_the_user>"""
"""What a reward model is told before the prompt and a response."""


def conversation(row: Response, options: Any, side: str) -> list[Message]:
    return prompts.conversation(filled(TOLD, attribute=row.attribute), row.prompt, row.responses[SIDES.index(side)])


GENERATE = LabelMethod(
    name="generate", help="a number from 1 to 5 in the reply, in both orders",
    calls=(SECOND, FIRST), per_case="both orders", score=ratings.score,
    metrics=(Metric("acc"), Metric("consistency"), Metric("invalid", higher_is_better=False)),
    max_tokens=1024, read=read_rating,
)  # fmt: skip

REWARD = RewardMethod(
    name="reward", help="a reward model's score of the personalized response minus that of the generic one",
    calls=SIDES, per_case="both responses", against_targets=ratings.score_rewards,
    metrics=(Metric("acc"), Metric("tie", higher_is_better=None)), suffix="reward",
    conversation=conversation,
)  # fmt: skip

_MEAN, _ORDERS = "Against people's mean", "Both orders"


def _always(label: str, prompt: str) -> str:
    return label


class ResponseTask(JudgedStage):
    """Does a reply that uses an attribute of the user beat one that does not?"""

    row = Response
    stand_ins = dict.fromkeys(("generate", "reward"), Response("", "", "P", "A", "G", "B"))
    unscored = "without_votes"
    values = SCALE
    level = "ordinal"
    methods = {"generate": GENERATE, "reward": REWARD}
    labels = ratings.LABELS
    corpus = {
        "spearman": ratings.spearman,
        "pairwise": ratings.pairwise,
        "no_better": ratings.no_better,
        "no_better_people": ratings.no_better_people,
    }
    undirected = ("no_better", "no_better_people")
    judges = {f"always_{label}": partial(_always, label) for label in ratings.LABELS}
    report_fields = {
        "headline": (
            Line("acc", "agrees whether it is better", strong=True, interval=True, meaning="share of the rows in which the model and people agree whether the personalized reply is better"),
            Line("spearman", share=False, strong=True, meaning="rank correlation of the model's ratings with the mean of people's"),
        ),
        "compared": (
            Line("acc", strong=True, interval=True), Line("spearman", share=False, strong=True), Line("pairwise", "pairwise accuracy"),
            Line("no_better", "no better than generic"),
        ),
        "asks": "Each row is a prompt, an attribute of a user and two replies, one of which uses it. People rated which is better; the model does the same.",
        "ranked": ("spearman", "pairwise", "consistency", "invalid"),
        "details": (
            Line("pairwise", "pairwise accuracy", table=_MEAN, meaning="share of the rows in which people prefer one reply where the model prefers the same; half if it prefers none"),
            Line("no_better", "no better than generic", table=_MEAN),
            Line("no_better_people", "to people", table=_MEAN),
            Line("consistency", table=_ORDERS, meaning="share of the rows that get the same rating in both orders"),
            Line("invalid", table=_ORDERS, meaning="share of the replies that could not be read"),
        ),
    }  # fmt: skip

    def prompt(self, case: Response, options: Any, call: str) -> str:
        return build(case, call)

    def targets(self, case: Response) -> list[str]:
        return targets(case)

    def constant(self) -> dict[str, Answers]:
        worst, *_, best = ratings.LABELS
        middle = ratings.LABELS[len(SCALE) // 2]
        return {"always no difference": (middle, middle), "always much better": (best, worst)}

    def subsets(self, rows: Rows[Any]) -> dict[str, tuple[str, frozenset[str]]]:
        by_fault: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            for side, faults in row.found.items():
                for fault in faults:
                    by_fault[f"{side} is {fault}"].add(row.id)
        return {name: (name, frozenset(ids)) for name, ids in sorted(by_fault.items())}

    def texts(self, row: Response) -> dict[str, str]:
        votes = "nobody was asked"
        if row.votes:
            votes = f"{row.judgment:.2f} on average: {', '.join(map(str, sorted(row.votes)))}"
        return {"About the user": row.attribute, "People": votes}


RESPONSE = ResponseTask()
