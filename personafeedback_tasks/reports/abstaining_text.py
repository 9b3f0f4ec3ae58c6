"""A judge that may abstain, as lines and a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..analysis.abstaining import (
    ANSWERED_AND_WRONG,
    DIFFERS,
    FEW_USERS,
    NO_THRESHOLD,
    PROBABILITY,
    Abstaining,
    Promise,
)
from ..common.risk import least_users
from ..common.statistics import LEVEL
from .blocks import Block, bullets
from .table import Column, Table, percent, with_interval

LEGEND = (
    "Wrong, answered: measured on users of the exam who had no part in choosing the threshold, in percent of a user's pairs (wrong among "
    "answered: of the answered ones). Win rate: of the accepted verdicts alone; these are the clearer duels, so it is not that of all."
)


def blocks(made: Abstaining) -> list[Block]:
    """The promises with their sentences, and what follows for the duels."""
    kept = [promise for promise in made.promises if not promise.why_not]
    sentences = [sentence(made, promise) for promise in made.promises]
    if not kept:
        return [bullets(sentences)]
    columns = (
        Column("threshold", tuple(f"{promise.threshold.value:.3f}" for promise in kept)),
        *with_interval("answered", [promise.coverage for promise in kept], strong=False),
        *with_interval("wrong", [promise.wrong for promise in kept], strong=False),
        Column("duels", tuple(f"{promise.accepted:,}" for promise in kept)),
        *with_interval("win rate", [promise.rate for promise in kept]),
        Column("for people", tuple(f"{promise.left:,}" for promise in kept)),
    )
    return [
        bullets([*sentences, whom(made.users, made.chose)]),
        Table(f"Verdicts that count at a risk of {_of(made.risk)}", tuple(promise.name for promise in kept), columns),
        bullets([LEGEND]),
    ]


def sentence(made: Abstaining, promise: Promise) -> str:
    """What is promised, in the words of the theorem, or why nothing is."""
    name = f"{promise.name[:1].upper()}{promise.name[1:]}"
    if promise.why_not:
        return f"{name}: no verdict counts at a risk of {_of(made.risk)}. {why_not(made, promise)}"
    certainty = (
        "probability of the text that it picks" if made.certainty == PROBABILITY else "share of calls that agree"
    )
    users = f"{promise.threshold.users} users of the exam"
    if promise.name == ANSWERED_AND_WRONG:
        what = (
            f"of a user's duels at most {_of(made.risk)} are answered and wrong, on average over users and exams (bound {_of(promise.threshold.bound)}; conformal risk "
            f"control, {users})"
        )
    else:
        what = (
            f"of a user's answered duels at most {_of(made.risk)} are wrong, on average over users, in at least {100 * LEVEL:.0f} % of exams "
            f"(p = {promise.threshold.bound:.4f}; Learn then Test, {users})"
        )
    return (
        f"{name}: where the judge's certainty ({certainty}) is at least {promise.threshold.value:.3f}, its verdict counts: {what}, if it is as good on "
        f"replies as in its exam. {promise.accepted:,} duels are decided, {promise.left:,} are left for people."
    )


def whom(users: int, chose: int) -> str:
    """Which users the promises are about; see `Abstaining`."""
    about = "This is about users like those of the exam on average, and about any one user who had no part in choosing the threshold"
    if not chose:
        return f"{about}: all {users:,} users of these duels."
    return (
        f"{about}: {users - chose:,} of the {users:,} users of these duels. The other {chose:,} had a part in choosing it: for them the promise is "
        "expected to hold and not proved."
    )


def why_not(made: Abstaining, promise: Promise) -> str:
    """Why nothing is promised; empty where something is."""
    users = promise.threshold.users
    return {
        "": "",
        DIFFERS: "People's votes show that the judge errs differently here than in its exam.",
        FEW_USERS: f"It needs {least_users(made.risk)} users to choose a threshold by, and the exam has {users}.",
        NO_THRESHOLD: f"In the exam of {users} users, no threshold that accepts a verdict keeps it.",
    }[promise.why_not]


def document(made: Abstaining) -> dict[str, Any]:
    """Ready for `jsonable`."""
    return {
        "risk": made.risk,
        "certainty": made.certainty,
        "users": made.users,
        "users_who_chose": made.chose,
        "promises": {promise.name.replace(" ", "_"): dict(_values(made, promise)) for promise in made.promises},
    }


def _values(made: Abstaining, promise: Promise) -> Iterator[tuple[str, Any]]:
    first = promise.name == ANSWERED_AND_WRONG
    yield "sentence", sentence(made, promise)
    yield "threshold", math.nan if promise.why_not else promise.threshold.value
    yield "exam_users", promise.threshold.users
    yield "bound", promise.threshold.bound if first else math.nan
    yield "p", math.nan if first else promise.threshold.bound
    for name in ("coverage", "wrong", "accepted", "left", "rate"):
        yield name, getattr(promise, name)
    yield "why_not", why_not(made, promise)


def _of(share: float) -> str:
    return f"{percent(share)} %"
