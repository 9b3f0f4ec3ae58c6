"""How far people agree on a pair, estimated from the votes on many pairs: what a few votes say about all such people."""

# Each pair has a share of people who prefer its first answer. Which answer comes first says nothing, so the shares of all pairs are assumed to
# have a symmetric beta distribution, Beta(a, a), and each vote on a pair falls for its first answer with the pair's share. The likelihood of m
# votes against n - m, whichever answer has the m, is then
#
#     C(n, m) B(a + m, a + n - m) / B(a, a), twice that where m is not n - m,
#
# and a pair's share, given its votes, has the distribution Beta(a + m, a + n - m). Two people agree on a pair with probability
# (a + 1) / (2a + 1), so that kappa (2 P - 1) is 1 / (2a + 1): with a small a people agree on most pairs, with a large a they toss coins. If all
# votes agree, or as few as possible do, the likelihood is largest at 0 or infinity; log a therefore has a normal prior with mean 0 and standard
# deviation 2, which counts for little beside twenty pairs.
#
# The votes on a pair are assumed to be independent given its share. A bias that annotators have in common is part of the share: it does not
# show.

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ...common.errors import require
from ...common.statistics import Estimate
from ..rows import Tiered

NINE = 9
"""Number of people on another panel."""

RISK = "risk that another nine like these would decide otherwise"

SHARED = (
    "The risk follows from how far these annotators agree. Shortcuts that all of them take are not in it: if they share a bias, labels are wrong "
    "more often."
)

RESAMPLES = 1_000
"""Bootstrap resamples of the users, for an interval."""


class Preferences:
    """The fit to the votes for the two answers of each pair, in either order. Pairs with fewer than two votes are left out."""

    def __init__(self, votes: Sequence[tuple[int, ...]]):
        require("scipy", extra="build")
        import numpy as np

        self._counts = Counter(_folded(both) for both in votes if sum(both) > 1)
        self._kinds = list(self._counts)
        self._at = int(self._best(np.array([[self._counts[kind] for kind in self._kinds]], dtype=float))[0])

    @property
    def a(self) -> float:
        """The parameter of the beta distribution, from e^-5 to e^8."""
        return math.exp(_log_a()[self._at])

    def above(self, share: float, most: int, least: int) -> float:
        """Probability that more than `share` (from 1/2 to 1) of all such people agree on a pair with `most` votes against `least`."""
        from scipy.special import betainc

        return float(
            1 - betainc(self.a + most, self.a + least, share) + betainc(self.a + most, self.a + least, 1 - share)
        )

    def risk(self, most: int, least: int) -> float:
        """Probability that the majority of another nine would be against the answer with `most` votes."""
        return float(_risks(most, least)[self._at])

    def risks(self, tiers: Mapping[str, Sequence[Tiered]]) -> dict[str, Estimate]:
        """Tier -> mean RISK of its pairs, in [0, 1], with a 95 % interval (bootstrap over users; nan with one user); without "" and empty tiers.

        Args:
            tiers: tier, or "" for pairs below -> its pairs; together, the pairs of the fit. Each resample has a fit of its own.
        """
        import numpy as np

        every = [(tier, pair) for tier, pairs in tiers.items() for pair in pairs if sum(pair.votes) > 1]
        if not every:
            return {}
        users = {user: place for place, user in enumerate(dict.fromkeys(pair.user_id for _, pair in every))}
        kinds = {kind: place for place, kind in enumerate(self._kinds)}
        counts = {tier: np.zeros((len(users), len(kinds))) for tier in tiers}
        for tier, pair in every:
            counts[tier][users[pair.user_id], kinds[_folded(pair.votes)]] += 1
        drawn = np.random.default_rng(0).multinomial(len(users), np.full(len(users), 1 / len(users)), RESAMPLES)
        risks = np.array([_risks(*kind) for kind in self._kinds])
        fits = self._best(drawn @ sum(counts.values()))
        by_tier = {}
        for tier, of_tier in counts.items():
            if tier and (pairs := int(of_tier.sum())):
                weights = drawn @ of_tier
                total = weights.sum(axis=1)
                with np.errstate(invalid="ignore"):
                    means = (weights * risks[:, fits].T).sum(axis=1) / total
                value = float(of_tier.sum(axis=0) @ risks[:, self._at] / pairs)
                low, high = map(float, np.nanpercentile(means, (2.5, 97.5))) if len(users) > 1 else (math.nan, math.nan)
                owners = int(of_tier.any(axis=1).sum())
                by_tier[tier] = Estimate(value, math.nan, min(low, value), max(high, value), pairs, owners)
        return by_tier

    def _best(self, counts: Any) -> Any:
        # Index of the most probable a for each row of counts (rows x kinds of votes).
        import numpy as np

        log_a = _log_a()
        table = np.array([_log_likelihoods(*kind) for kind in self._kinds]).reshape(len(self._kinds), len(log_a))
        return (counts @ table - log_a**2 / 8).argmax(axis=1)


def _folded(votes: Sequence[int]) -> tuple[int, int]:
    return max(votes), sum(votes) - max(votes)  # an answer without a vote may be left out


@cache
def _log_a() -> Any:
    import numpy as np

    return np.linspace(-5, 8, 521)


@cache
def _log_likelihoods(most: int, least: int) -> Any:
    import numpy as np
    from scipy.stats import betabinom

    a = np.exp(_log_a())
    return math.log(1 if most == least else 2) + betabinom.logpmf(most, most + least, a, a)


@cache
def _risks(most: int, least: int) -> Any:
    # Probability that at most four of another nine agree with the majority, for each a.
    import numpy as np
    from scipy.stats import betabinom

    a = np.exp(_log_a())
    return betabinom.cdf(NINE // 2, NINE, a + most, a + least)
