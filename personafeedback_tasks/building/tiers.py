"""Votes -> labels, if tossed coins seldom reach the majority, and tiers, from the share of people who agree.

A pair built to be easy has its label from its construction, and the votes confirm it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import mean

from ..annotation.rows import Vote
from ..common.errors import require
from ..personafeedback.cells import DIFFICULTIES
from ..stats.agreement import randolph
from ..stats.estimates import Estimate, estimate_of
from .build import Build
from .rows import Answer, Pair, Question

EASY, MEDIUM, HARD = DIFFICULTIES

LABEL = Fraction(1, 20)
"""Largest share of pairs that get a label, for either answer, where everybody tosses a coin."""

MOST_PEOPLE = Fraction(8, 9)
"""Share of all people like the annotators above which a pair is Medium, estimated from the votes: the paper's."""

CONFIRMED = Fraction(1, 10)
"""Largest share of pairs with a label known by construction that get it where everybody tosses a coin."""


@cache
def least_majority(votes: int, chance: Fraction = LABEL, sides: int = 2) -> int:
    """The smallest majority that tossed coins reach with at most this chance, between 0 and 1 (8 of 9); `votes` + 1 if
    none does. `sides` is 2 if either answer may have it, 1 if it must be the one that is known beforehand."""
    ways = 0
    for agree in range(votes, votes // 2, -1):
        ways += math.comb(votes, agree)
        if Fraction(sides * ways, 2**votes) > chance:
            return agree + 1
    return votes // 2 + 1


LEAST_VOTES = next(votes for votes in range(1, 100) if least_majority(votes) <= votes)
"""With fewer, even full agreement may be chance, and a pair that is not built to be easy gets no label."""


def label_rule(votes: int) -> str:
    """A sentence on the majority that a label needs with this many votes to a pair, or that no majority is enough."""
    if votes < LEAST_VOTES:
        return (
            f"! With {votes} votes to a pair, no pair can become Medium or Hard: so few votes agree by chance in "
            f"more than 5 % of pairs. Set annotators and votes_per_pair to at least {LEAST_VOTES} in build.toml "
            "before you buy votes; the paper has nine."
        )
    return (
        f"With {votes} votes to a pair, a Medium or Hard pair needs {least_majority(votes)} votes for one answer, "
        "which chance alone reaches in at most 5 % of pairs."
    )


FEW_VOTES, MISSING, TWICE = "few votes", "missing", "twice"

REASONS = {
    FEW_VOTES: f"with fewer than {LEAST_VOTES} votes (4 if built to be easy), even full agreement may be chance",
    "even": "both answers have as many votes",
    "little agreement": "chance alone often makes such a majority",
    "not as built": "most votes are against the answer that should win by construction",
    MISSING: "its question or one of its answers is no longer there",
    TWICE: "both answers are one text, or an earlier pair of this question has the same two texts",
}
"""Reason why a pair has no tier -> explanation."""

NINE = 9
"""Number of people on another panel."""

RISK = "risk that another nine like these would decide otherwise"

KAPPA = "kappa, random sides, over all pairs voted on"
"""Name of the agreement: 2 P - 1, where P is the share of pairs of annotators who agree. Fleiss' kappa comes to it
where each pair's votes are coded by a side drawn at random. Pairs are released by agreement, so that kappa over
released ones would be circular.
"""


@dataclass(frozen=True, kw_only=True)
class Labeled:
    """A pair with its label."""

    pair: Pair
    tier: str  # empty for a pair that makes no case, which has a reason in REASONS
    chosen: str  # answer of the majority; without votes, of the source of an imported pair
    votes: tuple[int, int]  # for the chosen answer and for the rejected one
    risk: float  # see RISK; a coin's without votes
    reason: str

    @property
    def rejected(self) -> str:
        return self.pair.other(self.chosen)


def label_pairs(build: Build, votes: Sequence[Vote]) -> list[Labeled]:
    """Every pair of a build with its label, in the order of pairs.jsonl, by the votes that count; without any, the
    labels are those of the source of imported pairs.

    The risk has a fit for pairs built to be easy and one for all others: people agree far more on the former, and one
    fit to both would make the risk of the others a third of its value. Where Medium begins follows from one fit to all
    pairs.
    """
    pairs, count = build.need(Pair), Counter((vote.pair_id, vote.chosen) for vote in votes)
    fall = {pair.id: (count[pair.id, pair.first], count[pair.id, pair.second]) for pair in pairs}
    if votes:
        every = Preferences.fitted(fall.values())
        built = Preferences.fitted(fall[pair.id] for pair in pairs if pair.easy)
        others = Preferences.fitted(fall[pair.id] for pair in pairs if not pair.easy)
    texts = {answer.id: " ".join(answer.text.split()) for answer in build.read(Answer)}
    asked = {question.id: " ".join(question.question.split()) for question in build.read(Question)}
    labels, seen = list[Labeled](), set[object]()
    for pair in pairs:
        first, second = fall[pair.id]
        most, least = max(first, second), min(first, second)
        if votes:
            chosen = pair.first if first >= second else pair.second
            tier, reason = _decided(pair, chosen, most, least, every.above(float(MOST_PEOPLE), most, least))
            risk = (built if pair.easy else others).risk(most, least)
        else:
            chosen, risk = pair.label or pair.first, 0.5
            tier, reason = (HARD, "") if pair.label else ("", FEW_VOTES)
        both = frozenset((texts.get(pair.first), texts.get(pair.second)))
        key = (pair.user_id, asked.get(pair.question_id), both)
        if None in key or None in both:
            tier, reason = "", MISSING
        elif len(both) == 1 or key in seen:
            tier, reason = "", TWICE
        seen.add(key)
        labels.append(Labeled(pair=pair, tier=tier, chosen=chosen, votes=(most, least), risk=risk, reason=reason))
    return labels


def _decided(pair: Pair, chosen: str, most: int, least: int, share: float) -> tuple[str, str]:
    # (tier, reason why there is none). `share`: probability that more than MOST_PEOPLE of all such people agree.
    votes = most + least
    needed = least_majority(votes, CONFIRMED, sides=1) if pair.easy else least_majority(votes)
    if needed > votes:
        return "", FEW_VOTES
    if most == least:
        return "", "even"
    if pair.easy and chosen != pair.easy:
        return "", "not as built"
    if most < needed:
        return "", "little agreement"
    if pair.easy:
        return EASY, ""
    return MEDIUM if share >= 0.5 else HARD, ""


def mean_risks(labels: Iterable[Labeled]) -> dict[str, float]:
    """Tier -> mean RISK of its pairs with votes."""
    labels = [label for label in labels if any(label.votes)]
    risks = {tier: [label.risk for label in labels if label.tier == tier] for tier in DIFFICULTIES}
    return {tier: mean(of_tier) for tier, of_tier in risks.items() if of_tier}


def kappa(pairs: Iterable[Pair], votes: Iterable[Vote]) -> Estimate | None:
    """KAPPA over pairs with two votes or more, with a 95 % interval over users (jackknife); None without such pairs."""
    of_pair: dict[str, list[str]] = defaultdict(list)
    for vote in votes:
        of_pair[vote.pair_id].append(vote.chosen)
    voted = [pair for pair in pairs if len(of_pair[pair.id]) > 1]
    rows, users = [of_pair[pair.id] for pair in voted], [pair.user_id for pair in voted]

    def measure(rows: Sequence[Sequence[str]]) -> float:
        return randolph(rows, 2)

    if len(set(users)) > 1:
        return estimate_of(measure, rows, users, (-1.0, 1.0))
    return Estimate(measure(rows), math.nan, math.nan, math.nan, len(rows), 1) if rows else None


# Each pair has a share of people who prefer its first answer. Which answer comes first says nothing, so the shares of
# all pairs are assumed to have a symmetric beta distribution, Beta(a, a), and each vote on a pair falls for its first
# answer with the pair's share. The likelihood of m votes against n - m is then C(n, m) B(a + m, a + n - m) / B(a, a),
# and a pair's share, given its votes, has the distribution Beta(a + m, a + n - m). Two people agree on a pair with
# probability (a + 1) / (2a + 1), so that kappa (2 P - 1) is 1 / (2a + 1): with a small a people agree on most pairs,
# with a large a they toss coins. If all votes agree, or as few as possible do, the likelihood is largest at 0 or
# infinity; log a therefore has a normal prior with mean 0 and standard deviation 2, which counts for little beside
# twenty pairs.
#
# The votes on a pair are assumed to be independent given its share. A bias that annotators have in common is part of
# the share: it does not show.


@dataclass(frozen=True)
class Preferences:
    """How far people agree on a pair, estimated from many pairs: Beta(`a`, `a`), with `a` from e^-5 to e^8."""

    a: float

    @classmethod
    def fitted(cls, votes: Iterable[tuple[int, int]]) -> Preferences:
        """The fit to the votes for either answer of each pair. Pairs with fewer than two votes say nothing."""
        require("scipy", extra="build")
        import numpy as np
        from scipy.stats import betabinom

        log_a = np.linspace(-5, 8, 521)
        fit = -(log_a**2) / 8
        for (most, least), pairs in Counter((max(both), min(both)) for both in votes if sum(both) > 1).items():
            fit = fit + pairs * betabinom.logpmf(most, most + least, np.exp(log_a), np.exp(log_a))
        return cls(float(np.exp(log_a[fit.argmax()])))

    def above(self, share: float, most: int, least: int) -> float:
        """Probability that more than `share` (1/2 to 1) of people agree on a pair with `most` votes against `least`."""
        from scipy.special import betainc

        first, second = self.a + most, self.a + least
        return float(1 - betainc(first, second, share) + betainc(first, second, 1 - share))

    @cache  # noqa: B019 (a fit is a value, and there are few)
    def risk(self, most: int, least: int) -> float:
        """Probability that the majority of another nine would be against the answer with `most` votes."""
        from scipy.stats import betabinom

        return float(betabinom.cdf(NINE // 2, NINE, self.a + most, self.a + least))


def reasons(labels: Iterable[Labeled]) -> Mapping[str, int]:
    """Reason -> number of pairs that make no case for it, the most frequent first."""
    return dict(Counter(label.reason for label in labels if not label.tier).most_common())
