"""The answers of one case -> everything that a report says of it, before any mean is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..common.statistics import mean
from ..replies.answers import LETTERS
from ..runs.run import Row
from . import scoring


@dataclass(frozen=True)
class CaseValues:
    """What one case says, averaged over its epochs; see `scoring.CaseScore` for the first five. nan if undefined.

    Attributes:
        bias_first: 1 if both orders picked the response shown first, among cases with both replies readable.
        bias_second: the same of the response shown second. consistency + bias_first + bias_second = 1.
        acc_readable: share of the readable replies that picked the chosen response.
        acc_sym, p_chosen: see `scoring.score_symmetric` and `scoring.p_chosen`; nan unless log-likelihoods were compared.
        tie: 1 if a reward model gave both responses the same reward; nan unless one scored. It sees no order: all
            but acc and tie are nan then.
    """

    acc: float
    acc_both: float
    consistency: float
    first_rate: float
    invalid: float
    bias_first: float
    bias_second: float
    acc_readable: float
    acc_sym: float
    p_chosen: float
    tie: float = math.nan


MEASURES = tuple(CaseValues.__dataclass_fields__)


def case_values(row: Row) -> CaseValues:
    """The values of one case."""
    if row.rewards:
        acc, tie = (mean(values) for values in zip(*row.rewards, strict=True))
        return CaseValues(acc, **dict.fromkeys(MEASURES[1:-1], math.nan), tie=tie)
    epochs = [_of_epoch(answers) for answers in row.answers]
    means = epochs[0] if len(epochs) == 1 else [mean(values) for values in zip(*epochs, strict=True)]
    return CaseValues(*means, *(math.nan if value is None else value for value in (row.acc_sym, row.p_chosen)))


def _of_epoch(answers: Sequence[str]) -> list[float]:
    score = scoring.score_answers(answers)
    readable = [answer for answer in answers if answer in LETTERS]
    both = len(readable) == len(answers)
    return [
        *scoring.as_dict(score).values(),
        float(readable == [LETTERS[0]] * 2) if both else math.nan,
        float(readable == [LETTERS[1]] * 2) if both else math.nan,
        score.acc * len(answers) / len(readable) if readable else math.nan,
    ]
