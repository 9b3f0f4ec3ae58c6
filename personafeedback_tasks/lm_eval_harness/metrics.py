"""Aggregations and filters that the YAML files name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lm_eval.api.filter import Filter

from ..common import statistics
from ..engine.benchmark import find
from ..engine.table import corpus_stderr, over_corpus

mean = statistics.mean
"""Aggregation that leaves nan out; lm-eval's own `mean` would turn one nan into a nan for the whole task."""

Judged = tuple[str, str, str, Sequence[str], tuple[str, ...]]
"""(benchmark, metric, user id, targets, answers) of one case, for a metric over the corpus."""


def user_stderr(items: Sequence[tuple[str, float]]) -> float:
    """Aggregation: standard error clustered by user, from one (user_id, value) per case."""
    users, values = zip(*items, strict=True)
    return statistics.clustered_stderr(values, users)


def over_cases(items: Sequence[Judged]) -> float:
    """Aggregation: a metric over the corpus, such as F1."""
    return over_corpus(_measure(items), [[item[3:]] for item in items])


def over_cases_stderr(items: Sequence[Judged]) -> float:
    """Aggregation: its standard error, a jackknife over users."""
    return corpus_stderr(_measure(items), [[item[3:]] for item in items], [item[2] for item in items])


def _measure(items: Sequence[Judged]) -> Any:
    benchmark, metric, *_ = items[0]
    return find(benchmark).corpus[metric]


class ReadReply(Filter):
    """Filter: the text of a reply -> its label, or the reason for having none (logged as `filtered_resps`)."""

    def __init__(self, benchmark: str, method: str) -> None:
        read = find(benchmark).methods[method].read
        assert read is not None  # the YAML names it for methods that read text
        self.read = read

    def apply(self, resps: Any, docs: Any) -> list[str]:
        replies = list(resps)
        answers = {reply: self.read(reply, False) for reply in set(replies)}  # most replies are the same few labels
        return [answers[reply] for reply in replies]
