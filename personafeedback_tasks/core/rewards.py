"""Conversations that reward models score; rewards -> the score of a case, and their correlation with being right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import correlation
from typing import Any, NamedTuple

from ..common.errors import PersonaFeedbackError
from ..stats.estimates import mean

Message = dict[str, str]
"""One turn: `role` (`system`, `user` or `assistant`) and `content`."""

TOTAL = "reward"
"""The name of the reward itself among those of the aspects."""

LOCAL = "local"
"""Instead of the commit of a reward model: a folder has none."""

NamedRewards = Mapping[str, tuple[float, ...]]
"""TOTAL and each aspect -> the rewards of all responses, the right one first."""


class Reward(NamedTuple):
    """A reward model's score of one response."""

    reward: float  # any number; the higher, the better
    aspects: Mapping[str, float]  # name -> value of each further output of the model


class RewardError(PersonaFeedbackError):
    """A reward model cannot be loaded, or cannot score what it is given."""


def right_and_tie(right: float, *others: float) -> tuple[float, float]:
    """(acc, tie): acc is 1 if the right response alone has the highest reward, tie is 1 if it shares it; else 0."""
    if not all(map(math.isfinite, (right, *others))):
        raise RewardError(
            f"found the rewards {' and '.join(map(repr, (right, *others)))}, expected finite numbers. "
            "Half precision may overflow: pass -M dtype=float32."
        )
    return float(right > max(others)), float(right == max(others))


def named_rewards(rewards: Sequence[Reward]) -> NamedRewards:
    """The rewards of all responses side by side, the right one first."""
    return {
        TOTAL: tuple(each.reward for each in rewards),
        **{name: tuple(each.aspects[name] for each in rewards) for name in rewards[0].aspects},
    }


def score_rewards(case_id: str, rewards: NamedRewards) -> dict[str, float]:
    """The values of a case; RewardError if a reward is not a finite number.

    Returns:
        acc, tie: see `right_and_tie`. acc_half: acc with an equal share of a tie, half of two.
        acc_<aspect>: acc of one aspect.
    """
    try:
        scored = {name: right_and_tie(*of_case) for name, of_case in rewards.items()}
    except RewardError as error:
        raise RewardError(f"{case_id}: {error}") from error
    acc, tie = scored.pop(TOTAL)
    of_aspects = {f"acc_{name}": right for name, (right, _) in scored.items()}
    return {"acc": acc, "acc_half": acc + tie / rewards[TOTAL].count(rewards[TOTAL][0]), "tie": tie, **of_aspects}


def correlations(cases: Iterable[Sequence[NamedRewards]]) -> dict[str, float]:
    """`pearson_reward`, `pearson_<aspect>`: the correlation of each with being the right response, epochs averaged."""
    cases = list(cases)
    columns: dict[str, list[float]] = {}  # the rewards of all responses, case after case
    for epochs in cases:
        for name in epochs[0]:
            columns.setdefault(name, []).extend(map(mean, zip(*(each[name] for each in epochs), strict=True)))
    responses = len(next(iter(cases[0][0].values()), ())) if cases else 0
    right = [1.0, *[0.0] * (responses - 1)] * len(cases)
    return {f"pearson_{name}": pearson(column, right) for name, column in columns.items()}


def pearson(one: Sequence[float], other: Sequence[float]) -> float:
    """Pearson correlation; nan where all values of one side are equal, or there are none."""
    if len(set(one)) < 2 or len(set(other)) < 2:
        return math.nan
    return max(-1.0, min(1.0, correlation(one, other)))  # rounded it may exceed 1


def has_system_turn(tokenizer: Any) -> bool:
    """Whether the chat template of a tokenizer writes a system turn: some refuse it, some leave it out."""
    contents = {"system": "b6f1d3", "user": "a", "assistant": "b"}
    turns = [{"role": role, "content": content} for role, content in contents.items()]
    try:
        return contents["system"] in tokenizer.apply_chat_template(turns, tokenize=False)
    except Exception:  # each template has its own way to refuse what it does not know
        return False


def without_system(turns: list[Message]) -> list[Message]:
    """Turns with the system turn, if there is one, moved into the question."""
    if turns[0]["role"] != "system":
        return turns
    told, question, *rest = turns
    return [{"role": "user", "content": f"{told['content']}\n\n{question['content']}"}, *rest]
