"""Inspect's own marks in a log: which samples count.

Inspect 0.3.285 can invalidate samples (`inspect_ai.log.invalidate_samples`), which leaves its table of means as it was. Later
versions can exclude samples from the metrics, too. Neither says that a sample was answered wrongly: it is left out here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import fields
from .judged import Compared
from .run import RunError, refused

INVALIDATED, EXCLUDED = "invalidated", "excluded from metrics"

# A sample that a limit or an error ended counts nevertheless if all its calls were answered before.
_ENDED = ("limit", "error")

# the beginnings of fields that mark a sample or a score: `invalidation`, and others in later versions
_MARK = re.compile("invalid|exclu")


def mark_of(sample: Mapping[str, Any], scorer: str) -> str:
    """Why a sample does not count; empty if it does, or if nothing is scored yet.

    Args:
        scorer: the name of ours. Inspect leaves a score that is nan as a whole out of its metrics.
    """
    score = (sample.get("scores") or {}).get(scorer)
    score = score if isinstance(score, dict) else {}
    value = score.get("value")
    unscored = isinstance(value, float) and math.isnan(value)
    for name in fields.named("inspect EvalSample", fields.REASON):
        if (found := sample.get(name)) and (name not in _ENDED or unscored or (name == "error" and not score)):
            return fields.words(name).format_map(found if isinstance(found, dict) else {})
    later = [name for of in (sample, score) for name, value in of.items() if value and _MARK.match(name)]
    if any(name.startswith("invalid") for name in later):
        return INVALIDATED
    return (unscored and fields.words(str(score.get("reason")))) or (EXCLUDED if later or unscored else "")


def counted(found: Iterable[str]) -> dict[str, int]:
    """Mark -> number of samples that have it."""
    return dict(Counter(mark for mark in found if mark))


def refuse_invalidated(path: Path, header: bool, found: Sequence[str]) -> None:
    """Raise RunError for a log that is invalidated as a whole.

    Args:
        header: whether its header has the mark, as it also does where only some samples are invalidated.
    """
    if header and (INVALIDATED not in found or all(found)):
        raise RunError(
            f"{path}: found a log that is marked as invalidated as a whole, expected samples that count. Ask its cases again "
            "with `inspect eval-retry`, or remove the mark with Inspect's uninvalidate_samples()."
        )


def of_all_epochs(path: Path, samples: Sequence[Compared], epochs: int) -> tuple[list[Compared], dict[str, int]]:
    """(the samples of the cases that have every epoch, reason -> number of samples left out)."""
    beyond = next((sample for sample in samples if sample.outcome.epoch not in range(1, epochs + 1)), None)
    if beyond is not None:
        what = f"epoch {beyond.outcome.epoch} of {beyond.outcome.case_id}"
        expected = f"1 to {epochs}, as many as the log says were asked (eval.config.epochs)"
        raise refused(f"{path}, {beyond.where}", what, expected, "Use the log as Inspect wrote it.")
    found = Counter(sample.outcome.case_id for sample in samples)
    kept = [sample for sample in samples if found[sample.outcome.case_id] >= epochs]
    if samples and not kept:
        raise RunError(
            f"{path}: found no case with all {epochs} epochs, expected {epochs} of each as the log says (eval.config.epochs). Use "
            "the log as Inspect wrote it, or resume the run (`inspect eval-retry`)."
        )
    short = len(samples) - len(kept)
    return kept, {f"without all {epochs} epochs of their case": short} if short else {}
