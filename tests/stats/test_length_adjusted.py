"""The win rate at equal length, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personafeedback_tasks.stats.logistic import length_adjusted

same = pytest.approx
SEED = 20250615


def drawn(rate, shift, bias, seed=SEED, count=600):
    """Votes of a judge that prefers length by `bias`, on replies that are longer by `shift` (log ratio; its spread is .4)."""
    rng = np.random.default_rng(seed)
    ratios = rng.normal(shift, 0.4, count)
    odds = math.log(rate / (1 - rate)) + bias * np.tanh(ratios / 0.4)
    won = (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(float)
    return won.tolist(), ratios.tolist(), [f"u{place % 100}" for place in range(count)]


@pytest.mark.parametrize(("rate", "shift", "bias"), [(0.6, 0.25, 1.5), (0.6, 0, 0), (0.75, -0.25, 1.5)])
def test_the_planted_rate_is_read_at_equal_length(rate, shift, bias):
    found = [length_adjusted(*drawn(rate, shift, bias, seed)).rate for seed in range(40)]
    assert np.mean([one.value for one in found]) == same(rate, abs=0.015)
    assert sum(one.low <= rate <= one.high for one in found) >= 36


@pytest.mark.parametrize("shift", [-0.25, 0, 0.25])
def test_a_judge_of_length_alone_has_no_preference_at_equal_length(shift):
    _, ratios, users = drawn(0.5, shift, 0)
    found = length_adjusted([float(ratio > 0) for ratio in ratios], ratios, users).rate
    assert found.low < 0.5 < found.high


@pytest.mark.parametrize("shift", [0.6, -0.6])
def test_too_few_replies_on_one_side_leave_no_rate(shift):
    won, ratios, users = drawn(0.6, shift, 1)
    found = length_adjusted(won, ratios, users)
    assert found.rate is None
    assert min(found.shorter, found.longer) < 0.2


@given(st.integers(0, 100))
def test_a_fifth_on_each_side_is_enough(shorter):
    ratios = [-1.0] * shorter + [1.0] * (100 - shorter)
    found = length_adjusted([place % 2 for place in range(100)], ratios, [str(place) for place in range(100)])
    assert (found.rate is not None) == (20 <= shorter <= 80)
    assert (found.shorter, found.longer) == (shorter / 100, (100 - shorter) / 100)
