"""Is it about this person? One of six verdicts on a run, from its differences to the controls that are told about others or nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ..common.statistics import ALPHA, Estimate, critical, paired, shows_spread
from ..core.report import Examined
from ..logs.run import Run
from .control import gains, measure_of

EXCESS = "excess over counting"
"""Right minus wrong of a run minus that of the baseline `Control.counting` on the same cases."""


class Verdict(Enum):
    """What a run makes of who its user is; see `Use.verdict`."""

    USES = "uses"
    COUNTING = "no more than counting terms"
    KIND = "this kind of person, not this one"
    MISLED = "misled only"
    ANY = "any persona"
    NO_SIGN = "no sign"


@dataclass(frozen=True)
class Use:
    """The differences that a verdict is formed of, as shares; None where a control was not asked.

    Attributes:
        known: what the run is told about a user: `persona`.
        over_wrong: the run minus the same model told about another user.
        over_none: the run minus the same model told nothing.
        wrong_over_none: the model told about another user minus told nothing.
        over_similar: the run minus the same model told about a similar user.
        over_counting: `over_wrong` minus that of counting terms, see EXCESS.
        missing: the names of those of the last two that the benchmark has and the run lacks.
        models: of a ranking that are judged together; what is said of any of them is corrected for their number.
    """

    known: str
    over_wrong: Estimate | None = None
    over_none: Estimate | None = None
    wrong_over_none: Estimate | None = None
    over_similar: Estimate | None = None
    over_counting: Estimate | None = None
    missing: tuple[str, ...] = ()
    models: int = 1

    @property
    def asked(self) -> bool:
        """Whether any control was asked."""
        return self.over_wrong is not None or self.over_none is not None

    @property
    def uses(self) -> bool:
        """Whether the verdict is USES."""
        return self.verdict is Verdict.USES

    @property
    def verdict(self) -> Verdict | None:
        """The first of these that holds; "above" is by the interval, see `sign`. None where no difference to a control is measured.

        1. USES: the score is above that with another user's persona, with none, and with a similar user's, and the excess over counting is
           above 0. Each must hold at its level: that needs no correction for their number (intersection-union, Berger 1982). The last two
           count where they are known.
        2. COUNTING: above another's and none, but the excess is not above 0. It comes before KIND, since it explains more with less: who
           counts terms finds more of them with a similar user, too.
        3. KIND: above another's and none, but not above a similar user's.
        4. MISLED: above another's, not above none; and another's is below none. What is not seen of the right persona is seen of the wrong one.
        5. ANY: above none, and so is another's; not above another's.
        6. NO_SIGN: all else, also where the control that would tell was not asked.
        """
        wrong, none = self.sign(self.over_wrong), self.sign(self.over_none)
        if not self.measured:
            return None
        if wrong == none == 1:
            if self.over_counting is not None and self.sign(self.over_counting) != 1:
                return Verdict.COUNTING
            if self.over_similar is not None and self.sign(self.over_similar) != 1:
                return Verdict.KIND
            return Verdict.USES
        if wrong == 1 and none is not None and self.sign(self.wrong_over_none) == -1:
            return Verdict.MISLED
        return Verdict.ANY if none == self.sign(self.wrong_over_none) == 1 else Verdict.NO_SIGN

    @property
    def measured(self) -> bool:
        """Whether any difference to the first two controls has an interval, or a sign without one."""
        both = [difference for difference in (self.over_wrong, self.over_none) if difference is not None]
        return any(self.sign(difference) or not math.isnan(difference.low) for difference in both)

    def sign(self, difference: Estimate | None) -> int | None:
        """1 or -1 where a difference is above or below 0 by its interval, which holds for all `models` at once; 0 where that is not
        known, None where it was not asked. One that is the same for all users has no interval, and a sign test in its place."""
        if difference is None:
            return None
        if difference.value and not shows_spread(difference.stderr):
            p = 2 * 0.5**difference.users
            return 0 if self.models * p > ALPHA else 1 if difference.value > 0 else -1
        # Bonferroni: both sides of an interval grow as Student's t does, also where it is longer on one of them.
        wider = critical(difference.users - 1, self.models) / critical(difference.users - 1)
        low, high = (difference.value + wider * (end - difference.value) for end in (difference.low, difference.high))
        return (low > 0) - (high < 0)


def use_of(run: Run, differences: Mapping[str, Estimate | None]) -> Use | None:
    """What a run makes of who its user is; None for a benchmark, or a setting, without a control that is told about another user, and
    where nothing about the user shall change an answer.

    Args:
        differences: name of a difference of the benchmark's control (`right minus wrong`), or EXCESS -> its value over all cases.
    """
    control, wrong = run.benchmark.report.control, wrong_value(run)
    if control is None or control.harm or wrong is None:
        return None
    own = run.signature[control.option]
    early = run.stopped is not None and run.stopped.early
    of_values = {(one.more, one.less): one.name for one in control.named}

    def known(name: str) -> Estimate | None:
        found = differences.get(name)
        if found is None or not early or name == measure_of(run):
            return found
        return replace(
            found, low=math.nan, high=math.nan
        )  # its interval is for a number of users that was fixed before

    def between(more: str, less: str) -> Estimate | None:
        return known(of_values.get((more, less), ""))

    similar, counting = between(own, control.similar), known(EXCESS)
    missing = [of_values[own, control.similar]] if control.similar and similar is None else []
    missing += [EXCESS] if control.counting and counting is None else []
    return Use(
        control.known,
        over_wrong=between(own, wrong),
        over_none=between(own, control.value),
        wrong_over_none=between(wrong, control.value),
        over_similar=similar,
        over_counting=counting,
        missing=tuple(missing),
    )


def wrong_value(run: Run) -> str | None:
    """The value of the control's option under which the model is told about another user; None without one."""
    control = run.benchmark.report.control
    if control is None:
        return None
    own = run.signature[control.option]
    return next((one.less for one in control.named if one.more == own and one.less != control.value), None)


def excess_over_counting(
    run: Run, controls: Mapping[str, Run], texts: Examined | None, ids: Iterable[str] | None = None
) -> Estimate | None:
    """EXCESS, paired by case; None without the control or the texts.

    Args:
        ids: the cases of a group; None for all.
    """
    wrong = controls.get(wrong_value(run) or "")
    if wrong is None or texts is None or texts.counted is None or run.cases.keys().isdisjoint(wrong.cases):
        return None
    counted = texts.counted()
    excess = {name: gain - counted[name] for name, gain in gains(run, wrong, ids).items()}
    return paired([*excess.values()], [run.cases[name].user_id for name in excess])


def same_pick(run: Run, controls: Mapping[str, Run], ids: Iterable[str]) -> Estimate | None:
    """Right minus wrong of those of the cases in which both runs pick the same response in every order; None without the control.

    Picks by place dilute a difference: the same knowledge makes less of it.
    """
    wrong = controls.get(wrong_value(run) or "")
    if wrong is None:
        return None
    common = [name for name in ids if name in wrong.cases]
    alike = [
        name for name in common if run.cases[name].value("consistency") == wrong.cases[name].value("consistency") == 1
    ]
    found = gains(run, wrong, alike) if alike else {}
    return paired([*found.values()], [run.cases[name].user_id for name in found])
