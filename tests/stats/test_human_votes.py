"""People's votes beside a judge's: the prediction-powered win rate."""

from __future__ import annotations

import numpy as np
import pytest
from support.planted_duels import Planted

from personafeedback_tasks.stats.corrected import LONGER, Known, Votes
from personafeedback_tasks.stats.estimates import estimate
from personafeedback_tasks.stats.human_votes import LEAST_USERS, prediction_powered

same = pytest.approx
SEED = 20250615


def some_of(better, count, rng):
    """The truth of some duels, as people see it."""
    chosen = set(rng.choice(better.size, count, replace=False).tolist())
    return [float(one) if place in chosen else None for place, one in enumerate(better)]


# --- the win rate ----------------------------------------------------------------------------------------------------


def test_the_estimate_is_that_of_ppi_py():
    """Also with ties and few votes; where either side's votes are all the same, the judge's say nothing about people's."""
    from ppi_py import ppi_mean_pointestimate

    rng = np.random.default_rng(SEED)
    for draw in range(200):
        voted, other = rng.integers(2, 30), rng.integers(1, 100)
        judge = rng.choice([0, 0.5, 1], voted + other, p=rng.dirichlet([1, 1, 1]))
        people = np.where(rng.random(voted) < rng.random(), judge[:voted], rng.choice([0, 0.5, 1], voted))
        if draw % 10 == 0:
            people[:] = 0.5
        if draw % 10 == 1:
            judge[:] = 1.0
        users = [str(number) for number in range(len(judge))]
        found = prediction_powered([*people, *[None] * other], Votes(judge, judge, [LONGER] * len(judge), users, users))
        votes = people, judge[:voted], judge[voted:]
        alike = np.ptp(judge) == 0  # ppi_py divides by 0
        expected = people.mean() if alike else ppi_mean_pointestimate(*votes).item()
        assert found.rate.value == same(expected, abs=1e-12)
        assert ppi_mean_pointestimate(*votes, lam=found.weight).item() == same(expected, abs=1e-12)
        assert 0 <= found.weight <= 1


def test_ties_and_empty_replies_are_known():
    rng = np.random.default_rng(SEED)
    better, duels, _ = Planted(duels=1).draw(rng)
    people = some_of(better, 40, rng)
    alone = prediction_powered(people, duels).rate.value
    found = prediction_powered(people, duels, Known([0.5] * 30 + [0.0] * 70, list(range(100))))
    assert found.rate.value == same((100 * alone + 15) / 200)
    assert found.rate.n == 200


def test_with_votes_on_every_duel_it_is_their_mean():
    better, duels, _ = Planted().draw(np.random.default_rng(SEED))
    people = [float(one) for one in better]
    found, plain = prediction_powered(people, duels), estimate(people, duels.users)
    assert (found.weight, found.rate.value) == (0, same(plain.value))
    assert found.rate.stderr == same(plain.stderr)


@pytest.mark.parametrize("users", [10, 40])
def test_people_of_one_mind_may_have_others_beside_them(users):
    """As for a plain share: of the other users, up to 1 - .025 ** (1 / users) may differ."""
    names = [str(number) for number in range(100)]
    duels = Votes([1.0] * 100, [0.0] * 100, [LONGER] * 100, names, ["c"] * 100)
    found = prediction_powered([1.0 if place < users else None for place in range(100)], duels).rate
    assert (found.value, found.high) == (1, 1)
    assert found.low == same(0.025 ** (1 / users))


@pytest.mark.release
def test_intervals_hold_with_votes_on_the_duels_of_few_users():
    """The error of a few users' votes is known badly, and no interval may forget it."""
    planted, simulations = Planted(skill=1.6), 300
    rng = np.random.default_rng(SEED)
    held = 0
    for _ in range(simulations):
        better, duels, _ = planted.draw(rng)
        asked = rng.choice(planted.users, LEAST_USERS, replace=False)
        people = [float(one) if user in asked else None for one, user in zip(better, duels.users, strict=True)]
        found = prediction_powered(people, duels).rate
        held += found.low <= planted.rate <= found.high
    assert 0.92 <= held / simulations <= 0.98
