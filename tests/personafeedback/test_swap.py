"""Swap: a question of two users, and the response chosen for each. Who ignores the person is right in exactly half of the calls."""

from __future__ import annotations

import hashlib
import json
import random
import runpy
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from personafeedback_tasks.inspect_tasks.personafeedback_swap import (
    personafeedback_swap,
    personafeedback_swap_general_hard,
)
from support.commands import personafeedback, ran
from support.inspect_runs import evaluate
from support.logs import lm_eval_log
from support.models import by_lm_eval, register
from support.shared import built_once
from support.shown import words

from personafeedback_tasks.analysis.ranking import compare
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.cases import digest_of
from personafeedback_tasks.inspect_harness import hooks
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import swap
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.swap import ALL, MATCHED, SWAP, SwapOptions, swapped
from personafeedback_tasks.stats.clusters import Clusters
from personafeedback_tasks.stats.estimates import mean, paired, share

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


DRAWN = {"general_easy": "74f088dce462", "general_medium": "d89866208415", "general_hard": "469178df66b6"}
"""Cell -> digest of the pairs that are drawn of the release: other ones would be another task."""


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "counts"), [(MATCHED, (355, 307, 276)), (ALL, (3253, 2460, 1362))])
def test_the_pairs_of_the_release(rows, pairs, counts):
    for (cell, cases), count in zip(rows.items(), counts, strict=True):
        found = units(swapped(cases, pairs))
        assert 2 * len(found) == 2 * count == SWAP.sizes(cases, SwapOptions(pairs=pairs))[cell]
        for one, other in found:
            assert one.user_id == other.partner != other.user_id == one.partner
            assert (one.chosen, one.rejected, one.question) == (other.rejected, other.chosen, other.question)
        if pairs == MATCHED:
            assert {*Counter((case.user_id, case.question) for unit in found for case in unit).values()} == {1}
            assert digest_of(sorted(one.pair for one, _ in found)) == DRAWN[cell]


def score(case, judge):
    """The `acc` of a judge that sees the two texts in their order: 0 picks the first."""
    return mean(float(TWO.shown((0, 1), order)[judge(TWO.shown(case.responses, order))] == 0) for order in TWO.names)


def hashed(seed):
    return lambda shown: hashlib.sha256(f"{seed}{shown}".encode()).digest()[0] % 2


@pytest.mark.slow
def test_a_judge_that_ignores_the_person_is_right_in_half_of_the_calls_of_every_pair(rows):
    """And so is any function of the texts and their places: the longer one, the first, the second, by chance."""
    judges = [lambda shown: int(len(shown[1]) > len(shown[0])), lambda shown: 0, lambda shown: 1]
    judges += map(hashed, range(5))
    for one, other in [*units(swapped(rows["general_hard"], ALL)), *units(SAMPLE)]:
        for judge in judges:
            assert score(one, judge) + score(other, judge) == 1


@pytest.mark.release
@pytest.mark.parametrize("planted", ERRORS["PLANTED"])
def test_intervals_cover_the_truth_whichever_of_both_users_texts_and_questions_matter(rows, planted):
    covered = ERRORS["coverage"](list(swapped(rows["general_hard"])), ERRORS["PLANTED"][planted], 500)
    assert 0.92 <= covered <= 0.98  # 93 to 97 %, and two standard errors of 500 runs


@pytest.mark.slow
def test_errors_have_both_users_and_the_question_and_the_report_says_what_they_lack_without_data(tmp_path):
    """No log says which of the pairs have the same question."""
    task = personafeedback_swap(data="sample")
    one, other = (
        read_run(evaluate(task, f"scripted/{judge}", tmp_path / judge).location) for judge in ("readable", "gold")
    )
    (pair,) = compare(one, other).entry.pairs
    of_id = {case.id: case for case in SAMPLE}
    ids = sorted(one.cases)
    users, partners, questions = ([getattr(of_id[i], name) for i in ids] for name in ("user_id", "partner", "question"))
    deltas = [other.cases[i].value("acc") - one.cases[i].value("acc") for i in ids]
    assert pair.difference == paired(deltas, Clusters.of(users, questions, partners=partners))
    made, values = make_report(one, None), [one.cases[i].value("acc") for i in ids]
    found = made.overall.measures["acc"]
    assert found == share(values, Clusters.of(users, partners=partners))
    assert found.stderr != share(values, users).stderr
    assert "errors do not allow for prompts that several users share" in " ".join(words(made))


def test_another_persona_is_a_third_users_and_data_without_a_shared_question_are_refused():
    for case in SAMPLE:
        assert case.another("other_persona").user_id not in (case.user_id, case.partner)
    with pytest.raises(DataError, match="found no question that two users asked, expected some"):
        swapped(load_cases("sample", "specific"), MATCHED)


