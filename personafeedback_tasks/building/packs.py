"""Pairs -> what each annotator sees: an order and sides of his own, and attention items in between.

A pack only grows. What an annotator was given once keeps its item, its sides and its place, so that votes that are still out find
their pair, whatever was added since.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from ..common.errors import DataError
from ..engine.cases import digest_of
from .folder import Folder
from .rows import Answer, Pair, Shown

ATTENTION = "attention:"
"""What the pair_id of an attention item begins with; the pair that it was made of follows."""

EVERY = 20
"""One attention item for so many pairs, and two at least."""


def names(count: int) -> list[str]:
    """The annotators of a build: `annotator-1` and so on."""
    return [f"annotator-{number}" for number in range(1, count + 1)]


def grown(folder: Folder, annotators: Iterable[str]) -> list[Shown]:
    """All packs: those that there are, with what is missing in them at their ends.

    Args:
        annotators: who gets a pack; others keep theirs as they are.

    Raises:
        DataError: there are no pairs, or a pair's answer is missing.
    """
    pairs, given = folder.need(Pair, "answers"), folder.read(Shown)
    answers = {answer.id: answer for answer in folder.read(Answer)}
    for pair in pairs:
        for name in (pair.first, pair.second):
            if name not in answers:
                raise DataError(
                    f"{folder.path(Pair)}: pair {pair.id} has the answer {name!r}, expected one of {folder.path(Answer)}. Remove "
                    "the pair, or run `personafeedback build answers` again."
                )
    wanted = [*pairs, *_attention(pairs, answers, folder.settings.seed)]
    found = list(given)
    for annotator in annotators:
        has = {one.pair_id for one in given if one.annotator == annotator}
        missing = [pair for pair in wanted if pair.id not in has]
        found += _in_his_order(missing, annotator, folder.settings.seed)
    return found


def _in_his_order(pairs: Sequence[Pair], annotator: str, seed: int) -> list[Shown]:
    found = []
    for pair in sorted(pairs, key=lambda one: _drawn(seed, "order", annotator, one.id)):
        swapped = _drawn(seed, "side", annotator, pair.id) < 0.5
        left, right = (pair.second, pair.first) if swapped else (pair.first, pair.second)
        attention = pair.first if pair.id.startswith(ATTENTION) else ""
        item = digest_of((str(seed), annotator, pair.id))
        found.append(
            Shown(annotator=annotator, item=item, pair_id=pair.id, left=left, right=right, attention=attention)
        )
    return found


def _attention(pairs: Sequence[Pair], answers: dict[str, Answer], seed: int) -> list[Pair]:
    """An answer to the question beside one to another person's question: whoever reads takes the first.

    The same ones for all annotators, so that each is examined alike. None where all pairs are of one person.
    """
    count = max(2, len(pairs) // EVERY)
    found: list[Pair] = []
    for pair in sorted(pairs, key=lambda one: _drawn(seed, "attention", one.id)):
        others = [one for one in pairs if one.user_id != pair.user_id and one.question_id != pair.question_id]
        if not others or len(found) == count:
            break
        wrong = min(others, key=lambda one: _drawn(seed, "elsewhere", pair.id, one.id))
        found.append(
            Pair(id=f"{ATTENTION}{pair.id}", question_id=pair.question_id, user_id=pair.user_id, first=pair.easy or pair.first, second=wrong.first)
        )  # fmt: skip
    return found


def _drawn(seed: int, *what: str) -> float:
    return random.Random(":".join((str(seed), *what))).random()
