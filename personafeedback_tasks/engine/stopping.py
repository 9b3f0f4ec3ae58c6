"""A run that ends as soon as its question is decided: the rule, the order of the users, and what is known after each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..common import sequences
from ..common.errors import OptionError
from ..common.statistics import percent
from .benchmark import Benchmark
from .cases import digest_of
from .report import Difference

KEY = "personafeedback_tasks_stop"
"""Where the metadata of a log have the rule and the number of cases of each user, see `StopPlan.as_dict`."""

SEED = 33
DISCORDANT = 0.25
"""The share of cases that two settings are expected to answer differently. It says when the sequence is tightest, and nothing else."""

EXPECTED, CORRELATION = 0.75, 0.035
"""The accuracy, and the correlation of a user's cases, at which a width must be within reach."""


DECISIONS: Mapping[str | None, str] = {
    "above": "above 0",
    "below": "below 0",
    "within": "within the margin around 0",
    "known": "known to within the margin",
    None: "not decided",
}

SIMULATED = 100
"""Benchmarks that `StopPlan.expected` draws."""


@dataclass(frozen=True)
class Rule:
    """When to stop.

    Attributes:
        written: as users write it: `5`, `5:safe`, `acc:5`.
        margin: in (0, 0.5]: a difference is settled once it is known to differ from 0 or to lie within this of it, an accuracy once it is known
            to within this.
        accuracy: whether it is about an accuracy; else about right minus wrong.
        safe: whether nothing is assumed of the shape of the differences.
    """

    written: str
    margin: float
    accuracy: bool
    safe: bool

    def decided(self, interval: tuple[float, float]) -> str | None:
        """What an interval settles: see `sequences.decided`; of an accuracy, `known`; None so far."""
        if self.accuracy:
            return "known" if (interval[1] - interval[0]) / 2 <= self.margin else None
        return sequences.decided(interval, self.margin)


def read_rule(value: Any) -> Rule:
    """What users write after `stop=`.

    Raises:
        OptionError: it is none of the forms.
    """
    written = str(value).strip()
    accuracy, safe = written.startswith("acc:"), written.endswith(":safe")
    number = written.removeprefix("acc:") if accuracy else written.removesuffix(":safe")
    try:
        points = float(number)
    except ValueError:
        points = math.nan
    if isinstance(value, bool) or not 0 < points <= 50:
        raise OptionError(
            f"stop must be a margin in points above 0 and at most 50, such as 5; 5:safe, which assumes nothing of the shape of the differences; "
            f"or acc:5, for an accuracy known to within 5 points; got {value!r}."
        )
    return Rule(written, points / 100, accuracy, safe)


def user_order(users: Iterable[str]) -> list[str]:
    """Each user once, in an order that is random, and the same in every run."""
    return sorted(set(users), key=lambda user: digest_of([SEED, user]))


def right_minus_wrong(benchmark: Benchmark) -> Difference:
    """The difference that `stop` decides on.

    Raises:
        OptionError: the benchmark has none.
    """
    control = benchmark.report.control
    if control is None or not control.of_one_run:
        raise OptionError(f"stop is for benchmarks with a right and a wrong persona, and {benchmark.title} has none.")
    return control.of_one_run[0]


def difference_of(benchmark: Benchmark, settings: Sequence[str]) -> Difference:
    """Right minus wrong, of a run that asks these settings.

    Raises:
        OptionError: the run does not ask both.
    """
    found, control = right_minus_wrong(benchmark), benchmark.report.control
    if control is not None and not {found.more, found.less} <= {*settings}:
        told = ",".join(settings)
        raise OptionError(
            f"stop decides on {found.name} and needs {found.more} and {found.less} among the settings, got {control.option}={told}. "
            f"Use {control.option}={found.more},{found.less}, or stop=acc:5 for an accuracy."
        )
    return found


def refuse_epochs(epochs: int) -> None:
    """Raise OptionError for more than one."""
    if epochs > 1:
        raise OptionError(f"stop is for one epoch, got --epochs {epochs}. Leave one of them out.")


def drawn(rng: Any, sizes: Sequence[int], gap: float) -> list[float]:
    """What the differences of each user's cases add up to, of a simulated benchmark.

    Cases are 1, 0 or -1, and not 0 in DISCORDANT of all; the gap of a user is normal, so that two cases of one correlate by CORRELATION.
    """
    import numpy as np  # the extra `report` brings it

    gaps = gap + rng.normal(0, math.sqrt(CORRELATION * DISCORDANT), len(sizes))
    more = np.clip((DISCORDANT + gaps) / 2, 0, 1)
    less = np.minimum(np.clip((DISCORDANT - gaps) / 2, 0, 1), 1 - more)
    drawn = [rng.multinomial(size, (a, b, max(0.0, 1 - a - b))) for size, a, b in zip(sizes, more, less, strict=True)]
    return [float(a - b) for a, b, _ in drawn]


