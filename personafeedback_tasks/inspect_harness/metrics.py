"""The numbers in Inspect's table."""

from __future__ import annotations

from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..engine.benchmark import find
from ..engine.outcome import Outcome
from ..engine.table import table

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
        found = table((case for same in epochs.values() for case in _outcomes(same)), record.columns, record.corpus)
        if primary in found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


def _outcomes(epochs: list[SampleScore]) -> list[list[Outcome]]:
    """The epochs of each case of a sample, which has one case or those that the scores list."""
    about, name = epochs[0].sample_metadata or {}, str(epochs[0].sample_id)
    of_epochs = []
    for number, epoch in enumerate(epochs, start=1):
        note = epoch.score.metadata or {}
        values: list[Any] = note.get(VALUES) or [epoch.score.value]
        targets, answers = note.get("targets", ()) if "answers" in note else (), tuple(note.get("answers", ()))
        width = len(targets) // len(values)  # the targets of a case are adjacent
        of_epochs.append(
            [
                Outcome(
                    name,
                    about["cell"],
                    about["user_id"],
                    "",
                    number,
                    targets[start : start + width],
                    answers[start : start + width],
                    value,
                )
                for start, value in ((place * width, value) for place, value in enumerate(values))
            ]
        )
    return [list(of_case) for of_case in zip(*of_epochs, strict=True)]
