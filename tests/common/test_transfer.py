"""Whether a judge is as good on replies as in its exam, by the votes of people who err."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from support.planted_duels import Planted, differing

from personafeedback_tasks.common.corrected import LONGER, SHORTER, Votes, corrected
from personafeedback_tasks.common.human_votes import LEAST_USERS
from personafeedback_tasks.common.transfer import transfer

same = pytest.approx
SEED = 20250615


def test_by_hand():
    exam = Votes([1, 1, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1], [LONGER] * 4 + [SHORTER] * 2, list("abcdef"), ["c"] * 6)
    duels = Votes([1, 0, 1, 1], [0, 1, 0, 0], [LONGER, SHORTER, SHORTER, LONGER], list("abcd"), ["c"] * 4)
    found = transfer([[1, 1, 1], [1, 1], [0, 0, 1], [1]], duels, exam)
    # Pairs of votes agree in 1, 1 and 1 / 3 of three duels: q ** 2 + (1 - q) ** 2 = 7 / 9, so q = (1 + sqrt(5 / 9)) / 2.
    q = (1 + math.sqrt(5 / 9)) / 2
    assert found.reliability == same(q)
    # The judge agrees with 1, 0, 1 / 3 and 1 of the votes: a q + (1 - a) (1 - q) = 7 / 12.
    assert found.accuracy == same((7 / 12 - (1 - q)) / (2 * q - 1))
    # In the exam it is right in .75 where the better text is longer and in .5 where it is shorter. Of the longer replies all votes
    # are for the reply, of the shorter ones 1 and 1 / 3: without the voters' errors q / (2 q - 1) and (2 / 3 - (1 - q)) / (2 q - 1).
    of_longer, of_shorter = q / (2 * q - 1), (2 / 3 - (1 - q)) / (2 * q - 1)
    longer, shorter = of_longer * 0.75 + (1 - of_longer) * 0.5, of_shorter * 0.5 + (1 - of_shorter) * 0.75
    assert found.exam == same((longer + shorter) / 2)
    assert found.difference.value == same(found.accuracy - found.exam)
    assert (found.difference.n, found.direct, found.why_not) == (4, False, "")


def test_agreement_with_the_same_people_by_hand():
    exam = Votes([1, 1, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1], [LONGER] * 6, list("abcdef"), ["c"] * 6)
    duels = Votes([1, 0, 1, 0.5], [0, 1, 0, 0.5], [LONGER] * 4, list("abcd"), ["c"] * 4)
    found = transfer([[1], [1], [], [0]], duels, exam, [[1], [0], [1, 1], [0], [], []])
    assert (found.accuracy, found.exam, found.direct) == (same((1 + 0 + 0.5) / 3), same((1 + 0 + 1 + 1) / 4), True)
    assert math.isnan(found.reliability)


def test_votes_on_the_exam_weigh_as_the_cells_of_the_duels():
    exam = Votes([1, 1, 0], [0, 0, 1], [LONGER] * 3, list("abc"), ["x", "x", "y"])
    duels = Votes([1, 0, 1], [0, 1, 0], [LONGER] * 3, list("abc"), ["x", "y", "y"])
    found = transfer([[1], [1], [1]], duels, exam, [[1], [1], [1]])
    assert found.exam == same(1 / 3 * 1 + 2 / 3 * 0)


def test_no_vote_says_nothing_about_a_judge():
    duels = Votes([1, 0], [0, 1], [LONGER] * 2, ["a", "b"], ["c"] * 2)
    assert transfer([[], []], duels, duels) is None


@pytest.mark.parametrize(
    ("ballots", "why"),
    [
        ([[1], [0], [1]], "No duel has the votes of two people"),
        ([[1, 0], [0, 1], [1, 1]], "hardly agree more often than by chance"),
    ],
)
def test_where_the_errors_of_people_are_unknown_there_is_no_test(ballots, why):
    duels = Votes([1, 0, 1], [0, 1, 0], [LONGER] * 3, list("abc"), ["c"] * 3)
    found = transfer(ballots, duels, duels)
    assert why in found.why_not
    assert math.isnan(found.p)
    assert not found.differs


@pytest.mark.parametrize(("won", "differs"), [([1, 0, 1], False), ([0, 1, 0], True)])
def test_where_nothing_varies_any_difference_is_one(won, differs):
    """No stderr: the most alarming result must not pass for the lack of one."""
    duels = Votes(won, [1 - one for one in won], [LONGER] * 3, list("abc"), ["c"] * 3)
    exam = replace(duels, won=[1, 1, 1], lost=[0, 0, 0])
    found = transfer([[1, 1], [0, 0], [1, 1]], duels, exam)
    assert (found.accuracy, found.exam, found.differs) == (float(not differs), 1, differs)


def test_votes_on_the_duels_of_one_user_say_nothing_about_others():
    duels = Votes([0, 1, 0], [1, 0, 1], [LONGER] * 3, list("abc"), ["c"] * 3)
    found = transfer([[1, 1], [], []], duels, replace(duels, won=[1, 1, 1], lost=[0, 0, 0]))
    assert math.isnan(found.p)
    assert not found.differs


# --- planted ---------------------------------------------------------------------------------------------------------

EQUAL = Planted(skill=1.6)
WORSE = Planted(skill=1.6, new=0.7)
BETTER = Planted(skill=0.85, new=2.6, rate=0.2)
"""Right in 69 % of its exam and in 93 % of the replies, of which 20 % are better."""


@pytest.mark.release
@pytest.mark.parametrize("wrong", [0, 0.05, 0.1, 0.2])
def test_a_judge_that_is_as_good_is_hardly_blamed_for_the_errors_of_people(wrong):
    """5 % are expected; of 400 simulations up to two and a half standard errors more."""
    assert differing(EQUAL, 400, wrong, 2) <= 0.078
    assert differing(replace(EQUAL, longer=0.9, length=0.6), 400, wrong, 2) <= 0.078
    assert differing(EQUAL, 400, wrong, 1, on_exam=200) <= 0.078


@pytest.mark.release
@pytest.mark.parametrize("planted", [WORSE, BETTER], ids=["worse", "better"])
@pytest.mark.parametrize("wrong", [0, 0.2])
def test_a_judge_that_errs_otherwise_is_found(planted, wrong):
    assert differing(planted, 100, wrong, 2) >= 0.9


@pytest.mark.release
def test_a_few_users_blame_no_judge():
    assert differing(EQUAL, 300, 0, 2, users=LEAST_USERS) <= 0.082


@pytest.mark.release
def test_a_judge_that_is_better_on_replies_breaks_the_correction():
    """Why the test is two-sided: the corrected rate misses, and with votes of two people it is withdrawn."""
    rng = np.random.default_rng(SEED)
    held = left = 0
    for _ in range(100):
        better, duels, exam = BETTER.draw(rng)
        rate = corrected(duels, exam).rate
        held += rate is not None and rate.low <= BETTER.rate <= rate.high
        people = BETTER.ballots(rng, better, rng.choice(better.size, 200, replace=False), 0.1, 2)
        left += not transfer(people, duels, exam).differs
    assert held <= 5
    assert left <= 2