@dataclass(frozen=True)
class StopState:
    """What is known after some users.

    Attributes:
        rule: as written.
        users: how many the estimate has; `of` how many there are.
        decision: see `Rule.decided`.
        interval: of the sequence, after these users; a share, or a difference of shares.
        intervals: the same after each of these users.
    """

    rule: str
    users: int
    of: int
    decision: str | None
    interval: tuple[float, float]
    intervals: tuple[tuple[float, float], ...] = ()

    @property
    def accuracy(self) -> bool:
        """Whether it is about an accuracy; else about right minus wrong."""
        return read_rule(self.rule).accuracy

    @property
    def early(self) -> bool:
        """Whether there are users who do not count."""
        return self.users < self.of

    def said(self, name: str) -> str:
        """All of it in words.

        Args:
            name: of what it is about.
        """
        ends = " to ".join(percent(end, sign=not self.accuracy) for end in self.interval)
        return f"{self.users:,} of {self.of:,} users count, {name} {DECISIONS[self.decision]}, {ends} with 95 % confidence{assumed(self.rule)}"


def assumed(rule: str) -> str:
    """The end of a sentence with the interval of a rule: when it holds, and what it assumes."""
    of = read_rule(rule)
    symmetric = "" if of.accuracy or of.safe else ", if users' differences are symmetric"
    return f", whenever one looks{symmetric}"


@dataclass(frozen=True)
class StopPlan:
    """A rule, and the cases of each user in the order in which they enter.

    Attributes:
        cases: ids of each user's cases. A run on fewer (`--limit`) has a beginning of these.
    """

    rule: Rule
    cases: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, rule: Rule, users: Mapping[str, str]) -> StopPlan:
        """A plan."""
        found: dict[str, list[str]] = {user: [] for user in user_order(users.values())}
        for case_id, user in users.items():
            found[user].append(case_id)
        return cls(rule, tuple(map(tuple, found.values())))

    @cached_property
    def sizes(self) -> list[int]:
        return [len(ids) for ids in self.cases]

    def intervals(self, sums: Sequence[float], counts: Sequence[int]) -> sequences.Intervals:
        """What the first users say, after each of them; see `sequences`."""
        if self.rule.accuracy or self.rule.safe:
            return sequences.betting(sums, counts, 0 if self.rule.accuracy else -1, max(self.sizes))
        return sequences.mixture(sums, counts, DISCORDANT * sum(self.sizes) / len(self.sizes))

    def complete(self, values: Collection[str]) -> int:
        """How many users, from the first on, have all their cases among these."""
        lacking = (n for n, ids in enumerate(self.cases) if not all(case_id in values for case_id in ids))
        return next(lacking, len(self.cases))

    def known(self, values: Mapping[str, float]) -> StopState:
        """What is known after the user who decided it or, before, after the last of the users that are complete from the first on.

        Args:
            values: case id -> value of every case that is answered, in any order; nan where it is undefined.
        """
        first = self.cases[: self.complete(values)]
        complete = [[values[case_id] for case_id in ids if not math.isnan(values[case_id])] for ids in first]
        intervals = (
            self.intervals([math.fsum(of_user) for of_user in complete], list(map(len, complete))) if complete else []
        )
        for number, interval in enumerate(intervals, 1):
            if decision := self.rule.decided(interval):
                so_far = tuple(intervals[:number])
                return StopState(self.rule.written, number, len(self.cases), decision, interval, so_far)
        nothing = (0.0 if self.rule.accuracy else -1.0, 1.0)
        last = [nothing, *intervals][-1]
        return StopState(self.rule.written, len(intervals), len(self.cases), None, last, tuple(intervals))

    def refuse_out_of_reach(self) -> None:
        """Raise OptionError for the width of an accuracy that all users together do not give."""
        if self.rule.accuracy and (reach := self.reach()) > self.rule.margin:
            raise OptionError(
                f"stop={self.rule.written} asks for an accuracy known to within {100 * self.rule.margin:g} points, and with all "
                f"{len(self.cases):,} users it is known to within about {100 * reach:.1f}. Use at least acc:{math.ceil(100 * reach)}, or leave stop out."
            )

    def reach(self) -> float:
        """Half the width of the accuracy's interval after all users, of a model with the accuracy EXPECTED; the mean of a few drawn ones."""
        import numpy as np  # the extra `report` brings it

        rng = np.random.default_rng(SEED)
        spread = math.sqrt(CORRELATION * EXPECTED * (1 - EXPECTED))
        ends = []
        for _ in range(5):
            sums = rng.binomial(self.sizes, np.clip(rng.normal(EXPECTED, spread, len(self.sizes)), 0, 1))
            low, high = self.intervals(sums.tolist(), self.sizes)[-1]
            ends.append((high - low) / 2)
        return float(np.mean(ends))

    def expected(self, gap: float) -> tuple[float, float]:
        """(the share of benchmarks that are decided, the share of all cases that they ask on average) where right minus wrong is `gap`.

        Of SIMULATED benchmarks of these users, see `drawn`; two standard errors of the first are 10 points at most.
        """
        import numpy as np  # the extra `report` brings it

        rng, decided, asked = np.random.default_rng(SEED), 0, 0
        for _ in range(SIMULATED):
            decisions = map(self.rule.decided, self.intervals(drawn(rng, self.sizes, gap), self.sizes))
            end = next((place for place, decision in enumerate(decisions, 1) if decision), None)
            decided += end is not None
            asked += sum(self.sizes[:end])
        return decided / SIMULATED, asked / SIMULATED / sum(self.sizes)

    def as_dict(self) -> dict[str, Any]:
        """For the metadata of a log, ready for JSON."""
        return {"rule": self.rule.written, "cases_of_users": self.sizes}
