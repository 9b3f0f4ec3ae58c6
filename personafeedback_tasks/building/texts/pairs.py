"""Which answers people are asked to compare: pairs whose longer side says nothing, as far as the answers allow that.

Nothing is cut and no pair is left out for its length. Where several models answered, each question has several pairs of a kind, and the
one is taken that keeps the balance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ...engine.cases import digest_of
from ..rows import DEGRADED, FULL, IMPROVED, MASKED, QUESTION, Answer, Pair, Question
from ..settings import Settings
from .drawn import generator

EASY = "easy"

KINDS: Mapping[str, tuple[str, str]] = {
    EASY: (FULL, QUESTION),
    "masked": (FULL, MASKED),
    "rewritten": (IMPROVED, DEGRADED),
}
"""Kind of pair -> the strategy that knew more, or meant better, and the other. One pair of each for every question."""


@dataclass(frozen=True)
class Balance:
    """Lengths, in characters, of the pairs of one kind.

    Attributes:
        longer, shorter, equal: pairs by the length of the better informed answer against the other.
    """

    kind: str
    longer: int
    shorter: int
    equal: int

    @property
    def pairs(self) -> int:
        return self.longer + self.shorter + self.equal

    @property
    def line(self) -> str:
        return (
            f"{self.kind}: {self.pairs} pairs; the better informed answer is longer in {self.longer}, shorter in {self.shorter}, as long in "
            f"{self.equal}"
        )


def choose(
    settings: Settings, questions: Sequence[Question], answers: Iterable[Answer], old: Iterable[Pair], fixed: bool
) -> list[Pair]:
    """The pairs of some questions: one of each kind where there are answers for it.

    Args:
        questions: of test persons.
        old: those of the last run. Pairs of other strategies, which a team brought, always stay.
        fixed: people may have seen the old ones: all stay that still have both answers.
    """
    known = {answer.id: answer for answer in answers}
    kept = [
        pair for pair in old
        if pair.first in known and pair.second in known and (fixed or _kind(known[pair.first], known[pair.second]) is None)
    ]  # fmt: skip
    of_question: dict[str, list[Answer]] = {}
    for answer in known.values():
        of_question.setdefault(answer.question_id, []).append(answer)
    found = {pair.id: pair for pair in kept}
    have = {(pair.question_id, _kind(known[pair.first], known[pair.second])) for pair in kept}
    new: dict[tuple[str, str], Pair] = {}
    for kind in KINDS:
        candidates = {
            question.id: options
            for question in questions
            if (question.id, kind) not in have and (options := _options(kind, of_question.get(question.id, ())))
        }
        tally = sum(_sign(*_ordered(kind, known[pair.first], known[pair.second])) for pair in kept
                    if _kind(known[pair.first], known[pair.second]) == kind)  # fmt: skip
        for name, (better, worse) in _balanced(settings, kind, candidates, tally).items():
            new[name, kind] = _pair(settings, kind, better, worse)
    for question in questions:
        for kind in KINDS:
            if pair := new.get((question.id, kind)):
                found.setdefault(pair.id, pair)
    return list(found.values())


def balance(pairs: Iterable[Pair], answers: Iterable[Answer]) -> list[Balance]:
    """The lengths of each kind of pairs that is there, of those that have both answers."""
    known, signs = {answer.id: answer for answer in answers}, Counter[tuple[str, int]]()
    for pair in pairs:
        there = pair.first in known and pair.second in known
        if there and (kind := _kind(known[pair.first], known[pair.second])):
            signs[kind, _sign(*_ordered(kind, known[pair.first], known[pair.second]))] += 1
    found = [Balance(kind, signs[kind, 1], signs[kind, -1], signs[kind, 0]) for kind in KINDS]
    return [kind for kind in found if kind.pairs]


def _options(kind: str, answers: Sequence[Answer]) -> list[tuple[Answer, Answer]]:
    """The pairs of a kind that one question's answers make, the better informed first. Rewrites are compared with those of one answer."""
    more, less = KINDS[kind]
    return [
        (one, other)
        for one, other in product(answers, answers)
        if (one.strategy, other.strategy) == (more, less) and one.parent == other.parent
    ]


def _balanced(
    settings: Settings, kind: str, candidates: Mapping[str, list[tuple[Answer, Answer]]], tally: int
) -> dict[str, tuple[Answer, Answer]]:
    """One pair for every question, such that as many are longer as shorter, as nearly as can be.

    Args:
        tally: longer minus shorter of the pairs that are there already.
    """
    found: dict[str, tuple[Answer, Answer]] = {}
    uneven: list[tuple[str, dict[int, tuple[Answer, Answer]]]] = []
    equal: list[tuple[str, dict[int, tuple[Answer, Answer]]]] = []
    for name, options in candidates.items():
        nearest: dict[int, tuple[Answer, Answer]] = {}
        for option in sorted(options, key=_difference):
            nearest.setdefault(_sign(*option), option)
        if len(nearest) == 1:
            found[name] = next(iter(nearest.values()))
            tally += _sign(*found[name])
        else:
            (equal if 0 in nearest else uneven).append((name, nearest))
    # Those that can be equal come last: they can take back a side that is one too many, if they have its opposite.
    spare = {-sign for _, nearest in equal for sign in nearest} - {0}
    for free in (uneven, equal):
        # In a drawn order, so that the side says nothing about the place of a question.
        for name, nearest in sorted(
            free, key=lambda question: generator(settings, f"balance:{kind}", question[0]).random()
        ):
            wanted = (tally < 0) - (tally > 0)
            if wanted not in nearest:
                sides = sorted(spare if free is uneven and spare else {-1, 1})
                wanted = 0 if 0 in nearest else generator(settings, f"side:{kind}", name).choice(sides)
            found[name] = nearest[wanted]
            tally += wanted
    return found


def _difference(pair: tuple[Answer, Answer]) -> tuple[float, str, str]:
    """How unequal the lengths are; the ids make the order one."""
    one, other = pair
    return abs(math.log(len(one.text) / len(other.text))), one.id, other.id


def _pair(settings: Settings, kind: str, better: Answer, worse: Answer) -> Pair:
    ids = sorted((better.id, worse.id))
    name = digest_of(ids)
    generator(settings, "pair", name).shuffle(ids)
    return Pair(
        id=name, question_id=better.question_id, user_id=better.user_id, first=ids[0], second=ids[1],
        easy=better.id if kind == EASY else "",
    )  # fmt: skip


def _kind(one: Answer, other: Answer) -> str | None:
    """The kind of pair that two answers are; None if it is none of ours."""
    strategies = {one.strategy, other.strategy}
    return next((kind for kind, two in KINDS.items() if strategies == set(two)), None)


def _ordered(kind: str, one: Answer, other: Answer) -> tuple[Answer, Answer]:
    return (one, other) if one.strategy == KINDS[kind][0] else (other, one)


def _sign(better: Answer, worse: Answer) -> int:
    return (len(better.text) > len(worse.text)) - (len(better.text) < len(worse.text))
