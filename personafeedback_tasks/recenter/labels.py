"""A stage with two labels of which one is sought, such as YES; what most people say is the truth.

An unreadable reply is never right, and never the label that is sought.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..core.evidence import LogLikelihoods
from ..core.method import Metric
from ..core.report import RATIO, SIGNED, Line
from ..core.result import Answers, Result
from ..parsing.answers import REASONS
from ..stats.estimates import mean
from .rows import Extraction, Relevance
from .stages import JudgedStage

METRICS = (Metric("acc"), Metric("invalid", higher_is_better=False))

_RATES = ("selection_rate", "human_rate", "over_selection")
_KAPPA = "agreement with most people beyond chance (Cohen's kappa): 1 is full, 0 is chance"


def score(targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods] = ()) -> dict[str, float]:
    """acc and invalid of one row."""
    return {
        "acc": mean(float(answer == target) for target, answer in zip(targets, answers, strict=True)),
        "invalid": mean(float(answer in REASONS) for answer in answers),
    }


def measures(labels: Sequence[str], outcomes: Sequence[Result]) -> dict[str, float]:
    """Scores over all rows at once; nan where a denominator is 0, such as precision if the model finds nothing.

    Args:
        labels: the sought one, and the other.
    """
    sought = labels[0]
    pairs = Counter((outcome.targets[0], outcome.answers[0]) for outcome in outcomes)
    people, model = Counter[str](), Counter[str]()
    for (target, answer), count in pairs.items():
        people[target] += count
        model[answer] += count
    rows, both = pairs.total(), pairs[sought, sought]
    agreed = sum(pairs[label, label] for label in labels)
    by_chance = sum(people[label] * model[label] for label in labels)  # rows times agreements by chance alone
    return {
        "precision": _share(both, model[sought]),
        "recall": _share(both, people[sought]),
        "f1": _share(2 * both, model[sought] + people[sought]),
        "kappa": _share(rows * agreed - by_chance, rows * rows - by_chance),
        "selection_rate": _share(model[sought], rows),
        "human_rate": _share(people[sought], rows),
        "over_selection": _share(model[sought], people[sought]),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


class LabelStage(JudgedStage):
    """A stage in which people and models give one of two labels, the sought one first."""

    measured: Sequence[str]  # names of `measures` that it has
    rates: tuple[str, str, str]  # the table that says how often the sought label is given, by the model, by people
    unscored = "even_votes"
    level = "nominal"

    def __init__(self) -> None:
        self.values = self.labels
        self.corpus = {name: partial(self._measure, name) for name in self.measured}
        self.undirected = tuple(name for name in self.measured if name in _RATES)
        self.report_fields = {**self._tables(), **self.report_fields}
        super().__init__()

    def _tables(self) -> dict[str, Any]:
        sought, (table, by_model, by_people) = self.labels[0], self.rates
        right = "share of the rows in which the model says what most people say"
        acc = Line("acc", strong=True, interval=True, meaning=right, compared=True)
        balance = f"harmonic mean of precision and recall of {sought}"
        f1 = Line("f1", f"F1 of {sought}", strong=True, interval=True, meaning=balance, ranked=True, compared=True)
        beside = partial(Line, table="", compared=True)  # the table of the baselines has them
        details = [
            beside("precision"),
            beside("recall"),
            beside("kappa", unit=SIGNED, meaning=_KAPPA, ranked=True),
        ]
        if "over_selection" in self.measured:
            more = f"how many times as often as people the model says {sought}"
            details.append(beside("over_selection", "over-selection", unit=RATIO, meaning=more, ranked=True))
        details += [
            Line("selection_rate", by_model, table=table),
            Line("human_rate", by_people, table=table),
            Line("invalid", table=table, meaning="share of the replies that could not be read", ranked=True),
        ]
        return {"headline": (acc, f1), "details": details}

    def _measure(self, name: str, outcomes: Sequence[Result]) -> float:
        return measures(self.labels, outcomes)[name]

    def label(self, judgment: float | None) -> str:
        return self.labels[0] if judgment else self.labels[1]

    def targets(self, case: Relevance | Extraction) -> list[str]:
        """The majority's label."""
        return [self.label(case.judgment)]

    def constant(self) -> dict[str, Answers]:
        return {f"always {label}": (label,) for label in self.labels}

    def votes(self, row: Any) -> Sequence[str]:
        return tuple(map(self.label, row.verdicts))

    def people(self, row: Relevance | Extraction) -> str:
        """The majority's label, and how many people gave it."""
        label, votes = self.label(row.judgment), row.verdicts
        return f"{label}: {votes.count(row.judgment)} of {len(votes)} people" if votes else label
