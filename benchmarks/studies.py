"""What the package claims of its intervals and tests, each with a simulation that plants the truth.

They make the table of benchmarks/intervals.md.

`inference.py` runs all of them and prints the table, tests/stats/test_claims.py runs a small part. Both put tests/ on
the path before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import planted_personas
import planted_rankings
import planted_users
from scipy.optimize import brentq
from scipy.stats import binom, ttest_1samp
from support import planted_prompts
from support.planted_duels import Planted

from personafeedback_tasks.analysis.ranking import pairs_of
from personafeedback_tasks.analysis.users import true_spread
from personafeedback_tasks.building.tiers import Preferences, least_majority
from personafeedback_tasks.stats.agreement import randolph
from personafeedback_tasks.stats.clusters import Shared
from personafeedback_tasks.stats.corrected import corrected
from personafeedback_tasks.stats.estimates import ALPHA, Estimate, estimate, estimate_of, paired_test, share
from personafeedback_tasks.stats.human_votes import prediction_powered
from personafeedback_tasks.stats.logistic import at_zero, length_adjusted
from personafeedback_tasks.stats.significance import holm, minimum_detectable_difference

SEED = 20250615
Rng = np.random.Generator


@dataclass(frozen=True)
class Claim:
    """A row of the table.

    Attributes:
        name: of the interval or test.
        planted: the truth.
        expected: the rate that it should have, in words; empty for a rate that is told and not promised.
        users, cases: of a simulated benchmark.
    """

    name: str
    planted: str
    expected: str
    users: int
    cases: int


@dataclass(frozen=True)
class Study:
    """Claims about the same simulated benchmarks.

    Attributes:
        once: one benchmark -> of each claim whether it held, or the share that did, in [0, 1]; nan for no statement.
        simulations: how many benchmarks the table has.
    """

    claims: tuple[Claim, ...]
    once: Callable[[Rng], Sequence[float]]
    simulations: int = 2_000

    def measured(self, simulations: int) -> list[tuple[float, float]]:
        """(rate, its Monte Carlo error) of each claim."""
        rng = np.random.default_rng(SEED)
        held = np.array([self.once(rng) for _ in range(simulations)], dtype=float)
        counted = np.maximum((~np.isnan(held)).sum(axis=0), 1)
        return list(
            zip(np.nanmean(held, axis=0).tolist(), (np.nanstd(held, axis=0) / np.sqrt(counted)).tolist(), strict=True)
        )


def table_row(claim: Claim, rate: float, error: float) -> str:
    """A line of the table, in percent."""
    measured = f"{100 * rate:.1f} ± {100 * error:.1f}"
    return f"| {claim.name} | {claim.planted} | {claim.expected} | {measured} | {claim.users:,} | {claim.cases:,} |"


def holds(found: Estimate | None, truth: float) -> float:
    return math.nan if found is None or math.isnan(found.low) else float(found.low <= truth <= found.high)


def owners(users: int, cases: int) -> list[str]:
    return [f"u{number:03}" for number in range(users) for _ in range(cases)]


def logistic_mean(center: float, spread: float) -> float:
    """The mean share of users whose log odds are normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    return float(weights @ (1 / (1 + np.exp(-center - spread * points))) / weights.sum())


def beta_binomial(rng: Rng, users: int, cases: int, mean: float, correlation: float) -> np.ndarray:
    """Right and wrong cases, users x cases; two of a user have the correlation."""
    strength = 1 / correlation - 1
    return (rng.random((users, cases)) < rng.beta(mean * strength, (1 - mean) * strength, users)[:, None]).astype(float)


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


# --- people ----------------------------------------------------------------------------------------------------------


