"""Labels and tiers: what coins would seldom do, and how many people agree; agreement in a coding that is said."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import beta, betabinom, binom, binomtest, norm
from support.builds import a_build

from personafeedback_tasks.annotation.rows import Vote
from personafeedback_tasks.building.rows import Answer, Pair
from personafeedback_tasks.building.tiers import Preferences, kappa, label_pairs, mean_risks


def chance(most: int, least: int, a: float) -> float:
    """Of votes that fall so, whichever answer has most of them, where shares are distributed as Beta(a, a)."""
    votes = most + least
    both = betabinom.pmf(most, votes, a, a) + betabinom.pmf(least, votes, a, a)
    return float(both / 2 if most == least else both)


def most_probable(pairs: Mapping[tuple[int, int], int]) -> float:
    """The a of some pairs: (most, least) -> how many have such votes."""

    def surprise(log_a: float) -> float:
        likelihood = sum(count * np.log(chance(*votes, np.exp(log_a))) for votes, count in pairs.items())
        return -norm.logpdf(log_a, 0, 2) - likelihood

    return float(np.exp(minimize_scalar(surprise, bounds=(-5, 8), method="bounded").x))


def above(share: float, most: int, least: int, a: float) -> float:
    """The probability that more than this share of all people agree, as an integral over the share."""

    def mass(low: float, high: float) -> float:
        return quad(lambda p: p ** (a + most - 1) * (1 - p) ** (a + least - 1), low, high)[0]

    return (mass(share, 1) + mass(0, 1 - share)) / (mass(0, 0.5) + mass(0.5, 1))


def votes_for(pair, first, second):
    """So many votes for each answer of a pair."""
    chosen = [pair.first] * first + [pair.second] * second
    return [
        Vote(annotator=f"a{number}", pair_id=pair.id, chosen=one, shown_as="AB"[number % 2])
        for number, one in enumerate(chosen)
    ]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return a_build(tmp_path_factory.mktemp("tiers") / "b", people=5, questions=3)


@pytest.mark.slow
@settings(max_examples=40)
@given(drawn=st.data())
def test_tiers_are_those_of_a_rule_in_words(build, drawn):
    """A binomial test of each pair; where Medium begins, an integrated posterior."""
    pairs = build.read(Pair)
    counts = {pair.id: drawn.draw(st.tuples(st.integers(0, 9), st.integers(0, 9))) for pair in pairs}
    votes = [vote for pair in pairs for vote in votes_for(pair, *counts[pair.id])]
    drawn.draw(st.randoms()).shuffle(votes)
    found = {label.pair.id: label for label in label_pairs(build, votes)}
    assert found.keys() == counts.keys()
    if not votes:
        return
    a = Preferences.fitted(counts.values()).a
    for pair in pairs:
        one, other = counts[pair.id]
        tiered, most, total = found[pair.id], max(one, other), one + other
        easy_votes = one if pair.easy == pair.first else other
        if total < (4 if pair.easy else 6):
            expected = "few votes"
        elif one == other:
            expected = "even"
        elif pair.easy and easy_votes < most:
            expected = "not as built"
        elif pair.easy:
            confirmed = binomtest(most, total, alternative="greater").pvalue <= 0.1
            expected = "easy" if confirmed else "little agreement"
        elif binomtest(most, total).pvalue > 0.05:
            expected = "little agreement"
        else:
            expected = "medium" if above(8 / 9, most, total - most, a) >= 0.5 else "hard"
        assert (tiered.tier or tiered.reason) == expected
        assert tiered.votes == (most, min(one, other))
        if one != other:
            assert tiered.chosen == (pair.first if one > other else pair.second)
        assert {tiered.chosen, tiered.rejected} == {pair.first, pair.second}


@pytest.mark.parametrize(("others", "tier"), [([(9, 0)] * 8, "medium"), ([(5, 4), (4, 5), (6, 3)] * 3, "hard")])
def test_eight_of_nine_can_be_medium_where_people_agree_throughout(build, others, tier):
    pair, *rest = [pair for pair in build.read(Pair) if not pair.easy]
    votes = [vote for other, both in zip(rest, others, strict=False) for vote in votes_for(other, *both)]
    labels = label_pairs(build, [*votes_for(pair, 8, 1), *votes])
    assert next(label.tier for label in labels if label.pair.id == pair.id) == tier


def test_the_estimate_is_that_of_a_fit_by_scipy():
    """The most probable a of a folded beta-binomial, the risk as an integral over the share, of five majorities."""
    counts = {9: 120, 8: 70, 7: 50, 6: 40, 5: 30}
    fit = Preferences.fitted(
        [both for most, pairs in counts.items() for both in [(most, 9 - most), (9 - most, most)] * (pairs // 2)]
    )

    a = most_probable({(most, 9 - most): pairs for most, pairs in counts.items()})
    assert fit.a == pytest.approx(a, rel=0.025)  # the step of the values that are tried
    for most in counts:
        posterior = beta(fit.a + most, fit.a + 9 - most)
        otherwise = quad(lambda share, seen=posterior: seen.pdf(share) * binom.cdf(4, 9, share), 0, 1)[0]
        assert fit.risk(most, 9 - most) == pytest.approx(otherwise)


def test_the_risk_follows_from_pairs_built_alike(build):
    fell = {True: (9, 0), False: (6, 3)}
    pairs = build.read(Pair)
    votes = [vote for pair in pairs for vote in votes_for(pair, *fell[bool(pair.easy)])]
    of = {easy: [fell[easy] for pair in pairs if bool(pair.easy) == easy] for easy in fell}
    for label in label_pairs(build, votes):
        easy = bool(label.pair.easy)
        assert label.risk == Preferences.fitted(of[easy]).risk(*fell[easy])


def test_a_pair_is_a_case_once_and_never_both_ways_and_not_without_its_answers(tmp_path):
    """The same two texts under other ids, re-spaced and swapped: the later pair is left out, whatever its votes."""
    build = a_build(tmp_path / "b", people=2, questions=1)
    pairs, answers = build.read(Pair), build.read(Answer)
    pair, *_, lacking = [pair for pair in pairs if not pair.easy]
    text = {answer.id: answer for answer in answers}
    again = [
        Answer(**{**structs.asdict(text[name]), "id": f"{name}x", "text": f"  {text[name].text.replace(' ', '  ')}\n"})
        for name in (pair.second, pair.first)
    ]
    same = Answer(**{**structs.asdict(text[pair.first]), "id": "same"})
    more = [
        Pair(**{**structs.asdict(pair), "id": "again", "first": again[0].id, "second": again[1].id}),
        Pair(**{**structs.asdict(pair), "id": "equal", "second": "same"}),
    ]
    answers = [answer for answer in answers if answer.id != lacking.first]
    build.write(Answer, [*answers, *again, same])
    build.write(Pair, [*pairs, *more])
    every = [vote for one in build.read(Pair) for vote in votes_for(one, 9, 0)]
    labels = {label.pair.id: label for label in label_pairs(build, every)}
    assert (labels["again"].reason, labels["equal"].reason) == ("twice", "twice")
    assert labels[lacking.id].reason == "missing"
    assert labels[pair.id].tier


def test_without_votes_only_imported_pairs_have_labels(tmp_path):
    build = a_build(tmp_path / "b", people=2, questions=1)
    pair, *others = build.read(Pair)
    build.write(Pair, [structs.replace(pair, label=pair.second), *others])
    first, *rest = label_pairs(build, [])
    assert (first.tier, first.chosen) == ("hard", pair.second)
    assert {(label.tier, label.reason) for label in rest} == {("", "few votes")}


# --- agreement --------------------------------------------------------------------------------------------------------


def test_kappa_is_over_pairs_with_two_votes_or_more(build):
    pairs = build.read(Pair)
    fell = [(2, 0)] * 4 + [(1, 1)] * 2 + [(1, 0)]
    votes = [vote for pair, both in zip(pairs, fell, strict=False) for vote in votes_for(pair, *both)]
    found = kappa(pairs, votes)
    assert (found.n, found.value) == (6, pytest.approx(1 / 3))  # four of six agree: P = 2 / 3, and 2 P - 1
    assert kappa(pairs, votes[-1:]) is None


@pytest.mark.slow
def test_tossed_coins_make_few_cases_no_kappa_and_a_high_risk(tmp_path):
    """Nine votes: 2 of 512 ways are unanimous, 18 are 8 : 1, so that 3.9 % of the pairs become cases, as Hard ones."""
    build = a_build(tmp_path / "b", people=60, questions=8)
    pairs = [pair for pair in build.read(Pair) if not pair.easy]
    rng = random.Random(11)
    firsts = [sum(rng.random() < 0.5 for _ in range(9)) for _ in pairs]
    votes = [vote for pair, first in zip(pairs, firsts, strict=True) for vote in votes_for(pair, first, 9 - first)]
    cases = [label for label in label_pairs(build, votes) if label.tier]
    assert len(cases) <= 0.05 * len(pairs) + 3 * (0.05 * 0.95 * len(pairs)) ** 0.5
    assert {label.tier for label in cases} == {"hard"}
    assert abs(kappa(pairs, votes).value) < 0.08
    assert 0.3 < mean_risks(cases)["hard"] <= 0.5  # the truth is .5; a label of eight in nine never says so in full
