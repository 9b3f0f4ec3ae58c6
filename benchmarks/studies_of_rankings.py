"""Simulations of runs beside each other: places, differences, and whether a model uses its user's persona."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from claims import Claim, Rng, Study, beta_binomial, owners
from scipy.stats import ttest_1samp

from personafeedback_tasks.analysis.persona_use import NONE, WRONG, WRONG_OVER_NONE, PersonaUse, Use
from personafeedback_tasks.analysis.ranking import pairs_of, ranks_of
from personafeedback_tasks.stats.estimates import ALPHA, Estimate, paired, paired_test
from personafeedback_tasks.stats.significance import holm

USERS, CASES = 101, 10
"""As many as General Hard has: 1,010 cases."""

MODELS = 12
"""Of a ranking."""

# --- rank, compare ---------------------------------------------------------------------------------------------------


def scores(rng: Rng, accuracies: np.ndarray) -> tuple[list[list[float]], list[str]]:
    """(run -> value of each case, the user of each case).

    Two orders a case; two cases of a user correlate by about .035. What is hard, is hard for every run.
    """
    shift = np.repeat(rng.normal(0, 0.4, USERS), CASES) + rng.normal(0, 1.0, USERS * CASES)
    odds = np.log(accuracies / (1 - accuracies))[:, None] + shift
    right = rng.random((2, *odds.shape)) < 1 / (1 + np.exp(-odds))
    return right.mean(axis=0).tolist(), [f"user{number:03}" for number in range(USERS) for _ in range(CASES)]


def places_hold(rng: Rng, runs: int, step: float) -> bool:
    """Whether the printed places of all runs hold the true ones at once.

    Args:
        step: between the accuracies of neighbors, as a share; where it is 0, all places are right for every run.
    """
    accuracies = 0.7 + step * (np.arange(runs)[::-1] - (runs - 1) / 2)
    found, users = scores(rng, accuracies)
    order = sorted(range(runs), key=lambda run: -sum(found[run]))
    apart = {(pair.first, pair.second) for pair in pairs_of([found[run] for run in order], users) if pair.p < ALPHA}
    for place, run in enumerate(order, start=1):
        low, high = ranks_of(place, runs, apart)
        best, worst = (1, runs) if step == 0 else (run + 1, run + 1)
        if low > best or high < worst:
            return False
    return True


def rankings() -> Iterable[Study]:
    users, cases = USERS, USERS * CASES
    for runs in (23, 60):

        def told_apart(rng: Rng, runs: int = runs) -> list[float]:
            pairs = pairs_of(*scores(rng, np.linspace(0.98, 0.02, runs)))
            return [float(np.mean([pair.p < ALPHA for pair in pairs]))]

        yield Study(
            (Claim("`rank`: significant pairs", f"{runs} runs from 2 to 98 %", "", users, cases),), told_apart, 8
        )
    for runs, step in ((6, 0.0), (6, 0.001), (6, 0.005), (6, 0.015), (20, 0.0), (20, 0.005)):

        def all_places(rng: Rng, runs: int = runs, step: float = step) -> list[float]:
            return [places_hold(rng, runs, step)]

        planted = f"{runs} runs, {100 * step:g} points apart"
        yield Study((Claim("`rank`: all places at once", planted, "at least 95", users, cases),), all_places, 400)


def differences() -> Iterable[Study]:
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
        return [whole < ALPHA, min(holm(parts)) < ALPHA]

    yield Study(
        (
            Claim("`compare`: the total differs", "no difference, three cells", "5", 101, 1010),
            Claim("`compare`: any cell differs (Holm)", "no difference, three cells", "at most 5", 101, 1010),
        ),
        rows,
        1_000,
    )


# --- whether a model uses the persona ----------------------------------------------------------------------------------


def _of_some(share: float, gap: float) -> Callable[[Rng, int], np.ndarray]:
    """A difference that some users have and the others make up for."""
    return lambda rng, users: np.where(rng.random(users) < share, gap, -gap * share / (1 - share))


IDLE: dict[str, tuple[float, Callable[[Rng, int], np.ndarray]]] = {
    "adds nothing": (0.75, lambda rng, users: np.zeros(users)),
    "adds nothing to 97 %": (0.97, lambda rng, users: np.zeros(users)),
    "adds 30 points for half of the users, costs the others as much": (0.6, _of_some(0.5, 0.3)),
    "adds 50 points for a tenth of users, costs the others 5.6": (0.45, _of_some(0.1, 0.5)),
    "costs a tenth of users 50 points, adds 5.6 for the others": (0.94, _of_some(0.1, -0.5)),
}
"""Planted effect of the right persona -> (share right without it, a function that draws each user's gain; mean 0)."""

GAINS: dict[str, tuple[float, Callable[[Rng, int], np.ndarray]]] = {
    "adds 3 points": (0.75, lambda rng, users: np.full(users, 0.03)),
    "adds 5 points": (0.75, lambda rng, users: np.full(users, 0.05)),
    "adds 10 points": (0.75, lambda rng, users: np.full(users, 0.1)),
}


def said_to_use(rng: Rng, users: int, shape: str) -> list[float]:
    """[share of models said to use this persona, each by itself; whether any is in a ranking; share in a ranking].

    A wrong persona costs each 10 points: right minus wrong is really there, the worst case for a model that does not.
    """
    none, added = (IDLE | GAINS)[shape]
    alone = []
    for _ in range(MODELS):
        shares = none + added(rng, users), np.full(users, none - 0.1), np.full(users, none)
        alone.append(_use(*(rng.binomial(2 * CASES, np.clip(share, 0, 1)) / (2 * CASES) for share in shares)))
    said = [use.verdict is PersonaUse.USES for use in alone]
    together = [replace(use, models=MODELS).verdict is PersonaUse.USES for use in alone]
    return [float(np.mean(said)), float(any(together)), float(np.mean(together))]


def _use(right: np.ndarray, wrong: np.ndarray, none: np.ndarray) -> Use:
    def less(a: np.ndarray, b: np.ndarray) -> Estimate:
        return paired((a - b).tolist(), [f"{user}" for user in range(len(a))])

    return Use("persona", {WRONG: less(right, wrong), NONE: less(right, none), WRONG_OVER_NONE: less(wrong, none)})


def personas() -> Iterable[Study]:
    """Whether a model uses its user's persona, said of each model by itself and of those of a ranking."""
    models = MODELS
    for users in (10, 30, 101):
        for shape in IDLE:
            promised = users == 101 or not shape.startswith("costs a tenth")
            expected = ("at most 2.5", "at most 5") if promised else ("", "")

            def idle(rng: Rng, users: int = users, shape: str = shape) -> list[float]:
                return said_to_use(rng, users, shape)[:2]

            names = (
                '"it uses this user\'s persona", of one model',
                f"the same, of any of {models} models in a ranking",
            )
            yield Study(
                tuple(
                    Claim(name, f"it {shape}", rate, users, users * CASES)
                    for name, rate in zip(names, expected, strict=True)
                ),
                idle,
                1_000,
            )
    for shape in GAINS:

        def gains(rng: Rng, shape: str = shape) -> list[float]:
            alone, _, together = said_to_use(rng, 101, shape)
            return [alone, together]

        yield Study(
            tuple(
                Claim(name, f"it {shape}", "", 101, 101 * CASES)
                for name in (
                    '"it uses this user\'s persona", of one model',
                    f"the same, of each of {models} in a ranking",
                )
            ),
            gains,
            1_000,
        )
