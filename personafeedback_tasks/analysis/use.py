"""Whether a run uses who its user is: one verdict, from its differences to the controls that are told about another user or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..common.statistics import LEVEL, Estimate, critical, shows_spread
from ..logs.run import Run
from .control import measure_of


@dataclass(frozen=True)
class Use:
    """The differences that say whether a run uses who its user is, as shares; None where a control was not asked.

    Attributes:
        known: what the run is told about a user: `persona`.
        over_wrong: the run minus the same model told about another user.
        over_none: the run minus the same model told nothing.
        wrong_over_none: the model told about another user minus told nothing.
        models: of a ranking that are judged together; what is said of any of them is corrected for their number.
    """

    known: str
    over_wrong: Estimate | None = None
    over_none: Estimate | None = None
    wrong_over_none: Estimate | None = None
    models: int = 1

    @property
    def asked(self) -> bool:
        """Whether any control was asked."""
        return self.over_wrong is not None or self.over_none is not None

    @property
    def uses(self) -> bool:
        """Whether the run does better with its user's persona than with another user's, and than with none.

        Both must be so, each at its level: such a test needs no correction for being two (intersection-union, Berger 1982). Better than
        with another user's alone is not enough, since a wrong persona may mislead a model that learns nothing from the right one.
        """
        return self.sign(self.over_wrong) == self.sign(self.over_none) == 1

    def sign(self, difference: Estimate | None) -> int | None:
        """1 or -1 where a difference is above or below 0 by its interval, which holds for all `models` at once; 0 where that is not
        known, None where it was not asked. One that is the same for all users has no interval, and a sign test in its place."""
        if difference is None:
            return None
        if difference.value and not shows_spread(difference.stderr):
            p = 2 * 0.5**difference.users
            return 0 if self.models * p > 1 - LEVEL else 1 if difference.value > 0 else -1
        # Bonferroni: both sides of an interval grow as Student's t does, also where it is longer on one of them.
        wider = critical(difference.users - 1, self.models) / critical(difference.users - 1)
        low, high = (difference.value + wider * (end - difference.value) for end in (difference.low, difference.high))
        return (low > 0) - (high < 0)


def use_of(run: Run, differences: Mapping[str, Estimate | None]) -> Use | None:
    """What a run makes of who its user is; None for a benchmark, or a setting, without a control that is told about another user, and
    where nothing about the user shall change an answer.

    Args:
        differences: name of a difference of the benchmark's control (`right minus wrong`) -> its value over all cases.
    """
    control = run.benchmark.report.control
    if control is None or control.harm:
        return None
    own = run.signature[control.option]
    wrong = next((one.less for one in control.named if one.more == own and one.less != control.value), None)
    if wrong is None:
        return None
    early = run.stopped is not None and run.stopped.early

    def between(more: str, less: str) -> Estimate | None:
        name = next((one.name for one in control.named if (one.more, one.less) == (more, less)), "")
        found = differences.get(name)
        if found is None or not early or name == measure_of(run):
            return found
        return replace(
            found, low=math.nan, high=math.nan
        )  # its interval is for a number of users that was fixed before

    return Use(control.known, between(own, wrong), between(own, control.value), between(wrong, control.value))
