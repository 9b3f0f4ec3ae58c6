"""What a judge's replies come to: labels, log-likelihoods, and what a metric over the corpus is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Answers = tuple[str, ...]
"""One answer per call of a case: a label, or the reason why the reply is unreadable."""

LogLikelihoods = tuple[float, ...]
"""Log-likelihood (nats) of each label after one prompt."""

Judged = tuple[Sequence[str], Answers]
"""The targets of a case (one label per call) and its answers, in one epoch."""

CorpusMetric = Callable[[Sequence[Judged]], float]
"""A score that is no mean over cases, such as F1 or kappa: from all of them at once; nan where it is undefined."""
