"""Scores of ratings from 1 to 5 against people's mean. A model's rating is the mean over both orders.

An unreadable reply counts as the end of the scale farther from people's mean. Reward models rate 3 plus the difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..common.statistics import mean
from ..core.evidence import LogLikelihoods
from ..core.result import Answers, Result
from ..core.rewards import TOTAL, NamedRewards, pearson
from .rows import SCALE

LABELS = tuple(map(str, SCALE))
LOWEST, HIGHEST = SCALE[0], SCALE[-1]
NO_DIFFERENCE = (LOWEST + HIGHEST) / 2


def mirrored(rating: float) -> float:
    """The rating of the two responses in swapped order."""
    return LOWEST + HIGHEST - rating


def rated(answers: Answers) -> tuple[float, float] | None:
    """Ratings of the personalized response against the generic one, from both orders; None if one is unreadable.

    Args:
        answers: with the personalized response second, then first.
    """
    if not all(answer in LABELS for answer in answers):
        return None
    second, first = map(int, answers)
    return float(second), mirrored(first)


def rating(outcome: Result) -> float:
    """The model's rating of a row, in [1, 5]; of a reward model any number, above 3 for the personalized one."""
    if outcome.rewards:
        return NO_DIFFERENCE + difference(outcome.rewards)
    both = rated(outcome.answers)
    if both is None:
        return float(HIGHEST if people(outcome) < NO_DIFFERENCE else LOWEST)
    return sum(both) / 2


def difference(rewards: NamedRewards) -> float:
    """The reward of the personalized response minus that of the generic one."""
    personalized, generic = rewards[TOTAL]
    return personalized - generic


def score_rewards(rewards: NamedRewards, targets: Sequence[str]) -> dict[str, float]:
    """acc as in `score`, and tie: 1 if both responses have the same reward."""
    return {"acc": _agrees(Result(targets=tuple(targets), rewards=rewards)), "tie": float(difference(rewards) == 0)}


def people(outcome: Result) -> float:
    """People's mean rating of a row, in [1, 5]."""
    return float(outcome.targets[0])


def _agrees(outcome: Result) -> float:
    # whether the model and people agree that the personalized response is better
    return float((_sign(rating(outcome)) > 0) == (_sign(people(outcome)) > 0))


def score(targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods] = ()) -> dict[str, float]:
    """acc, consistency and invalid of one row.

    acc: model and people are on the same side, above 3 or not; consistency: both orders give the same rating. Both are 0
    with an unreadable reply.
    """
    both = rated(answers)
    return {
        "acc": _agrees(Result(targets=tuple(targets), answers=answers)) if both is not None else 0.0,
        "consistency": float(both is not None and both[0] == both[1]),
        "invalid": mean(float(answer not in LABELS) for answer in answers),
    }


def spearman(outcomes: Sequence[Result]) -> float:
    """Spearman's rank correlation with people's means; ties have their mean rank; nan if all of a side are equal."""
    return pearson(_ranks([rating(outcome) for outcome in outcomes]), _ranks([people(outcome) for outcome in outcomes]))


def pairwise(outcomes: Sequence[Result]) -> float:
    """Share of rows with the same preference as people, where people have one; a model without one is half right."""
    return mean(
        (1 + _sign(rating(outcome)) * _sign(people(outcome))) / 2 for outcome in outcomes if _sign(people(outcome))
    )


def _sign(rating: float) -> int:
    # 1: the personalized response is better; -1: the generic one
    return (rating > NO_DIFFERENCE) - (rating < NO_DIFFERENCE)


def no_better(outcomes: Sequence[Result]) -> float:
    """The share of rows whose personalized response the model rates no better than the generic one."""
    return mean(float(_sign(rating(outcome)) <= 0) for outcome in outcomes)


def no_better_people(outcomes: Sequence[Result]) -> float:
    """The share of rows whose personalized response people rate no better than the generic one."""
    return mean(float(_sign(people(outcome)) <= 0) for outcome in outcomes)


def _ranks(values: Sequence[float]) -> list[float]:
    # from 1; equal values share the mean of their ranks
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), start=1):
        places.setdefault(value, []).append(place)
    return [mean(map(float, places[value])) for value in values]
