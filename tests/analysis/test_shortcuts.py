"""Is it a shortcut: agreement beyond accuracy, and accuracy at equal length, by hand and by planting the truth."""

from __future__ import annotations

import math
import random
import warnings
from itertools import compress, cycle, islice, pairwise

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("inspect_ai")

from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.caveats import words
from support.inspect_runs import evaluate
from support.outcomes import results_of
from support.sample_runs import signature_of
from support.shown import as_json, markdown, terminal

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.analysis.shortcuts import ONE_OF_THEM, agreement, make_shortcuts
from personafeedback_tasks.core.report import Examined
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.pairwise.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.parsing.answers import LETTERS, REASONS
from personafeedback_tasks.personafeedback.baselines import BASELINES
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.reports import headline
from personafeedback_tasks.stats.estimates import share
from personafeedback_tasks.stats.logistic import at_zero

NAN = math.nan
same = pytest.approx


@pytest.fixture(scope="session")
def general(real_data):
    return load_cases(real_data, "general")


# --- what a pick is --------------------------------------------------------------------------------------------------

RIGHT = tuple(CHOSEN_LETTER[order] for order in ORDERS)
WRONG = tuple(letter for target in RIGHT for letter in LETTERS if letter != target)


@pytest.mark.parametrize(
    ("epochs", "share_of_right"),
    [
        ([RIGHT], 1.0),
        ([WRONG], 0.0),
        ([(RIGHT[0], WRONG[1])], 0.5),
        ([(RIGHT[0], REASONS[0])], 1.0),  # one readable reply decides
        ([(REASONS[0], WRONG[1])], 0.0),
        ([(REASONS[0], REASONS[1])], NAN),
        ([RIGHT, (WRONG[0], REASONS[0])], 2 / 3),  # two epochs: of three readable replies two are right
    ],
)
def test_the_picks_of_a_case_are_its_readable_replies(epochs, share_of_right):
    case = results_of("c", "cell", "u", RIGHT, epochs)
    assert PERSONAFEEDBACK.report.picked(case) == same(share_of_right, nan_ok=True)


@pytest.mark.parametrize(
    ("pairs", "share_of_right"),
    [([(2.0, 1.0)], 1.0), ([(1.0, 2.0)], 0.0), ([(1.0, 1.0)], NAN), ([(2.0, 1.0), (1.0, 1.0), (0.0, 1.0)], 0.5)],
)
def test_a_reward_model_picks_the_higher_reward_and_nothing_on_a_tie(pairs, share_of_right):
    case = results_of("c", "cell", "u", rewards=[{"reward": pair} for pair in pairs])
    assert PERSONAFEEDBACK.report.picked(case) == same(share_of_right, nan_ok=True)


# --- agreement beyond accuracy -----------------------------------------------------------------------------------------


def test_a_baseline_agrees_with_itself_and_not_with_its_opposite():
    baseline = [1, 0, 1, 1, 0, 1]
    users, cells = list("uvwxyz"), ["cell"] * 6
    assert agreement([float(one) for one in baseline], baseline, users, cells).kappa.value == same(1)
    assert agreement([1.0 - one for one in baseline], baseline, users, cells).kappa.value < 0
    assert math.isnan(agreement([1.0] * 6, [1] * 6, users, cells).kappa.value)  # no room for more agreement
    assert agreement([0.5] * 6, baseline, users, cells).kappa.value == same(0)  # always the first place: half of each


def test_the_error_of_kappa_is_that_of_leaving_each_user_out():
    """The jackknife knows nothing of how kappa is expanded. The run is right in 3/4 of the cases, the baseline in 1/4."""
    rng = random.Random(5)
    picks = [float(rng.random() < 0.75) for _ in range(300)]
    baseline = [int(rng.random() < (0.4 if pick else 0.1)) for pick in picks]
    users = [f"u{number % 100}" for number in range(300)]

    def without(left_out):
        kept = [user != left_out for user in users]
        return agreement(*(list(compress(column, kept)) for column in (picks, baseline, users)), ["cell"] * sum(kept))

    left = np.array([without(user).kappa.value for user in dict.fromkeys(users)])
    jackknife = math.sqrt((len(left) - 1) * left.var())
    assert agreement(picks, baseline, users, ["cell"] * 300).kappa.stderr == same(jackknife, rel=0.05)


def test_judges_that_are_independent_given_the_label_have_kappa_zero(general):
    """Whatever their accuracies, with cells that are hard for both; and the interval says so in 95 % of the benchmarks."""
    rng = np.random.default_rng(1)
    users, cells = [case.user_id for case in general], [case.cell for case in general]
    p = np.array([{"general_easy": 0.95, "general_medium": 0.8, "general_hard": 0.6}[cell] for cell in cells])
    q = np.array([{"general_easy": 0.9, "general_medium": 0.7, "general_hard": 0.4}[cell] for cell in cells])
    found = []
    for _ in range(200):
        picks = (rng.random((2, len(p))) < p).mean(axis=0)  # two orders
        found.append(agreement(picks.tolist(), (rng.random(len(q)) < q).astype(int).tolist(), users, cells).kappa)
    kappas = [one.value for one in found]
    assert abs(np.mean(kappas)) < 4 * np.std(kappas) / math.sqrt(len(kappas))
    assert 0.91 <= np.mean([one.low <= 0 <= one.high for one in found]) <= 0.99
    # The usual kappa of two raters, whose picks are of "the chosen response", is the same with one cell, and far from 0 here.
    pooled = agreement(picks.tolist(), (rng.random(len(q)) < q).astype(int).tolist(), users, ["all"] * len(users))
    assert pooled.kappa.value > 0.05


