"""Intervals, paired differences and p values: by hand, against Inspect and statsmodels, and by planting the truth."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from support import planted_prompts

from personafeedback_tasks.stats.clusters import Clusters, shared_variance
from personafeedback_tasks.stats.estimates import (
    Estimate,
    estimate,
    estimate_of,
    jackknife_stderr,
    paired,
    paired_test,
    share,
)
from personafeedback_tasks.stats.significance import minimum_detectable_difference

NAN = math.nan
same = pytest.approx


# Before 1.17 scipy knew these quantiles to 11 digits only.
CLOSE = 1e-12 if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17) else 1e-9


# --- by hand ---------------------------------------------------------------------------------------------------------

USERS = ["u", "u", "v", "v", "w", "w"]


def test_a_paired_difference_reaches_farther_on_the_side_where_few_users_have_it():
    """19 of 20 users gain 5 points, one loses 95; nobody knows how many such users there are."""
    values, users = [0.05] * 19 + [-0.95], [f"u{number}" for number in range(20)]
    found, plain = paired(values, users), estimate(values, users)
    assert (found.value, found.stderr, found.high) == (plain.value, plain.stderr, plain.high)
    skewness = (19 * 0.05**3 - 0.95**3) / (
        19 * 0.05**2 + 0.95**2
    ) ** 1.5  # of the mean, whose deviations from 0 these are
    reach, t = (found.value - found.low) / found.stderr, stats.t.ppf(0.975, 19)
    hall = reach + skewness * reach**2 / 3 + skewness**2 * reach**3 / 27 + skewness / 6  # his transformation of t
    assert hall == same(t, rel=CLOSE)
    assert reach > 1.5 * t
    mirrored = paired([-value for value in values], users)
    assert (mirrored.low, mirrored.high) == (-found.high, same(-found.low))
    even = [0.1, -0.1] * 10
    assert paired(even, users) == estimate(even, users)


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=40))
def test_a_difference_is_found_where_its_interval_excludes_0(values):
    found, p = paired_test(values, [f"u{number}" for number in range(len(values))])
    assume(abs(p - 0.05) > 1e-6 and found.stderr > 1e-9)
    assert (p < 0.05) is (found.low > 0 or found.high < 0)


@pytest.mark.parametrize(
    ("values", "users", "value"),
    [([], [], NAN), ([NAN, NAN], ["u", "v"], NAN), ([1.0], ["u"], 1.0), ([1.0, 0.5, NAN], ["u", "u", "v"], 0.75)],
)
def test_fewer_than_two_users_leave_everything_but_the_mean_undefined(values, users, value):
    found, n = estimate(values, users), sum(not math.isnan(x) for x in values)
    assert (found.value, found.n, found.users) == same((value, n, min(n, 1)), nan_ok=True)
    assert all(
        math.isnan(x)
        for x in (found.stderr, found.low, found.high, minimum_detectable_difference(estimate(values, users)))
    )
    assert paired_test(values, users)[1] == same(1.0 if n else NAN, nan_ok=True)


@pytest.mark.parametrize("over", [share, estimate, paired])
def test_a_plain_mean_of_cells_of_which_one_has_no_value_is_undefined_as_a_whole(over):
    cells = ["hard", "hard", "hard", "easy", "easy"]
    found = over([1.0, 0.0, 1.0, NAN, NAN], Clusters.of(USERS[:5], cells=cells))
    assert all(math.isnan(end) for end in (found.value, found.stderr, found.low, found.high))
    assert (found.n, found.users) == (0, 0)


def test_without_spread_there_is_no_interval():
    found = estimate([1.0] * 6, USERS)
    assert (found.value, found.stderr, found.n, found.users) == (1.0, 0.0, 6, 3)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    nothing, reach = estimate([0.0] * 6, USERS), share([0.0] * 6, USERS).high  # no case differs, and others may
    assert nothing == Estimate(value=0.0, stderr=0.0, low=-reach, high=reach, n=6, users=3)
    assert estimate([1.0, -1.0] * 3, USERS).high == 1 == -estimate([1.0, -1.0] * 3, USERS).low  # users alike, cases not
    assert math.isnan(minimum_detectable_difference(estimate([0.0] * 6, USERS)))


def test_a_difference_that_no_two_shares_can_have_is_none_that_cases_show():
    assert minimum_detectable_difference(estimate([0.1, 0.0, 0.1], USERS[:3])) < 1
    assert math.isnan(minimum_detectable_difference(estimate([1.0, 0.0], ["u", "v"])))


@pytest.mark.parametrize("n", [1, 8, 20, 1000])
def test_all_right_or_all_wrong_says_what_such_data_leave_open(n):
    """As Wilson, with the 6 degrees of freedom, of n - 1 at most, of an error that no data show."""
    users = [f"u{i}" for i in range(n)]
    right, wrong = share([1.0] * n, users), share([0.0] * n, users)
    if n == 1:
        assert math.isnan(right.low)
    else:
        assert right.low == same(1 / (1 + stats.t.ppf(0.975, min(6, n - 1)) ** 2 / n))
        assert (right.value, right.high, right.stderr) == (1.0, 1.0, 0.0)
        assert (wrong.low, wrong.high) == (0.0, same(1 - right.low))


STRUCTURES = {
    "101 x 10": [10] * 101,
    "General": [10] * 46 + [27] * 14 + [29] * 29 + [37] * 30 + [39] * 28,
    "8 x 10": [10] * 8,
}


@pytest.mark.parametrize("also", ["", "prompts", "cells"])
@pytest.mark.parametrize("path", ["stacked", "random", "halves"])
@pytest.mark.parametrize("name", STRUCTURES)
def test_one_more_wrong_case_moves_an_interval_a_little(name, path, also):
    """From 0 wrong cases on, in users of their own, in one user after the other, or anywhere: an interval of 1,010 cases grows by less than a
    point, others by as much in cases, and neither end goes up by what a table would show."""
    sizes, rng = np.array(STRUCTURES[name]), np.random.default_rng(4)
    n = int(sizes.sum())
    users = [f"u{owner}" for owner, cases in enumerate(sizes) for _ in range(cases)]
    prompts = [f"p{place % 41}" for place in range(n)] if also == "prompts" else ()
    cells = ["abbccc"[place % 6] for place in rng.permutation(n)] if also == "cells" else ()
    clusters = Clusters.of(users, prompts, cells)
    order = np.arange(n) if path == "stacked" else rng.permutation(n)
    values = np.ones(n)
    found = [share(values.tolist(), clusters)]
    for place in order[:16]:
        values[place] = 0.5 if path == "halves" else 0.0
        found.append(share(values.tolist(), clusters))
    of_1010 = max(1, 1010 / n) * (2 if cells else 1)  # a case of the smallest cell weighs twice
    for fewer, more in itertools.pairwise(found):
        assert (more.high - more.low) - (fewer.high - fewer.low) < 0.01 * of_1010
        assert more.low <= fewer.low + 0.001 * of_1010
        assert more.high <= fewer.high + 0.0001 * of_1010
    assert found[1].low > 1 - 0.02 * of_1010
    mirrored = share((1 - values).tolist(), clusters)
    assert (1 - mirrored.high, 1 - mirrored.low) == same((found[-1].low, found[-1].high))


def test_a_share_without_spread_between_0_and_1_has_no_interval():
    """A judge that always picks the first response gets half of every case: the users say nothing about how far others differ."""
    found = share([0.5] * 6, USERS)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


# --- against definitions and other programs --------------------------------------------------------------------------


def runs(seed, users, unit=0.5):
    """Two runs over the same cases, some unreadable: values (a, b), and the user of each case."""
    draw = random.Random(seed)
    owners = [f"user{i}" for i in range(users) for _ in range(draw.randint(1, 30))]
    draw.shuffle(owners)
    skill = {owner: draw.random() for owner in owners}
    steps = round(1 / unit)

    def value(owner):
        return NAN if draw.random() < 0.1 else sum(draw.random() < skill[owner] for _ in range(steps)) / steps

    return [value(owner) for owner in owners], [value(owner) for owner in owners], owners


def minus(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


SEEDS = pytest.mark.parametrize(("seed", "users"), [(1, 2), (2, 3), (3, 8), (4, 40), (5, 147)])


@SEEDS
def test_an_estimate_is_that_of_inspect(seed, users):
    from inspect_ai import scorer

    a, b, owners = runs(seed, users)
    for values in (a, minus(a, b)):
        # Inspect leaves nan out before a metric sees the scores.
        scores = [
            scorer.SampleScore(score=scorer.Score(value=value), sample_metadata={"user_id": owner})
            for value, owner in zip(values, owners, strict=True)
            if not math.isnan(value)
        ]
        found = estimate(values, owners)
        assert found.value == same(scorer.mean()(scores), abs=1e-12)
        assert found.stderr == same(scorer.stderr(cluster="user_id")(scores), abs=1e-12)
        ends = {"lower": found.low, "upper": found.high}
        assert ends == same(scorer.ci(cluster="user_id")(scores), abs=CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("users", [2, 8, 40])
@pytest.mark.parametrize("seed", range(3))
def test_a_macro_mean_is_that_of_a_regression_on_the_cells(seed, users):
    """Cells of different sizes; a user's cases are in several of them. Some values are undefined."""
    from statsmodels import api

    values, _, owners = runs(seed, users)
    draw = random.Random(seed)
    cells = [draw.choice("abbccc") for _ in values]
    found = estimate(values, Clusters.of(owners, cells=cells))
    kept = [case for case in zip(values, owners, cells, strict=True) if not math.isnan(case[0])]
    y = np.array([value for value, _, _ in kept])
    dummies = np.array([[float(cell == name) for name in "abc"] for _, _, cell in kept])
    groups = np.array([sorted(set(owners)).index(owner) for _, owner, _ in kept])
    fit = api.OLS(y, dummies).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    contrast = np.full(3, 1 / 3)
    count = len(set(groups))
    assert found.value == same(np.mean([y[dummies[:, column] == 1].mean() for column in range(3)]))
    assert found.stderr == same(math.sqrt(contrast @ fit.cov_params() @ contrast * count / (count - 1)))
    assert (found.n, found.users) == (len(y), count)
    assert estimate(values, Clusters.of(owners, cells=["one"] * len(values))) == same_estimate(estimate(values, owners))


