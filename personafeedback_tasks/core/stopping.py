"""A run that ends as soon as its question is decided: the rule, the order of the users, and what is known after each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..common.errors import OptionError
from ..stats import sequences
from ..stats.estimates import percent
from .benchmark import Benchmark
from .cases import digest_of
from .report import Difference

KEY = "personafeedback_tasks_stop"
"""Where the metadata of a log have the rule and the number of cases of each user, see `StopPlan.as_dict`."""

SEED = 33
"""Of the order of the users."""

DECISIONS: Mapping[str | None, str] = {
    "above": "above 0",
    "below": "below 0",
    "within": "within the margin around 0",
    "known": "known to within the margin",
    None: "not decided",
}


@dataclass(frozen=True)
class Rule:
    """When to stop."""

    written: str  # as users write it: `5`, `acc:5`
    # In (0, 0.5]: a difference must be known to differ from 0 or to lie within it, an accuracy to within it.
    margin: float
    accuracy: bool  # else about right minus wrong

    def decided(self, interval: tuple[float, float]) -> str | None:
        """What an interval settles: see `sequences.decided`; of an accuracy, `known`; None so far."""
        if self.accuracy:
            return "known" if (interval[1] - interval[0]) / 2 <= self.margin else None
        return sequences.decided(interval, self.margin)


def read_rule(value: Any) -> Rule:
    """The rule that users write after `stop=`."""
    written = str(value).strip()
    accuracy = written.startswith("acc:")
    try:
        points = float(written.removeprefix("acc:"))
    except ValueError:
        points = math.nan
    if isinstance(value, bool) or not 0 < points <= 50:
        raise OptionError(
            f"stop must be a margin in points above 0 and at most 50, such as 5; or acc:5, for an accuracy known to within 5 points; got {value!r}."
        )
    return Rule(written, points / 100, accuracy)


def user_order(users: Iterable[str]) -> list[str]:
    """Each user once, in an order that is random, and the same in every run."""
    return sorted(set(users), key=lambda user: digest_of([SEED, user]))


def difference_of(benchmark: Benchmark, settings: Sequence[str]) -> Difference:
    """Right minus wrong, which `stop` decides on; OptionError unless the run asks both settings."""
    control = benchmark.report.control
    if control is None or not control.of_one_run:
        raise OptionError(f"stop is for benchmarks with a right and a wrong persona, and {benchmark.title} has none.")
    found = control.of_one_run[0]
    if not {found.more, found.less} <= {*settings}:
        told = ",".join(settings)
        raise OptionError(
            f"stop decides on {found.name} and needs {found.more} and {found.less} among the settings, got {control.option}={told}. "
            f"Use {control.option}={found.more},{found.less}, or stop=acc:5 for an accuracy."
        )
    return found


@dataclass(frozen=True)
class StopState:
    """What is known after some users.

    Attributes:
        rule: as written.
        users: that the estimate has.
        of: that there are.
        decision: see `Rule.decided`.
        interval: of the sequence, after these users; a share, or a difference of shares.
        most: cases of the user with most of them in the data; 0 if unknown.
    """

    rule: str
    users: int
    of: int
    decision: str | None
    interval: tuple[float, float]
    most: int = 0

    @property
    def accuracy(self) -> bool:
        """Whether it is about an accuracy; else about right minus wrong."""
        return read_rule(self.rule).accuracy

    @property
    def early(self) -> bool:
        """Whether there are users who do not count."""
        return self.users < self.of

    def said(self, name: str) -> str:
        """All of it in words, of what `name` names."""
        ends = " to ".join(percent(end, sign=not self.accuracy) for end in self.interval)
        return f"{self.users:,} of {self.of:,} users count, {name} {DECISIONS[self.decision]}, {ends} with 95 % confidence, whenever one looks"


@dataclass(frozen=True)
class StopPlan:
    """A rule, and the cases of each user in the order in which they enter."""

    rule: Rule
    cases: tuple[tuple[str, ...], ...]  # ids of each user's cases; a run with `--limit` has a beginning of these

    @classmethod
    def of(cls, rule: Rule, users: Mapping[str, str]) -> StopPlan:
        """A plan, from case id -> user."""
        found: dict[str, list[str]] = {user: [] for user in user_order(users.values())}
        for case_id, user in users.items():
            found[user].append(case_id)
        return cls(rule, tuple(map(tuple, found.values())))

    @cached_property
    def sizes(self) -> list[int]:
        return [len(ids) for ids in self.cases]

    def intervals(self, sums: Sequence[float], counts: Sequence[int]) -> sequences.Intervals:
        """What the first users say, after each of them; see `sequences`."""
        return sequences.betting(sums, counts, 0 if self.rule.accuracy else -1, max(self.sizes))

    def complete(self, values: Collection[str]) -> int:
        """How many users, from the first on, have all their cases among these."""
        lacking = (n for n, ids in enumerate(self.cases) if not all(case_id in values for case_id in ids))
        return next(lacking, len(self.cases))

    def known(self, values: Mapping[str, float]) -> StopState:
        """What is known after the user who decided it, else after the last of those who are complete from the first on.

        `values`: case id -> value of every case that is answered, in any order; nan where it is undefined.
        """
        first = self.cases[: self.complete(values)]
        complete = [[values[case_id] for case_id in ids if not math.isnan(values[case_id])] for ids in first]
        intervals = (
            self.intervals([math.fsum(of_user) for of_user in complete], list(map(len, complete))) if complete else []
        )
        for number, interval in enumerate(intervals, 1):
            if decision := self.rule.decided(interval):
                return StopState(self.rule.written, number, len(self.cases), decision, interval, max(self.sizes))
        nothing = (0.0 if self.rule.accuracy else -1.0, 1.0)
        last = [nothing, *intervals][-1]
        return StopState(self.rule.written, len(intervals), len(self.cases), None, last, max(self.sizes, default=0))

    def as_dict(self) -> dict[str, Any]:
        """For the metadata of a log, ready for JSON."""
        return {"rule": self.rule.written, "cases_of_users": self.sizes}
