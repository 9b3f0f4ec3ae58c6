"""The scores, spelled out. A case has one answer per order: (chosen shown first, rejected shown first)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.judges import METRICS

from personafeedback_tasks.core.method import likeliest, per_call
from personafeedback_tasks.core.rewards import right_and_tie
from personafeedback_tasks.pairwise.orders import rotations
from personafeedback_tasks.pairwise.scoring import p_chosen, score_answers, score_symmetric
from personafeedback_tasks.parsing.answers import LETTERS, REASONS
from personafeedback_tasks.stats.estimates import mean

NAN, INF = math.nan, math.inf
FOUR = rotations(4)
same = pytest.approx


def values(answers):
    score = score_answers(LETTERS, answers)
    return tuple(score[name] for name in METRICS)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [  # acc, acc_both, consistency, first_rate, invalid
        pytest.param(("A", "B"), (1.0, 1.0, 1.0, 0.5, 0.0), id="gold"),
        pytest.param(("B", "A"), (0.0, 0.0, 1.0, 0.5, 0.0), id="anti-gold"),
        pytest.param(("A", "A"), (0.5, 0.0, 0.0, 1.0, 0.0), id="always first"),
        pytest.param(("B", "B"), (0.5, 0.0, 0.0, 0.0, 0.0), id="always second"),
        pytest.param(("no_response", "no_response"), (0.0, 0.0, NAN, NAN, 1.0), id="always silent"),
        pytest.param(("A", "refusal"), (0.5, 0.0, NAN, 1.0, 0.5), id="chosen once, then unreadable"),
        pytest.param(("truncated", "B"), (0.5, 0.0, NAN, 0.0, 0.5), id="unreadable, then chosen"),
        pytest.param(("B", "refusal"), (0.0, 0.0, NAN, 0.0, 0.5), id="rejected once, then unreadable"),
        pytest.param(("truncated", "A"), (0.0, 0.0, NAN, 1.0, 0.5), id="unreadable, then rejected"),
    ],
)
def test_known_answers_hold_exactly(answers, expected):
    assert values(answers) == same(expected, abs=0, rel=0, nan_ok=True)


READABLE = st.tuples(*[st.sampled_from(LETTERS)] * 2)
ANY = st.tuples(*[st.sampled_from(LETTERS + REASONS)] * 2)


def means(cases):
    scores = [score_answers(LETTERS, answers) for answers in cases]
    return {name: mean(score[name] for score in scores) for name in METRICS}


@given(st.lists(READABLE, min_size=1))
def test_with_every_reply_readable_acc_follows_from_acc_both_and_consistency(cases):
    got = means(cases)
    assert got["acc"] == same(got["acc_both"] + (1 - got["consistency"]) / 2, abs=1e-12)


@given(st.lists(ANY, min_size=1))
def test_all_values_lie_between_0_and_1_and_unreadable_replies_never_help(cases):
    got = means(cases)
    assert all(math.isnan(value) or 0 <= value <= 1 for value in got.values())
    assert got["acc_both"] <= got["acc"] <= 1 - got["invalid"] + 1e-12


# --- log-likelihoods -------------------------------------------------------------------------------------------------

PAIR = st.tuples(*[st.floats(-50, 0)] * 2)


@pytest.mark.parametrize(
    ("pair", "answer"),
    [
        ((-0.1, -2.0), "A"),
        ((-2.0, -0.1), "B"),
        ((-1.0, -INF), "A"),
        ((-INF, -1.0), "B"),
        ((-1.0, -1.0), "invalid_response_format"),  # a tie is no A
        ((-INF, -INF), "undefined_likelihoods"),
        ((NAN, -1.0), "undefined_likelihoods"),
        ((-1.0, NAN), "undefined_likelihoods"),
        ((NAN, NAN), "undefined_likelihoods"),
    ],
)
def test_the_likelier_letter_is_the_answer(pair, answer):
    assert likeliest(LETTERS, pair) == answer


def test_log_likelihoods_are_paired_per_prompt_and_none_is_left_over():
    assert per_call([-1.0, -2.0, -3.0, -4.0], LETTERS) == [(-1.0, -2.0), (-3.0, -4.0)]
    with pytest.raises(ValueError, match="found 3 log-likelihoods, expected 2 per call"):
        per_call([-1.0, -2.0, -3.0], LETTERS)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [  # log-odds of the chosen response: a - b where it is A (first pair), b - a where it is B (second pair)
        ([(-1.0, -2.0), (-2.0, -1.0)], 1.0),  # (1 + 1) / 2 > 0
        ([(-2.0, -1.0), (-1.0, -2.0)], 0.0),  # (-1 - 1) / 2 < 0
        ([(-1.0, -3.0), (-1.0, -2.0)], 1.0),  # (2 - 1) / 2 > 0
        ([(-1.0, -2.0), (-1.0, -3.0)], 0.0),  # (1 - 2) / 2 < 0
        ([(-1.0, -2.0), (-1.0, -2.0)], 0.5),  # (1 - 1) / 2 = 0: nothing but position bias
        ([(-1.0, -INF), (-2.0, -1.0)], 1.0),  # inf + 1
        ([(-1.0, -INF), (-1.0, -INF)], 0.5),  # inf - inf: certain of the opposite in each order
        ([(-INF, -INF), (-2.0, -1.0)], 1.0),  # 0 + 1
        ([(NAN, -1.0), (-2.0, -1.0)], 0.0),  # undefined: not picked
        ([(-1.0, -INF), (NAN, NAN)], 0.0),
    ],
)
def test_acc_sym_is_decided_on_the_averaged_log_odds(pairs, expected):
    assert score_symmetric(pairs) == expected


@given(PAIR, PAIR)
def test_acc_sym_agrees_with_a_judge_that_is_consistent_and_mirrors_with_the_labels(one, two):
    score = score_symmetric((one, two))
    answers = (likeliest(LETTERS, one), likeliest(LETTERS, two))
    if answers in (("A", "B"), ("B", "A")):
        assert score == score_answers(LETTERS, answers)["acc"]
    assert score_symmetric((two, one)) == 1 - score


# --- p_chosen ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(math.log(0.6), math.log(0.2)), (math.log(0.1), math.log(0.4))], (0.75 + 0.8) / 2),
        (
            [(math.log(0.6), math.log(0.2)), (math.log(0.6), math.log(0.2))],
            0.5,
        ),  # a bias towards the first place cancels
        ([(0.0, -INF), (-INF, 0.0)], 1),
        ([(-INF, 0.0), (0.0, -INF)], 0),
        ([(-5000.0, -5000.0), (-5000.0, -5000.0)], 0.5),
        ([(0.0, -1.0), (NAN, NAN)], NAN),
        ([(NAN, NAN), (0.0, -1.0)], NAN),
        ([(NAN, 0.0), (0.0, -1.0)], NAN),
        ([(-INF, -INF), (0.0, -1.0)], NAN),
    ],
)
def test_p_chosen_is_the_share_of_the_chosen_letter_in_both_orders(pairs, expected):
    assert p_chosen(pairs) == same(expected, abs=1e-12, nan_ok=True)


# --- four responses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "expected"),
    [  # acc, acc_all, consistency, first_rate to fourth_rate, invalid, bias_first to bias_fourth, acc_readable
        pytest.param("ABCD", (1, 1, 1, 0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0, 0, 1), id="gold"),
        pytest.param("BCDA", (0, 0, 1, 0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0, 0, 0), id="always the same wrong one"),
        pytest.param("AAAA", (0.25, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0.25), id="always first"),
        pytest.param("ABCA", (0.75, 0, 0, 0.5, 0.25, 0.25, 0, 0, 0, 0, 0, 0, 0.75), id="wrong once"),
        pytest.param("AB?D", (0.75, 0, NAN, 1 / 3, 1 / 3, 0, 1 / 3, 0.25, NAN, NAN, NAN, NAN, 1), id="unreadable once"),
        pytest.param("????", (0, 0, NAN, NAN, NAN, NAN, NAN, 1, NAN, NAN, NAN, NAN, NAN), id="silent"),
    ],
)
def test_known_answers_to_four_responses_hold_exactly(answers, expected):
    score = score_answers(FOUR.letters, [letter if letter != "?" else "refusal" for letter in answers], FOUR)
    assert tuple(score) == ("acc", "acc_all", "consistency", *FOUR.rates, "invalid", *FOUR.biases, "acc_readable")
    assert tuple(score.values()) == same(expected, abs=0, rel=0, nan_ok=True)


ANSWER = st.sampled_from((*FOUR.letters, *REASONS))


@given(st.tuples(*[ANSWER] * 4), st.integers(1, 3))
def test_turning_the_places_keeps_everything_but_the_rates(answers, by):
    """If all letters and orders move on by some places, the same responses were picked."""
    letters = FOUR.letters
    moved = [letters[(letters.index(a) + by) % 4] if a in letters else a for a in answers]
    moved = [*moved[-by:], *moved[:-by]]
    kept = ("acc", "acc_all", "consistency", "invalid")
    one, other = (score_answers(letters, given, FOUR) for given in (answers, moved))
    assert [one[name] for name in kept] == same([other[name] for name in kept], nan_ok=True)


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
def test_acc_sym_of_four_sums_over_the_orders_and_shares_a_tie(of_responses, expected):
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