def same_estimate(one):
    return type(one)(*(same(value) for value in vars(one).values()))


def average(values):
    """A measure that is a mean, so that its jackknife error is known: the spread of the users' means, each of one case."""
    return sum(values) / len(values)


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)])
def test_the_interval_of_a_measure_stays_between_its_ends(ends):
    values, users = [0.9, 1.0, 0.95, 0.2], list("uvwx")
    plain, found = estimate_of(average, values, users), estimate_of(average, values, users, ends)
    assert (found.value, found.stderr, found.n, found.users) == (plain.value, plain.stderr, 4, 4)
    assert plain.high > 1
    least, most = ends
    assert least < found.low < found.value < found.high < most


# --- users and prompts ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_errors_over_users_and_prompts_are_those_of_a_two_way_clustered_regression(seed):
    from statsmodels import api

    values, users, prompts = planted_prompts.drawn(np.random.default_rng(seed), 0.8)
    ways = [np.unique(names, return_inverse=True)[1] for names in (users, prompts)]
    pairs = np.unique([f"{user} {prompt}" for user, prompt in zip(users, prompts, strict=True)], return_inverse=True)[1]

    def variance(groups):
        fit = api.OLS(np.array(values), np.ones(len(values))).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}
        )
        return fit.bse[0] ** 2

    expected = math.sqrt(variance(ways[0]) + variance(ways[1]) - variance(pairs))
    both = Clusters.of(users, prompts)
    found = estimate(values, both)
    assert found.stderr == same(expected)
    assert found.high - found.low == same(2 * stats.t.ppf(0.975, planted_prompts.PROMPTS - 1) * expected)
    assert share(values, both).stderr == same(expected)
    # The jackknife of a mean with clusters of one size: the same, but for how it weighs clusters of other sizes.
    assert jackknife_stderr(average, values, both) == same(expected, rel=0.06)


