"""The numbers in Inspect's table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..core.benchmark import find
from ..core.result import Result, ScoredCase
from ..core.rewards import correlations
from ..core.table import table

VALUES = "values"
"""Key in the metadata of the score of a document with several cases: metric -> value of each."""

ITEMS = "items"
"""Key in the metadata of a case's score: what its replies list."""

THINKS, IF_THINKS = "thinks", "if_thinks"
"""Keys: a reply of the sample shows thinking; the metadata that replace it if one of another sample does, since a
scorer sees one sample at a time."""


@metric
def measures(benchmark: str, primary: str = "") -> Metric:
    """Every key of the scores: its mean and standard error over all cases, over each cell, and over each group of
    cells.

    They are called `acc`, `acc_stderr`, `acc_CELL`, `acc_CELL_stderr`, ... Means are weighted by cases, nan is left
    out; standard errors are clustered by user. Metrics over the corpus are beside them. The `primary` measure is
    repeated as `accuracy` and `stderr`, the names that other tools know.

    One metric without a reducer computes all: a reducer or a dict of metrics makes Inspect copy every score for each
    key.
    """
    record = find(benchmark)

    # Without this annotation Inspect passes bare scores, stripped of the metadata that names the cell and the user.
    def compute(scores: list[SampleScore]) -> Value:
        cases = list(outcomes_of(scores))  # those of a document that has several share its id
        counted = set(record.counted([case.case_id for case in cases]))
        found = table((case for case in cases if case.case_id in counted), record.columns, record.corpus)
        if primary in found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


@metric
def pearson() -> Metric:
    """`pearson_reward` and `pearson_<aspect>`: correlation of the rewards with being the better response."""

    def compute(scores: list[SampleScore]) -> Value:  # annotated for the same reason
        cases = outcomes_of(scores)
        return cast(Value, correlations([outcome.rewards or {} for outcome in case] for case in cases))

    return compute


def outcomes_of(scores: Iterable[SampleScore]) -> Iterator[ScoredCase]:
    """Every case of some samples, each of which has one case or those that its scores list."""
    epochs: dict[object, list[list[Result]]] = {}
    scores = list(scores)
    for score, note in zip(scores, in_view(score.score.metadata or {} for score in scores), strict=True):
        of_sample = epochs.setdefault(score.sample_id, [])
        of_sample.append(_outcomes(score, note, len(of_sample) + 1))
    return (ScoredCase(case) for of_sample in epochs.values() for case in zip(*of_sample, strict=True))


def in_view(notes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The metadata of the scores of a run, in view of each other."""
    notes = list(notes)
    thinks = any(THINKS in note for note in notes)
    return [{**note, **note[IF_THINKS]} if thinks and IF_THINKS in note else note for note in notes]


def _outcomes(score: SampleScore, note: Mapping[str, Any], epoch: int) -> list[Result]:
    about = score.sample_metadata or {}
    values: list[Any] = note.get(VALUES) or [score.score.value]
    targets, answers = (
        note.get("targets", ()) if "answers" in note else (),
        tuple(note.get("answers", ())),
    )
    rewards = {name: tuple(by_call.values()) for name, by_call in (note.get("rewards") or {}).items()} or None
    width = len(targets) // len(values)  # the targets of a case are adjacent
    return [
        Result(
            str(score.sample_id), about["cell"], about["user_id"], epoch=epoch, targets=targets[start : start + width],
            answers=answers[start : start + width], values=value, rewards=cast(Any, rewards),
            items=tuple(note.get(ITEMS, ())),
        )
        for start, value in ((place * width, value) for place, value in enumerate(values))
    ]  # fmt: skip
