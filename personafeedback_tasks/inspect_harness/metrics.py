"""The numbers in Inspect's table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..core.benchmark import find
from ..core.result import Result
from ..core.rewards import correlations
from ..core.table import table

RESULTS = "results"
"""Key in the metadata of a score: the results of its cases, as `Result.to_json` makes them."""

THINKS, IF_THINKS = "thinks", "if_thinks"
"""Keys: a reply of the sample shows thinking; the results that count if one of another sample does, since a scorer sees
one sample at a time."""


@metric
def measures(benchmark: str, method: str) -> Metric:
    """Every key of the scores: its mean and standard error over all cases, over each cell, and over each group of
    cells.

    They are called `acc`, `acc_stderr`, `acc_CELL`, `acc_CELL_stderr`, ... Means are weighted by cases, nan is left
    out; standard errors are clustered by user. Metrics over the corpus are beside them. The method's primary measure is
    repeated as `accuracy` and `stderr`, the names that other tools know.

    One metric without a reducer computes all: a reducer or a dict of metrics makes Inspect copy every score for each
    key.
    """
    record = find(benchmark)
    of_method = record.methods[method]
    primary = record.primary(of_method)

    # Without this annotation Inspect passes bare scores, stripped of their metadata.
    def compute(scores: list[SampleScore]) -> Value:
        every: list[Result] = []
        for results in in_view(score.score.metadata or {} for score in scores):
            # those of the first setting come first, and the table has what the others add to them
            for result, values in zip(results, record.tabled(of_method, results, "inspect"), strict=False):
                every.append(replace(result, values=values))
        counted = {*record.counted({result.case_id for result in every})}
        found = table([one for one in every if one.case_id in counted], record.columns, record.corpus)
        if primary in found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


@metric
def pearson() -> Metric:
    """`pearson_reward` and `pearson_<aspect>`: correlation of the rewards with being the better response."""

    def compute(scores: list[SampleScore]) -> Value:  # annotated for the same reason
        cases: dict[str, list[Any]] = {}
        for results in in_view(score.score.metadata or {} for score in scores):
            cases.setdefault(results[0].case_id, []).append(results[0].rewards or {})
        return cast(Value, correlations(cases.values()))

    return compute


def in_view(notes: Iterable[Mapping[str, Any]]) -> list[Sequence[Result]]:
    """The results in the metadata of each score of a run, read in view of each other."""
    notes = list(notes)
    thinks = any(THINKS in note for note in notes)
    logged = [(thinks and note.get(IF_THINKS)) or note.get(RESULTS, ()) for note in notes]
    return [[Result.from_json(one) for one in results] for results in logged]
