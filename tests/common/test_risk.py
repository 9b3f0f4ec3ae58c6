"""Thresholds on a judge's certainty: by their definitions, and at known exams."""

from __future__ import annotations

import math

import numpy as np
import pytest

from personafeedback_tasks.common.risk import (
    BETS,
    Judged,
    answered_and_wrong,
    least_users,
    p_value,
    parts_of,
    wrong_among_answered,
)

same = pytest.approx


def drawn(seed, users=40, cases=6, weights=(1.0,)):
    """A judge that is right as often as it says, in steps of a tenth."""
    rng = np.random.default_rng(seed)
    sure = np.round(rng.uniform(0.5, 1, users * cases), 1)
    wrong = rng.random(sure.size) >= sure
    return Judged(
        sure.tolist(), wrong.tolist(), rng.choice(weights, sure.size).tolist(), [f"u{n // cases}" for n in range(sure.size)]
    )  # fmt: skip


def losses(exam, threshold):
    """User -> the weighted share of its cases that is accepted and wrong, spelled out."""
    found = {}
    for user in exam.users:
        rows = [row for row in zip(exam.certainty, exam.wrong, exam.weights, exam.users, strict=True) if row[3] == user]
        found[user] = sum(w for sure, wrong, w, _ in rows if wrong and sure >= threshold) / sum(w for *_, w, _ in rows)
    return found


@pytest.mark.parametrize("risk", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_threshold_that_the_theorem_allows(seed, risk):
    exam = drawn(seed, weights=(1.0, 2.5))
    allowed = {
        value: bound
        for value in set(exam.certainty)
        if (bound := (sum(losses(exam, value).values()) + 1) / (40 + 1)) <= risk
    }
    found = answered_and_wrong(exam, risk)
    assert found.users == 40
    if allowed:
        assert (found.value, found.bound) == (min(allowed), same(allowed[min(allowed)]))
    else:
        assert found.value == math.inf


def test_by_hand():
    """Ten users with two cases each; one of them is wrong in the less certain one."""
    users = [f"u{number}" for number in range(10) for _ in range(2)]
    exam = Judged([0.9, 0.6] * 10, [False, True] + [False] * 18, [1.0] * 20, users)
    assert answered_and_wrong(exam, 0.2).value == 0.6  # (0.5 + 1) / 11 = 0.136
    assert answered_and_wrong(exam, 0.2).bound == same(1.5 / 11)
    assert answered_and_wrong(exam, 0.1).value == 0.9  # (0 + 1) / 11 = 0.091
    assert answered_and_wrong(exam, 0.09).value == math.inf  # even a judge without errors needs 11 users
    # each user but one is right in all that is accepted: x = -0.2, the other one is wrong in half: x = 0.3
    capital = [(1 + bet / 0.8 * 0.2) ** 9 * (1 - bet / 0.8 * 0.3) for bet in BETS]
    assert p_value(exam, 0.6, 0.2) == same(1 / (sum(capital) / len(capital)))
    assert p_value(exam, 0.9, 0.2) == same(1 / (sum((1 + bet / 0.8 * 0.2) ** 10 for bet in BETS) / len(BETS)))
    assert p_value(exam, 0.95, 0.2) == 1


@pytest.mark.parametrize(("risk", "users"), [(0.1, 9), (0.05, 19), (0.2, 4), (0.3, 3)])
def test_a_judge_without_errors_needs_so_many_users(risk, users):
    assert least_users(risk) == users
    for count in (users, users - 1):
        exam = Judged([0.8] * count, [False] * count, [1.0] * count, [f"u{number}" for number in range(count)])
        assert (answered_and_wrong(exam, risk).value == 0.8) is (count == users)


def test_verdicts_for_no_text_are_never_accepted():
    users = [f"u{number}" for number in range(50)]
    exam = Judged([0.0] * 50, [True] * 50, [1.0] * 50, users)
    assert answered_and_wrong(exam, 0.2).value == math.inf
    assert wrong_among_answered(exam, exam, 0.2).value == math.inf


def test_the_sequence_ends_at_the_first_threshold_that_is_not_rejected():
    """60 users: no error at 0.9 and above, one in three at 0.7, none at 0.6: below 0.7 nothing is tested."""
    users = [f"u{number}" for number in range(60) for _ in range(3)]
    exam = Judged([0.9, 0.7, 0.6] * 60, [False, True, False] * 60, [1.0] * 180, users)
    assert wrong_among_answered(exam, exam, 0.2).value == 0.9
    late = Judged([0.9, 0.7, 0.6] * 60, [False, False, True] * 60, [1.0] * 180, users)
    assert wrong_among_answered(late, late, 0.2).value == 0.7
    never = Judged([0.9, 0.7, 0.6] * 60, [True, True, True] * 60, [1.0] * 180, users)
    assert wrong_among_answered(never, never, 0.2).value == math.inf


def test_the_other_users_give_the_beginning_and_no_result():
    users = [f"u{number}" for number in range(60) for _ in range(2)]
    exam = Judged([0.9, 0.7] * 60, [False, False] * 60, [1.0] * 120, users)
    others = Judged([0.9, 0.7] * 10, [False, True] * 10, [1.0] * 20, [f"o{number // 2}" for number in range(20)])
    assert wrong_among_answered(exam, others, 0.2).value == 0.7
    assert wrong_among_answered(others, exam, 0.2).value == math.inf


def test_an_exam_is_split_by_user():
    users = [f"u{number}" for number in range(101) for _ in range(3)]
    ordering, choosing, shown = parts_of(users)
    assert list(map(len, (ordering, choosing, shown))) == [14, 73, 14]
    assert ordering | choosing | shown == set(users)
    assert parts_of(reversed(users)) == (ordering, choosing, shown)
