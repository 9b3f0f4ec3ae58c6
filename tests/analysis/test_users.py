"""How far the users' own accuracies differ."""

from __future__ import annotations

from personafeedback_tasks.analysis.users import FEW_USERS, make_users
from personafeedback_tasks.personafeedback.baselines import BASELINES
from personafeedback_tasks.personafeedback.cases import load_cases


def test_the_length_judge_on_general_by_user(real_data):
    general = load_cases(real_data, "general")
    found = make_users(
        [BASELINES["longest"](case) for case in general],
        [case.user_id for case in general],
        [case.cell for case in general],
    )
    assert found.count == 147
    assert 0 < found.low < found.spread < found.high


def test_few_users_are_not_told_apart():
    values, cells = [1.0, 0.0] * FEW_USERS, ["cell"] * 2 * FEW_USERS
    users = [f"u{number // 2:02}" for number in range(2 * FEW_USERS)]
    found = make_users(values, users, cells)
    assert (found.count, found.spread, found.low) == (FEW_USERS, 0, 0), "all have one of two right: chance alone"
    assert make_users(values[2:], users[2:], cells[2:]) is None
    assert make_users(values[:30], [f"u{number}" for number in range(30)], cells[:30]) is None  # one case each