def test_where_a_measure_is_undefined_without_one_prompt_its_error_is_unknown():
    """F1 without the only prompt that has a YES: the error over users alone must not pass for that over both."""
    values, users, prompts = [1.0, 1.0, 0.0, 0.0], list("uvuv"), list("ppqq")

    def odds(kept):
        return sum(kept) / (len(kept) - sum(kept)) if sum(kept) < len(kept) else NAN

    assert jackknife_stderr(odds, values, users) == 0  # u and v have the same odds
    assert math.isnan(jackknife_stderr(odds, values, Clusters.of(users, prompts)))
    assert math.isnan(jackknife_stderr(odds, values, Clusters.of(prompts, users)))
    found = estimate_of(odds, values, Clusters.of(users, prompts), (0.0, math.inf))
    assert found.value == 1
    assert all(math.isnan(x) for x in (found.stderr, found.low, found.high))


# --- pairs of users ---------------------------------------------------------------------------------------------------


def sharing(moves, users, partners, prompts):
    """The definition: the products of the moves of every two cases that have a user or the prompt in common, each once."""
    every = range(len(moves))
    alike = [
        (i, j)
        for i in every
        for j in every
        if {users[i], partners[i]} & {users[j], partners[j]} or prompts[i] == prompts[j]
    ]
    return math.fsum(moves[i] * moves[j] for i, j in alike)