def groups(tmp_path, log, name):
    done = ran("report", "--full", log, "--data", "sample", "--out", tmp_path / name)
    (report,) = json.loads((tmp_path / name / "report.json").read_text("utf-8"))["reports"]
    return report["groups"], done.stdout


@pytest.mark.slow
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
    assert one["general"]["cases"] == 8
    found = {name: measure["value"] for name, measure in one["general"]["measures"].items()}
    assert found["longest"] == 0.5
    known = {"gold": (1.0, 1.0), "always_first": (0.5, 0.0)}
    if judge in known:
        assert (found["acc"], found["changed"]) == known[judge]
    else:
        short = personafeedback("report", inspect_log, "--data", "sample").stdout
        assert ", PersonaFeedback swap, " in short.splitlines()[0]  # its cells have the names of PersonaFeedback's
        assert "picks that change with the user" in short


def knows_and_prefers_the_first(judge, prompt, case_id, call):
    """Log-likelihoods of a model that always prefers A, and a little more so where it is right."""
    return [-0.9, -5.0] if TWO.right[call.split()[-1]] == "A" else [-1.0, -4.9]


register("knows_and_prefers_the_first", lambda *_: "A", knows_and_prefers_the_first)


@pytest.mark.slow
def test_log_odds_show_that_picks_change_with_the_user_where_every_letter_is_the_first(tmp_path):
    log = evaluate(
        personafeedback_swap(data="sample", method="logprobs"), "knows_and_prefers_the_first/", tmp_path / "inspect"
    ).location
    (one, text) = groups(tmp_path, log, "a")
    measures = one["general"]["measures"]
    assert [measures[name]["value"] for name in ("acc", "consistency", "acc_sym", "changed")] == [0.5, 0, 1, 1]
    assert "picks changed with the user" not in text
    folder = by_lm_eval(tmp_path / "lm", "knows_and_prefers_the_first", "persona", task="personafeedback_swap_mc")
    (other, _) = groups(tmp_path, folder, "b")
    assert other["general"]["measures"] == measures


@pytest.fixture(scope="session")
def longest_logs(real_data, tmp_path_factory):
    """The logs of `longest` on the pairs of General Hard: on all of lm-eval, on 60 of Inspect, which takes ten times as long."""

    def build(folder):
        task = personafeedback_swap_general_hard(data=str(real_data))
        evaluate(task, "personafeedback_swap/longest", folder / "inspect", limit=120)
        judge = register("longest_on_swap", lambda _, prompt, case_id, call: SWAP.judges["longest"](prompt))()
        lm_eval_log(folder / "lm-eval", judge, "personafeedback_swap_general_hard", real_data)

    folder = built_once(tmp_path_factory, "swap_longest", build)
    return next(folder.rglob("lm-eval/**/results_*.json")), next(folder.glob("inspect/*.eval"))


@pytest.mark.slow
def test_on_real_pairs_length_is_worth_nothing_in_both_harnesses(longest_logs, rows):
    run, inspect = map(read_run, longest_logs)
    assert (len(run.cases), len(inspect.cases)) == (552, 120)
    assert inspect.values("acc").items() <= run.values("acc").items()
    cases = swapped(rows["general_hard"])
    texts = SWAP.report.examine(cases, run.cases.keys())
    found = make_report(run, cases, texts=texts).overall.measures
    assert found["acc"].value == mean(texts.baselines["longest"].values()) == 0.5
    assert (found["changed"].value, found["changed"].n) == (0, 552)
    _, untold = texts.subsets["acc_untold"]
    assert len(untold) == 70
    for one, other in units(cases):
        together = mean(texts.baselines["overlap"][case.id] for case in (one, other))
        assert (one.id in untold) == (other.id in untold) == (together <= 0.5)


KNOWN = 0.8
"""How often the planted knower picks the response that was chosen for the user whose persona it reads."""


@pytest.mark.release
@pytest.mark.parametrize(("judge", "truth"), [("first", 0.5), ("knower", KNOWN)])
def test_on_real_pairs_both_harnesses_give_the_truth_of_a_planted_judge_case_by_case(
    judge, truth, rows, real_data, tmp_path
):
    cases = swapped(rows["general_hard"])
    of_id = {case.id: case for case in cases}

    def reply(_, prompt, case_id, call):
        """`first` picks A. `knower` reads whose persona is in the prompt; without it, it knows nothing."""
        case = of_id[case_id]
        right, other = "AB" if prompt.index(case.chosen) < prompt.index(case.rejected) else "BA"
        chance = random.Random(f"{case_id} {call}").random()
        known = KNOWN if case.persona.text in prompt else 0.5
        return "A" if judge == "first" else right if chance < known else other

    lm = register(f"{judge}_on_swap", reply)()
    task = personafeedback_swap_general_hard(data=str(real_data))
    inspect = read_run(evaluate(task, f"{judge}_on_swap/", tmp_path / "inspect").location)
    lm_eval = read_run(lm_eval_log(tmp_path / "lm-eval", lm, "personafeedback_swap_general_hard", real_data))
    assert len(inspect.cases) == 552
    assert [inspect.values(name) for name in SWAP.measures] == [lm_eval.values(name) for name in SWAP.measures]
    found = make_report(inspect, cases).overall.measures
    if judge == "first":
        assert found["acc"].value == truth
    else:
        assert 0.5 < found["acc"].low < truth < found["acc"].high


