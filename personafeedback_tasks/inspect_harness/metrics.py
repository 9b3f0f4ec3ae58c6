"""The numbers in Inspect's table."""

from __future__ import annotations

from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..engine.benchmark import find
from ..engine.table import Scored, table


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
        found = table((_scored(same) for same in epochs.values()), record.columns, record.corpus)
        if found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


def _scored(epochs: list[SampleScore]) -> Scored:
    about = epochs[0].sample_metadata or {}
    noted = [epoch.score.metadata or {} for epoch in epochs]
    return Scored(
        about["cell"],
        about["user_id"],
        [cast(Any, epoch.score.value) for epoch in epochs],
        [(note["targets"], tuple(note["answers"])) for note in noted if "answers" in note],
    )
