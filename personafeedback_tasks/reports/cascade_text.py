"""Two judges, one after the other, as lines and a table."""

from __future__ import annotations

import math
from typing import Any

from ..analysis.cascade import Cascade
from ..common.statistics import percent
from . import abstaining_text
from .blocks import Block, bullets, heading
from .table import Column, Table


def blocks(made: Cascade) -> list[Block]:
    """What the judges decide, and at which cost."""
    steps = made.steps
    return [
        heading(f"{steps[0].model}, then {steps[1].model}"),
        bullets(sentences(made)),
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


def sentences(made: Cascade) -> list[str]:
    """The promise and what was seen of it."""
    accuracy, rate, coverage = made.accuracy, made.rate, made.coverage
    found = [
        f"Of a user's duels at most {percent(made.risk)} % are answered and wrong, on average over users and exams (bound {percent(made.bound)} %; conformal "
        "risk control, half of the risk for each judge), if both are as good on replies as in their exams.",
        abstaining_text.whom(made.users, made.chose),
        f"In the exams, of users who had no part in choosing the thresholds: {percent(coverage.value)} % are answered, {percent(accuracy.value)} % of these rightly "
        f"({percent(accuracy.low)} to {percent(accuracy.high)} %); {percent(made.wrong.value)} % are answered and wrong.",
        f"The reply wins {percent(rate.value)} % ({percent(rate.low)} to {percent(rate.high)} %) of the {rate.n:,} duels that are decided; {made.left:,} are "
        "left for people.",
    ]
    found += [
        f"People's votes show that {step.model} errs on these replies differently than in its exam, so it decides nothing."
        for step in made.steps
        if step.differs
    ]
    found += [
        f"People's votes do not test whether {step.model} errs on these replies as in its exam. {step.untested}"
        for step in made.steps
        if step.untested
    ]
    if unseen := made.steps[1].unseen:
        found.append(
            f"{made.steps[1].model} has not seen {unseen:,} of the duels on which {made.steps[0].model} abstains: `personafeedback export --abstained` writes them."
        )
    return found


def document(made: Cascade) -> dict[str, Any]:
    """Ready for `jsonable`; the threshold of a judge that decides nothing is undefined."""
    return {
        "risk": made.risk,
        "sentences": sentences(made),
        "users_who_chose": made.chose,
        "judges": [
            {
                "judge": step.model,
                "differs": None if step.untested else step.differs,
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
