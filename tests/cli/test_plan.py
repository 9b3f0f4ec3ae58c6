"""`personafeedback plan`: calls, tokens, price, the smallest difference that a run shows, and that its formula holds."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.commands import personafeedback, ran

from personafeedback_tasks.core.asked import asked_for
from personafeedback_tasks.core.plan import estimated, make_plan
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import baselines, prompts
from personafeedback_tasks.personafeedback.baselines import COMPARISONS
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats.estimates import estimate, paired_test
from personafeedback_tasks.stats.significance import Comparison, minimum_detectable_difference

PAIRED, UNPAIRED = COMPARISONS[:-1], COMPARISONS[-1]


def plan_of(data, task="personafeedback", **options):
    return make_plan(asked_for(task, {"data": str(data), **options}))


# --- the smallest difference: properties --------------------------------------------------------------------------------------

USERS = st.lists(st.integers(1, 40), min_size=2, max_size=60)
COMPARED = st.builds(
    Comparison, st.just("x"), st.floats(0.01, 0.5), st.floats(0, 0.5), st.booleans()
)  # name, variance, correlation, paired


@given(COMPARED, USERS, st.randoms())
def test_the_smallest_difference_depends_on_nothing_but_the_sizes(compared, sizes, random):
    def smallest(compared, sizes):  # none, so any other is smaller, where it would be above 1
        found = compared.smallest(sizes)
        return math.inf if math.isnan(found) else found

    least = smallest(compared, sizes)
    assert smallest(compared, random.sample(sizes, len(sizes))) == pytest.approx(least)
    # More variance or more correlation never helps; twice the users do.
    for worse in (
        Comparison("", 2 * compared.variance, compared.correlation, compared.paired),
        Comparison("", compared.variance, compared.correlation + 0.1, compared.paired),
    ):
        assert smallest(worse, sizes) >= least
    assert smallest(compared, sizes * 2) < least or least == math.inf


# --- the smallest difference: by simulation, with the users of the release ----------------------------------------------------


BENCHMARKS = 2_000  # a rate of 5 % is then known to 0.5 points, one standard error


def draw(owners, values, shares, correlation, seed):
    """Benchmarks x cases. Any two cases of a user have the correlation asked for; the mean expected is shares @ values.

    Each user has shares of their own, from the Dirichlet distribution around `shares`; with two values, 1 and 0,
    their right answers are beta-binomial.
    """
    rng = np.random.default_rng(seed)
    concentration = 1 / correlation - 1
    weights = rng.gamma(np.asarray(shares) * concentration, size=(BENCHMARKS, owners[-1] + 1, len(values)))
    limits = np.cumsum(weights, axis=-1) / weights.sum(axis=-1, keepdims=True)
    uniform = rng.random((BENCHMARKS, owners.size))
    chosen = sum((uniform > limits[:, owners, k]).astype(np.int8) for k in range(len(values) - 1))
    return np.asarray(values)[chosen]


def runs_of(compared, owners, difference, seed):
    """The values whose mean is the difference, of each run or of both."""
    if not compared.paired:
        accuracy = 0.5 + (0.25 - compared.variance) ** 0.5
        return [
            draw(owners, [1.0, 0.0], [mean, 1 - mean], compared.correlation, seed + run)
            for run, mean in enumerate((accuracy + difference / 2, accuracy - difference / 2))
        ]
    half = compared.variance / 2
    shares = [half + difference / 2, 1 - 2 * half, half - difference / 2]
    return [draw(owners, [1.0, 0.0, -1.0], shares, compared.correlation, seed)]


def seen(tables, owners):
    """In which share of benchmarks a 95 % interval is not around 0: of paired differences, or of two accuracies."""
    found = [[estimate(row.tolist(), owners.tolist()) for row in table] for table in tables]
    if len(found) == 1:
        return np.mean([one.low > 0 or one.high < 0 for one in found[0]])
    reach = stats.t.ppf(0.975, 2 * owners[-1])
    return np.mean([abs(a.value - b.value) > reach * np.hypot(a.stderr, b.stderr) for a, b in zip(*found, strict=True)])


@pytest.mark.release
@pytest.mark.parametrize("compared", COMPARISONS, ids=lambda compared: compared.name)
def test_the_smallest_difference_is_seen_4_times_in_5(real_data, compared):
    """2,000 benchmarks whose users have as many cases as in General Hard."""
    made = plan_of(real_data, "personafeedback_general_hard")
    sizes = Counter(case.user_id for case in load_cases(real_data, "general", "hard")).values()
    owners = np.repeat(np.arange(len(sizes)), [*sizes])
    (difference,) = (one.smallest for one in made.comparisons if one.name == compared.name)
    tables = runs_of(compared, owners, difference, seed=12)
    power = seen(tables, owners)
    print(f"{compared.name}, {100 * difference:.1f} points: seen in {power:.1%}")
    assert 0.77 <= power <= 0.83
    if compared.paired:
        p = np.array([paired_test(row.tolist(), owners.tolist())[1] for row in tables[0][:600]])
        print(f"by the test of compare: {np.mean(p <= 0.05):.1%}")
        assert 0.72 <= np.mean(p <= 0.05) <= 0.85
        # What `compare` says after the run is what the plan said before it.
        after = [minimum_detectable_difference(estimate(row.tolist(), owners.tolist())) for row in tables[0][:50]]
        assert np.mean(after) == pytest.approx(difference, rel=0.05)
    assert seen(runs_of(compared, owners, 0, seed=14), owners) == pytest.approx(0.05, abs=0.015)


def test_what_is_assumed_is_what_the_baselines_show(real_data):
    cases = list(load_cases(real_data, "general"))
    acc, users = baselines.acc_of(cases), [case.user_id for case in cases]

    def spread(values):
        """(variance, correlation within users)"""
        centered = np.array(values) - np.mean(values)
        of_user: dict[str, list[float]] = {}
        for value, user in zip(centered, users, strict=True):
            of_user.setdefault(user, []).append(value)
        pairs = sum(sum(own) ** 2 - sum(value * value for value in own) for own in of_user.values())
        count = sum(len(own) * (len(own) - 1) for own in of_user.values())
        return centered.var(), pairs / count / centered.var()

    def between(one, other):
        return spread([acc[one][case.id] - acc[other][case.id] for case in cases])

    alike, unlike = between("overlap", "overlap_share"), between("longest", "overlap_share")
    assert (PAIRED[0].variance, PAIRED[1].variance) == pytest.approx(
        (alike[0], between("longest", "overlap")[0]), abs=0.01
    )
    assert PAIRED[2].variance == pytest.approx(unlike[0], abs=0.04)
    accuracies = [spread([acc[name][case.id] for case in cases]) for name in ("longest", "overlap", "overlap_share")]
    assert max(variance for variance, _ in accuracies) == pytest.approx(UNPAIRED.variance, abs=0.005)
    correlations = [correlation for _, correlation in (*accuracies, alike, unlike, between("longest", "overlap"))]
    assert 0.01 < min(correlations) < max(correlations) < UNPAIRED.correlation
    assert len({one.correlation for one in COMPARISONS}) == 1


# --- calls and tokens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["persona", "no_persona", "other_persona"])
def test_the_work_is_that_of_all_prompts(setting):
    made = plan_of("sample", setting=setting)
    template = prompts.Template(setting=setting)
    tokens = estimated([prompts.build(case, template, order) for case in load_cases("sample") for order in TWO.names])
    assert (made.calls, made.prompt_tokens, made.longest_prompt_tokens) == (96, sum(tokens), max(tokens))
    assert (made.reply_tokens_of_a_call_at_most, made.settings[setting].reply_tokens) == (1024, 96 * 1024)


def test_log_likelihoods_ask_for_each_label_and_write_nothing():
    one, both = plan_of("sample", "personafeedback_hard"), plan_of("sample", "personafeedback_hard_mc")
    assert (both.calls, both.prompt_tokens) == (2 * one.calls, 2 * one.prompt_tokens)
    assert (both.reply_tokens_of_a_call_at_most, both.settings["persona"].reply_tokens) == (None, 0)
    assert both.longest_prompt_tokens == one.longest_prompt_tokens
    assert both.task == "personafeedback_hard_mc (demonstration)"


# --- the command -----------------------------------------------------------------------------------------------------


def printed(*arguments: object, **environment: str) -> str:
    done = ran("plan", *arguments, **environment)
    return done.stdout


def test_the_money_of_the_docs_is_what_is_printed(real_data):
    page = (Path(__file__).parents[2] / "docs" / "plan.md").read_text(encoding="utf-8")
    block = page[page.index("What a run takes\n                         prompt") :].partition("```")[0]
    shown = printed(
        "personafeedback_general_hard", "-T", f"data={real_data}", "-T", "setting=persona,other_persona,no_persona", "--price", "2.5,10",
        "--reply-tokens", 5,
    )  # fmt: skip
    assert block in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["personafeedback_x"], "task must be one of personafeedback, personafeedback_specific, "),
        (["personafeedback_mc", "-T", "method=cot"], "task personafeedback_mc has the method mc, got method=cot."),
        (["personafeedback_hrd"], "got 'personafeedback_hrd'. Did you mean personafeedback_hard?"),
        (["personafedback_hard"], "got 'personafedback_hard'. Did you mean personafeedback_hard?"),
        (["personafeedback_hard", "-T", "method=genrate"], "got 'genrate'. Did you mean generate?"),
        (["personafeedback_hard", "-T", "setting=persona,rog"], "got 'rog'. Did you mean rag?"),
        (["personafeedback_hard", "-T", "hide=Nam"], "got Nam. Did you mean Name?"),
        (["personafeedback", "-T", "data=./nowhere"], "There is no folder './nowhere'"),
        (["personafeedback", "--price", "3"], "--price must be two numbers of dollars with a comma between them, such as 2.5,10, got '3'."),
    ],
)  # fmt: skip
def test_what_a_run_would_refuse_is_refused(arguments, sentence):
    done = personafeedback("plan", *arguments, PERSONAFEEDBACK_DATA="sample")
    assert done.exit_code
    assert sentence in " ".join(done.output.split())
