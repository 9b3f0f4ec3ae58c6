"""When a run may stop: the sequences by hand and by planting the truth, the rule, and the order of the users."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.stopping import StopPlan, difference_of, read_rule, user_order
from personafeedback_tasks.stats import sequences

same = pytest.approx


@pytest.mark.parametrize(
    ("interval", "decision"),
    [
        ((0.001, 1), "above"),
        ((-1, -0.001), "below"),
        ((-0.05, 0.05), "within"),
        ((0, 0.06), None),
        ((-0.06, 0.01), None),
    ],
)
def test_what_an_interval_decides(interval, decision):
    assert sequences.decided(interval, 0.05) == decision


def test_an_interval_never_grows_and_stays_where_everything_is_excluded():
    rng = np.random.default_rng(5)
    sums, counts = [*rng.integers(3, 9, 40), *rng.integers(-9, -3, 40)], [10] * 80
    found = sequences.betting(sums, counts, -1, 10)
    assert all(a[0] <= b[0] <= b[1] <= a[1] for a, b in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("written", "margin", "accuracy"), [(5, 0.05, False), ("acc:3.5", 0.035, True), (" 2.5 ", 0.025, False)]
)
def test_a_rule(written, margin, accuracy):
    rule = read_rule(written)
    assert (rule.margin, rule.accuracy) == (same(margin), accuracy)


@pytest.mark.parametrize("written", [0, -5, 51, "nan", "soon", "acc:", "5:safe", "", True, [5]])
def test_another_rule_is_refused(written):
    with pytest.raises(
        OptionError, match="stop must be a margin in points above 0 and at most 50, such as 5; or acc:5"
    ):
        read_rule(written)


def test_the_users_enter_in_a_random_order_that_no_other_user_changes():
    users = [f"u{number}" for number in range(50)]
    order = user_order(users)
    assert order == user_order(users[::-1]) != users
    assert [user for user in order if user in users[:20]] == user_order(users[:20])


def test_right_minus_wrong_needs_both_personas():
    benchmark = find("personafeedback")
    assert difference_of(benchmark, ["no_persona", "other_persona", "persona"]).key == "right_minus_wrong"
    with pytest.raises(
        OptionError, match="needs persona and other_persona among the settings, got setting=persona,no_persona"
    ):
        difference_of(benchmark, ["persona", "no_persona"])
    with pytest.raises(OptionError, match="Recenter.* has none"):
        difference_of(find("recenter_relevance"), [""])


def planned(written, users=30, cases=10):
    return StopPlan.of(
        read_rule(written), {f"u{user}c{case}": f"u{user}" for user in range(users) for case in range(cases)}
    )


def test_only_complete_users_from_the_first_on_count_and_the_first_decision_stays():
    plan = planned(5)
    values = {case_id: 1.0 for ids in plan.cases for case_id in ids}
    whole = plan.known(values)
    assert whole.decision == "above"
    assert 1 < whole.users < 20
    assert whole.early
    # later users say the contrary, or are half answered: it stays
    later = {case_id: -1.0 for ids in plan.cases[whole.users :] for case_id in ids}
    assert plan.known(values | later) == whole
    for ids in plan.cases[whole.users :]:
        del values[ids[0]]
    assert plan.known(values) == whole
    # the first user lacks a case: nothing is known, whatever the others say
    del values[plan.cases[0][3]]
    nothing = plan.known(values)
    assert (nothing.users, nothing.decision, nothing.interval) == (0, None, (-1, 1))
