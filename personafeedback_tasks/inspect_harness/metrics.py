"""The numbers in Inspect's table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..engine.benchmark import find
from ..engine.judged import Judged
from ..engine.table import Scored, table

CASES = "cases"
"""In the metadata of the score of a document with several cases: {targets, answers, value} of each."""


@metric
def measures(benchmark: str) -> Metric:
    """Every key of the scores: its mean and standard error over all cases, over each cell, and over each group of cells.

    They are called `acc`, `acc_stderr`, `acc_CELL`, `acc_CELL_stderr`, ... Means are weighted by cases, nan is left out;
    standard errors are clustered by user. Metrics over the corpus are beside them. The primary measure is repeated
    as `accuracy` and `stderr`, the names that other tools know.

    One metric computes them all, and without a reducer before it: both a reducer and a dict of metrics make Inspect copy
    every score for each key, again and again during a run.
    """
    record = find(benchmark)
    primary = record.report.primary

    # Without this annotation Inspect passes bare scores, stripped of the metadata that names the cell and the user.
    def compute(scores: list[SampleScore]) -> Value:
        epochs: dict[object, list[SampleScore]] = {}
        for score in scores:
            epochs.setdefault(score.sample_id, []).append(score)
        found = table((case for same in epochs.values() for case in _scored(same)), record.columns, record.corpus)
        if found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


def _scored(epochs: list[SampleScore]) -> list[Scored]:
    """The cases of a sample: one, or those that the scores list."""
    about = epochs[0].sample_metadata or {}
    cell, user = about["cell"], about["user_id"]
    noted = [epoch.score.metadata or {} for epoch in epochs]
    if CASES not in noted[0]:
        judged = [Judged(note["targets"], tuple(note["answers"]), cell) for note in noted if "answers" in note]
        return [Scored(cell, user, [cast(Any, epoch.score.value) for epoch in epochs], judged)]
    return [
        Scored(cell, user, [of_case["value"] for of_case in same], [_judged(of_case, cell) for of_case in same])
        for same in zip(*(note[CASES] for note in noted), strict=True)
    ]


def _judged(of_case: Mapping[str, Any], cell: str) -> Judged:
    return Judged(of_case["targets"], tuple(of_case["answers"]), cell)
