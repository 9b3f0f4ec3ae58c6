"""The pairs of a ranking: the difference between two runs, paired by case, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations

from ..core.result import CorpusMetric, Result
from ..stats.clusters import Alike
from ..stats.estimates import Estimate, estimate_of, paired_test
from ..stats.significance import holm, minimum_detectable_difference
from .contender import Contender, groups_of


@dataclass(frozen=True)
class Gap:
    """A difference between two runs on the cases of one group.

    Attributes:
        difference: of their scores.
        p: two-sided, in [0, 1], with Holm's correction over the groups beside the one of all cases.
        detectable: the smallest true difference that these cases show with 80 % power at 5 %; null where it is above 1.
    """

    difference: Estimate
    p: float
    detectable: float


@dataclass(frozen=True)
class RunPair:
    """Two runs of a ranking, by their places in it, from 1.

    Attributes:
        first: place of the first run.
        second: place of the other one, which is below.
        difference: score of the first minus that of the second, paired by case.
        p: two-sided, in [0, 1], with Holm's correction over all pairs of the ranking.
        groups: in a ranking of two runs, cell or group of cells -> the same there; the last one has all cases.
        measures: in a ranking of two runs, measure that is no mean, such as F1 -> its difference, by jackknife.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    groups: Mapping[str, Gap] = field(default_factory=dict)
    measures: Mapping[str, Estimate] = field(default_factory=dict)


def pairs_of(scores: Sequence[Sequence[float]], alike: Alike) -> list[RunPair]:
    """All pairs of runs, from one value per case of each, the best run first."""
    import numpy as np  # the extra `report` brings it

    pairs = []
    for (first, ours), (second, theirs) in combinations(enumerate(map(np.array, scores), 1), 2):
        pairs.append(RunPair(first, second, *paired_test(ours - theirs, alike)))
    corrected = holm([pair.p for pair in pairs])
    return [replace(pair, p=p) for pair, p in zip(pairs, corrected, strict=True)]


def of_two(pair: RunPair, first: Contender, second: Contender) -> RunPair:
    """The pair of a ranking of two runs, with its groups and its measures that are no means."""
    import numpy as np

    deltas = np.subtract(first.scores, second.scores)
    found = {}
    for name, _, places in groups_of(first.run):
        difference, p = paired_test(deltas[places], first.clusters[places])
        found[name] = Gap(difference, p, minimum_detectable_difference(difference))
    *parts, whole = found
    corrected = holm([found[name].p for name in parts])
    groups = {name: replace(found[name], p=p) for name, p in zip(parts, corrected, strict=True)}
    return replace(pair, groups={**groups, whole: found[whole]}, measures=_measures(first, second))


def _measures(first: Contender, second: Contender) -> dict[str, Estimate]:
    cases = list(zip(first.judged, second.judged, strict=True))
    if not all(one and other for one, other in cases):
        return {}
    of_corpus = first.run.benchmark.corpus
    found = {}
    for line in first.run.benchmark.report.compared:
        if line.key in of_corpus:
            low, high = line.ends
            made = estimate_of(partial(_difference, of_corpus[line.key]), cases, first.clusters)
            found[line.key] = made.within(low - high, high - low)
    return found


def _difference(measure: CorpusMetric, cases: Sequence[tuple[Sequence[Result], Sequence[Result]]]) -> float:
    first, second = zip(*cases, strict=True)
    return measure([*chain.from_iterable(first)]) - measure([*chain.from_iterable(second)])
