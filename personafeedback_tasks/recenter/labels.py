"""Scores of two labels over all rows at once: one of them is looked for, and people's majority says where it is.

An unreadable reply is a value of its own: never right, and never the label that is looked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..common.statistics import mean
from ..engine.evidence import LogLikelihoods
from ..engine.outcome import Answers, CorpusMetric, Outcome


@dataclass(frozen=True)
class TwoLabels:
    """The scores of a model that looks for something.

    Attributes:
        sought: the label of what it looks for; other: that of all else.
    """

    sought: str
    other: str

    @property
    def labels(self) -> tuple[str, str]:
        return self.sought, self.other

    def score(self, targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods] = ()) -> dict[str, float]:
        """acc and invalid of one row: shares of its calls."""
        return {
            "acc": mean(float(answer == target) for target, answer in zip(targets, answers, strict=True)),
            "invalid": mean(float(answer not in self.labels) for answer in answers),
        }

    def precision(self, judged: Sequence[Outcome]) -> float:
        """Of what the model finds, the share that people find; nan if it finds nothing."""
        pairs = self._pairs(judged)
        return _share(pairs[self.sought, self.sought], _answered(pairs, self.sought))

    def recall(self, judged: Sequence[Outcome]) -> float:
        """Of what people find, the share that the model finds; nan if they find nothing."""
        pairs = self._pairs(judged)
        return _share(pairs[self.sought, self.sought], _said(pairs, self.sought))

    def f1(self, judged: Sequence[Outcome]) -> float:
        """Harmonic mean of precision and recall; nan if nobody finds anything."""
        pairs = self._pairs(judged)
        return _share(2 * pairs[self.sought, self.sought], _answered(pairs, self.sought) + _said(pairs, self.sought))

    def kappa(self, judged: Sequence[Outcome]) -> float:
        """Cohen's: the agreement beyond what both shares of each label alone imply; nan if they imply all of it."""
        pairs = self._pairs(judged)
        n = pairs.total()
        agreed = sum(pairs[label, label] for label in self.labels)
        by_chance = sum(_said(pairs, label) * _answered(pairs, label) for label in self.labels)
        return _share(n * agreed - by_chance, n * n - by_chance)

    def selection_rate(self, judged: Sequence[Outcome]) -> float:
        """The share of rows where the model finds it."""
        pairs = self._pairs(judged)
        return _share(_answered(pairs, self.sought), pairs.total())

    def human_rate(self, judged: Sequence[Outcome]) -> float:
        """The share of rows where people find it."""
        pairs = self._pairs(judged)
        return _share(_said(pairs, self.sought), pairs.total())

    def over_selection(self, judged: Sequence[Outcome]) -> float:
        """How many times as often as people the model finds it; nan if they find nothing."""
        pairs = self._pairs(judged)
        return _share(_answered(pairs, self.sought), _said(pairs, self.sought))

    def corpus(self, *names: str) -> dict[str, CorpusMetric]:
        """The scores of these names, as `Benchmark.corpus` wants them."""
        return {name: getattr(self, name) for name in names}

    def _pairs(self, judged: Sequence[Outcome]) -> Counter[tuple[str, str]]:
        """(people's label, the model's answer) -> how often."""
        # Few rows differ. To count equal ones first takes a quarter of the time, and a jackknife asks once for every user.
        found: Counter[tuple[str, str]] = Counter()
        for (targets, answers), count in Counter((tuple(one.targets), one.answers) for one in judged).items():
            for target, answer in zip(targets, answers, strict=True):
                found[target, answer if answer in self.labels else ""] += count
        return found


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _said(pairs: Counter[tuple[str, str]], label: str) -> int:
    """How often people said it."""
    return sum(count for (target, _), count in pairs.items() if target == label)


def _answered(pairs: Counter[tuple[str, str]], label: str) -> int:
    """How often the model said it."""
    return sum(count for (_, answer), count in pairs.items() if answer == label)
