"""Votes -> labels and tiers: a label needs a majority that tossed coins seldom reach; its tier follows from the share of people who agree.

A pair built to be easy has its label from its construction, and the votes confirm it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import asdict, replace

from ...annotation.rows import Vote
from ...common.statistics import Estimate
from ...personafeedback.cells import DIFFICULTIES
from ..basis import Bases
from ..coins import CONFIRMED, LEAST_VOTES, least_majority
from ..folder import Folder
from ..rows import Answer, Below, Pair, Question, Tiered
from ..settings import Settings
from .preferences import Preferences

EASY, MEDIUM, HARD = DIFFICULTIES

MISSING, SAME, TWICE = "missing", "same text", "twice"

REASONS = {
    "few votes": f"with fewer than {LEAST_VOTES} votes (4 for a pair that is built to be easy), even full agreement may be chance",
    "even": "both answers have as many votes",
    "little agreement": "chance alone often makes such a majority",
    "not as built": "most votes are against the answer that should win by construction",
    MISSING: "its question or one of its answers is no longer there",
    SAME: "both answers are the same text",
    TWICE: "an earlier pair of this question has the same two texts",
}
"""Reason why a pair has no tier -> explanation."""

BELOW, ALL = "below", "all"
"""The pairs that reach no tier, and all pairs, where agreement is shown by tier."""


def sort_into_tiers(folder: Folder, votes: Sequence[Vote]) -> tuple[list[Tiered], list[Below]]:
    """(pairs that become cases, those below), both in the order of pairs.jsonl.

    Args:
        votes: those that count, see `votes.counted`.
    """
    shown = Bases(folder)
    texts = {answer.id: " ".join(answer.text.split()) for answer in folder.read(Answer)}
    asked = {question.id: " ".join(question.question.split()) for question in folder.read(Question)}
    of_pair: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        of_pair[vote.pair_id][vote.chosen] += 1
    preferences = Preferences([tuple(both.values()) for both in of_pair.values()])
    pairs = folder.need(Pair)
    fits = {
        built: Preferences([_fall(pair, of_pair) for pair in pairs if bool(pair.easy) == built])
        for built in (True, False)
    }
    cases: list[Tiered] = []
    below: list[Below] = []
    seen: set[object] = set()
    for pair in pairs:
        both = frozenset((texts.get(pair.first), texts.get(pair.second)))
        key = (pair.user_id, asked.get(pair.question_id), both)
        risk = float(f"{fits[bool(pair.easy)].risk(*sorted(_fall(pair, of_pair), reverse=True)):.4g}")
        tiered = replace(
            _tiered(pair, of_pair[pair.id], preferences, folder.settings), texts=shown.digests(pair), risk=risk
        )
        if None in key or None in both:
            tiered = replace(tiered, difficulty="", reason=MISSING)
        elif len(both) == 1 or key in seen:
            tiered = replace(tiered, difficulty="", reason=SAME if len(both) == 1 else TWICE)
        else:
            seen.add(key)
        if tiered.difficulty:
            cases.append(tiered)
        else:
            below.append(Below(**asdict(tiered)))
    return cases, below


def _fall(pair: Pair, votes: Mapping[str, Counter[str]]) -> tuple[int, int]:
    return votes[pair.id][pair.first], votes[pair.id][pair.second]


def _tiered(pair: Pair, votes: Counter[str], preferences: Preferences, settings: Settings) -> Tiered:
    first, second = votes[pair.first], votes[pair.second]
    chosen, rejected = (pair.first, pair.second) if first >= second else (pair.second, pair.first)
    tier, reason = _decided(first, second, _easy_side(pair), preferences, settings)
    return Tiered(
        pair_id=pair.id, question_id=pair.question_id, user_id=pair.user_id, difficulty=tier, chosen=chosen, rejected=rejected,
        votes=(votes[chosen], votes[rejected]), reason=reason,
    )  # fmt: skip


def _easy_side(pair: Pair) -> int | None:
    # 0 for the first answer, 1 for the second; None where none should win.
    return (pair.first, pair.second).index(pair.easy) if pair.easy else None


def _decided(
    first: int, second: int, easy_side: int | None, preferences: Preferences, settings: Settings
) -> tuple[str, str]:  # fmt: skip
    # (tier, reason why there is none); one of them is empty.
    votes, most = first + second, max(first, second)
    needed = least_majority(votes) if easy_side is None else least_majority(votes, CONFIRMED, sides=1)
    if needed > votes:
        return "", "few votes"
    if first == second:
        return "", "even"
    if easy_side is not None and (second > first) != bool(easy_side):
        return "", "not as built"
    if most < needed:
        return "", "little agreement"
    if easy_side is not None:
        return EASY, ""
    return MEDIUM if preferences.above(float(settings.medium), most, votes - most) >= 0.5 else HARD, ""


def label_noise(tiered: Sequence[Tiered], pairs: Iterable[Pair]) -> dict[str, Estimate]:
    """Tier -> how often labels would differ with other voters: the mean `risk` of its pairs.

    There are two fits, to pairs built to be easy and to all others: people agree far more on the former, and one fit to both would make the
    risk of the others a third of its value. Where Medium begins follows from one fit to all pairs.

    Args:
        tiered: all pairs with their votes, also those below, since all votes enter the estimate.
    """
    easy = {pair.id for pair in pairs if pair.easy}
    risks: dict[str, Estimate] = {}
    for built in (True, False):
        group = [pair for pair in tiered if (pair.pair_id in easy) == built]
        fit = Preferences([pair.votes for pair in group])
        risks |= fit.risks({tier: [pair for pair in group if pair.difficulty == tier] for tier in (*DIFFICULTIES, "")})
    return risks
