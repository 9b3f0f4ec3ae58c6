"""Aggregations that the YAML files name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ..core.benchmark import Benchmark, find
from ..core.method import Method
from ..core.result import CorpusMetric, Result
from ..core.table import corpus_stderr
from ..stats import estimates

mean = estimates.mean
"""Aggregation that leaves nan out; lm-eval's own `mean` would turn one nan into a nan for the whole task."""

Item = tuple[str, str, Sequence[Mapping[str, Any]]]
"""(benchmark, metric, results of its cases as JSON) of one document, for a metric over the corpus. lm-eval logs it."""


def mean_of_cases(items: Sequence[Sequence[float]]) -> float:
    """Aggregation: the mean over the cases of documents that have several, from their values."""
    return mean(chain.from_iterable(items))


def user_stderr(items: Sequence[tuple[str, Sequence[float]]]) -> float | str:
    """Aggregation: standard error clustered by user, from (user_id, values) of each document's cases."""
    users, values = list[str](), list[float]()
    for user, of_cases in items:
        users += [user] * len(of_cases)
        values += of_cases
    return _known(estimates.clustered_stderr(values, users))


def _known(stderr: float) -> float | str:
    # as lm-eval writes an error that is not known: it would pool nan into the error of a group, and may divide by 0
    return "N/A" if stderr != stderr else stderr


def over_cases(items: Sequence[Item]) -> float:
    """Aggregation: a metric over the corpus, such as F1."""
    measure, results = _corpus(items)
    return measure(results)


def over_cases_stderr(items: Sequence[Item]) -> float | str:
    """Aggregation: the standard error of a metric over the corpus, a jackknife over users."""
    return _known(corpus_stderr(*_corpus(items)))


def _corpus(items: Sequence[Item]) -> tuple[CorpusMetric, list[Result]]:
    benchmark, metric, _ = items[0]
    logged = chain.from_iterable(results for _, _, results in items)
    return find(benchmark).corpus[metric], [*map(Result.from_json, logged)]


def of_several(benchmark: Benchmark, method: Method, settings: Sequence[str]) -> list[dict[str, Any]]:
    """What the YAML file would list for a run of several settings."""
    mean_of = mean_of_cases if method.groups else mean
    measure = benchmark.primary(method)
    better = next((metric.higher_is_better for metric in method.metrics if metric.name == measure), None)
    found: list[dict[str, Any]] = []
    for name, of in benchmark.of_several(method, settings).items():
        # more is better of a difference, which has two settings
        direction = True if len(of) > 1 else better
        found.append({"metric": name, "aggregation": mean_of, "higher_is_better": direction})
        found.append({"metric": f"{name}_stderr", "aggregation": user_stderr, "higher_is_better": None})
    return found
