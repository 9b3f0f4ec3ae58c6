"""Simulations of people's votes and of judges: agreement, the tiers of a set, and the win rates of duels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from claims import Claim, Rng, Study, holds, owners
from scipy.optimize import brentq
from scipy.stats import binom
from support.planted_duels import Planted

from personafeedback_tasks.building.tiers import Preferences, least_majority
from personafeedback_tasks.stats.agreement import randolph
from personafeedback_tasks.stats.corrected import corrected
from personafeedback_tasks.stats.estimates import estimate_of
from personafeedback_tasks.stats.human_votes import prediction_powered

# --- people ----------------------------------------------------------------------------------------------------------


def annotators() -> Iterable[Study]:
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


def tiers() -> Iterable[Study]:
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


def verdicts() -> Iterable[Study]:
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


BETTER = Planted(skill=0.85, new=2.6, rate=0.2)


def _duels(name: str, truth: str, expected: str, planted: Planted) -> Claim:
    return Claim(name, truth, expected, planted.users, planted.users * planted.duels)
