"""The table of means that Inspect printed, held against the samples of its log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.log import EvalLog

from ..engine.benchmark import Benchmark, Method
from ..engine.table import table
from ..inspect_harness import reward, scorers
from . import checks
from .checks import LoggedCase
from .run import RunError


def refuse_other_table(
    path: Path, log: EvalLog, benchmark: Benchmark, method: Method, allowed: Sequence[list[LoggedCase]]
) -> None:
    """Raise RunError unless the means that Inspect printed are those of the samples.

    Args:
        allowed: all samples, or all and those that count: a mark leaves the table of the run as it was, until its metrics are
            computed again.
    """
    name = scorers.name_of(benchmark, method)
    scores = [score for score in (log.results.scores if log.results else ()) if score.scorer == name]
    if any(score.reducer not in (None, "mean") for score in scores):
        return  # --epochs-reducer is something other than a mean over the epochs of a case
    completed = log.results.completed_samples if log.results else 0
    if completed and not allowed[0] and len(allowed) == 1:
        raise RunError(
            f"{path}: found no scores, expected those of the {completed:,} samples that the log counts. If it was not "
            f"scored, run `inspect score` (--scorer personafeedback_tasks/{name}); if a newer Inspect wrote it, upgrade "
            "personafeedback-tasks."
        )
    printed = {name: metric.value for score in scores for name, metric in score.metrics.items()}
    refused: RunError | None = None
    for samples in allowed:
        if not samples:
            return  # every sample failed, or none of them counts
        try:
            checks.refuse_other_table(
                path, "Inspect's results", printed, _table(samples, benchmark, method), benchmark.report.primary
            )
        except RunError as error:
            refused = refused or error
        else:
            return
    if refused is not None:
        raise refused


def _table(samples: Sequence[LoggedCase], benchmark: Benchmark, method: Method) -> dict[str, float]:
    """The means as Inspect computes them."""
    epochs: dict[str, list[LoggedCase]] = {}
    for sample in samples:
        epochs.setdefault(sample.case_id, []).append(sample)
    ours = table(epochs.values(), benchmark.columns, benchmark.corpus)
    if method.evidence == "rewards":
        ours |= reward.correlations([one.rewards or {} for one in same] for same in epochs.values())
    return ours
