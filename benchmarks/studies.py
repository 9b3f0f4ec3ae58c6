"""The package's claims about its intervals and tests; each is tried in a simulation whose truth is known.

They make the table of benchmarks/intervals.md. `inference.py` runs all of them and prints the table;
tests/stats/test_claims.py runs a small part. Both put tests/ on the path before. What people vote on is in
studies_of_votes.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import planted_personas
import planted_rankings
import planted_users
from claims import Claim, Rng, Study, beta_binomial, holds, logistic_mean, owners
from scipy.stats import ttest_1samp
from studies_of_votes import annotators, tiers, verdicts
from support import planted_prompts

from personafeedback_tasks.analysis.ranking import pairs_of
from personafeedback_tasks.analysis.users import true_spread
from personafeedback_tasks.stats.clusters import Shared
from personafeedback_tasks.stats.estimates import ALPHA, estimate, estimate_of, paired_test, share
from personafeedback_tasks.stats.logistic import at_zero
from personafeedback_tasks.stats.significance import holm, minimum_detectable_difference

# --- rank, compare ---------------------------------------------------------------------------------------------------


def _rankings() -> Iterable[Study]:
    users, cases = planted_rankings.USERS, planted_rankings.USERS * planted_rankings.CASES
    for runs in (22, 23, 60):

        def told_apart(rng: Rng, runs: int = runs) -> list[float]:
            pairs = pairs_of(*planted_rankings.scores(rng, np.linspace(0.98, 0.02, runs)))
            return [float(np.mean([pair.p < ALPHA for pair in pairs]))]

        yield Study(
            (Claim("`rank`: significant pairs", f"{runs} runs from 2 to 98 %", "", users, cases),), told_apart, 8
        )
    for runs, step in ((6, 0.0), (6, 0.001), (6, 0.005), (6, 0.015), (20, 0.0), (20, 0.005)):

        def all_places(rng: Rng, runs: int = runs, step: float = step) -> list[float]:
            return [planted_rankings.places_hold(rng, runs, step)]

        planted = f"{runs} runs, {100 * step:g} points apart"
        yield Study((Claim("`rank`: all places at once", planted, "at least 95", users, cases),), all_places, 400)


def _differences() -> Iterable[Study]:
    def lognormal(width: float) -> Callable[[Rng, int], np.ndarray]:
        return lambda rng, users: rng.lognormal(0, width, users) - math.exp(width**2 / 2)

    def few_worse(rng: Rng, users: int) -> np.ndarray:
        return np.where(rng.random(users) < 0.1, -0.9, 0.1) + rng.normal(0, 0.1, users)

    shapes: dict[str, Callable[[Rng, int], np.ndarray]] = {
        "no difference, normal": lambda rng, users: rng.normal(size=users),
        "no difference, a tenth of users much worse": few_worse,
        "no difference, log-normal (1)": lognormal(1.0),
        "no difference, log-normal (1.5)": lognormal(1.5),
    }
    for users in (10, 30, 100):
        for planted, draw in shapes.items():

            def rejects(rng: Rng, users: int = users, draw: Callable[[Rng, int], np.ndarray] = draw) -> list[float]:
                values = draw(rng, users).tolist()
                return [paired_test(values, owners(users, 1))[1] < ALPHA, ttest_1samp(values, 0).pvalue < ALPHA]

            yield Study(
                (
                    Claim("`compare`, `rank`: a difference is found", planted, "5", users, users),
                    Claim("the same by t alone", planted, "", users, users),
                ),
                rejects,
                2_000,
            )

    def family(rng: Rng) -> list[float]:
        runs = (rng.lognormal(0, 1, (6, 30)) - math.exp(0.5)) * np.array([1, -1] * 3)[:, None]
        return [any(pair.p < ALPHA for pair in pairs_of(runs.tolist(), owners(30, 1)))]

    yield Study(
        (Claim("`rank`: any pair is significant", "6 equal runs, skewed to either side", "at most 5", 30, 30),),
        family,
        2_000,
    )

    def rows(rng: Rng) -> list[float]:
        values = (beta_binomial(rng, 101, 10, 0.5, 0.1) - beta_binomial(rng, 101, 10, 0.5, 0.1)).ravel()
        users, cells = owners(101, 10), np.arange(1010) % 3
        parts = [
            paired_test(values[cells == cell], [u for u, c in zip(users, cells, strict=True) if c == cell])[1]
            for cell in range(3)
        ]
        whole = paired_test(values, users)[1]
        return [whole < ALPHA, min(holm(parts)) < ALPHA, min(*parts, whole) < ALPHA]

    yield Study(
        (
            Claim("`compare`: the total differs", "no difference, three cells", "5", 101, 1010),
            Claim("`compare`: any cell differs (Holm)", "no difference, three cells", "at most 5", 101, 1010),
            Claim("any of the four rows without Holm", "no difference, three cells", "", 101, 1010),
        ),
        rows,
        1_000,
    )


def _personas() -> Iterable[Study]:
    """Whether a model uses its user's persona, said of each model by itself and of those of a ranking."""
    models = planted_personas.MODELS
    for users in (10, 30, 101):
        for shape in planted_personas.IDLE:
            promised = users == 101 or not shape.startswith("costs a tenth")
            expected = ("at most 2.5", "at most 5") if promised else ("", "")

            def idle(rng: Rng, users: int = users, shape: str = shape) -> list[float]:
                return planted_personas.said_to_use(rng, users, shape)[:2]

            names = (
                '"it uses this user\'s persona", of one model',
                f"the same, of any of {models} models in a ranking",
            )
            yield Study(
                tuple(
                    Claim(name, f"it {shape}", rate, users, users * planted_personas.CASES)
                    for name, rate in zip(names, expected, strict=True)
                ),
                idle,
                1_000,
            )
    for shape in planted_personas.GAINS:

        def gains(rng: Rng, shape: str = shape) -> list[float]:
            alone, _, together = planted_personas.said_to_use(rng, 101, shape)
            return [alone, together]

        yield Study(
            tuple(
                Claim(name, f"it {shape}", "", 101, 101 * planted_personas.CASES)
                for name in (
                    '"it uses this user\'s persona", of one model',
                    f"the same, of each of {models} in a ranking",
                )
            ),
            gains,
            1_000,
        )


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

    def f1(pairs: Sequence[tuple[float, float]]) -> float:
        both = sum(a * b for a, b in pairs)
        every = sum(a + b for a, b in pairs)
        return 2 * both / every if every else math.nan

    def of_f1(rng: Rng) -> list[float]:
        right = beta_binomial(rng, 20, 10, 0.96, 0.05).ravel()
        truth = (rng.random(200) < 0.3).astype(float)
        said = np.where(right == 1, truth, 1 - truth)
        found = estimate_of(f1, list(zip(truth.tolist(), said.tolist(), strict=True)), owners(20, 10), (0.0, 1.0))
        return [holds(found, 2 * 0.3 * 0.96 / (0.3 + 0.3 * 0.96 + 0.7 * 0.04)), float(found.high > 1)]

    yield Study(
        (
            Claim("interval of F1", "93 %: 96 % of rows right, 30 % are YES", "95", 20, 200),
            Claim("the same ends above 100 %", "93 %: 96 % of rows right, 30 % are YES", "0", 20, 200),
        ),
        of_f1,
    )

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


