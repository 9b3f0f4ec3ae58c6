"""How far people agree: Krippendorff's alpha against its definition, and the rows that count."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("krippendorff")
pytest.importorskip("scipy")

from personafeedback_tasks.common.agreement import alpha
from personafeedback_tasks.common.jackknife import estimate_of
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.relevance import RELEVANCE
from personafeedback_tasks.recenter.rows import SCALE, Relevance
from personafeedback_tasks.recenter.stages import agreement

LABELS = ("YES", "NO")
same = pytest.approx


def spelled_out(rows, distance):
    """Krippendorff's alpha: 1 - observed / expected disagreement, pair by pair."""
    n = sum(map(len, rows))
    observed = sum(sum(distance(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    every = [vote for row in rows for vote in row]
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected else math.nan


@given(st.lists(st.lists(st.sampled_from(SCALE), min_size=2, max_size=5), min_size=2, max_size=12))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_alpha_is_its_definition_with_any_number_of_votes(rows):
    for level, distance in (("nominal", lambda a, b: float(a != b)), ("interval", lambda a, b: float(a - b) ** 2)):
        assert alpha(rows, SCALE, level) == same(spelled_out(rows, distance), abs=1e-9, nan_ok=True)


def test_errors_leave_out_one_user_at_a_time_and_rows_with_one_vote_do_not_count():
    rows = [("u1", ["YES", "NO", "NO"]), ("u2", ["YES", "YES"]), ("u3", ["NO", "NO"]), ("u3", ["YES"]), ("u4", [])]
    found = agreement(rows, LABELS, "nominal")
    votes = [said for _, said in rows[:3]]
    expected = estimate_of(lambda of: alpha(of, LABELS, "nominal"), votes, ["u1", "u2", "u3"], (-1.0, 1.0))
    assert found.coefficients == {"Krippendorff's alpha (nominal)": expected}
    assert found.note.startswith("3 rows of 3 users")
    nobody = agreement([("u1", []), ("u2", [])], LABELS, "nominal")
    assert nobody.coefficients == {}
    assert "unknown" in nobody.note


def test_rows_with_even_votes_count_for_agreement_and_for_nothing_else():
    every = load(Relevance, "sample")
    rows = with_judgment(every)
    found = RELEVANCE.report.examine(rows, {row.id for row in rows})
    with_votes = [row for row in every if len(row.votes) > 1]
    assert len(rows.unscored) == 5
    assert set(rows.unscored) <= set(with_votes)
    votes = [["YES" if vote else "NO" for vote in row.votes] for row in with_votes]
    (value,) = found.agreement.coefficients.values()
    assert value.value == same(alpha(votes, LABELS, "nominal"))
    assert all(found.said[name].keys() == {row.id for row in rows} for name in found.said)
