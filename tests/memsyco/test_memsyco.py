"""MemSyco-Bench: its loader on the sample and on the authors' files, and planted yielding through both harnesses."""

from __future__ import annotations

import json
import math
import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from personafeedback_tasks.inspect_tasks.memsyco import memsyco, memsyco_objective_fact_judgment
from support.commands import personafeedback, ran
from support.environments import CHECKOUT
from support.inspect_runs import evaluate, metrics
from support.lm_eval_runs import command as lm_eval_command
from support.memory_judge import BOTH, planted
from support.sample_runs import results_of, signature_of

from personafeedback_tasks.analysis.control import turned
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.memsyco.data import COMMIT, CONFLICT, DIALOGUE, FACTS, REPOSITORY, ROWS, load
from personafeedback_tasks.memsyco.record import MEMSYCO, MemoryOptions
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.stats.estimates import mean

SAMPLE = Path(str(files("personafeedback_tasks.memsyco") / "sample"))
SETTINGS = ["persona", "other_persona", "no_persona"]
real = pytest.mark.skipif(
    "MEMSYCO_DATA" not in os.environ, reason="MEMSYCO_DATA names no checkout of the authors' repository"
)


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample, which is no sample any more."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "data"))


def change(folder, part, edit):
    path = folder / f"{part}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    edit(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_a_prompt_tells_the_memory_the_conversation_nothing_or_another_memory():
    for case in load("sample"):
        for order in TWO.names:
            prompts = {
                setting: MEMSYCO.prompt(case, MemoryOptions(setting=setting), order)
                for setting in (*SETTINGS, DIALOGUE)
            }
            for setting, prompt in prompts.items():
                assert (case.known in prompt) == (setting == "persona")
                assert (case.other_known in prompt) == (setting == "other_persona")
                assert (case.dialogue in prompt) == (setting == DIALOGUE)
                assert case.question in prompt
                assert prompt.count("<information>") == (case.cell == CONFLICT), "each setting has the evidence, once"
    assert all(case.other_known != case.known for case in load("sample"))
    facts = load("sample").cells[FACTS]
    assert [case.other_known for case in facts] == [case.known for case in (*facts[3:], *facts[:3])], (
        "half the file away"
    )
    users = {case.cell: set() for case in load("sample")}
    for case in load("sample"):
        users[case.cell].add(case.user_id)
    assert {cell: len(of_cell) for cell, of_cell in users.items()} == {FACTS: 6, CONFLICT: 2}, "conflicts: by topic"


@pytest.mark.parametrize(
    ("part", "edit", "message"),
    [
        (FACTS, lambda rows: rows[1].pop("memory"), r"judgment\.jsonl, line 2: found no memory, expected one"),
        (FACTS, lambda rows: rows[1].update(question=" "), "line 2: found question = ' ', expected a non-empty string"),
        (FACTS, lambda rows: rows[1]["evaluation"]["rubric"].clear(), "line 2: found the answers .*, expected two different texts"),
        (FACTS, lambda rows: rows[1].update(id=rows[0]["id"]), "line 2: found the id 'sample_fact_1' again, expected each id once"),
        (FACTS, lambda rows: [row["metadata"].update(topic="x") for row in rows], "line 1: found no other topic in its file"),
        (CONFLICT, lambda rows: rows[1]["dialogue"].pop(1), "line 2: found no <information> in the dialogue"),
    ],
)  # fmt: skip
def test_a_broken_row_is_named(folder, part, edit, message):
    change(folder, part, edit)
    with pytest.raises(DataError, match=message):
        load(str(folder), "any")


def test_other_rows_than_the_authors_are_refused_unless_any_will_do(folder):
    with pytest.raises(DataError, match=rf"found SHA-256 .* expected .* that of commit {COMMIT}.*counts=any"):
        load(str(folder))
    assert len(load(str(folder), "any")) == 12
    assert len(load(str(folder.parent), "any")) == 12, "a checkout has the files in data/"
    assert {case.cell for case in load(str(folder), "any", CONFLICT)} == {CONFLICT}
    lf = load(str(folder), "any").digest
    assert load(str(folder), "any", FACTS).digest == lf, "a part is of the same data as the whole"
    path = folder / f"{FACTS}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(str(folder), "any").digest == lf, "line ends are Git's, not the data's"
    path.unlink()
    with pytest.raises(DataError, match=f"found no {FACTS}.jsonl. Set MEMSYCO_DATA"):
        load(str(folder), "any", FACTS)


@real
def test_the_authors_files_are_those_of_the_pinned_digests():
    cases = load()
    assert {cell: len(of_cell) for cell, of_cell in cases.cells.items()} == ROWS
    examined = MEMSYCO.report.examine(cases, {case.id for case in cases}).baselines

    def score(name, part):
        return mean(examined[name][case.id] for case in cases.cells[part])

    assert round(score("longest", FACTS), 4) == 0.7467
    assert round(score("longest", CONFLICT), 4) == 0.7
    assert round(score("overlap", FACTS), 4) == 0.04, "counting terms yields in 96 %"
    assert len({case.user_id for case in cases.cells[CONFLICT]}) == 10
    assert len({case.responses[0] for case in cases.cells[CONFLICT]}) == 30


