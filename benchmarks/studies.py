"""The package's claims about its intervals and tests; each is tried in a simulation whose truth is known.

They make the table of benchmarks/intervals.md. `inference.py` runs all of them and prints the table;
tests/stats/test_claims.py runs a small part. Both put tests/ on the path before. Rankings are in
studies_of_rankings.py, and what people vote on is in studies_of_votes.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from claims import Claim, Rng, Study, beta_binomial, holds, logistic_mean, owners
from studies_of_rankings import differences, personas, rankings
from studies_of_votes import annotators, tiers, verdicts
from support import planted_prompts

from personafeedback_tasks.analysis.users import true_spread
from personafeedback_tasks.stats.clusters import Clusters
from personafeedback_tasks.stats.estimates import ALPHA, estimate, estimate_of, paired_test, share
from personafeedback_tasks.stats.logistic import at_zero
from personafeedback_tasks.stats.significance import minimum_detectable_difference

Draw = Callable[[Rng, int], np.ndarray]

SHAPES: dict[str, tuple[float, float, Draw]] = {
    "a normal distribution": (0.75, 0.05, lambda rng, users: rng.normal(0.75, 0.05, users)),
    "a uniform distribution of 50 to 100 %": (0.75, 0.5 / math.sqrt(12), lambda rng, users: rng.uniform(0.5, 1, users)),
    "half at 60 %, half at 90 %": (0.75, 0.15, lambda rng, users: np.where(rng.random(users) < 0.5, 0.6, 0.9)),
    "a tenth at 45 %, others at 80 %": (0.765, 0.105, lambda rng, users: np.where(rng.random(users) < 0.1, 0.45, 0.8)),
    "J-shaped, most at 100 %": (6 / 7, 2 / math.sqrt(147), lambda rng, users: rng.beta(3, 0.5, users)),
    "a tenth at 0 %, others at 80 %": (0.72, 0.24, lambda rng, users: np.where(rng.random(users) < 0.1, 0, 0.8)),
}
"""Name -> (mean and standard deviation of the users' true accuracies, how these are drawn)."""

NEAR_END: tuple[float, float, Draw] = (0.98, 0.14, lambda rng, users: np.where(rng.random(users) < 0.02, 0, 1))
"""The same where the data may have no user of the kind that fails."""


# --- one run ---------------------------------------------------------------------------------------------------------


def _shares() -> Iterable[Study]:
    for users, cases, mean in ((8, 10, 0.97), (8, 10, 0.99), (20, 10, 0.99), (101, 10, 0.75)):

        def interval(rng: Rng, users: int = users, cases: int = cases, mean: float = mean) -> list[float]:
            values = beta_binomial(rng, users, cases, mean, 0.05)
            return [holds(share(values.ravel().tolist(), owners(users, cases)), mean)]

        planted = f"{100 * mean:g} %; cases of a user correlate by .05"
        yield Study(
            (Claim("interval of an accuracy", planted, "at least 95" if mean > 0.9 else "95", users, users * cases),),
            interval,
            1_000,
        )
    for users in (8, 10, 30, 101):
        for shape, (mean, _, draw) in SHAPES.items():
            yield _of_shape(shape, mean, draw, users, "at least 95")
    mean, _, draw = NEAR_END
    for users in (8, 101):
        yield _of_shape("2 % at 0 %, others at 100 %", mean, draw, users, "")

    def f1(pairs: Sequence[tuple[float, float]]) -> float:
        both = sum(a * b for a, b in pairs)
        every = sum(a + b for a, b in pairs)
        return 2 * both / every if every else math.nan

    def of_f1(rng: Rng) -> list[float]:
        right = beta_binomial(rng, 20, 10, 0.96, 0.05).ravel()
        truth = (rng.random(200) < 0.3).astype(float)
        said = np.where(right == 1, truth, 1 - truth)
        found = estimate_of(f1, list(zip(truth.tolist(), said.tolist(), strict=True)), owners(20, 10), (0.0, 1.0))
        return [holds(found, 2 * 0.3 * 0.96 / (0.3 + 0.3 * 0.96 + 0.7 * 0.04))]

    yield Study((Claim("interval of F1", "93 %: 96 % of rows right, 30 % are YES", "95", 20, 200),), of_f1)

    def detected(rng: Rng) -> list[float]:
        names = owners(101, 10)
        equal = beta_binomial(rng, 101, 10, 0.5, 0.1) - beta_binomial(rng, 101, 10, 0.5, 0.1)
        true = minimum_detectable_difference(estimate(equal.ravel().tolist(), names))
        other = beta_binomial(rng, 101, 10, 0.5 + true / 2, 0.1) - beta_binomial(rng, 101, 10, 0.5 - true / 2, 0.1)
        return [paired_test(other.ravel().tolist(), names)[1] < ALPHA]

    yield Study((Claim("`compare`: the detectable difference is found", "that difference", "80", 101, 1010),), detected)

    true_at_zero = 0.8 * logistic_mean(math.log(3), 0.3)

    def at_equal_length(rng: Rng) -> list[float]:
        length = rng.normal(0.3, 1, 1010)
        odds = math.log(3) + 0.6 * length + np.repeat(rng.normal(0, 0.3, 101), 10)
        right = (rng.random(1010) < 1 / (1 + np.exp(-odds))) & (rng.random(1010) >= 0.2)  # unreadable is wrong
        return [holds(at_zero(right.astype(float).tolist(), length.tolist(), owners(101, 10)), true_at_zero)]

    yield Study(
        (
            Claim(
                "`acc` at equal length",
                f"{100 * true_at_zero:.1f} %: 20 % of replies cannot be read and are wrong",
                "95",
                101,
                1010,
            ),
        ),
        at_equal_length,
    )


def _of_shape(shape: str, mean: float, draw: Draw, users: int, expected: str) -> Study:
    def interval(rng: Rng) -> list[float]:
        right = rng.random((users, 10)) < draw(rng, users)[:, None]
        return [holds(share(right.astype(float).ravel().tolist(), owners(users, 10)), mean)]

    return Study((Claim("interval of an accuracy", shape, expected, users, 10 * users),), interval)


# --- users -----------------------------------------------------------------------------------------------------------


def drawn(rng: Rng, cases: int, accuracies: Sequence[float]) -> dict[str, list[float]]:
    """Draw each user's scores, one per case: the mean over two orders that agree most of the time.

    Args:
        cases: number of each user's cases.
        accuracies: the true one of each user.

    Returns:
        User -> scores.
    """
    values = {}
    for number, p in enumerate(accuracies):
        first = rng.random(cases) < p
        again = np.where(rng.random(cases) < 0.8, first, rng.random(cases) < p)
        values[f"u{number:03}"] = ((first * 1.0 + again) / 2).tolist()
    return values


def _users() -> Iterable[Study]:
    for users, cases in ((101, 10), (147, 26), (30, 10)):
        for shape, (_, true, draw) in SHAPES.items():

            def covered(
                rng: Rng, users: int = users, cases: int = cases, true: float = true, draw: Draw = draw
            ) -> list[float]:
                _, low, high = true_spread(drawn(rng, cases, draw(rng, users).tolist()))
                return [low <= true <= high]

            expected = "at least 95" if users > 30 else ""
            claim = Claim("interval of the users' standard deviation", shape, expected, users, users * cases)
            yield Study((claim,), covered, 2_000)


def _prompts() -> Iterable[Study]:
    users, cases = planted_prompts.USERS, planted_prompts.PAIRS * planted_prompts.ROWS
    for spread in (0.0, 0.3, 0.5, 1.0):
        true = planted_prompts.true_mean(spread)

        def means(rng: Rng, spread: float = spread, true: float = true) -> list[float]:
            values, of_users, prompts = planted_prompts.drawn(rng, spread)
            return [holds(share(values, Clusters.of(of_users, prompts)), true), holds(share(values, of_users), true)]

        planted = f"{planted_prompts.PROMPTS} prompts that differ by {spread:g} logits"
        yield Study(
            (
                Claim("interval by user and prompt", planted, "95", users, cases),
                Claim("the same by user alone", planted, "", users, cases),
            ),
            means,
        )


STUDIES: tuple[Study, ...] = (
    *rankings(),
    *differences(),
    *personas(),
    *_shares(),
    *_users(),
    *_prompts(),
    *annotators(),
    *tiers(),
    *verdicts(),
)
