"""The scores, spelled out. A case has one answer per order: (chosen shown first, rejected shown first)."""

from __future__ import annotations

import math
import random
import statistics
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personafeedback_tasks.choice.scoring import (
    METRICS,
    p_chosen,
    score_answers,
    score_symmetric,
)
from personafeedback_tasks.common.statistics import clustered_stderr, mean
from personafeedback_tasks.engine.evidence import likeliest, per_call
from personafeedback_tasks.engine.outcome import Outcome
from personafeedback_tasks.engine.table import table
from personafeedback_tasks.personafeedback.cells import columns
from personafeedback_tasks.replies.answers import LETTERS, REASONS

NAN, INF = math.nan, math.inf
same = pytest.approx


def values(answers):
    score = score_answers(answers)
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


@pytest.mark.parametrize("reasons", list(product(REASONS, repeat=2)))
def test_every_reason_counts_alike(reasons):
    assert values(reasons) == same((0.0, 0.0, NAN, NAN, 1.0), nan_ok=True)


@pytest.mark.parametrize("answers", [(), ("A",), ("A", "B", "A")])
def test_each_order_needs_its_answer(answers):
    sentence = rf"found {len(answers)} answers, expected one per order \(chosen_first, rejected_first\)"
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        score_answers(answers)


def test_the_names_of_the_metrics():
    assert METRICS == ("acc", "acc_both", "consistency", "first_rate", "invalid")
    of_reports = {"bias_first": 0.0, "bias_second": 0.0, "acc_readable": 1.0}
    assert score_answers(("A", "B")) == dict(zip(METRICS, (1.0, 1.0, 1.0, 0.5, 0.0), strict=True)) | of_reports


READABLE = st.tuples(*[st.sampled_from(LETTERS)] * 2)
ANY = st.tuples(*[st.sampled_from(LETTERS + REASONS)] * 2)


def means(cases):
    scores = [score_answers(answers) for answers in cases]
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


@given(st.lists(READABLE, min_size=1))
def test_swapping_the_labels_mirrors_acc_and_keeps_the_position_bias(cases):
    # With chosen and rejected exchanged, the prompt of one order becomes that of the other.
    got, mirrored = means(cases), means([answers[::-1] for answers in cases])
    assert mirrored["acc"] == same(1 - got["acc"], abs=1e-12)
    assert mirrored["first_rate"] == got["first_rate"]
    assert mirrored["consistency"] == got["consistency"]


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
        ([(-1.0, -1.0), (-1.0, -1.0)], 0.5),
        ([(-1.0, -1.0), (-2.0, -1.0)], 1.0),  # (0 + 1) / 2 > 0
        ([(-1.0, -INF), (-2.0, -1.0)], 1.0),  # inf + 1
        ([(-1.0, -INF), (-1.0, -INF)], 0.5),  # inf - inf: certain of the opposite in each order
        ([(-INF, -1.0), (-INF, -1.0)], 0.5),
        ([(-INF, -INF), (-2.0, -1.0)], 1.0),  # 0 + 1
        ([(-INF, -INF), (-INF, -INF)], 0.5),
        ([(-INF, -1.0), (-1.0, -INF)], 0.0),
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
        assert score == score_answers(answers)["acc"]
    assert score_symmetric((two, one)) == 1 - score


@pytest.mark.parametrize("score", [score_symmetric, p_chosen])
@pytest.mark.parametrize("pairs", [[], [(-1.0, -2.0)], [(-1.0, -2.0)] * 3])
def test_log_likelihoods_are_needed_of_each_order(pairs, score):
    with pytest.raises(ValueError, match="argument 2 is"):
        score(pairs)


# --- means and standard errors ---------------------------------------------------------------------------------------


def test_a_mean_leaves_out_what_is_undefined():
    assert mean([1.0, NAN, 0.0, NAN, 0.0, 1.0]) == 0.5  # (1 + 0 + 0 + 1) / 4
    assert math.isnan(mean([]))
    assert math.isnan(mean([NAN, NAN]))


def test_the_clustered_standard_error_of_a_case_worked_by_hand():
    # The mean of 1, 1, 0, 1, 0, 0 is 1/2.
    # Sums of deviations: u1 = 1/2 + 1/2 = 1, u2 = -1/2 + 1/2 = 0, u3 = -1/2 - 1/2 = -1.
    # Variance of the sum: (1 + 0 + 1) * 3 / (3 - 1) = 3. Standard error of the mean: sqrt(3) / 6.
    assert clustered_stderr([1, 1, 0, 1, 0, 0], ["u1", "u1", "u2", "u2", "u3", "u3"]) == same(math.sqrt(3) / 6)
    # The undefined value is no case: as if it were not there.
    assert clustered_stderr([1, NAN, 1, 0, 1, 0, 0], ["u1", "u4", "u1", "u2", "u2", "u3", "u3"]) == same(
        math.sqrt(3) / 6
    )


def test_the_clustered_standard_error_of_two_users_worked_by_hand():
    # The mean of 1, 1, 0 is 2/3. Sums of deviations: u1 = 1/3 + 1/3 = 2/3, u2 = -2/3.
    # Variance of the sum: (4/9 + 4/9) * 2 / (2 - 1) = 16/9. Standard error of the mean: (4/3) / 3 = 4/9.
    assert clustered_stderr([1, 1, 0], ["u1", "u1", "u2"]) == same(4 / 9)


