"""Rows -> folds in which nobody is on both sides: by user, or by user and prompt.

Pairs are never split at random. Rows of one user share attributes, and rows of one prompt share the prompt: a random split
would test a model on what it has been trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...common.errors import DataError
from ...common.records import short_list

FOLDS = 5
"""At most: of users, and of prompts. Fewer where there are fewer users or prompts."""

Indexes = Any
"""An array of row numbers."""


class Fold(NamedTuple):
    train: Indexes
    test: Indexes


class Groups(NamedTuple):
    """What rows are grouped by.

    Attributes:
        prompts: the prompt of each row; case and white space make no other prompt. Empty where users share none.
        labels: what people said of each row.
    """

    users: Sequence[str]
    prompts: Sequence[str]
    labels: Sequence[bool]


def by_user(groups: Groups) -> list[Fold]:
    """Every row is tested once, by a model that was trained on other users' rows."""
    return _folds(groups.users)


def by_user_and_prompt(groups: Groups) -> list[Fold]:
    """Every row is tested once, by a model that has seen neither its user nor its prompt."""
    import numpy as np

    folds = [
        Fold(np.intersect1d(users.train, prompts.train), np.intersect1d(users.test, prompts.test))
        for users in _folds(groups.users)
        for prompts in _folds(groups.prompts)
    ]
    return [fold for fold in folds if len(fold.test)]


BY_USER, BY_BOTH = "by_user", "by_user_and_prompt"
EVALUATIONS: dict[str, Callable[[Groups], list[Fold]]] = {BY_USER: by_user, BY_BOTH: by_user_and_prompt}


def check(
    groups: Groups, source: str, evaluations: Mapping[str, Callable[[Groups], list[Fold]]], called: tuple[str, str]
) -> None:
    """
    Args:
        evaluations: some of EVALUATIONS. Prompts count if users and prompts are held out together.
        called: what rows of either label are called, True first.

    Raises:
        DataError: there are too few rows for one of the evaluations: some model, or one of its inner folds, would be trained on
            rows of one label.
    """
    by_prompt = BY_BOTH in evaluations
    prompts = f" and {len(set(groups.prompts))} prompts" if by_prompt else ""
    few = (
        f"{source}: found {len(groups.labels):,} rows of {len(set(groups.users))} users{prompts}, "
        f"too few to test on users{' and prompts' if by_prompt else ''} that were held out"
    )
    if len(set(groups.users)) < 3 or (by_prompt and len(set(groups.prompts)) < 2):
        raise DataError(f"{few}: expected at least 3 users{' and 2 prompts' if by_prompt else ''}. Add rows.")
    for folds in evaluations.values():
        for fold in folds(groups):
            _check_training(groups, fold, few, called)


def _check_training(groups: Groups, fold: Fold, few: str, called: tuple[str, str]) -> None:
    """Both labels must be in the rows that a model is trained on, and in those without each of its inner folds."""
    import numpy as np

    inside = taken(groups, fold.train)
    inner = [part.test for part in by_user(inside)] if len(set(inside.users)) > 1 else [range(len(inside.users))]
    for part in inner:
        labels = set(np.delete(np.array(inside.labels), part).tolist())
        if labels != {True, False}:
            left = "no rows" if not labels else f"only {called[True not in labels]} rows"
            users = {groups.users[index] for index in fold.test} | {inside.users[index] for index in part}
            raise DataError(
                f"{few}: without the users {short_list(sorted(users))}, expected {called[0]} and {called[1]} rows to train on, "
                f"found {left}. Add rows of more users."
            )


def taken(groups: Groups, rows: Sequence[int]) -> Groups:
    """Those of some rows."""
    users, prompts, labels = ([values[index] for index in rows] for values in groups)
    return Groups(users, prompts, labels)  # type: ignore[arg-type]


def _folds(names: Sequence[str]) -> list[Fold]:
    """Folds of similar size; all rows of one name are in one of them."""
    import numpy as np
    from sklearn.model_selection import GroupKFold

    split = GroupKFold(min(FOLDS, len(set(names)))).split(np.zeros(len(names)), groups=np.array(names))
    return [Fold(train, test) for train, test in split]
