"""A judge that may abstain, and another one for what it leaves, as lines and tables."""

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
from ..analysis.cascade import Cascade
from ..common.risk import least_users
from ..common.statistics import LEVEL
from .blocks import Block, bullets, heading
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


# --- two judges, one after the other ---------------------------------------------------------------------------------


def cascade_blocks(made: Cascade) -> list[Block]:
    """What the judges decide, and at which cost."""
    steps = made.steps
    return [
        heading(f"{steps[0].model}, then {steps[1].model}"),
        bullets(cascade_sentences(made)),
        Table(
            "Judges",
            tuple(step.model for step in steps),
            (
                Column("threshold", tuple("–" if step.threshold.value == math.inf else f"{step.threshold.value:.3f}" for step in steps)),
                Column("bound %", tuple(percent(step.threshold.bound) for step in steps)),
                Column("duels", tuple(f"{step.asked:,}" for step in steps)),
                Column("decided", tuple(f"{step.accepted:,}" for step in steps)),
                Column("calls", tuple(f"{step.calls:,}" for step in steps)),
            ),
        ),
    ]  # fmt: skip


def cascade_sentences(made: Cascade) -> list[str]:
    """The promise and what was seen of it."""
    accuracy, rate, coverage = made.accuracy, made.rate, made.coverage
    found = [
        f"Of a user's duels at most {percent(made.risk)} % are answered and wrong, on average over users and exams (bound {percent(made.bound)} %; conformal "
        "risk control, half of the risk for each judge), if both are as good on replies as in their exams.",
        whom(made.users, made.chose),
        f"In the exams, of users who had no part in choosing the thresholds: {percent(coverage.value)} % are answered, {percent(accuracy.value)} % of these rightly "
        f"({percent(accuracy.low)} to {percent(accuracy.high)} %); {percent(made.wrong.value)} % are answered and wrong.",
        f"The reply wins {percent(rate.value)} % ({percent(rate.low)} to {percent(rate.high)} %) of the {rate.n:,} duels that are decided; {made.left:,} are "
        "left for people.",
    ]
    found += [
        f"People's votes show that {step.model} errs on these replies differently than in its exam, so it decides nothing."
        for step in made.steps
        if step.judge.differs
    ]
    found += [
        f"People's votes do not test whether {step.model} errs on these replies as in its exam. {step.judge.untested}"
        for step in made.steps
        if step.judge.untested
    ]
    if unseen := made.steps[1].unseen:
        found.append(
            f"{made.steps[1].model} has not seen {unseen:,} of the duels on which {made.steps[0].model} abstains: `personafeedback export --abstained` writes them."
        )
    return found


def cascade_document(made: Cascade) -> dict[str, Any]:
    """Ready for `jsonable`; the threshold of a judge that decides nothing is undefined."""
    return {
        "risk": made.risk,
        "sentences": cascade_sentences(made),
        "users_who_chose": made.chose,
        "judges": [
            {
                "judge": step.model,
                "differs": None if step.judge.untested else step.judge.differs,
                "threshold": math.nan if step.threshold.value == math.inf else step.threshold.value,
                "exam_users": step.threshold.users,
                "bound": step.threshold.bound,
                "asked": step.asked,
                "accepted": step.accepted,
                "calls": step.calls,
                "unseen": step.unseen,
            }
            for step in made.steps
        ],
        **{name: getattr(made, name) for name in ("users", "bound", "coverage", "wrong", "accuracy", "left", "rate")},
    }
