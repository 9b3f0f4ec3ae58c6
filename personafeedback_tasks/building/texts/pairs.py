"""Pairs of answers for people to compare, with lengths balanced between the sides as far as the answers allow.

No answer is cut and no pair left out for its length: of the pairs of several models, one that keeps the balance is
taken.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from ...core.cases import digest_of
from ..rows import DEGRADED, FULL, IMPROVED, MASKED, QUESTION, Answer, Pair, Question
from ..settings import Settings

EASY, WRITERS = "easy", "writers"

KINDS: Mapping[str, tuple[str, str]] = {
    EASY: (FULL, QUESTION),
    "masked": (FULL, MASKED),
    "rewritten": (IMPROVED, DEGRADED),
    WRITERS: (FULL, FULL),
}
"""Kind of pair -> the strategy that knew more, or meant better, and the other. One pair of each for every question.
WRITERS are two models that knew the same; of these, the one whose name comes first takes the place of the better
informed."""

_Sides = tuple[Answer, Answer]
"""The better informed answer, the other."""


def choose(
    settings: Settings, questions: Sequence[Question], answers: Iterable[Answer], old: Iterable[Pair], fixed: bool
) -> list[Pair]:
    """The pairs of these questions: one of each kind where there are answers for it.

    Args:
        questions: of test persons.
        old: pairs of the last run; those of other strategies, which a team brought, always stay.
        fixed: people may have seen the old pairs: all that still have both answers stay.
    """
    known = {answer.id: answer for answer in answers}
    kept = [(pair, *read) for pair in old if (read := _read(pair, known)) is not None and (fixed or read[0] is None)]
    of_question: dict[str, list[Answer]] = defaultdict(list)
    for answer in known.values():
        of_question[answer.question_id].append(answer)
    have = {(pair.question_id, kind) for pair, kind, _ in kept}
    new: dict[tuple[str, str], Pair] = {}
    for kind in KINDS:
        candidates = {
            question.id: options
            for question in questions
            if (question.id, kind) not in have and (options := _options(kind, of_question[question.id]))
        }
        tally = sum(sign for _, of_kind, sign in kept if of_kind == kind)
        for name, (better, worse) in _balanced(settings, kind, candidates, tally).items():
            new[name, kind] = _pair(settings, kind, better, worse)
    chosen = {pair.id: pair for pair, _, _ in kept}
    for place in product((question.id for question in questions), KINDS):
        if pair := new.get(place):
            chosen.setdefault(pair.id, pair)
    return list(chosen.values())


def balance(pairs: Iterable[Pair], answers: Iterable[Answer]) -> list[str]:
    """A line for each kind: how often the better informed answer is longer in characters, shorter or as long."""
    known = {answer.id: answer for answer in answers}
    signs, lines = Counter(_read(pair, known) for pair in pairs), []
    for kind in KINDS:
        longer, shorter, equal = signs[kind, 1], signs[kind, -1], signs[kind, 0]
        side = "answer of the writer first in the alphabet" if kind == WRITERS else "better informed answer"
        if count := longer + shorter + equal:
            lines.append(
                f"{kind}: {count} pairs; the {side} is longer in {longer}, shorter in {shorter}, as long in {equal}"
            )
    return lines


def _read(pair: Pair, answers: Mapping[str, Answer]) -> tuple[str | None, int] | None:
    # (kind, or None if unknown; which side is longer, see `_sign`); None if an answer is missing.
    if pair.first not in answers or pair.second not in answers:
        return None
    first, second = answers[pair.first], answers[pair.second]
    for kind, (more, less) in KINDS.items():
        if {first.strategy, second.strategy} == {more, less}:
            ordered = first.model <= second.model if kind == WRITERS else first.strategy == more
            return kind, _sign(first, second) if ordered else _sign(second, first)
    return None, 0


def _options(kind: str, answers: Sequence[Answer]) -> list[_Sides]:
    # Rewrites are compared with those of the same answer.
    found = []
    for better, worse in product(answers, answers):
        is_of_kind = (better.strategy, worse.strategy) == KINDS[kind] and better.parent == worse.parent
        if is_of_kind and (kind != WRITERS or better.model < worse.model):
            found.append((better, worse))
    return found


def _balanced(settings: Settings, kind: str, candidates: Mapping[str, list[_Sides]], tally: int) -> dict[str, _Sides]:
    # Question -> its pair; `tally`: longer minus shorter of existing ones. Questions without a choice come first.
    nearest: dict[str, dict[int, _Sides]] = {}
    for name, options in candidates.items():
        nearest[name] = {_sign(*option): option for option in sorted(options, key=_difference, reverse=True)}

    def turn(name: str) -> tuple[bool, bool, float]:
        drawn = settings.generator(f"balance:{kind}", name).random()  # so that the side says nothing about the place
        return len(nearest[name]) > 1, 0 in nearest[name], drawn

    chosen: dict[str, _Sides] = {}
    for name in sorted(nearest, key=turn):
        least = min(abs(tally + sign) for sign in nearest[name])
        signs = sorted(sign for sign in nearest[name] if abs(tally + sign) == least)
        sign = settings.generator(f"side:{kind}", name).choice(signs)
        chosen[name] = nearest[name][sign]
        tally += sign
    return chosen


def _difference(sides: _Sides) -> tuple[float, str, str]:
    # The ids break ties.
    better, worse = sides
    return abs(math.log(len(better.text) / len(worse.text))), better.id, worse.id


def _pair(settings: Settings, kind: str, better: Answer, worse: Answer) -> Pair:
    ids = sorted((better.id, worse.id))
    name = digest_of(ids)
    settings.generator("pair", name).shuffle(ids)
    return Pair(
        id=name, question_id=better.question_id, user_id=better.user_id, first=ids[0], second=ids[1],
        easy=better.id if kind == EASY else "",
    )  # fmt: skip


def _sign(better: Answer, worse: Answer) -> int:
    # 1 if the better informed answer is longer, -1 if it is shorter, 0 if they are equally long.
    return (len(better.text) > len(worse.text)) - (len(better.text) < len(worse.text))