def said_of(log, folder, *data):
    """What each command says of a run: its first screen, all of it, rank, the page, and the card or why there is none."""
    folder.mkdir(exist_ok=True)
    card, page = folder / "README.md", folder / "page"
    done = {
        "report": personafeedback("report", log, *data),
        "full": personafeedback("report", "--full", log, *data),
        "rank": personafeedback("rank", log, *data, "--out", page),
        "card": personafeedback("card", log, *data, "--model-card", card),
    }
    said = {name: " ".join(one.output.split()) for name, one in done.items()}
    said["page"] = (page / "ranking.html").read_text("utf-8")
    return {**said, "card": card.read_text("utf-8")} if card.is_file() else said


@pytest.mark.slow
def test_every_output_on_real_pairs_has_overlap_and_the_pairs_it_does_not_tell_apart(longest_logs, real_data, tmp_path):
    said = said_of(longest_logs[0], tmp_path, "--data", real_data)
    for name, text in said.items():
        for what in ("overlap", "92.9", "acc_untold", "0 of 552 picks changed with the user"):
            assert what in text, (name, what)
        assert "70 of 552 cases" in text or "35 pairs" in text, name
    assert "nobody voted on the two side by side" in said["card"]
    assert "user 0.0 %" not in said["report"]


@pytest.mark.parametrize("limit", [1, 3])
def test_a_pair_of_which_one_case_was_asked_does_not_count(limit, tmp_path, monkeypatch):
    """Every other case of a cell completes a pair; lm-eval's limit is of each cell, Inspect's of all."""
    said: list[str] = []
    monkeypatch.setattr(hooks, "_inform", said.append)
    asked = evaluate(personafeedback_swap(data="sample"), "scripted/readable", tmp_path / "inspect", limit=limit)
    assert f"{limit} of 8 cases (1 without the rest of their pair will not count)" in said[0]
    lm_eval = lm_eval_log(tmp_path / "lm-eval", "readable", "personafeedback_swap", "sample", limit=limit)
    tables = json.loads(lm_eval.read_text("utf-8"))["results"]
    scores = asked.results.scores[0].metrics
    for run, count in ((read_run(asked.location), {1: 0, 3: 2}), (read_run(lm_eval), {1: 0, 3: 6})):
        assert len(run.cases) == count[limit]
        assert {*Counter(map(SWAP.units.of, run.cases)).values()} <= {2}
        assert run.left_out == {"without the rest of their pair": {1: 3, 3: 1}[limit] if count[3] == 6 else 1}
        if run.harness.startswith("inspect"):
            assert limit == 1 or scores["acc"].value == mean(run.values("acc").values())
            assert limit == 3 or "acc" not in scores
        else:
            for cell in run.answered:
                own = [case.value("acc") for case in run.cases.values() if case.cell == cell]
                assert tables[f"personafeedback_swap_{cell}"]["acc,none"] == mean(own)
    assert "without the rest of their pair" in personafeedback("report", lm_eval, "--data", "sample").stdout


@pytest.mark.slow
def test_a_log_of_other_pairs_is_refused(real_data, longest_logs, monkeypatch):
    monkeypatch.setattr(swap, "SEED", 2)
    done = personafeedback("report", longest_logs[0], "--data", real_data)
    assert done.exit_code != 0
    assert "cases have other texts than in" in done.output


@pytest.mark.slow
def test_a_plan_says_the_calls_and_the_smallest_score_that_each_cell_shows(real_data, tmp_path):
    found = {}
    for pairs in (MATCHED, ALL):
        file = tmp_path / f"{pairs}.json"
        done = personafeedback("plan", SWAP.name, "-T", f"data={real_data}", "-T", f"pairs={pairs}", "--json", file)
        found[pairs] = json.loads(file.read_text("utf-8"))
        assert "The smallest score above chance" in done.stdout
    matched, every = found[MATCHED], found[ALL]
    assert matched["calls"] == 4 * (355 + 307 + 276)
    assert matched["detects"].keys() == {*SWAP.cells, "general"}
    for cell in SWAP.cells:
        assert 0.05 < every["detects"][cell] < matched["detects"][cell] < 0.09
    assert matched["detects"]["general"] < min(matched["detects"][cell] for cell in SWAP.cells)
