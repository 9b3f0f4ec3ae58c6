"""Is it a shortcut: picks shared with baselines, and accuracy at equal length, by hand and by planting the truth."""

from __future__ import annotations

import math
import random
import re
import warnings
from itertools import cycle, islice, pairwise

import numpy as np
import pytest
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback
from support.documents import README, block
from support.inspect_runs import evaluate
from support.sample_runs import results_of, signature_of
from support.shown import markdown, terminal, words

from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.measures import every, shared_picks
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.core.report import Examined
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import LETTERS, REASONS
from personafeedback_tasks.personafeedback.baselines import BASELINES
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.stats.estimates import share
from personafeedback_tasks.stats.logistic import at_zero

NAN = math.nan
same = pytest.approx


# --- what a pick is --------------------------------------------------------------------------------------------------

RIGHT = tuple(TWO.right[order] for order in TWO.names)
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


def test_picks_that_a_baseline_shares_are_those_of_cases_in_which_both_pick():
    """Of every four cases with picks of both one differs, and one in one of its two orders; the rest are a tie of the baseline."""
    kinds = [(RIGHT, 1.0), (WRONG, 0.0), (RIGHT, 0.0), ((RIGHT[0], WRONG[1]), 1.0), (RIGHT, 0.5)]
    kinds = [*kinds * 4, ((REASONS[0], REASONS[1]), 1.0)]  # and one case without a reply
    results, ids = [], [f"general_hard:{number}" for number in range(len(kinds))]
    for case_id, (answers, _) in zip(ids, kinds, strict=True):
        results += results_of(case_id, "general_hard", f"u{case_id}", RIGHT, [answers], [{"acc": 0.0}])
    longest = dict(zip(ids, [right for _, right in kinds], strict=True))
    run = Run("m", "h", "", signature_of(), {}, {"general_hard": len(kinds)}, results, ())
    one = Contender(run, texts=Examined(baselines={"longest": longest, "overlap": dict.fromkeys(ids, 0.5)}))
    found = [value for value in shared_picks("longest", one) if not math.isnan(value)]
    assert (math.fsum(found) / 16, len(found)) == (same((1 + 1 + 0 + 0.5) / 4), 16)
    assert all(map(math.isnan, shared_picks("overlap", one)))


# --- accuracy at equal length ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_fit_is_that_of_statsmodels_but_for_its_prior():
    """With 4,000 cases the prior of half a case is nothing; errors: statsmodels corrects (n - 1) / (n - k) more."""
    import statsmodels.api as statsmodels

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
        baselines={name: dict.fromkeys(lengths, 1.0) for name in PERSONAFEEDBACK.report.shortcuts},
        covariate=lengths,
    )
    run = Run("m", "h", "", signature_of(), {}, {"general_hard": len(results)}, results, ())
    measure = next(one for one in every(Contender(run)) if one.kind == "adjusted")
    found = measure.of(Contender(run, texts=texts))
    assert found.value == same(0.6, abs=1e-6)
    assert found.n == 200


# --- in a report -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_is_the_length_judge_is_said_to_be_it_first(real_part, tmp_path):
    cases = load_cases(real_part, "general")
    log = evaluate(tasks.personafeedback_general(data=str(real_part)), "personafeedback/longest", tmp_path)
    made = make_report(read_run(log.location), cases)
    picked = sum(BASELINES["longest"](case) != 0.5 for case in cases)
    share_of = f"{100 * picked / len(cases):.1f} %"
    assert words(made)[0].startswith(f"The run picks the longer response in {share_of} of the cases")
    (printed,) = [line for line in block(README, "story: excerpt").splitlines() if line.startswith("!")]
    ranked = personafeedback("rank", log.location, "--data", real_part).stdout
    assert re.sub(r"[\d.]+ %", share_of, printed) in ranked.splitlines()
    found = made.overall.measures
    assert (found["same_as_longest"].value, found["same_as_longest"].n) == (1, picked)
    assert found["same_as_overlap"].value < 0.95
    assert found["at_equal_length"].low <= 0.5 <= found["at_equal_length"].high
    for said in ("Picks that each baseline shares", "users: standard deviation"):
        assert said in " ".join(map(str, terminal(made)))
        assert said in markdown(made).replace("\\", "")
