"""How far people agree: the coefficients against their definitions and statsmodels, and one person against the others."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("krippendorff")
pytest.importorskip("scipy")

from personafeedback_tasks.common.jackknife import estimate_of
from personafeedback_tasks.recenter import agreement
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.relevance import RELEVANCE
from personafeedback_tasks.recenter.rows import SCALE, Relevance

LABELS = ("YES", "NO")
same = pytest.approx


def tables(values, fewest=2, most=5):
    return st.lists(st.lists(st.sampled_from(values), min_size=fewest, max_size=most), min_size=2, max_size=12)


def check():
    return settings(deadline=None, derandomize=True, max_examples=60)


def nominal(a, b):
    return float(a != b)


def interval(a, b):
    return float(a - b) ** 2


def spelled_out(rows, distance):
    """Krippendorff's alpha: 1 - observed / expected disagreement, pair by pair."""
    n = sum(map(len, rows))
    observed = sum(sum(distance(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    every = [vote for row in rows for vote in row]
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected else math.nan


@given(tables(SCALE))
@check()
def test_alpha_is_its_definition_with_any_number_of_votes(rows):
    for level, distance in (("nominal", nominal), ("interval", interval)):
        assert agreement.alpha(rows, SCALE, level) == same(spelled_out(rows, distance), abs=1e-9, nan_ok=True)


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=7))
@check()
def test_each_person_meets_the_majority_of_the_others(votes):
    expected = []
    for place, vote in enumerate(votes):
        others = Counter(votes[:place] + votes[place + 1 :]).most_common()
        if len(others) == 1 or others[0][1] > others[1][1]:
            expected.append(((others[0][0],), (vote,)))
    found = [(one.targets, one.answers) for one in agreement.against_rest(votes)]
    assert Counter(found) == Counter(expected)


def test_errors_leave_out_one_user_at_a_time_and_rows_with_one_vote_do_not_count():
    rows = [("u1", ["YES", "NO", "NO"]), ("u2", ["YES", "YES"]), ("u3", ["NO", "NO"]), ("u3", ["YES"]), ("u4", [])]
    found = agreement.agreement(rows, LABELS, "nominal")
    votes = [said for _, said in rows[:3]]
    expected = estimate_of(lambda of: agreement.alpha(of, LABELS, "nominal"), votes, ["u1", "u2", "u3"], (-1.0, 1.0))
    assert found.coefficients == {"Krippendorff's alpha (nominal)": expected}
    assert found.note.startswith("3 rows of 3 users with votes of 2 to 3 people each")
    assert found.note.endswith("2 rows have no votes or a single one")


def test_rows_with_even_votes_count_for_agreement_and_for_nothing_else():
    every = load(Relevance, "sample")
    rows = with_judgment(every)
    found = RELEVANCE.report.examine(rows, {row.id for row in rows})
    with_votes = [row for row in every if len(row.votes) > 1]
    assert len(rows.unscored) == 5
    assert set(rows.unscored) <= set(with_votes)
    votes = [["YES" if vote else "NO" for vote in row.votes] for row in with_votes]
    (alpha,) = found.agreement.coefficients.values()
    assert alpha.value == same(agreement.alpha(votes, LABELS, "nominal"))
    assert f"{len(with_votes)} rows" in found.agreement.note
    assert all(found.said[name].keys() == {row.id for row in rows} for name in found.said)


def test_labels_without_votes_have_no_ceiling():
    found = agreement.agreement([("u1", []), ("u2", [])], LABELS, "nominal")
    assert (found.coefficients, found.against_rest, found.note) == ({}, (), agreement.NO_VOTES)
