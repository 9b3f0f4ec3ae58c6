"""The numbers in Inspect's table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..engine.benchmark import find
from ..engine.judged import Judged
from ..engine.table import Scored, table

VALUES = "values"
"""In the metadata of the score of a document with several cases: metric -> value of each."""


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
        if primary in found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


def _scored(epochs: list[SampleScore]) -> list[Scored]:
    """The cases of a sample: one, or those that the scores list."""
    about = epochs[0].sample_metadata or {}
    cell, user = about["cell"], about["user_id"]
    noted = [epoch.score.metadata or {} for epoch in epochs]
    if VALUES not in noted[0]:
        judged = [Judged(note["targets"], tuple(note["answers"]), cell) for note in noted if "answers" in note]
        return [Scored(cell, user, [cast(Any, epoch.score.value) for epoch in epochs], judged)]
    judged_of_each = [_judged(note, cell) for note in noted if "answers" in note]
    return [
        Scored(cell, user, [note[VALUES][place] for note in noted], [of_epoch[place] for of_epoch in judged_of_each])
        for place in range(len(noted[0][VALUES]))
    ]


def _judged(note: Mapping[str, Any], cell: str) -> list[Judged]:
    """Of each case of a document: its share of all labels and answers, which stand case after case."""
    targets, answers = note["targets"], tuple(note["answers"])
    width = len(targets) // len(note[VALUES])
    return [
        Judged(targets[start : start + width], answers[start : start + width], cell)
        for start in range(0, len(targets), width)
    ]
