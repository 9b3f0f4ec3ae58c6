"""The scores of cases -> every number of a harness's table: over all cases, in each cell, in each group of cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..stats.estimates import clustered_stderr, jackknife_stderr, mean
from .result import CorpusMetric, Result


def table(
    cases: Iterable[Sequence[Result]],
    columns: Callable[[Collection[str]], dict[str, list[str]]],
    corpus: Mapping[str, CorpusMetric] | None = None,
    only: Collection[str] | None = None,
) -> dict[str, float]:
    """Every metric over all cases (`acc`, `acc_stderr`), in each cell (`acc_CELL`, ...) and in each group of cells.

    The epochs of a case are averaged first; a metric over the corpus sees all of them. Means are weighted by cases,
    standard errors clustered by user. Empty without cases. `only` are the metrics that are asked for; None for all.
    """
    in_cell: dict[str, list[Sequence[Result]]] = {}
    for case in cases:
        in_cell.setdefault(case[0].cell, []).append(case)
    groups = {f"_{name}": cells for name, cells in columns(in_cell).items() if name != "total"}
    found: dict[str, float] = {}
    for group, cells in {"": list(in_cell), **groups}.items():
        rows = [row for cell in cells for row in in_cell[cell]]
        users = [row[0].user_id for row in rows]
        over_epochs = [_over_epochs([epoch.values for epoch in row]) for row in rows]
        for metric in over_epochs[0] if rows else ():
            if only is not None and metric not in only:
                continue
            values = [scores[metric] for scores in over_epochs]
            found[f"{metric}{group}"] = mean(values)
            found[f"{metric}{group}_stderr"] = clustered_stderr(values, users)
        for metric, measure in (corpus or {}).items() if rows else ():
            judged = [[epoch for epoch in row if epoch.targets] for row in rows]
            found[f"{metric}{group}"] = over_corpus(measure, judged)
            found[f"{metric}{group}_stderr"] = corpus_stderr(measure, judged, users)
    return found


def over_corpus(measure: CorpusMetric, judged: Sequence[Sequence[Result]]) -> float:
    """A metric over the corpus."""
    return measure([outcome for case in judged for outcome in case])


def corpus_stderr(measure: CorpusMetric, judged: Sequence[Sequence[Result]], users: Sequence[str]) -> float:
    """The standard error of a metric over the corpus: a jackknife that leaves out one user at a time."""
    return jackknife_stderr(lambda kept: over_corpus(measure, kept), judged, users)


def _over_epochs(epochs: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    first, *others = epochs
    return {metric: mean(scores[metric] for scores in epochs) for metric in first} if others else first
