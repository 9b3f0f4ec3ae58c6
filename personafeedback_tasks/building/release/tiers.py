"""Votes -> labels and tiers: which answer of a pair is chosen, and how hard it is to see.

The rule is the shares in build.yaml, and nothing else: how far annotators agree on the whole is a check, see voting.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ...personafeedback.cells import DIFFICULTIES
from ..folder import Folder
from ..rows import Answer, Pair, Question, Tiered, Vote
from ..settings import Settings
from ..votes.shown_texts import ShownTexts

EASY, MEDIUM, HARD = DIFFICULTIES

REASONS = {
    "few votes": "it has votes of half of the annotators or fewer",
    "even": "both answers have as many votes",
    "little agreement": "fewer agree than the tier hard needs",
    "not as built": "most votes are against the answer that should win by construction",
    "same text": "both answers are the same text",
    "twice": "an earlier pair of this question has the same two texts",
}
"""Why a pair reaches no tier -> in words."""


def sort_into_tiers(folder: Folder, votes: Sequence[Vote]) -> tuple[list[Tiered], list[Tiered]]:
    """(the pairs that become cases, those below), both in the order of pairs.jsonl.

    Args:
        votes: those that count, see `votes.counted`.

    Raises:
        DataError: there are no pairs, or a persona is broken.
    """
    settings, shown = folder.settings, ShownTexts(folder)
    texts = {answer.id: " ".join(answer.text.split()) for answer in folder.read(Answer)}
    asked = {question.id: " ".join(question.question.split()) for question in folder.read(Question)}
    of_pair: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        of_pair[vote.pair_id][vote.chosen] += 1
    cases: list[Tiered] = []
    below: list[Tiered] = []
    seen: set[object] = set()
    for pair in folder.need(Pair, "answers"):
        both = frozenset((texts.get(pair.first), texts.get(pair.second)))
        name = (pair.user_id, asked.get(pair.question_id), both)
        found = replace(_tiered(pair, of_pair[pair.id], settings), texts=shown.of(pair))
        if len(both) == 1 or name in seen:
            found = _with(found, "", "same text" if len(both) == 1 else "twice")
        seen.add(name)
        (cases if found.difficulty else below).append(found)
    return cases, below


def least_votes(settings: Settings) -> int:
    """More than half of the annotators: with fewer, a share of agreeing votes says little."""
    return settings.annotators // 2 + 1


def _tiered(pair: Pair, votes: Counter[str], settings: Settings) -> Tiered:
    one, other = votes[pair.first], votes[pair.second]
    chosen, rejected = (pair.first, pair.second) if one >= other else (pair.second, pair.first)
    tiered = Tiered(
        pair_id=pair.id, question_id=pair.question_id, user_id=pair.user_id, difficulty="", chosen=chosen, rejected=rejected,
        votes=(votes[chosen], votes[rejected]),
    )  # fmt: skip
    if one + other < least_votes(settings):
        return _with(tiered, "", "few votes")
    if one == other:
        return _with(tiered, "", "even")
    agree = Fraction(max(one, other), one + other)
    if agree < settings.hard:
        return _with(tiered, "", "little agreement")
    if pair.easy:
        return _with(tiered, EASY) if chosen == pair.easy else _with(tiered, "", "not as built")
    return _with(tiered, MEDIUM if agree >= settings.medium else HARD)


def _with(tiered: Tiered, difficulty: str, reason: str = "") -> Tiered:
    return replace(tiered, difficulty=difficulty, reason=reason)
