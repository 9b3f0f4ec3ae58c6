"""Scores of two labels over all rows at once, where one label is sought; people's majority is the truth.

An unreadable reply is a value of its own: never right, and never the label that is sought.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..common.statistics import mean
from ..core.evidence import LogLikelihoods
from ..core.report import HumanAgreement, Line
from ..core.result import Answers, CorpusMetric, Result
from .agreement import agreement
from .data import Rows
from .rows import Extraction, Relevance


class Tally(NamedTuple):
    """Counts of rows.

    Attributes:
        people, model, both: rows with the sought label by people, by the model, by both.
        agreed: rows where both say the same.
        by_chance: `rows` times the number of agreements that the shares of each label alone imply.
    """

    rows: int
    people: int
    model: int
    both: int
    agreed: int
    by_chance: int


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


MEASURES: dict[str, Callable[[Tally], float]] = {
    "precision": lambda of: _share(of.both, of.model),
    "recall": lambda of: _share(of.both, of.people),
    "f1": lambda of: _share(2 * of.both, of.model + of.people),
    "kappa": lambda of: _share(of.rows * of.agreed - of.by_chance, of.rows * of.rows - of.by_chance),  # Cohen's
    "selection_rate": lambda of: _share(of.model, of.rows),
    "human_rate": lambda of: _share(of.people, of.rows),
    "over_selection": lambda of: _share(of.model, of.people),
}
"""nan where the denominator is 0: for example, precision if the model finds nothing."""

PEOPLE = "Against people's majority"
KAPPA = "agreement with most people beyond chance (Cohen's kappa): 1 is full, 0 is chance"
AGAINST_PEOPLE = (
    Line("precision", table=PEOPLE), Line("recall", table=PEOPLE), Line("kappa", share=False, table=PEOPLE, meaning=KAPPA),
)  # fmt: skip

COMPARED = (
    Line("acc", strong=True, interval=True), Line("f1", "F1", strong=True, interval=True), Line("precision"), Line("recall"),
    Line("kappa", share=False),
)  # fmt: skip


@dataclass(frozen=True)
class TwoLabels:
    """The scores of a model that looks for the label `sought`; everything else is `other`."""

    sought: str
    other: str

    @property
    def labels(self) -> tuple[str, str]:
        return self.sought, self.other

    @property
    def headline(self) -> tuple[Line, Line]:
        acc = Line(
            "acc", strong=True, interval=True, meaning="share of the rows in which the model says what most people say"
        )
        meaning = f"harmonic mean of precision and recall of {self.sought}"
        return acc, Line("f1", f"F1 of {self.sought}", strong=True, interval=True, meaning=meaning)

    def label(self, judgment: float | None) -> str:
        return self.sought if judgment else self.other

    def target(self, row: Relevance | Extraction) -> str:
        """The majority's label."""
        return self.label(row.judgment)

    def people(self, row: Relevance | Extraction) -> str:
        """The majority's label, and how many people gave it."""
        said, votes = self.target(row), row.verdicts
        return f"{said}: {votes.count(row.judgment)} of {len(votes)} people" if votes else said

    def agreement(self, rows: Rows[Any]) -> HumanAgreement:
        """How far people agree, rows with even votes included."""
        every = (*rows.cases, *rows.unscored)
        votes = [(row.user_id, list(map(self.label, row.verdicts))) for row in every]
        return agreement(votes, self.labels, "nominal")

    def score(self, targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods] = ()) -> dict[str, float]:
        """acc and invalid of one row: shares of its calls."""
        return {
            "acc": mean(float(answer == target) for target, answer in zip(targets, answers, strict=True)),
            "invalid": mean(float(answer not in self.labels) for answer in answers),
        }

    def corpus(self, *names: str) -> dict[str, CorpusMetric]:
        """Some of MEASURES, as corpus metrics."""
        return {name: partial(self._measure, name) for name in names}

    def _measure(self, name: str, outcomes: Sequence[Result]) -> float:
        return MEASURES[name](self._tally(outcomes))

    def _tally(self, outcomes: Sequence[Result]) -> Tally:
        # Few rows differ. To count equal ones first takes a quarter of the time, and a jackknife asks once for every user.
        pairs: Counter[tuple[str, str]] = Counter()
        for (targets, answers), count in Counter((tuple(one.targets), one.answers) for one in outcomes).items():
            for target, answer in zip(targets, answers, strict=True):
                pairs[target, answer] += count
        people: Counter[str] = Counter()
        model: Counter[str] = Counter()
        for (target, answer), count in pairs.items():
            people[target] += count
            model[answer] += count
        agreed = sum(pairs[label, label] for label in self.labels)
        by_chance = sum(people[label] * model[label] for label in self.labels)
        sought = self.sought
        return Tally(pairs.total(), people[sought], model[sought], pairs[sought, sought], agreed, by_chance)