def _annotators() -> Iterable[Study]:
    """40 users with 10 pairs, 9 annotators; pairs differ in how clear they are, users in how clear theirs are."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()

    def agreeing(abilities: np.ndarray) -> float:
        """2 P - 1 of these annotators, over all pairs."""
        right = 1 / (1 + np.exp(-(1.0 + math.hypot(0.3, 0.8) * points[:, None] + abilities)))
        count = len(abilities)
        both = (right.sum(axis=1) ** 2 - (right**2).sum(axis=1)) / (count * (count - 1))
        return float(weights @ (1 - 2 * right.mean(axis=1) + 2 * both)) * 2 - 1

    for spread in (0.0, 0.3, 0.6):
        others = agreeing(np.random.default_rng(1).normal(0, spread, 4_000))

        def kappa(rng: Rng, spread: float = spread, others: float = others) -> list[float]:
            abilities = rng.normal(0, spread, 9)
            clear = 1.0 + np.repeat(rng.normal(0, 0.3, 40), 10) + rng.normal(0, 0.8, 400)
            votes = rng.random((400, 9)) < 1 / (1 + np.exp(-(clear[:, None] + abilities)))
            found = estimate_of(lambda rows: randolph(rows, 2), votes.tolist(), owners(40, 10), (-1.0, 1.0))
            return [holds(found, agreeing(abilities)), holds(found, others)]

        planted = f"9 annotators whose abilities differ by {spread:g} logits"
        yield Study(
            (
                Claim("kappa, for these annotators", planted, "95", 40, 400),
                Claim("the same, for others", planted, "", 40, 400),
            ),
            kappa,
            500,
        )


# --- tiers of a set that people voted on -------------------------------------------------------------------------------

WINS, OPEN = 0.95, (0.5, 0.6, 0.7, 0.9)
"""The share of people who agree: where one text should win by construction, and on the other pairs."""


def _tiers() -> Iterable[Study]:
    """600 pairs, a third of which should win by construction; annotators as planted.

    A line at 100 % says that full agreement is not enough.
    """

    def once(votes: int, ability: float, spammers: int, bias: float) -> Callable[[Rng], list[float]]:
        def study(rng: Rng) -> list[float]:
            shares = np.array([[WINS, WINS, WINS, *OPEN, *OPEN[:2]]] * 67).ravel()[:600]
            right = rng.permutation(shares)
            biased = rng.choice((-1, 1), 600) * bias
            logits = np.log(right / (1 - right))

            def panel(people: int) -> np.ndarray:
                seen = logits[:, None] * np.exp(rng.normal(0, ability, people)) + biased[:, None]
                seen[:, :spammers] = 0
                return (rng.random((600, people)) < 1 / (1 + np.exp(-seen))).sum(axis=1)

            first, others = panel(votes), panel(9)
            most = np.maximum(first, votes - first)
            preferences = Preferences.fitted([(int(k), votes - int(k)) for k in first])
            accepted = most >= least_majority(votes)
            tossed, open_ = right == 0.5, accepted & (right != WINS)
            of_open = Preferences.fitted([(int(k), votes - int(k)) for k in first[right != WINS]])
            risk = np.array([of_open.risk(int(m), votes - int(m)) for m in most])
            otherwise = (others > 4) != (first > votes / 2)
            wrong = (first <= votes / 2) & ~tossed
            least = next(
                (m for m in range(votes // 2 + 1, votes + 1) if preferences.above(8 / 9, m, votes - m) >= 0.5), None
            )
            line = brentq(lambda share: binom.sf(least - 1, votes, share) - 0.5, 0.5, 0.9999) if least else 1.0
            return [
                float(accepted[tossed].mean()), float(tossed[accepted].mean()), float(risk[open_].mean()),
                float(otherwise[open_].mean()), float(wrong[accepted & ~tossed].mean()), line,
                float(accepted[(right == 0.6) | (right == 0.7)].mean()),
            ]  # fmt: skip

        return study

    for planted, votes, ability, spammers, bias in (
        ("7 votes", 7, 0.0, 0, 0.0),
        ("9 votes", 9, 0.0, 0, 0.0),
        ("25 votes", 25, 0.0, 0, 0.0),
        ("9 votes, abilities differ", 9, 0.5, 0, 0.0),
        ("9 votes, 2 spammers", 9, 0.0, 2, 0.0),
        ("9 votes, a shared bias of 1 logit", 9, 0.0, 0, 1.0),
    ):
        claims = (
            ("tiers: tossed pairs that get a label", "" if bias else "at most 5"),
            ("tossed pairs among those with a label", ""),
            ("risk that another nine decide otherwise, without Easy", ""),
            ("another nine did, without Easy", ""),
            ("labels against what people without the bias prefer", ""),
            ("true share at the line between Medium and Hard", ""),
            ("pairs with a share of 60 or 70 % that get a label", ""),
        )
        yield Study(
            tuple(Claim(name, planted, expected, 40, 600) for name, expected in claims),
            once(votes, ability, spammers, bias),
            100,
        )


# --- the verdict -----------------------------------------------------------------------------------------------------

VOTES = 200
GOOD, FEW, UNLIKE = Planted(skill=1.6), Planted(skill=1.6, users=40, duels=12), Planted(skill=1.6, spread=1.0)


def _verdicts() -> Iterable[Study]:
    as_real = Planted(users=101, duels=10, calibration=10, length=1.0)
    shapes = {
        "line": "the judge follows the log ratio",
        "levels off": "its accuracy levels off",
        "levels off early": "its accuracy levels off early",
        "step": "its accuracy jumps at equal length",
    }
    lengths = {0.19: "replies as in the calibration set", 0.5: "1.65 times as long"}
    for name, planted in {
        "the reply is better in 60 %": Planted(),
        "in 30 %": Planted(rate=0.3),
        "in 90 %": Planted(rate=0.9),
        "in 97 %": Planted(rate=0.97),
        "weak judge": Planted(skill=0.7, place=0.8, length=0.3),
        "users differ much": Planted(spread=1.0),
        "30 users": Planted(users=30),
        "147 users, 26 cases each in the calibration set, 1 duel": Planted(users=147, duels=1, calibration=26),
        "10 % unreadable, better in 80 %": Planted(unread=0.1, rate=0.8, skill=1.6),
        **{
            f"{100 * rate:.0f} %; {of_shape}; {of_length}": replace(as_real, rate=rate, shape=shape, longer=longer)
            for shape, of_shape in shapes.items()
            for longer, of_length in lengths.items()
            for rate in (0.4, 0.9)
        },
    }.items():

        def rate(rng: Rng, planted: Planted = planted) -> list[float]:
            _, duels, calibration = planted.draw(rng)
            return [holds(corrected(duels, calibration).rate, planted.rate)]

        yield Study((_duels("rate corrected by calibration", name, "95", planted),), rate, 500)

    def refused(rng: Rng) -> list[float]:
        _, duels, calibration = replace(as_real, longer=0.8).draw(rng)
        return [float(corrected(duels, calibration).rate is None)]

    refusal = _duels("no rate is corrected by calibration", "replies are 2.2 times as long", "100", as_real)
    yield Study((refusal,), refused, 500)

    for name, planted in {
        "judge as good as in its calibration set": GOOD,
        "as good, 40 users": FEW,
        "as good, users differ much": UNLIKE,
        "worse": replace(GOOD, new=0.7),
        "worse, 40 users": replace(FEW, new=0.7),
        "better": BETTER,
    }.items():

        def powered(rng: Rng, planted: Planted = planted) -> list[float]:
            from ppi_py import ppi_mean_ci

            better, duels, _ = planted.draw(rng)
            seen = np.zeros(better.size, bool)
            seen[rng.choice(better.size, VOTES, replace=False)] = True
            people = [float(truth) if voted else None for truth, voted in zip(better, seen, strict=True)]
            low, high = ppi_mean_ci(better[seen].astype(float), duels.won[seen], duels.won[~seen], alpha=0.05)
            return [
                holds(prediction_powered(people, duels).rate, planted.rate),
                low.item() <= planted.rate <= high.item(),
            ]

        name = f"{name}; {VOTES} duels with votes"
        yield Study(
            (
                _duels("rate with people's votes", name, "95", planted),
                _duels("the same by `ppi-python`", name, "", planted),
            ),
            powered,
        )

    def equal_length(rng: Rng) -> list[float]:
        ratio = rng.normal(0.3, 0.5, 1010)
        odds = 0.4 + 0.5 * np.tanh(ratio / 0.5) + np.repeat(rng.normal(0, 0.3, 101), 10)
        won = (rng.random(1010) < 1 / (1 + np.exp(-odds))).astype(float)
        return [holds(length_adjusted(won.tolist(), ratio.tolist(), owners(101, 10)).rate, logistic_mean(0.4, 0.3))]

    yield Study(
        (
            Claim(
                "win rate at equal length",
                f"{100 * logistic_mean(0.4, 0.3):.1f} %; replies are longer",
                "95",
                101,
                1010,
            ),
        ),
        equal_length,
    )


BETTER = Planted(skill=0.85, new=2.6, rate=0.2)


def _duels(name: str, truth: str, expected: str, planted: Planted) -> Claim:
    return Claim(name, truth, expected, planted.users, planted.users * planted.duels)


STUDIES: tuple[Study, ...] = (
    *_rankings(),
    *_differences(),
    *_personas(),
    *_shares(),
    *_users(),
    *_prompts(),
    *_annotators(),
    *_tiers(),
    *_verdicts(),
)
