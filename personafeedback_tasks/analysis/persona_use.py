"""Is it about this person? One of six verdicts on a run, from its differences to controls about others or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from ..core.report import key_of
from ..logs.run import Run
from ..stats.estimates import ALPHA, Estimate, critical, mean, paired, shows_spread
from .contender import Contender
from .control import gains

WRONG, NONE, WRONG_OVER_NONE = "over_wrong", "over_none", "wrong_over_none"
SIMILAR, COUNTING = "over_similar", "over_counting"
"""The differences of a verdict: a run minus the same model told about another user, minus told nothing, the model told
about another user minus told nothing, the run minus told about a similar user, and WRONG minus that of counting terms.
"""

MOST_CASES = 0.95
"""Share of a run's cases that a control must have for the verdict."""

EXCESS = "excess over counting"
"""Right minus wrong of a run minus that of counting terms, on the same cases; see `excess_over_counting`."""


class PersonaUse(Enum):
    """Whether a run uses who its user is."""

    USES = "uses"
    COUNTING = "no more than counting terms"
    KIND = "this kind of person, not this one"
    MISLED = "misled only"
    ANY = "any persona"
    NO_SIGN = "no sign"


@dataclass(frozen=True)
class Use:
    """What the verdict on a run is made of.

    Attributes:
        known: what the run is told about a user: `persona`.
        differences: WRONG and the like -> its value, a share; without those whose control was not asked.
        unread: name of a difference -> share of replies without a pick of the second run minus that of the first. They
            count as wrong, and so may make this much of the difference.
        void: whether a difference is not measured since a run of it is void.
        in_part: whether a control has too few of the run's cases, see MOST_CASES, and so counts as not asked.
        missing: names of SIMILAR and COUNTING in outputs, where the benchmark has one and the run lacks it.
        models: models of a ranking that are judged together; signs are corrected for their number.
    """

    known: str
    differences: Mapping[str, Estimate] = field(default_factory=dict)
    unread: Mapping[str, float] = field(default_factory=dict)
    void: bool = False
    in_part: bool = False
    missing: tuple[str, ...] = ()
    models: int = 1

    @property
    def asked(self) -> bool:
        """Whether it was asked with another user's persona, or without one."""
        return self.void or WRONG in self.differences or NONE in self.differences

    @property
    def controlled(self) -> bool:
        """Whether it was asked with both, which the verdict that it uses who the user is needs."""
        return WRONG in self.differences and NONE in self.differences

    @property
    def verdict(self) -> PersonaUse | None:
        """The first that holds of COUNTING, KIND, USES, MISLED, ANY, NO_SIGN.

        None where a difference is void, or none is measured.
        """
        wrong, none = self.sign(WRONG), self.sign(NONE)
        both = [name for name in (WRONG, NONE) if name in self.differences]
        measured = any(self.sign(name) or not math.isnan(self.differences[name].low) for name in both)
        if self.void or not measured:
            return None
        if wrong == none == 1:
            # before KIND, since it explains more with less: counting finds more terms with a similar user, too
            if self.sign(COUNTING) not in (1, None):
                return PersonaUse.COUNTING
            if self.sign(SIMILAR) not in (1, None):
                return PersonaUse.KIND
            # each holds at its level, so that their number needs no correction (intersection-union, Berger 1982)
            return PersonaUse.USES
        # not above none, and another's is below none
        if wrong == 1 and none is not None and self.sign(WRONG_OVER_NONE) == -1:
            return PersonaUse.MISLED
        # NO_SIGN also where the control that would tell was not asked
        return PersonaUse.ANY if none == self.sign(WRONG_OVER_NONE) == 1 else PersonaUse.NO_SIGN

    def sign(self, name: str) -> int | None:
        """1 or -1 for a difference above or below 0 by its interval; 0 unknown, None not asked.

        It is corrected for `models`, and must be larger than what `unread` replies can make. One that is the same for
        all users has no interval, and a sign test in its place.
        """
        difference = self.differences.get(name)
        if difference is None:
            return None
        if difference.value and not shows_spread(difference.stderr):
            if self.models * 2 * 0.5**difference.users > ALPHA:
                return 0
            low = high = difference.value
        else:
            # Bonferroni: both sides of an interval grow as Student's t does, also where it is longer on one of them.
            wider = critical(difference.users - 1, self.models) / critical(difference.users - 1)
            low, high = (
                difference.value + wider * (end - difference.value) for end in (difference.low, difference.high)
            )
        unread = self.unread.get(name, 0.0)
        return (low > max(0, unread)) - (high < min(0, unread))