def random_cases(seed, cases=400, users=30):
    rng = random.Random(seed)
    taste = [rng.random() for _ in range(users)]
    drawn = [rng.randrange(users) for _ in range(cases)]
    return [rng.choice([0.0, 0.5, 1.0]) if rng.random() < taste[u] else 1.0 for u in drawn], [f"u{u}" for u in drawn]


@pytest.mark.parametrize("seed", range(5))
def test_the_clustered_standard_error_follows_its_definition(seed):
    values, users = random_cases(seed)
    center, names = sum(values) / len(values), sorted(set(users))
    total = 0.0
    for name in names:
        deviations = [value - center for value, user in zip(values, users, strict=True) if user == name]
        total += sum(one * two for one in deviations for two in deviations)
    expected = math.sqrt(total * len(names) / (len(names) - 1)) / len(values)
    assert clustered_stderr(values, users) == same(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_clustered_standard_error_is_that_of_inspect(seed):
    scorer = pytest.importorskip("inspect_ai.scorer")
    values, users = random_cases(seed)
    scores = [
        scorer.SampleScore(score=scorer.Score(value=value), sample_metadata={"user": user})
        for value, user in zip(values, users, strict=True)
    ]
    assert clustered_stderr(values, users) == same(float(scorer.stderr(cluster="user")(scores)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_with_a_cluster_per_case_it_is_the_plain_standard_error(seed):
    values, _ = random_cases(seed)
    plain = statistics.stdev(values) / math.sqrt(len(values))
    assert clustered_stderr(values, [str(n) for n in range(len(values))]) == same(plain, rel=1e-12)


@pytest.mark.parametrize(("values", "users"), [([], []), ([1.0], ["u"]), ([1.0, 0.0], ["u", "u"]), ([1.0, NAN], "uv")])
def test_one_user_says_nothing_about_the_error(values, users):
    assert math.isnan(clustered_stderr(values, users))


def test_each_value_needs_its_cluster():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        clustered_stderr([1.0, 0.0], ["u"])


# --- a simulated judge -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("skill", "bias"), [(0.5, 0.0), (0.5, 0.3), (0.7, 0.1), (0.7, -0.2), (0.9, 0.05)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_planted_accuracy_and_position_bias_are_recovered(skill, bias, seed):
    # The judge says A with probability skill + bias where A is the chosen response, and (1 - skill) + bias where it
    # is not, independently in both orders.
    rng = random.Random(f"{seed} {skill} {bias}")
    cases = [
        ("A" if rng.random() < skill + bias else "B", "A" if rng.random() < 1 - skill + bias else "B")
        for _ in range(3841)
    ]
    users = [str(n % 147) for n in range(len(cases))]
    right_first, right_second = skill + bias, skill - bias
    planted = {
        "acc": skill,  # (skill + bias + skill - bias) / 2
        "acc_both": right_first * right_second,
        "consistency": right_first * right_second + (1 - right_first) * (1 - right_second),
        "first_rate": 0.5 + bias,  # (skill + bias + 1 - skill + bias) / 2
    }
    scores = [score_answers(answers) for answers in cases]
    for name, expected in planted.items():
        found = [score[name] for score in scores]
        assert abs(mean(found) - expected) <= 3 * clustered_stderr(found, users), name


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


PAIR = st.tuples(st.floats(-800, 0), st.floats(-800, 0))


@given(PAIR, PAIR)
def test_p_chosen_and_p_rejected_are_one(first, second):
    value = p_chosen([first, second])
    assert 0 <= value <= 1
    assert value + p_chosen([first[::-1], second[::-1]]) == same(1)


def test_a_table_of_cases_worked_by_hand():
    def scored(cell: str, user: str, epochs: list[dict[str, float]]) -> list[Outcome]:
        return [Outcome("c", cell, user, epoch=number, values=values) for number, values in enumerate(epochs, start=1)]

    found = table(
        [
            scored("general_hard", "ann", [{"acc": 1.0, "first_rate": NAN}]),
            scored("specific_easy", "ann", [{"acc": 1.0, "first_rate": NAN}]),
            scored("general_easy", "bob", [{"acc": 1.0, "first_rate": 1.0}, {"acc": 0.0, "first_rate": NAN}]),
            scored("general_hard", "bob", [{"acc": 0.0, "first_rate": 0.5}]),
        ],
        columns,
    )
    assert found == same(
        {
            "acc": 2.5 / 4,
            "acc_stderr": math.sqrt(2 * (0.75**2 + 0.75**2)) / 4,
            "acc_general": 0.5,
            "acc_general_stderr": math.sqrt(2 * (0.5**2 + 0.5**2)) / 3,
            "acc_general_easy": 0.5,
            "acc_general_easy_stderr": NAN,
            "acc_general_hard": 0.5,
            "acc_general_hard_stderr": 0.5,
            "acc_specific_easy": 1.0,
            "acc_specific_easy_stderr": NAN,
            "first_rate": 0.75,
            "first_rate_stderr": NAN,
            "first_rate_general": 0.75,
            "first_rate_general_stderr": NAN,
            "first_rate_general_easy": 1.0,
            "first_rate_general_easy_stderr": NAN,
            "first_rate_general_hard": 0.5,
            "first_rate_general_hard_stderr": NAN,
            "first_rate_specific_easy": NAN,
            "first_rate_specific_easy_stderr": NAN,
        },
        nan_ok=True,
    )


def test_a_table_of_no_cases_is_empty():
    assert table([], columns) == {}
