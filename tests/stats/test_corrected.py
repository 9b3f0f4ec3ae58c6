"""The corrected win rate: by hand, by its symmetries, and by planting the truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.planted_duels import Planted

from personafeedback_tasks.stats.corrected import LONGER, SHORTER, Known, Votes, corrected

same = pytest.approx


def votes(*cases, cells=None):
    """Votes of (won, longer), all readable, of 100 users."""
    users = [f"u{number % 100}" for number in range(len(cases))]
    won = [case[0] for case in cases]
    return Votes(won, [1 - one for one in won], [case[1] for case in cases], users, cells or ["c"] * len(cases))


CALIBRATION = votes(*[(1, LONGER)] * 9_000, *[(0, LONGER)] * 1_000, *[(1, SHORTER)] * 8_000, *[(0, SHORTER)] * 2_000)


RATIOS = (-0.6, -0.3, 0.0, 0.2, 0.5, 0.9)


@pytest.mark.slow
@given(
    st.floats(0, 1),
    st.floats(0.9, 3),
    st.floats(-0.5, 1),
    st.floats(0, 0.3),
    st.lists(st.sampled_from(RATIOS), min_size=1),
)
def test_votes_that_are_as_expected_give_the_planted_rate(rate, skill, slope, unread, ratios):
    """Whatever the lengths, and with unreadable answers, which are no votes for either side, in the calibration set and on replies."""
    read, many = 1 - unread, 300  # the prior is then far away

    def right(ratio):
        return read / (1 + math.exp(-skill - slope * ratio))

    lengths = [*RATIOS] * many
    won = [right(ratio) for ratio in RATIOS] * many
    calibration = Votes(won, [read - one for one in won], lengths, ["a", "b"] * (len(won) // 2), ["c"] * len(won))
    votes_for = [rate * right(ratio) + (1 - rate) * (read - right(-ratio)) for ratio in ratios]
    duels = Votes(votes_for, [read - one for one in votes_for], ratios, ["a"] * len(ratios), ["c"] * len(ratios))
    found = corrected(duels, calibration)
    if not found.why_not or "interval" in found.why_not:
        assert found.unclipped == same(rate, abs=0.01)


@pytest.mark.slow
@given(st.integers(0, 1_000))
def test_the_other_side_wins_the_rest(seed):
    _, duels, calibration = Planted(users=12, spread=0.1, skill=1.6).draw(np.random.default_rng(seed))
    one = corrected(duels, calibration)
    other = corrected(
        replace(duels, won=duels.lost, lost=duels.won, longer=[-ratio for ratio in duels.longer]), calibration
    )
    if not one.why_not and not other.why_not:  # of one of both, more ratios may be outside of the calibration set's
        assert other.unclipped == same(1 - one.unclipped, abs=1e-9)
        assert other.rate.stderr == same(one.rate.stderr, rel=1e-6)


def test_the_error_is_that_of_leaving_users_out():
    """Over duels, calibration and the duels that were not asked, of the same users."""
    planted = Planted(spread=1.0, unread=0.05, users=30)
    _, duels, calibration = planted.draw(np.random.default_rng(7))
    known = Known([0.5, 0.0, 0.0, 0.0], [0, 1, 1, 2])

    def without(some, user):
        kept = [place for place, owner in enumerate(some.users) if owner != user]
        columns = {name: column for name, column in vars(some).items() if len(column)}  # no prompts: users share none
        return replace(some, **{name: [column[place] for place in kept] for name, column in columns.items()})

    found = corrected(duels, calibration, known)
    left = [
        corrected(without(duels, user), without(calibration, user), without(known, user)).unclipped
        for user in range(planted.users)
    ]
    jackknife = math.sqrt((len(left) - 1) / len(left) * sum((one - np.mean(left)) ** 2 for one in left))
    assert found.rate.stderr == same(
        jackknife, rel=1e-3
    )  # the weights of the calibration set's cells stay in one of both
    assert found.rate.users == planted.users


def small(calibration):
    """One case in a hundred."""
    return Votes(*(column[::101] for column in vars(calibration).values()))


def test_an_interval_that_is_not_known_stays_so():
    """One user says nothing of others: nan is neither cut off at 0 nor at 1."""
    duels, calibration = (
        replace(one, users=["u0"] * len(one.users)) for one in (votes((1, LONGER), (0, LONGER)), small(CALIBRATION))
    )
    found = corrected(duels, calibration).rate
    assert 0 < found.value < 1
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_the_calibration_weighs_as_the_duels_do():
    good, bad = [(1, LONGER), (1, SHORTER)] * 100, [(0, LONGER), (0, SHORTER)] * 100
    calibration = votes(*good, *bad, cells=["a"] * 200 + ["b"] * 200)
    assert corrected(votes((1, LONGER), (0, LONGER), cells=["a", "a"]), calibration).rate.value == same(0.5)
    assert "0.0 % of its calibration set" in corrected(votes((1, LONGER), cells=["b"]), calibration).why_not


def steep():
    """A calibration set of a judge that follows the length of texts that differ much, of which it has few."""
    ratios = [0.05, -0.05] * 420 + [1, -1] * 80
    right = [1 / (1 + math.exp(-0.5 - 2 * ratio)) for ratio in ratios]
    users, cells = [f"u{number}" for number in range(1000)], ["c"] * 1000
    return Votes(right, [1 - one for one in right], ratios, users, cells)


@pytest.mark.parametrize(
    ("calibration", "said"),
    [
        (votes(*[(1, LONGER)] * 11, *[(0, SHORTER)] * 9), "The judge is right in 55.0 % of its calibration set, which is below 60.0 %"),
        (votes(*[(1, LONGER)] * 9, *[(1, SHORTER)] * 7, *[(0, SHORTER)] * 3), "in 100.0 % of the calibration set's pairs whose better"),
        (votes(*[(1, LONGER)] * 9), "no pair whose better response is the shorter one"),
        (steep(), "At these lengths, the judge picks a better reply only 1"),
    ],
)  # fmt: skip
def test_no_correction_without_a_good_calibration(calibration, said):
    found = corrected(votes((1, LONGER), (0, LONGER)), calibration)
    assert found.rate is None
    assert said in found.why_not


def test_a_calibration_set_just_good_enough_is_enough():
    calibration = votes(*[(1, LONGER)] * 7, *[(0, LONGER)] * 3, *[(1, SHORTER)] * 5, *[(0, SHORTER)] * 5)
    found = corrected(votes((1, LONGER), (0, LONGER)), calibration)  # right in .6, and .7 - .5 is .2 but for rounding
    assert found.rate is not None


def test_a_rate_that_is_impossible_with_its_whole_interval_is_not_printed():
    """Cut off, it would be 100 % with an interval of one point: the most certain of all, where the assumption has failed."""
    calibration = votes(*[(int(number % 20 < 14), (LONGER, SHORTER)[number % 2]) for number in range(2000)])
    duels = votes(*[(1, (LONGER, SHORTER)[number % 2]) for number in range(2000)])
    found = corrected(duels, calibration)
    assert found.rate is None
    assert found.unclipped > 1.2
    assert "its whole interval" in found.why_not


def test_replies_of_lengths_that_the_calibration_does_not_have_are_refused():
    """The curve is known on the middle nine tenths of the calibration set's ratios: with three tenths of the replies outside it is followed, with more not."""
    _, _, calibration = Planted(users=50).draw(np.random.default_rng(1))
    calibration = replace(calibration, users=[f"u{user}" for user in calibration.users])
    low, high = np.quantile(calibration.longer, (0.05, 0.95))

    def of_replies(outside):
        ratios = [high + 0.1 if number < outside else (low + high) / 2 for number in range(100)]
        cases = [(number % 2, ratio) for number, ratio in enumerate(ratios)]
        return corrected(votes(*cases, cells=["cell"] * 100), calibration)

    assert of_replies(30).rate is not None
    assert of_replies(30).outside == same(0.3)
    refused = of_replies(31)
    assert refused.rate is None
    assert f"31.0 % of the replies are outside {math.exp(low):.2f} to {math.exp(high):.2f} times" in refused.why_not
