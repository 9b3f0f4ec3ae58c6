"""A scored case: what harnesses, logs and recorded replies come to, and what tables and reports take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any

import msgspec
from msgspec import Struct, structs

from ..stats.estimates import mean
from .rewards import NamedRewards

Answers = tuple[str, ...]
"""One answer per call of a case: a label, or the reason why the reply is unreadable."""


class Result(Struct, frozen=True):
    """One case under one setting in one epoch, with its answers and values once its replies are scored.

    Several epochs or settings of a case are more results.
    """

    case_id: str = ""
    cell: str = ""
    user_id: str = ""
    digest: str = ""
    setting: str = ""  # value of the option that a control changes, see `report.Control`; empty where nobody says
    epoch: int = 1  # from 1
    targets: tuple[str, ...] = ()  # the right label of each call, or what else the case is held against
    answers: Answers = ()  # one per call; empty where no labels are read
    values: Mapping[str, float] = {}  # in any unit; nan where undefined
    rewards: NamedRewards | None = None  # of both responses; None where a method reads none
    unread: tuple[tuple[str, str], ...] = ()  # (reason, excerpt) of each unreadable reply whose text is known
    items: tuple[Mapping[str, Any], ...] = ()  # what its replies list, see `method.TextMethod`
    bounds: int = 0  # calls with a label outside the top tokens, whose probability is a bound
    facts: Mapping[str, Any] = {}  # what measures of a text need, until it is scored

    def value(self, metric: str) -> float:
        """One of its values; nan where its method does not have it."""
        return self.values.get(metric, nan)

    def changed(self, **values: Any) -> Result:
        """The same but for some fields."""
        return structs.replace(self, **values)

    def to_json(self) -> dict[str, Any]:
        """Its fields for the logs of both harnesses, without empty ones."""
        return {name: value for name, value in msgspec.to_builtins(self).items() if value or name == "values"}

    @classmethod
    def from_json(cls, logged: object) -> Result:
        """The way back from `to_json`; ValueError where a field is missing or has another type."""
        return msgspec.convert(logged, cls)


def by_case(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Case id -> its results, one per epoch and in their order."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.case_id, []).append(result)
    return found


def over_epochs(of_cases: Iterable[Sequence[Result]]) -> list[Result]:
    """Each case over its epochs: a value is its mean over those that define it. Of several, nothing else is left."""
    cases = []
    for first, *others in of_cases:
        if others:
            values = {metric: mean(epoch.value(metric) for epoch in (first, *others)) for metric in first.values}
            first = first.changed(values=values, answers=(), rewards=None, unread=(), items=(), bounds=0)
        cases.append(first)
    return cases


CorpusMetric = Callable[[Sequence[Result]], float]
"""A score that is not a mean over cases, such as F1 or kappa: computed from all of them at once; nan if undefined."""