def plain(moves):
    """The variance with some clusters, without the factor for their number."""

    def variance(numbers):
        sums = {}
        for side in np.atleast_2d(numbers):
            for name, move in zip(side, moves, strict=True):
                sums[name] = sums.get(name, 0.0) + move
        return math.fsum(total**2 for total in sums.values())

    return variance


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(0, 3), st.floats(-1, 1)), min_size=2))
def test_cases_of_two_users_are_alike_where_they_have_any_user_or_the_prompt_in_common(drawn):
    users = [f"u{user}" for user, *_ in drawn]
    partners = [f"u{(user + step) % 6}" for user, step, *_ in drawn]
    prompts, moves = [f"p{prompt}" for _, _, prompt, _ in drawn], [move for *_, move in drawn]
    assume(len(set(prompts)) > 1)  # one prompt in all says nothing of others
    found = shared_variance(plain(moves), Clusters.of(users, prompts, partners=partners))
    expected = sharing(moves, users, partners, prompts)
    if expected > 1e-9:
        assert found == same(expected, abs=1e-9)
    else:  # users and prompts are added up, which is never too small
        assert found >= -1e-9


def test_a_variance_below_zero_becomes_an_upper_bound():
    """A chain of pairs that are right and wrong in turn: neighbors share a user, and their products outweigh the squares."""
    users, partners, prompts, values = list("abcd"), list("bcde"), list("pqrs"), [1.0, 0.0, 1.0, 0.0]
    assert sharing([value - 0.5 for value in values], users, partners, prompts) < 0
    found = share(values, Clusters.of(users, prompts, partners=partners))
    # the squares of users, each once on either side, and of prompts, by C / (C - 1) of each
    assert found.stderr**2 == same(5 / 4 * 2 * 0.125**2 + 4 / 3 * 4 * 0.125**2)
    assert found.low < 0.5 < found.high