def use_of(run: Run, measures: Mapping[str, Estimate | None], controls: Mapping[str, Run]) -> Use | None:
    """Whether a run uses who its user is; None if no control is told about another user, or nothing should change.

    Args:
        measures: key of a measure, such as `right_minus_wrong` -> its value over all cases.
        controls: value of the control's option -> the run under it.
    """
    control, wrong = run.benchmark.report.control, wrong_value(run)
    if control.harm or not wrong:
        return None
    own = run.setting
    names = {(one.more, one.less): one.name for one in control.named}
    compared = {
        WRONG: (own, wrong),
        NONE: (own, control.value),
        WRONG_OVER_NONE: (wrong, control.value),
        SIMILAR: (own, control.similar),
    }
    named = {key: names.get(values, "") for key, values in compared.items()}
    compared[COUNTING], named[COUNTING] = compared[WRONG], EXCESS

    values = {key: measures.get(key_of(name)) for key, name in named.items()}
    found = {}
    for key, value in values.items():
        # a verdict across different cases would be about none of them: a control on a part counts as not asked
        if value is not None and not math.isnan(value.value) and not 0 < value.n < MOST_CASES * len(run.cases):
            found[key] = value
    further = {SIMILAR: control.similar, COUNTING: control.counting}
    wanted = [values[WRONG], values[NONE]]
    shares = {value: _without_pick(one) for value, one in {own: run, **controls}.items()}
    return Use(
        control.known,
        found,
        unread={
            key: shares[less] - shares[more] for key, (more, less) in compared.items() if {more, less} <= shares.keys()
        },
        void=any(one is not None and math.isnan(one.value) for one in wanted),
        in_part=any(values[key] is not None and key not in found for key in (WRONG, NONE)),
        missing=tuple(named[key] for key, there in further.items() if there and key not in found),
    )


def _without_pick(run: Run) -> float:
    labels = run.benchmark.labels
    found = mean(float(answer not in labels) for result in run.results for answer in result.answers)
    return 0.0 if math.isnan(found) else found


def wrong_value(run: Run) -> str:
    """The value of the control's option under which the model is told about another user; empty without one."""
    control = run.benchmark.report.control
    return next((one.less for one in control.named if one.more == run.setting and one.less != control.value), "")


def excess_over_counting(one: Contender) -> Estimate | None:
    """EXCESS, paired by case; None without the control or the texts, and where cells weigh the same.

    Of the baselines that count terms, the one that leaves the least: to be above 0 is then to be above all of them. One
    that does no better with the right persona explains nothing; without any other, right minus wrong is left.
    """
    run, texts = one.run, one.texts
    value = wrong_value(run)
    wrong, control = one.controls.get(value), run.benchmark.report.control
    if one.plain or wrong is None or texts is None or texts.counted is None:
        return None
    if any(run.signature.options.get(name) for name in control.alike.get(value, ())):
        return None  # the model saw a part of the persona, and the baselines count in all of it
    found = gains(run, wrong, one.ids)
    users = [run.cases[name].user_id for name in found]
    excess = []
    for of in texts.counted().values():
        if sum(of[name] for name in found) > 0:
            excess.append(paired([gain - of[name] for name, gain in found.items()], users))
    excess = excess or [paired([*found.values()], users)]
    return min(excess, key=lambda found: found.value if math.isnan(found.low) else found.low)


def same_pick(one: Contender) -> Estimate | None:
    """Right minus wrong of the cases in which both runs pick the same response in every order; None without control.

    Picks by place dilute a difference: the same knowledge makes less of it.
    """
    run, wrong = one.run, one.controls.get(wrong_value(one.run))
    if one.plain or wrong is None:
        return None
    alike = []
    for name in one.ids:
        its = wrong.cases.get(name)
        if its and run.cases[name].value("consistency") == its.value("consistency") == 1:
            alike.append(name)
    found = gains(run, wrong, alike) if alike else {}
    return paired([*found.values()], [run.cases[name].user_id for name in found])
