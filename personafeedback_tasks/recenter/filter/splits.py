"""Rows -> folds in which nobody is on both sides: by user, or by user and prompt.

Pairs are never split at random. Rows of one user share attributes, and rows of one prompt share the prompt: a random split
would test a model on what it has been trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...common.errors import DataError
from ...common.records import short_list
from ...common.text import same_text
from ..rows import Relevance

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
        prompts: the prompt of each row; case and white space make no other prompt.
        labels: what people said of each row.
    """

    users: Sequence[str]
    prompts: Sequence[str]
    labels: Sequence[bool]


def groups_of(rows: Sequence[Relevance]) -> Groups:
    prompts = [same_text(row.prompt) for row in rows]
    return Groups([row.user_id for row in rows], prompts, [bool(row.judgment) for row in rows])


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


def check(groups: Groups, source: str) -> None:
    """
    Raises:
        DataError: there are too few rows for one of the evaluations: some model, or one of its inner folds, would be trained on
            rows of one label.
    """
    few = (
        f"{source}: found {len(groups.labels):,} rows of {len(set(groups.users))} users and {len(set(groups.prompts))} prompts, "
        "too few to test on users and prompts that were held out"
    )
    if len(set(groups.users)) < 3 or len(set(groups.prompts)) < 2:
        raise DataError(f"{few}: expected at least 3 users and 2 prompts. Add rows.")
    for folds in EVALUATIONS.values():
        for fold in folds(groups):
            _check_training(groups, fold, few)


def _check_training(groups: Groups, fold: Fold, few: str) -> None:
    """Both labels must be in the rows that a model is trained on, and in those without each of its inner folds."""
    import numpy as np

    inside = taken(groups, fold.train)
    inner = [part.test for part in by_user(inside)] if len(set(inside.users)) > 1 else [range(len(inside.users))]
    for part in inner:
        labels = set(np.delete(np.array(inside.labels), part).tolist())
        if labels != {True, False}:
            left = "no rows" if not labels else f"only {'relevant' if True in labels else 'irrelevant'} rows"
            users = {groups.users[index] for index in fold.test} | {inside.users[index] for index in part}
            raise DataError(
                f"{few}: without the users {short_list(sorted(users))}, expected relevant and irrelevant rows to train on, "
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
