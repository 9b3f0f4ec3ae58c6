"""Draws with known, unequal chances."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from personafeedback_tasks.common.corrected import Votes
from personafeedback_tasks.common.human_votes import prediction_powered
from personafeedback_tasks.common.sampling import chances, draw, rates_right, systematic
from personafeedback_tasks.common.transfer import transfer

same = pytest.approx


def test_chances_go_with_the_sizes_and_are_at_most_1():
    assert chances([1, 2, 1], 2) == same([0.5, 1, 0.5])
    assert chances([1, 10, 1, 2], 2) == same([0.25, 1, 0.25, 0.5])  # the other 1 by the sizes 1, 1, 2
    assert chances([1, 5, 30], 3) == [1, 1, 1]
    assert chances([1, 1, 9, 40], 3) == same([0.5, 0.5, 1, 1])  # in two rounds


def test_those_that_hold_a_point_are_drawn():
    assert systematic([0.5, 1.0, 0.25, 0.25], [0, 1, 2, 3], 0.3) == [0, 1]  # points 0.3 and 1.3
    assert systematic([0.5, 1.0, 0.25, 0.25], [0, 1, 2, 3], 0.6) == [1, 2]  # 0.6 and 1.6
    assert systematic([0.5, 1.0, 0.25, 0.25], [3, 2, 1, 0], 0.6) == [1, 0]


def test_each_is_drawn_as_often_as_said_and_users_evenly():
    """Of 6 users with 4 cases each, 9 are drawn; a user's chances sum to 1.5."""
    users, sure = [f"u{place // 4}" for place in range(24)], [0.6, 0.8, 0.9, 1.0] * 6
    rates = [0.55, 0.7, 0.9, 0.98] * 6
    counts, draws = Counter(), 2_000
    for seed in range(draws):
        found, likely = draw(rates, sure, users, 9, str(seed))
        assert len(found) == len(set(found)) == 9
        assert {1, 2} >= set(Counter(users[place] for place in found).values())
        counts.update(found)
    assert sum(likely) == same(9)
    assert likely[0] > likely[1] > likely[2] > likely[3]
    assert all(counts[place] / draws == same(likely[place], abs=0.05) for place in range(24))


def test_how_often_a_verdict_is_right_by_its_certainty():
    """By parts of a fifth, each beside four cases of the whole exam's 0.75."""
    sure = [0.5] * 10 + [1.0] * 10
    right = [0.5] * 10 + [1.0] * 10
    assert rates_right([0.5, 1.0, 0.2], sure, right) == same([8 / 14, 13 / 14, 0.75])


def test_votes_weigh_the_inverse_of_their_probability():
    """Without a judge the rate is the weighted mean of the votes: (1 / .5 + 0 / .25) / (1 / .5 + 1 / .25) of pairs of these."""
    pytest.importorskip("ppi_py")
    count = 12
    silent = Votes([0.5] * count, [0.5] * count, [0] * count, [f"u{n}" for n in range(count)], ["cell"] * count)
    people = [1.0, 0.0] * 6
    found = prediction_powered(people, silent, likely=[0.5, 0.25] * 6)
    assert found.rate.value == same(1 / 3)
    assert prediction_powered(people, silent).rate.value == same(0.5)


def test_the_judges_mean_is_that_of_all_duels():
    """weight * mean of the judge over all duels + weighted mean of people - weight * judge."""
    pytest.importorskip("ppi_py")
    won = np.array([1.0, 0.0, 0.0, 0.5] * 25)
    duels = Votes(won, 1 - won, [0] * 100, [f"u{n // 4}" for n in range(100)], ["cell"] * 100)
    voted = np.arange(100) % 8 < 3
    truth = np.where(np.arange(100) % 7 == 0, 1 - won, won)
    likely = np.array([0.6] * 50 + [0.3] * 50)
    found = prediction_powered(
        [vote if there else None for vote, there in zip(truth, voted, strict=True)], duels, likely=likely
    )
    assert 0 < found.weight < 1
    apart = np.average((truth - found.weight * won)[voted], weights=1 / likely[voted])
    assert found.rate.value == same(found.weight * won.mean() + apart)


def test_a_judge_is_compared_as_if_all_duels_had_been_voted_on():
    """It is right where it is sure and in half of the rest, in the exam and here; people were asked where it is not sure."""
    count = 400
    sure = np.arange(count) % 2 == 0
    right = np.where(sure, 1.0, np.arange(count) // 2 % 2 == 0)
    users, cells = [f"u{n % 40}" for n in range(count)], ["cell"] * count
    votes = Votes(right, 1 - right, [0] * count, users, cells)
    seen = ~sure | (np.arange(count) % 8 == 0)
    ballots = [[1.0, 1.0] if there else [] for there in seen]
    likely = np.where(sure, 0.25, 1.0)
    assert transfer(ballots, votes, votes).differs
    found = transfer(ballots, votes, votes, likely=likely)
    assert not found.differs
    assert found.accuracy == same(0.75)
