"""Votes -> labels and tiers: which answer of a pair is chosen, and how hard it is to see.

The rule is the shares in build.yaml, and nothing else: how far annotators agree on the whole is a check, see voting.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from math import comb

from ...personafeedback.cells import DIFFICULTIES
from ..folder import Folder
from ..rows import Answer, Below, Pair, Question, Tiered, Vote
from ..settings import Settings
from ..votes.shown_texts import ShownTexts

EASY, MEDIUM, HARD = DIFFICULTIES

SAME, TWICE = "same text", "twice"

REASONS = {
    "few votes": "it has votes of half of the annotators or fewer",
    "even": "both answers have as many votes",
    "little agreement": "fewer agree than the tier hard needs",
    "not as built": "most votes are against the answer that should win by construction",
    SAME: "both answers are the same text",
    TWICE: "an earlier pair of this question has the same two texts",
}
"""Why a pair reaches no tier -> in words."""

BELOW, ALL = "below", "all"
"""The pairs that reach no tier, and all pairs, where agreement is shown by tier."""


def sort_into_tiers(folder: Folder, votes: Sequence[Vote]) -> tuple[list[Tiered], list[Below]]:
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
    below: list[Below] = []
    seen: set[object] = set()
    for pair in folder.need(Pair):
        both = frozenset((texts.get(pair.first), texts.get(pair.second)))
        key = (pair.user_id, asked.get(pair.question_id), both)
        tiered = replace(_tiered(pair, of_pair[pair.id], settings), texts=shown.of(pair))
        if len(both) == 1 or key in seen:
            tiered = replace(tiered, difficulty="", reason=SAME if len(both) == 1 else TWICE)
        seen.add(key)
        if tiered.difficulty:
            cases.append(tiered)
        else:
            below.append(Below(**asdict(tiered)))
    return cases, below


def _tiered(pair: Pair, votes: Counter[str], settings: Settings) -> Tiered:
    first, second = votes[pair.first], votes[pair.second]
    chosen, rejected = (pair.first, pair.second) if first >= second else (pair.second, pair.first)
    tier, reason = _decided(first, second, _easy_side(pair), settings)
    return Tiered(
        pair_id=pair.id, question_id=pair.question_id, user_id=pair.user_id, difficulty=tier, chosen=chosen, rejected=rejected,
        votes=(votes[chosen], votes[rejected]), reason=reason,
    )  # fmt: skip


def _easy_side(pair: Pair) -> int | None:
    """Which answer should win by construction: 0 for the first, 1 for the second; None where none should."""
    return (pair.first, pair.second).index(pair.easy) if pair.easy else None


def _decided(first: int, second: int, easy_side: int | None, settings: Settings) -> tuple[str, str]:
    """(tier, why there is none) of a pair with so many votes for its two answers; one of them is empty."""
    if first + second < settings.least_votes:
        return "", "few votes"
    if first == second:
        return "", "even"
    agree = Fraction(max(first, second), first + second)
    if agree < settings.hard:
        return "", "little agreement"
    if easy_side is not None:
        return (EASY, "") if (second > first) == bool(easy_side) else ("", "not as built")
    return MEDIUM if agree >= settings.medium else HARD, ""


def kappa_of_coins(tiered: Sequence[Tiered], pairs: Mapping[str, Pair], settings: Settings) -> dict[str, float]:
    """Tier -> 2 P - 1 of annotators who toss coins, P being the share of pairs of votes that agree; BELOW and ALL, too.

    The tiers are made of agreement, so even coins agree in the upper ones and disagree below. Every way in which the votes on a pair can
    fall is enumerated, with as many votes on each pair as it has.

    Args:
        tiered: pairs with two votes or more.
        pairs: pair id -> pair.
    """
    kinds = Counter((sum(one.votes), _easy_side(pairs[one.pair_id]), one.reason in (SAME, TWICE)) for one in tiered)
    chances: dict[str, float] = defaultdict(float)
    agreeing: dict[str, float] = defaultdict(float)
    for (total, easy_side, left_out), count in kinds.items():
        for first in range(total + 1):
            second = total - first
            tier = "" if left_out else _decided(first, second, easy_side, settings)[0]
            chance = count * comb(total, first) / 2**total
            chances[tier or BELOW] += chance
            agreeing[tier or BELOW] += chance * (comb(first, 2) + comb(second, 2)) / comb(total, 2)
    return {tier: 2 * agreeing[tier] / chance - 1 for tier, chance in chances.items()} | {ALL: 0.0}
