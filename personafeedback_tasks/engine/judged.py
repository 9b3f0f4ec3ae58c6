"""What a judge's replies are read to: labels, log-likelihoods, and the input of a corpus metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

Answers = tuple[str, ...]
"""One answer per call of a case: a label, or the reason why the reply is unreadable."""

LogLikelihoods = tuple[float, ...]
"""Log-likelihood (nats) of each label after one prompt."""


class Judged(NamedTuple):
    """A case in one epoch, as a corpus metric sees it.

    Attributes:
        targets: the right label of each call.
        answers: one per call.
        cell: of the case.
    """

    targets: Sequence[str]
    answers: Answers
    cell: str = ""


CorpusMetric = Callable[[Sequence[Judged]], float]
"""A score that is not a mean over cases, such as F1 or kappa: computed from all of them at once; nan if undefined."""


def per_call(values: Sequence[float], labels: Sequence[str]) -> list[LogLikelihoods]:
    """Log-likelihoods of each label, call after call -> those of one call together.

    Raises:
        ValueError: some are left over.
    """
    width = len(labels)
    if len(values) % width:
        raise ValueError(f"found {len(values)} log-likelihoods, expected {width} per call")
    return [tuple(values[start : start + width]) for start in range(0, len(values), width)]


def likeliest(labels: Sequence[str], values: LogLikelihoods) -> str:
    """The label with the highest log-likelihood; a tie at the top or an undefined value is unreadable, not the first label."""
    top = max(values)
    if any(value != value for value in values) or values.count(top) > 1:
        return "invalid_response_format"
    return labels[values.index(top)]
