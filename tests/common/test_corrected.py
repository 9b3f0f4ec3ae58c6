"""The corrected win rate: by hand, by its symmetries, and by planting the truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.planted_duels import Planted

from personafeedback_tasks.common.corrected import (
    EQUAL,
    LONGER,
    NONE,
    SHORTER,
    Known,
    Votes,
    corrected,
    errors,
)

same = pytest.approx


def votes(*cases, cells=None):
    """Votes of (won, longer) with a user each, all readable."""
    users = [f"u{number}" for number in range(len(cases))]
    won = [case[0] for case in cases]
    return Votes(won, [1 - one for one in won], [case[1] for case in cases], users, cells or ["c"] * len(cases))


EXAM = votes(*[(1, LONGER)] * 9, (0, LONGER), *[(1, SHORTER)] * 8, *[(0, SHORTER)] * 2)
# right in .9 of the pairs whose better text is longer, and in .8 of the others, where it picks the longer in .2


def test_by_hand():
    # 10 replies that are longer: 7 votes. Of those that are better .9 get one, of the others .2: (.7 - .2) / (.9 - .2) = 5 / 7
    longer = votes(*[(1, LONGER)] * 7, *[(0, LONGER)] * 3)
    assert corrected(longer, EXAM).rate.value == same(5 / 7, rel=1e-12)
    # 10 that are shorter: 4 votes, (.4 - .1) / (.8 - .1) = 3 / 7
    shorter = votes(*[(1, SHORTER)] * 4, *[(0, SHORTER)] * 6)
    assert corrected(shorter, EXAM).rate.value == same(3 / 7, rel=1e-12)
    # 10 of equal length: 6 votes, right in .85 of the whole exam: (.6 - .15) / (.85 - .15) = 9 / 14
    equal = votes(*[(1, EQUAL)] * 6, *[(0, EQUAL)] * 4)
    assert corrected(equal, EXAM).rate.value == same(9 / 14, rel=1e-12)
    # all of them, 4 ties and 6 empty replies: (10 * 5 / 7 + 10 * 3 / 7 + 10 * 9 / 14 + 4 * .5) / 40
    together = votes(*(pair for some in (longer, shorter, equal) for pair in zip(some.won, some.longer, strict=True)))
    found = corrected(together, EXAM, Known([0.5] * 4 + [0.0] * 6, [f"u{number}" for number in range(10)]))
    assert found.rate.value == same((50 / 7 + 30 / 7 + 90 / 14 + 2) / 40, rel=1e-12)
    assert (found.rate.n, found.longer, found.shorter, found.why_not) == (40, same(0.9), same(0.8), "")


SHARES = st.floats(0.7, 1)


@given(st.floats(0, 1), SHARES, SHARES, st.floats(0, 0.3), st.lists(st.sampled_from([LONGER, SHORTER]), min_size=1))
def test_votes_that_are_as_expected_give_the_planted_rate(rate, longer, shorter, unread, sides):
    """Unreadable answers too: they are no votes for either side, in the exam and on replies."""
    read = 1 - unread * 0.3
    right = {LONGER: longer * read, SHORTER: shorter * read}
    wrong = {side: read - right[side] for side in right}
    if abs(right[LONGER] - right[SHORTER]) > 0.2 or (right[LONGER] + right[SHORTER]) / 2 < 0.6:
        return
    exam = Votes([*right.values()], [*wrong.values()], [*right], ["a", "b"], ["c", "c"])
    won = [rate * right[side] + (1 - rate) * wrong[-side] for side in sides]
    lost = [(1 - rate) * right[-side] + rate * wrong[side] for side in sides]
    duels = Votes(won, lost, sides, ["a"] * len(sides), ["c"] * len(sides))
    assert corrected(duels, exam).unclipped == same(rate, abs=1e-9)


@given(st.integers(0, 1_000))
def test_the_other_side_wins_the_rest(seed):
    _, duels, exam = Planted(users=12, spread=0.1, skill=1.6).draw(np.random.default_rng(seed))
    one = corrected(duels, exam)
    other = corrected(replace(duels, won=duels.lost, lost=duels.won, longer=[-side for side in duels.longer]), exam)
    assert bool(one.why_not) == bool(other.why_not)
    if not one.why_not:
        assert other.unclipped == same(1 - one.unclipped, abs=1e-12)
        assert other.rate.stderr == same(one.rate.stderr, rel=1e-9)


def test_a_perfect_judge_leaves_the_votes():
    exam = votes((1, LONGER), (1, SHORTER))
    duels = votes((1, LONGER), (0, LONGER), (1, SHORTER), (1, EQUAL))
    found = corrected(duels, exam)
    assert found.rate.value == 0.75
    assert found.rate.n == 4


def test_the_error_is_that_of_leaving_users_out():
    """Linearized as by the jackknife, over duels and exam of the same users."""
    planted = Planted(spread=1.0, unread=0.05)
    _, duels, exam = planted.draw(np.random.default_rng(7))
    known = Known([0.5, 0.0, 0.0, 0.0], [0, 1, 1, 2])

    def without(some, user):
        kept = [place for place, owner in enumerate(some.users) if owner != user]
        columns = {name: column for name, column in vars(some).items() if len(column)}  # no prompts: users share none
        return replace(some, **{name: [column[place] for place in kept] for name, column in columns.items()})

    found = corrected(duels, exam, known)
    left = [
        corrected(without(duels, user), without(exam, user), without(known, user)).unclipped
        for user in range(planted.users)
    ]
    jackknife = math.sqrt((len(left) - 1) / len(left) * sum((one - np.mean(left)) ** 2 for one in left))
    assert found.rate.stderr == same(jackknife, rel=0.03)
    assert found.rate.users == planted.users


def test_beyond_what_is_possible_it_is_brought_back():
    found = corrected(votes(*[(1, LONGER)] * 10), EXAM)
    assert found.unclipped == same((1 - 0.2) / 0.7, rel=1e-12)
    assert (found.rate.value, found.rate.high) == (1, 1)


def test_an_interval_that_is_not_known_stays_so():
    """One user says nothing of others: nan is neither cut off at 0 nor at 1."""
    duels, exam = (replace(one, users=["u0"] * len(one.users)) for one in (votes((1, LONGER), (0, LONGER)), EXAM))
    found = corrected(duels, exam).rate
    assert 0 < found.value < 1
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_the_exam_weighs_as_the_duels_do():
    cells = votes(*[(1, LONGER)] * 4, cells=["a", "a", "b", "c"])
    assert errors(cells, ["a", "b", "b"]).weights.tolist() == [0.5, 0.5, 2, 0]
    exam = votes((1, LONGER), (1, SHORTER), (0, LONGER), (0, SHORTER), cells=["a", "a", "b", "b"])
    assert corrected(votes((1, LONGER), (0, LONGER), cells=["a", "a"]), exam).rate.value == 0.5
    assert "0.0 % of its exam" in corrected(votes((1, LONGER), cells=["b"]), exam).why_not


@pytest.mark.parametrize(
    ("exam", "said"),
    [
        (votes(*[(1, LONGER)] * 11, *[(0, SHORTER)] * 9), "The judge is right in 55.0 % of its exam, which is below 60.0 %"),
        (votes(*[(1, LONGER)] * 9, *[(1, SHORTER)] * 7, *[(0, SHORTER)] * 3), "in 100.0 % of the exam's pairs whose better"),
        (votes(*[(1, LONGER)] * 9), "no pair whose better response is the shorter one"),
        (votes(*[(1, LONGER)] * 62, *[(0, LONGER)] * 38, (1, SHORTER), (0, SHORTER)), "only 12.0 points more often"),
    ],
)  # fmt: skip
def test_no_correction_without_a_good_exam(exam, said):
    found = corrected(votes((1, LONGER), (0, LONGER)), exam)
    assert found.rate is None
    assert said in found.why_not


def test_an_exam_just_good_enough_is_enough():
    exam = votes(*[(1, LONGER)] * 7, *[(0, LONGER)] * 3, *[(1, SHORTER)] * 5, *[(0, SHORTER)] * 5)
    found = corrected(votes((1, LONGER), (0, LONGER)), exam)  # right in .6, and .7 - .5 is .2 but for rounding
    assert found.rate is not None


def test_without_an_asked_duel_there_is_nothing_to_correct():
    assert corrected(votes(), EXAM, Known([0.5], ["u0"])).why_not == "No duel was asked."
    assert Known() == NONE


SIMULATIONS = 2_000


def test_a_rate_that_is_impossible_with_its_whole_interval_is_not_printed():
    """Cut off, it would be 100 % with an interval of one point: the most certain of all, where the assumption has failed."""
    exam = votes(*[(int(number % 20 < 14), (LONGER, SHORTER)[number % 2]) for number in range(2000)])
    duels = votes(*[(1, (LONGER, SHORTER)[number % 2]) for number in range(2000)])
    found = corrected(duels, exam)
    assert found.rate is None
    assert found.unclipped > 1.2
    assert "its whole interval" in found.why_not


@pytest.mark.release
@pytest.mark.parametrize(
    "planted",
    [
        Planted(rate=0.9, length=0.4, place=1.0, users=60, duels=4, exam=6),
        Planted(rate=0.3, users=40, longer=0.9),
        Planted(skill=0.75, place=0.8, length=0.1, exam=8, duels=4),
    ],
    ids=["winner", "few users", "weak judge"],
)
def test_intervals_hold_the_planted_rate(planted):
    """In 93 to 97 % of the simulations, of which nearly all have an estimate."""
    rng = np.random.default_rng(20250615)
    held, given = 0, 0
    for _ in range(SIMULATIONS):
        _, duels, exam = planted.draw(rng)
        found = corrected(duels, exam).rate
        if found is not None:
            given += 1
            held += found.low <= planted.rate <= found.high
    assert given > 0.8 * SIMULATIONS
    assert 0.93 <= held / given <= 0.97


def test_either_side_must_be_told_from_its_opposite():
    """Unreadable answers on one side leave a gain there that is too small to divide by, however good the other side is."""
    users = [f"u{number % 50}" for number in range(1000)]
    exam = Votes([0.62] * 900 + [0.42] * 100, [0.38] * 1000, [LONGER] * 900 + [SHORTER] * 100, users, ["c"] * 1000)
    duels = Votes([0.5] * 200, [0.4] * 200, [SHORTER] * 200, users[:200], ["c"] * 200)
    found = corrected(duels, exam)
    assert found.rate is None
    assert "only 4.0 points more often" in found.why_not
