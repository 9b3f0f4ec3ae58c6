"""The table of benchmarks/intervals.md: its rows are those that are simulated, its figures are what is expected, and a small part is simulated again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from claims import Claim, Study
from studies import STUDIES
from support.samples import a_part

from personafeedback_tasks.logs.caveat import SENTENCES

PAGE = BENCHMARKS / "intervals.md"

SKEWED = ("log-normal", "a tenth of users much worse")
"""Planted differences of which the documentation says that the rate is missed with few users."""


def quoted() -> dict[Claim, tuple[float, float]]:
    """Claim -> (rate, its Monte Carlo error), in percent."""
    lines = PAGE.read_text("utf-8").partition("| claim | planted |")[2].splitlines()[2:]
    rows = {}
    for line in lines:
        if not line.startswith("|"):
            break
        name, planted, expected, rate, users, cases = (cell.strip() for cell in line.strip("|").split("|"))
        value, error = map(float, rate.split(" ± "))
        rows[Claim(name, planted, expected, int(users.replace(",", "")), int(cases.replace(",", "")))] = value, error
    return rows


def test_the_documentation_quotes_every_simulated_claim_and_no_other():
    assert list(quoted()) == [claim for study in STUDIES for claim in study.claims]


def skewed(claim: Claim) -> bool:
    return any(word in claim.planted for word in SKEWED)


@pytest.mark.parametrize(
    "claim", [claim for study in STUDIES for claim in study.claims if claim.expected and not skewed(claim)]
)
def test_quoted_rates_are_those_expected(claim):
    """Within four Monte Carlo errors and a point and a half, or in words: at least or at most."""
    rate, error = quoted()[claim]
    bound, number = re.fullmatch(r"(at least |at most )?([\d.]+)", claim.expected).groups()
    tolerance = 4 * error + 1.5
    if bound != "at least ":
        assert rate <= float(number) + tolerance
    if bound != "at most ":
        assert rate >= float(number) - tolerance


def test_caveats_about_intervals_quote_the_table():
    rates = {claim: rate for claim, (rate, _) in quoted().items() if claim.name == "interval of an accuracy"}
    few = [rate for claim, rate in rates.items() if claim.users in (8, 10) and claim.expected]
    assert (
        f"with 8 and 10 users they covered the true value in {int(min(few))} to {max(few):.0f} %"
        in SENTENCES["few_users"]
    )
    (near,) = [rate for claim, rate in rates.items() if claim.users == 101 and not claim.expected]
    assert f"fails for 2 % of all users, the interval covers the true value in {near:.0f} %" in SENTENCES["near_end"]


FEW = 40


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    a_part([study for study in STUDIES if study.simulations >= 1_000], 4),
    ids=lambda study: study.claims[0].name,
)
def test_a_small_part_gives_the_quoted_rates(study: Study):
    """Within five Monte Carlo errors of so few simulations."""
    rows = quoted()
    for claim, (rate, _) in zip(study.claims, study.measured(FEW), strict=True):
        expected, error = rows[claim]
        few = (max(expected, 2) * max(100 - expected, 2) / FEW) ** 0.5
        assert 100 * rate == pytest.approx(expected, abs=5 * (few + error)), claim


@pytest.mark.slow
def test_many_runs_can_be_told_apart():
    """Neighbors 4.4 points apart: with p values times the number of pairs, from 23 runs on no pair could be."""
    (study,) = (study for study in STUDIES if study.claims[0].planted == "23 runs from 2 to 98 %")
    ((rate, _),) = study.measured(1)
    assert rate > 0.89
