"""Swap: a question of two users, and the response chosen for each. Who ignores the person is right in exactly half of the calls."""

from __future__ import annotations

import hashlib
import json
import runpy
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")
pytest.importorskip("scipy")

from personafeedback_tasks.inspect_tasks.personafeedback_swap import personafeedback_swap
from support.commands import personafeedback
from support.inspect_runs import evaluate
from support.logs import lm_eval_log

from personafeedback_tasks.common.statistics import mean
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.swap import ALL, MATCHED, SWAP, SwapOptions, swapped

ERRORS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "swap_errors.py"))
SAMPLE = SWAP.load(SwapOptions(data="sample"), {})


def units(cases):
    found = defaultdict(list)
    for case in cases:
        found[case.pair].append(case)
    return list(found.values())


@pytest.fixture(scope="session")
def rows(real_data):
    return {cell: load_cases(real_data, *cell.split("_")) for cell in SWAP.cells}


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "counts"), [(MATCHED, (355, 307, 276)), (ALL, (3253, 2460, 1362))])
def test_the_release_has_as_many_pairs_of_users_as_the_task_checks_for(rows, pairs, counts):
    for (cell, cases), count in zip(rows.items(), counts, strict=True):
        found = units(swapped(cases, pairs))
        assert len(found) == count
        for one, other in found:
            assert one.user_id == other.partner != other.user_id == one.partner
            assert (one.chosen, one.rejected, one.question) == (other.rejected, other.chosen, other.question)
        asked = Counter((case.user_id, case.question) for unit in found for case in unit)
        assert pairs == ALL or {*asked.values()} == {1}
        assert SWAP.sizes({"set": None, "demonstration": False, "pairs": pairs})[cell] == 2 * count


@pytest.mark.slow
def test_length_is_worth_nothing_and_the_pairs_that_terms_do_not_tell_apart_are_whole(rows):
    cases = swapped(rows["general_hard"])
    found = SWAP.report.examine(cases, {case.id for case in cases})
    assert mean(of["longest"] for of in found.baselines.values()) == 0.5
    assert 0.92 < mean(of["overlap"] for of in found.baselines.values()) < 0.97
    _, untold = found.subsets["untold"]
    assert len(untold) == 70
    for one, other in units(cases):
        together = mean([found.baselines[one.id]["overlap"], found.baselines[other.id]["overlap"]])
        assert (one.id in untold) == (other.id in untold) == (together <= 0.5)


def score(case, judge):
    """The `acc` of a judge that sees the two texts in their order: 0 picks the first."""
    return mean(float(TWO.shown((0, 1), order)[judge(TWO.shown(case.responses, order))] == 0) for order in TWO.names)


def hashed(seed):
    return lambda shown: hashlib.sha256(f"{seed}{shown}".encode()).digest()[0] % 2


BLIND = {
    "longest": lambda shown: max((0, 1), key=lambda place: len(shown[place])),
    "first": lambda shown: 0,
    "second": lambda shown: 1,
}


@pytest.mark.slow
def test_a_judge_that_ignores_the_person_is_right_in_half_of_the_calls_of_every_pair(rows):
    judges = [*BLIND.values(), *map(hashed, range(5))]
    for one, other in units(swapped(rows["general_hard"], ALL)):
        for judge in judges:
            assert score(one, judge) + score(other, judge) == 1


@given(seed=st.integers())
def test_so_is_any_function_of_the_texts_and_their_places(seed):
    for one, other in units(SAMPLE):
        assert score(one, hashed(seed)) + score(other, hashed(seed)) == 1


@pytest.mark.release
@pytest.mark.parametrize("planted", ERRORS["PLANTED"])
def test_intervals_cover_the_truth_whichever_of_both_users_texts_and_questions_matter(rows, planted):
    covered, _ = ERRORS["coverage"](list(swapped(rows["general_hard"])), ERRORS["PLANTED"][planted], 500)
    assert 0.92 <= covered <= 0.98  # 93 to 97 %, and two standard errors of 500 runs


def test_another_persona_is_a_third_users():
    for case in SAMPLE:
        assert case.other_persona.user_id not in (case.user_id, case.partner)


def groups(tmp_path, log, name):
    done = personafeedback("report", "--full", log, "--data", "sample", "--out", tmp_path / name)
    assert done.exit_code == 0, done.output
    (report,) = json.loads((tmp_path / name / "report.json").read_text("utf-8"))["reports"]
    return report["groups"], done.stdout


@pytest.mark.parametrize("judge", ["readable", "gold", "always_first"])
def test_both_harnesses_give_the_same_and_the_report_says_what_it_means(judge, tmp_path):
    inspect_log = evaluate(personafeedback_swap(data="sample"), f"scripted/{judge}", tmp_path / "inspect").location
    lm_eval = lm_eval_log(tmp_path / "lm-eval", judge, "personafeedback_swap", "sample")
    (one, _), (other, _) = groups(tmp_path, inspect_log, "a"), groups(tmp_path, lm_eval, "b")
    tables = json.loads(lm_eval.read_text("utf-8"))["results"]
    for cell in SWAP.cells:
        group = tables[f"personafeedback_swap_{cell}"]
        assert group["changed,none"] == one[cell]["measures"]["changed"]["value"]
    assert one == other
    total = one["general"]
    assert total["cases"] == 8
    assert total["baselines"]["longest"]["value"] == 0.5
    assert total["measures"]["acc"]["value"] == {"gold": 1.0, "always_first": 0.5}.get(
        judge, total["measures"]["acc"]["value"]
    )
    changed = {"gold": 1.0, "always_first": 0.0}
    assert total["measures"]["changed"]["value"] == changed.get(judge, total["measures"]["changed"]["value"])
    if judge == "readable":
        short = personafeedback("report", inspect_log, "--data", "sample").stdout
        assert "picks that change with the user" in short


def test_the_judge_longest_is_at_50_in_inspect(tmp_path):
    log = evaluate(personafeedback_swap(data="sample"), "personafeedback_swap/longest", tmp_path).location
    assert groups(tmp_path, log, "out")[0]["general"]["measures"]["acc"]["value"] == 0.5


def test_the_other_commands_know_it(tmp_path):
    log = evaluate(personafeedback_swap(data="sample"), "scripted/gold", tmp_path / "logs").location
    assert (
        "PersonaFeedback swap"
        in personafeedback("rank", tmp_path / "logs", "--data", "sample", "--out", tmp_path / "page").stdout
    )
    planned = personafeedback("plan", "--task", "personafeedback_swap_general_hard", "--data", "sample")
    assert "general hard" in planned.stdout
    refused = personafeedback("card", log, "--data", "sample", "--model-card", tmp_path / "README.md")
    assert "bundled sample" in refused.output


def test_data_without_a_shared_question_are_refused_in_one_sentence(tmp_path):
    with pytest.raises(Exception, match="found no question that two users asked, expected some"):
        swapped(load_cases("sample", "specific"), MATCHED)