# --- users -----------------------------------------------------------------------------------------------------------


def _users() -> Iterable[Study]:
    for users, cases in ((101, 10), (147, 26), (30, 10)):
        for shape, (true, draw) in planted_users.SHAPES.items():

            def covered(
                rng: Rng,
                users: int = users,
                cases: int = cases,
                true: float = true,
                draw: Callable[[Rng, int], np.ndarray] = draw,
            ) -> list[float]:
                _, low, high = true_spread(planted_users.drawn(rng, cases, draw(rng, users).tolist()))
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
            return [holds(share(values, of_users, also=Shared(prompts)), true), holds(share(values, of_users), true)]

        planted = f"{planted_prompts.PROMPTS} prompts that differ by {spread:g} logits"
        yield Study(
            (
                Claim("interval by user and prompt", planted, "95", users, cases),
                Claim("the same by user alone", planted, "", users, cases),
            ),
            means,
        )

    def odds(values: Sequence[float]) -> float:
        return sum(values) / (len(values) - sum(values))

    def ratio(rng: Rng) -> list[float]:
        values, of_users, prompts = planted_prompts.drawn(rng, 0.5)
        true = planted_prompts.true_mean(0.5)
        return [holds(estimate_of(odds, values, of_users, (0.0, math.inf), Shared(prompts)), true / (1 - true))]

    planted = f"{planted_prompts.PROMPTS} prompts that differ by 0.5 logits"
    yield Study((Claim("interval of odds, jackknife by user and prompt", planted, "95", users, cases),), ratio, 300)


STUDIES: tuple[Study, ...] = (
    *_rankings(),
    *_differences(),
    *_personas(),
    *_shares(),
    *_users(),
    *_prompts(),
    *annotators(),
    *tiers(),
    *verdicts(),
)