# --- accuracy at equal length ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_fit_is_that_of_statsmodels_but_for_its_prior():
    """With 4,000 cases the prior of half a case is nothing; errors: statsmodels corrects (n - 1) / (n - k) more."""
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(2)
    number = rng.integers(0, 60, 4000)
    differences = rng.normal(0.3, 0.5, 4000)
    trust = rng.normal(0, 0.8, 60)[number]  # users differ
    right = (rng.random((2, 4000)) < 1 / (1 + np.exp(-(0.6 + 1.2 * differences + trust)))).mean(axis=0)
    found = at_zero(right.tolist(), differences.tolist(), [f"u{one}" for one in number])
    scale = math.sqrt(np.mean(differences**2))
    design = statsmodels.add_constant(differences / scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a response that is not 0 or 1
        fit = statsmodels.GLM(right, design, family=statsmodels.families.Binomial()).fit(
            cov_type="cluster", cov_kwds={"groups": number}
        )
    odds, stderr = math.log(found.value / (1 - found.value)), found.stderr / (found.value * (1 - found.value))
    assert odds == same(fit.params[0], abs=1e-3)
    assert stderr == same(fit.bse[0] * math.sqrt(3998 / 3999), rel=1e-2)
    assert (found.n, found.users) == (4000, 60)


@pytest.mark.parametrize(("cell", "ties"), [("general_hard", True), ("", False)])
@pytest.mark.slow
def test_the_length_judge_is_worth_nothing_at_equal_length(cell, ties, general, recwarn):
    """Its picks are separated by the difference: the fit must neither fail nor warn."""
    cases = [case for case in general if case.cell.startswith(cell) and (ties or BASELINES["longest"](case) != 0.5)]
    found = at_zero(
        [BASELINES["longest"](case) for case in cases],
        [math.log(len(case.chosen) / len(case.rejected)) for case in cases],
        [case.user_id for case in cases],
    )
    assert found.low <= 0.5 <= found.high
    assert found.high - found.low < 0.5
    assert not recwarn.list


def test_separated_picks_of_few_cases_give_a_finite_interval(recwarn):
    rng = random.Random(4)
    for size in range(2, 40):
        x = [sign * rng.uniform(0, 1) for sign in islice(cycle((-1, 1)), size)]
        found = at_zero([float(one > 0) for one in x], x, [f"u{number}" for number in range(size)])
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert not recwarn.list


def test_one_more_wrong_case_moves_the_accuracy_at_equal_length_a_little():
    """1,010 cases of 101 users; an adjustment is no surer than the plain accuracy."""
    rng = np.random.default_rng(3)
    lengths, users = rng.normal(0.2, 0.4, 1010).tolist(), [f"u{place % 101}" for place in range(1010)]
    picks, found = [1.0] * 1010, []
    for wrong in range(12):
        found.append(at_zero(picks, lengths, users))
        plain = share(picks, users)
        assert found[-1].value - found[-1].low >= plain.value - plain.low - 1e-12
        picks[wrong * 83] = 0.0
    for fewer, more in pairwise(found):
        assert (more.high - more.low) - (fewer.high - fewer.low) < 0.01
        assert more.low <= fewer.low + 0.001


def test_replies_without_a_pick_are_wrong_at_equal_length_too():
    """Right in 3 of 4 cases with a pick; a fifth is refused. acc is 60 %, and so is it at equal length: the length decides nothing."""
    results, lengths = [], {}
    for number in range(200):
        right, read = number % 5 in (0, 1, 2), number % 5 != 4
        answers = RIGHT if right else RIGHT[::-1] if read else ("refusal", "refusal")
        case_id = f"general_hard:{number}"
        results += results_of(case_id, "general_hard", f"u{number // 10}", RIGHT, [answers], [{"acc": float(right)}])
        lengths[case_id] = 1.0 if (number // 5) % 2 else -1.0
    texts = Examined(
        baselines={case_id: dict.fromkeys(PERSONAFEEDBACK.report.shortcuts, 1.0) for case_id in lengths},
        covariate=lengths,
    )
    run = Run("m", "h", "", signature_of(), {}, {"general_hard": len(results)}, results, ())
    found = make_shortcuts(run, {"total": list(lengths)}, texts)["total"]
    assert found.adjusted.value == same(0.6, abs=1e-6)
    assert found.adjusted.n == 200


# --- in a report -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_is_the_length_judge_is_said_to_be_it_first(real_data, general, tmp_path):
    log = evaluate(
        tasks.personafeedback_general_hard(data=str(real_data)), "personafeedback/longest", tmp_path, limit=200
    )
    made = make_report(read_run(log.location), general)
    there = [case for case in general if case.id in made.run.cases]
    ties = sum(BASELINES["longest"](case) == 0.5 for case in there)
    share_of = f"{100 * (200 - ties) / 200:.1f} %"
    assert words(made)[0].startswith(f"The run picks the longer response in {share_of} of the cases")
    found = made.shortcuts["general_hard"]
    assert found.baselines["longest"].kappa.value == same(1)
    assert found.baselines["longest"].all > ONE_OF_THEM > found.baselines["overlap"].all
    assert found.adjusted.low <= 0.5 <= found.adjusted.high
    said = "\n".join(map(str, [*headline.shortcuts(made).lines, *headline.users(made).lines]))
    assert f"longest ({200 - ties} cases): 100.0 % shared" in said
    assert "acc at equal length: " in said
    assert as_json(made)["shortcuts"].keys() == as_json(made)["groups"].keys()
    for shown in ("Is it a shortcut?", "By user ("):
        assert shown in " ".join(map(str, terminal(made)))
        assert shown in markdown(made).replace("\\", "")
    assert not any(case.user_id in said for case in general)
