"""One command of lm-eval with tasks of several methods leaves one results file: each is a run of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import personafeedback, ran
from support.logs import lm_eval_log

from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.read import read_run, read_runs

pytestmark = pytest.mark.slow

TASKS = {
    "personafeedback": "personafeedback_hard",
    "personafeedback_mc": "personafeedback_general_hard_mc",
    "personafeedback_write": "personafeedback_write_hard",
}
"""How errors name a run -> what was asked."""


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    return lm_eval_log(tmp_path_factory.mktemp("all"), "readable", ",".join(TASKS.values()), "sample")


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("alone")
    return {name: lm_eval_log(folder / name, "readable", task, "sample") for name, task in TASKS.items()}


def test_each_is_the_run_that_its_own_command_would_have_left(log, alone):
    samples = sorted(log.parent.glob("samples_*.jsonl"))
    for paths in ([log], [log.parent], samples, [log, *samples]):
        runs = {run.task: run for run in read_runs(paths)}
        assert runs.keys() == TASKS.keys()
        for name, path in alone.items():
            one = read_run(path)
            assert (runs[name].cases, runs[name].cells) == (one.cases, one.cells)
            assert runs[name].signature.changed(task=one.signature.task) == one.signature
            assert runs[name].conditions == one.conditions


def test_a_command_takes_them_all_or_asks_which(log, alone, tmp_path):
    done = ran("report", log, "--data", "sample", "--out", tmp_path / "report")
    assert len(json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))["reports"]) == len(TASKS)
    done = ran("rank", log.parent, "--data", "sample", "--json", tmp_path / "rank.json")
    assert len(json.loads((tmp_path / "rank.json").read_text("utf-8"))["rankings"]) == len(TASKS)
    card = ("card", log, "--model-card", tmp_path / "card.md", "--data", "sample")
    for command in (card, ("compare", alone["personafeedback"], log.parent)):
        done = personafeedback(*command)
        assert done.exit_code == 1
        assert "found 3 runs (personafeedback, " in done.output
        assert "Pass the log of one (of several tasks in lm-eval, its samples_*.jsonl)" in done.output
    (samples,) = log.parent.glob(f"samples_{TASKS['personafeedback_mc']}_*.jsonl")
    gold = lm_eval_log(tmp_path / "gold", "gold", TASKS["personafeedback_mc"], "sample")
    measures = []
    for path in (samples, alone["personafeedback_mc"]):
        ran("compare", path, gold, "--data", "sample", "--json", tmp_path / "c.json")
        (ranking,) = json.loads((tmp_path / "c.json").read_text("utf-8"))["rankings"]
        measures.append([run["measures"] for run in ranking["runs"]])
    assert measures[0] == measures[1]


def test_samples_of_no_task_of_the_run_are_named_also_beside_others(log, tmp_path):
    folder = shutil.copytree(log.parent, tmp_path / "log")
    own, *_ = sorted(folder.glob("samples_*.jsonl"))
    other = shutil.copy(own, folder / f"samples_gsm8k_{own.stem.rpartition('_')[2]}.jsonl")
    for paths in ([other], [own, other]):
        with pytest.raises(RunError, match="samples_gsm8k_.*beside it has no such task"):
            read_runs(paths)


def test_each_gets_the_control_of_its_own_task(log, tmp_path):
    control = lm_eval_log(tmp_path, "mixed", ",".join(TASKS.values()), "sample", metadata={"setting": "no_persona"})
    names = list(TASKS)[:2]
    samples = sorted(log.parent.glob("samples_personafeedback_general_hard_*"))
    ran("report", *samples, control, "--out", tmp_path / "out", "--data", "sample")
    made = [
        row for row in json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["reports"] if row["beside"]
    ]
    assert len(made) == len(names)
    assert all(report["beside"].keys() == {"no_persona"} for report in made)


def test_the_same_cases_by_the_same_method_twice_are_an_error(log, tmp_path):
    shutil.copytree(log.parent, folder := tmp_path / "twice")
    name = TASKS["personafeedback_mc"]
    (samples,) = folder.glob(f"samples_{name}_*")
    shutil.copy(samples, folder / samples.name.replace(name, f"{name}_again"))
    results = json.loads((folder / log.name).read_bytes())
    for part in ("configs", "results", "n-samples", "versions", "task_hashes"):
        results[part][f"{name}_again"] = results[part][name]
    (folder / log.name).write_text(json.dumps(results), encoding="utf-8")
    done = personafeedback("report", folder / log.name, "--data", "sample")
    assert done.exit_code == 1
    assert "expected each case once" in done.output