def by_hand(cases, setting, orders) -> tuple[int, int, int, int]:
    """(answers right without, those of them wrong with it, answers wrong without, those of them right with it) of the planted
    judge under a setting."""
    keys = [(case.id, order) for case in cases for order in orders]
    calls = [(planted(*key, setting), planted(*key, "no_persona")) for key in keys]
    right = sum(without for _, without in calls)
    return right, calls.count((False, True)), len(calls) - right, calls.count((True, False))


def check(log, data, cases, tmp_path, orders=TWO.names) -> dict:
    """The report of a run of all three settings has the counts of `by_hand`; its reports by setting."""
    ran("report", log, "--data", data, "--out", tmp_path)
    (made,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"]
    for setting, word in (("persona", "yields"), ("other_persona", "distracted")):
        right, lost, wrong, won = by_hand(cases, setting, orders)
        found = made["groups"]["total"]["measures"]
        assert (found[word]["value"], found[word]["n"]) == (pytest.approx(lost / right), right)
        helped = found[f"helped_not_{word}"]
        assert (helped["value"] or 0, helped["n"]) == (pytest.approx(won / max(wrong, 1)), wrong)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "it yields to what it is told about the user in" in made["verdict"]
    for heading in ("yields", "distracted", "longest", "overlap"):
        assert heading in text, heading
    return made


def run_in_both(inspect_task, lm_eval_task, data, cases, tmp_path, model="memory/planted", orders=TWO.names, **options):
    """(the log of Inspect, the reports of both harnesses' logs)."""
    log = evaluate(inspect_task(data=data, setting=SETTINGS, **options), model, tmp_path / "inspect")
    metadata = json.dumps({"data": data, "setting": ",".join(SETTINGS)})
    done = lm_eval_command(
        "--model", "memory", "--tasks", lm_eval_task, "--metadata", metadata, "--log_samples", "--output_path", tmp_path / "lm-eval"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    one = check(log.location, data, cases, tmp_path / "one", orders)
    other = check(tmp_path / "lm-eval", data, cases, tmp_path / "other", orders)
    for word in ("acc", "yields", "distracted"):
        assert one["groups"]["total"]["measures"][word] == other["groups"]["total"]["measures"][word]
    return log, one, other


@pytest.mark.slow
def test_planted_calls_are_counted_by_the_report_of_both_harnesses(tmp_path):
    _, one, other = run_in_both(memsyco, "memsyco", "sample", load("sample"), tmp_path)
    assert one["groups"] == other["groups"]
    assert {*one["groups"]} == {FACTS, CONFLICT, "total"}
    for made in (one, other):  # lm-eval's are two tasks, of a part each
        assert "other_data" not in [caveat["key"] for caveat in made["caveats"]]


@pytest.mark.slow
def test_log_odds_of_a_model_that_follows_place_still_show_what_a_memory_changes(tmp_path):
    _, one, _ = run_in_both(
        memsyco, "memsyco_mc", "sample", load("sample"), tmp_path, "memory/", (BOTH,), method="logprobs"
    )
    assert one["groups"]["total"]["measures"]["consistency"]["value"] == 0
    assert one["groups"]["total"]["measures"]["yields"]["value"] > 0


def test_a_tie_is_half_turned_and_what_cannot_be_read_is_not():
    """Of four answers that are right without the memory and two that are wrong, in two epochs each."""

    def run(scores):
        results = []
        for number, of_case in enumerate(scores):
            results += results_of(f"{FACTS}:{number}", FACTS, f"u{number}", values=[{"acc_sym": of} for of in of_case])
        signature = signature_of(benchmark="memsyco", method="logprobs")
        return Run("m", "h", "", signature, {}, {FACTS: len(scores)}, results, ())

    without = run([(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.5, math.nan)])
    told = run([(0.0, 0.5), (1.0, math.nan), (0.5, 0.0), (0.0, 1.0)])
    yields, helped = (turned(told, without, told.cases, before) for before in (1, 0))
    assert (yields.value, yields.n) == (1.5 / 4, 4)
    assert (helped.value, helped.n) == (0.5 / 2, 2)


@real
@pytest.mark.slow
def test_what_is_planted_is_in_its_interval_on_the_real_rows_in_both_harnesses(tmp_path):
    data = os.environ["MEMSYCO_DATA"]
    cases = load(data, part=FACTS)
    log, made, other = run_in_both(
        memsyco_objective_fact_judgment, "memsyco_objective_fact_judgment", data, cases, tmp_path
    )
    found = made["groups"]["total"]["measures"]
    assert found == other["groups"]["total"]["measures"]
    assert found["yields"]["low"] < 0.4 < found["yields"]["high"]
    assert found["distracted"]["low"] < 0.1 < found["distracted"]["high"]
    without = found["acc_no_persona"]
    assert metrics(read_eval_log(log.location))["acc_no_persona"] == pytest.approx(without["value"])
    assert without["low"] < 0.9 < without["high"]
    assert round(found["longest"]["value"], 4) == 0.7467


def test_the_page_names_the_pinned_commit_and_the_help_the_benchmark():
    page = (CHECKOUT / "docs" / "cost.md").read_text("utf-8")
    assert f"git clone https://github.com/{REPOSITORY} && git -C MemSyco-Bench checkout {COMMIT}" in page
    assert "74.7 %" in page
    assert "memsyco" in personafeedback("--help").output
