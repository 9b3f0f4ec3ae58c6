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


@pytest.mark.slow
@given(st.integers(2, 5).flatmap(lambda people: tables(("a", "b", "c"), people, people)))
@check()
def test_fleiss_is_that_of_statsmodels_where_rows_have_as_many_votes(rows):
    irr = pytest.importorskip("statsmodels.stats.inter_rater")
    if len({vote for row in rows for vote in row}) > 1:
        table = [[row.count(label) for label in "abc"] for row in rows]
        assert agreement.fleiss(rows) == same(irr.fleiss_kappa(table, method="fleiss"), abs=1e-12)


def test_known_coefficients():
    equal, split = [["YES"] * 3, ["NO"] * 4], [["YES", "NO"], ["YES", "NO"]]
    assert agreement.fleiss(equal) == agreement.alpha(equal, LABELS, "nominal") == 1
    assert agreement.fleiss(split) == -1  # never agree, half would by chance: (0 - 1/2) / (1 - 1/2)
    assert math.isnan(agreement.fleiss([["YES", "YES"]]))
    assert math.isnan(agreement.alpha([["YES", "YES"]], LABELS, "nominal"))


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
    found = agreement.of_labels(rows, LABELS)
    votes = [said for _, said in rows[:3]]
    assert found.coefficients["Fleiss' kappa"] == estimate_of(agreement.fleiss, votes, ["u1", "u2", "u3"], (-1.0, 1.0))
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
    assert found.agreement.coefficients["Fleiss' kappa"].value == same(agreement.fleiss(votes))
    assert f"{len(with_votes)} rows" in found.agreement.note
    assert all(found.said[name].keys() == {row.id for row in rows} for name in found.said)


def test_labels_without_votes_have_no_ceiling():
    found = agreement.of_labels([("u1", []), ("u2", [])], LABELS)
    assert (found.coefficients, found.against_rest, found.note) == ({}, (), agreement.NO_VOTES)


def test_ratings_have_both_alphas():
    rows = [("u1", [1, 2]), ("u2", [4, 5, 5]), ("u2", [3])]
    found = agreement.of_ratings(rows, SCALE)
    votes = [[1, 2], [4, 5, 5]]
    assert {name: one.value for name, one in found.coefficients.items()} == {
        f"Krippendorff's alpha ({level})": agreement.alpha(votes, SCALE, level) for level in ("ordinal", "interval")
    }
