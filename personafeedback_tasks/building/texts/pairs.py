"""Pairs of answers for people to compare, with lengths balanced between the sides as far as the answers allow.

No answer is cut and no pair is left out for its length: of the pairs that several models give, the one that keeps the balance is taken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ...core.cases import digest_of
from ..coins import least_majority
from ..rows import DEGRADED, FULL, IMPROVED, MASKED, QUESTION, Answer, Pair, Question
from ..settings import Settings

EASY, WRITERS = "easy", "writers"

KINDS: Mapping[str, tuple[str, str]] = {
    EASY: (FULL, QUESTION),
    "masked": (FULL, MASKED),
    "rewritten": (IMPROVED, DEGRADED),
    WRITERS: (FULL, FULL),
}
"""Kind of pair -> the strategy that knew more, or meant better, and the other. One pair of each for every question. WRITERS are two models
that knew the same; of these, the one whose name comes first takes the place of the better informed."""


UNEVEN = 0.2
"""Share of a kind's pairs, longer minus shorter, from which a report says what to do. 60 % to 40 % is where a release is stopped."""


def kinds(models: int) -> int:
    """Number of pairs to a question with this many models."""
    return len(KINDS) if models > 1 else len(KINDS) - 1


@dataclass(frozen=True)
class Balance:
    """Lengths in characters of the pairs of one kind: how often the better informed answer is longer, shorter or equally long."""

    kind: str
    longer: int
    shorter: int
    equal: int

    @property
    def pairs(self) -> int:
        return self.longer + self.shorter + self.equal

    @property
    def is_uneven(self) -> bool:
        """Whether one side is longer far more often, and more often than chance."""
        most, differing = max(self.longer, self.shorter), self.longer + self.shorter
        return abs(self.longer - self.shorter) > UNEVEN * self.pairs and most >= least_majority(differing)

    @property
    def line(self) -> str:
        first = "answer of the writer first in the alphabet" if self.kind == WRITERS else "better informed answer"
        return (
            f"{self.kind}: {self.pairs} pairs; the {first} is longer in {self.longer}, shorter in {self.shorter}, as long in "
            f"{self.equal}"
        )


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
    of_question: dict[str, list[Answer]] = {}
    for answer in known.values():
        of_question.setdefault(answer.question_id, []).append(answer)
    chosen = {pair.id: pair for pair, _, _ in kept}
    have = {(pair.question_id, kind) for pair, kind, _ in kept}
    new: dict[tuple[str, str], Pair] = {}
    for kind in KINDS:
        candidates = {
            question.id: options
            for question in questions
            if (question.id, kind) not in have and (options := _options(kind, of_question.get(question.id, ())))
        }
        tally = sum(sign for _, of_kind, sign in kept if of_kind == kind)
        for name, (better, worse) in _balanced(settings, kind, candidates, tally).items():
            new[name, kind] = _pair(settings, kind, better, worse)
    for question in questions:
        for kind in KINDS:
            if pair := new.get((question.id, kind)):
                chosen.setdefault(pair.id, pair)
    return list(chosen.values())


def balance(pairs: Iterable[Pair], answers: Iterable[Answer]) -> list[Balance]:
    """The lengths by kind, of pairs that have both answers."""
    known = {answer.id: answer for answer in answers}
    signs = Counter(_read(pair, known) for pair in pairs)
    balances = [Balance(kind, signs[kind, 1], signs[kind, -1], signs[kind, 0]) for kind in KINDS]
    return [kind for kind in balances if kind.pairs]


def in_order(pair: Pair, answers: Mapping[str, Answer]) -> tuple[str | None, Answer, Answer] | None:
    """(kind, None if unknown; the better informed answer; the other); None if an answer is missing."""
    if pair.first not in answers or pair.second not in answers:
        return None
    first, second = answers[pair.first], answers[pair.second]
    for kind, (more, less) in KINDS.items():
        if {first.strategy, second.strategy} == {more, less}:
            ordered = first.model <= second.model if more == less else first.strategy == more
            return (kind, first, second) if ordered else (kind, second, first)
    return None, first, second


def _read(pair: Pair, answers: Mapping[str, Answer]) -> tuple[str | None, int] | None:
    if (found := in_order(pair, answers)) is None:
        return None
    kind, better, worse = found
    return kind, _sign(better, worse) if kind else 0


def _options(kind: str, answers: Sequence[Answer]) -> list[tuple[Answer, Answer]]:
    # The better informed answer first. Rewrites are compared with those of the same answer.
    more, less = KINDS[kind]
    return [
        (better, worse)
        for better, worse in product(answers, answers)
        if (better.strategy, worse.strategy) == (more, less)
        and better.parent == worse.parent
        and (more != less or better.model < worse.model)
    ]


def _balanced(
    settings: Settings, kind: str, candidates: Mapping[str, list[tuple[Answer, Answer]]], tally: int
) -> dict[str, tuple[Answer, Answer]]:
    # As many longer as shorter pairs as possible; `tally` is longer minus shorter of existing ones.
    chosen: dict[str, tuple[Answer, Answer]] = {}
    uneven: list[tuple[str, dict[int, tuple[Answer, Answer]]]] = []
    equal: list[tuple[str, dict[int, tuple[Answer, Answer]]]] = []
    for name, options in candidates.items():
        nearest: dict[int, tuple[Answer, Answer]] = {}
        for option in sorted(options, key=_difference):
            nearest.setdefault(_sign(*option), option)
        if len(nearest) == 1:
            chosen[name] = next(iter(nearest.values()))
            tally += _sign(*chosen[name])
        else:
            (equal if 0 in nearest else uneven).append((name, nearest))
    # Those that can be equal come last: they can take back a side that is one too many, if they have its opposite.
    spare = {-sign for _, nearest in equal for sign in nearest} - {0}
    for free in (uneven, equal):
        # In a drawn order, so that the side says nothing about the place of a question.
        for name, nearest in sorted(
            free, key=lambda question: settings.generator(f"balance:{kind}", question[0]).random()
        ):
            wanted = (tally < 0) - (tally > 0)
            if wanted not in nearest:
                sides = sorted(spare if free is uneven and spare else {-1, 1})
                wanted = 0 if 0 in nearest else settings.generator(f"side:{kind}", name).choice(sides)
            chosen[name] = nearest[wanted]
            tally += wanted
    return chosen


def _difference(pair: tuple[Answer, Answer]) -> tuple[float, str, str]:
    # The ids break ties.
    better, worse = pair
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
