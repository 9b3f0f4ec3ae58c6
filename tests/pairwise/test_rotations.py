"""The scores of a case with four responses, spelled out: one answer per rotation, the right one at A, B, C and D."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personafeedback_tasks.core.rewards import right_and_tie
from personafeedback_tasks.pairwise.orders import rotations
from personafeedback_tasks.pairwise.scoring import p_chosen, score_answers, score_symmetric
from personafeedback_tasks.parsing.answers import REASONS

NAN, INF = math.nan, math.inf
FOUR = rotations(4)
same = pytest.approx


@pytest.mark.parametrize(
    ("answers", "expected"),
    [  # acc, acc_all, consistency, first_rate, second_rate, third_rate, fourth_rate, invalid
        pytest.param("ABCD", (1, 1, 1, 0.25, 0.25, 0.25, 0.25, 0), id="gold"),
        pytest.param("BCDA", (0, 0, 1, 0.25, 0.25, 0.25, 0.25, 0), id="always the same wrong one"),
        pytest.param("AAAA", (0.25, 0, 0, 1, 0, 0, 0, 0), id="always first"),
        pytest.param("DDDD", (0.25, 0, 0, 0, 0, 0, 1, 0), id="always last"),
        pytest.param("ABCA", (0.75, 0, 0, 0.5, 0.25, 0.25, 0, 0), id="wrong once"),
        pytest.param("AB?D", (0.75, 0, NAN, 1 / 3, 1 / 3, 0, 1 / 3, 0.25), id="unreadable once"),
        pytest.param("????", (0, 0, NAN, NAN, NAN, NAN, NAN, 1), id="silent"),
    ],
)
def test_known_answers_hold_exactly(answers, expected):
    score = score_answers([letter if letter != "?" else "refusal" for letter in answers], FOUR)
    assert list(score)[:8] == [
        "acc", "acc_all", "consistency", "first_rate", "second_rate", "third_rate", "fourth_rate", "invalid",
    ]  # fmt: skip
    assert tuple(score.values())[:8] == same(expected, abs=0, rel=0, nan_ok=True)


ANSWER = st.sampled_from((*FOUR.letters, *REASONS))


@given(st.tuples(*[ANSWER] * 4), st.integers(1, 3))
def test_turning_the_places_keeps_everything_but_the_rates(answers, by):
    """If all letters and orders move on by some places, the same responses were picked."""
    letters = FOUR.letters
    moved = [letters[(letters.index(a) + by) % 4] if a in letters else a for a in answers]
    moved = [*moved[-by:], *moved[:-by]]
    kept = ("acc", "acc_all", "consistency", "invalid")
    one, other = score_answers(answers, FOUR), score_answers(moved, FOUR)
    assert [one[name] for name in kept] == same([other[name] for name in kept], nan_ok=True)


# --- log-likelihoods ---------------------------------------------------------------------------------------------------


def turned(*of_responses):
    """Log-likelihoods of the responses in each order, the right one first -> those of the letters."""
    return [FOUR.shown(values, name) for values, name in zip(of_responses, FOUR.names, strict=True)]


@pytest.mark.parametrize(
    ("of_responses", "expected"),
    [
        ([(-1, -2, -3, -4)] * 4, 1),
        ([(-2, -1, -3, -4)] * 4, 0),
        ([(-1, -1, -3, -4)] * 4, 1 / 2),
        ([(-1, -1, -1, -4)] * 4, 1 / 3),
        ([(-1, -1, -1, -1)] * 4, 1 / 4),
        ([(-1, -1, -3, 0)] * 4, 0),  # a tie below the top
        ([(-1, -2, -2, -2), (-2, -1, -2, -2), (-1, -2, -2, -2), (-2, -2, -2, -2)], 1),  # 1 - 1 + 1 + 0 > 0
        ([(-1, -2, -2, -2), (-2, -1, -2, -2), (-2, -2, -2, -2), (-2, -2, -2, -2)], 1 / 2),
        ([(-INF, -INF, -1, -1), (-1, -2, -3, -3), (-1, -2, -1, -1), (-1, -2, -1, -1)], 0),  # -inf against the third
        ([(NAN, -2, -3, -4), *[(-1, -2, -3, -4)] * 3], 0),  # undefined: not picked
    ],
)
def test_acc_sym_sums_over_the_orders_and_shares_a_tie(of_responses, expected):
    assert score_symmetric(turned(*of_responses), FOUR) == expected


@given(st.lists(st.tuples(*[st.floats(-50, 0)] * 4), min_size=4, max_size=4))
def test_the_probabilities_of_all_responses_are_one_together(of_responses):
    def turn(by):
        return turned(*[(*values[by:], *values[:by]) for values in of_responses])

    assert sum(p_chosen(turn(by), FOUR) for by in range(4)) == same(1)
    assert sum(score_symmetric(turn(by), FOUR) for by in range(4)) == same(1)


# --- rewards -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [((4, 1, 2, 3), (1, 0)), ((3, 4, 1, 1), (0, 0)), ((4, 4, 1, 1), (0, 1)), ((1, 4, 4, 1), (0, 0))],
)
def test_the_right_response_must_have_the_highest_reward_alone(rewards, expected):
    assert right_and_tie(*rewards) == expected


# --- in reports and in words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "expected"),
    [  # bias_first, bias_second, bias_third, bias_fourth, acc_readable
        ("ABCD", (0, 0, 0, 0, 1)), ("CCCC", (0, 0, 1, 0, 1 / 4)), ("CCC?", (NAN, NAN, NAN, NAN, 1 / 3)), ("????", (NAN,) * 5),
    ],
)  # fmt: skip
def test_reports_say_which_place_was_always_picked(answers, expected):
    score = score_answers([letter if letter != "?" else "refusal" for letter in answers], FOUR)
    names = (*FOUR.biases, "acc_readable")
    assert names == ("bias_first", "bias_second", "bias_third", "bias_fourth", "acc_readable")
    assert tuple(score[name] for name in names) == same(expected, nan_ok=True)
