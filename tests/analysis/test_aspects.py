"""Reward models with several outputs, from Inspect's command to the report: every number against a plain recomputation."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.torch]
pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("inspect_ai")
pytest.importorskip("matplotlib")
np = pytest.importorskip("numpy")

from inspect_ai.log import read_eval_log, write_eval_log
from support import classifiers
from support.commands import personafeedback
from support.inspect_runs import command, metrics

from personafeedback_tasks.common.statistics import share
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.conversations import SIDES, conversation
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK

same = pytest.approx

OUTPUTS = {
    "helpfulness": lambda count: count % 11,
    "correctness": lambda count: -count,
    "coherence": lambda count: 3,  # ties and no correlation
    "complexity": lambda count: count * count % 101,
    "verbosity": lambda count: count // 40,
}
ASPECTS = tuple(OUTPUTS)
OPTIONS = Template(setting="no_persona")
TURNS = {(case.id, side): conversation(case, OPTIONS, side) for case in load_cases("sample") for side in SIDES}


def model(folder: Path, outputs) -> Path:
    texts = [turn["content"] for turns in TURNS.values() for turn in turns]
    return classifiers.counting_classifier(folder, texts, outputs, limit=4096)


def run_inspect(model: Path, logs: Path, *arguments: str) -> Path:
    done = command(
        "personafeedback_tasks/personafeedback", "-T", "method=reward", "-T", "setting=no_persona", *arguments,
        "--model", f"personafeedback-reward/{model}", "--log-dir", logs, PERSONAFEEDBACK_DATA="sample",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = logs.glob("*.eval")
    return path


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    """The log of a model whose five outputs are OUTPUTS of the number of tokens."""
    folder = tmp_path_factory.mktemp("five")
    return run_inspect(
        model(folder / "model", list(OUTPUTS.values())), folder / "logs", "-M", f"aspects={','.join(ASPECTS)}"
    )


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    return run_inspect(model(folder / "model", [lambda count: count]), folder / "logs")


@pytest.fixture(scope="module")
def out(five, tmp_path_factory):
    """What the report of `five` writes."""
    folder = tmp_path_factory.mktemp("out")
    done = personafeedback("report", "--full", five, "--out", folder)
    assert done.exit_code == 0, done.output
    (folder / "printed").write_text(done.output, encoding="utf-8")
    return folder


def value(case, side, name):
    """By definition: a token for each character, each role and each end of a turn."""
    return OUTPUTS[name](sum(len(turn["content"]) + 2 for turn in TURNS[case.id, side]))


def groups():
    """Name -> its cases; `general` is what Table 4 calls the whole of it."""
    cases = list(load_cases("sample"))
    found = {name: [case for case in cases if name in (case.cell, case.category, "total")] for name in
             (*PERSONAFEEDBACK.cells, "specific", "general")}  # fmt: skip
    return {**found, "total": cases}


def r(one, other):
    """None where undefined, as in JSON."""
    return None if len(set(one)) == 1 or len(set(other)) == 1 else float(np.corrcoef(one, other)[0, 1])


@pytest.mark.parametrize("name", ["general_hard", "specific", "total"])
def test_every_number_of_the_json_is_that_of_a_plain_recomputation(name, out):
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))["reports"][0]["aspects"]
    assert (found["names"], found["better"]) == (list(ASPECTS), "chosen")
    assert found["groups"].keys() == groups().keys()
    group, cases = found["groups"][name], groups()[name]
    assert group["responses"] == 2 * len(cases)
    column = {aspect: [value(case, side, aspect) for case in cases for side in SIDES] for aspect in ASPECTS}
    flag = [float(side == "chosen") for case in cases for side in SIDES]
    for aspect in ASPECTS:
        right = [float(value(case, "chosen", aspect) > value(case, "rejected", aspect)) for case in cases]
        expected = share(right, [case.user_id for case in cases])
        assert group["acc"][aspect]["value"] == same(sum(right) / len(cases))
        assert [group["acc"][aspect][key] for key in ("low", "high", "n", "users")] == [
            same(expected.low), same(expected.high), len(cases), len({case.user_id for case in cases}),
        ]  # fmt: skip
        assert group["pearson"][aspect] == same(r(column[aspect], flag))
        for other in ASPECTS:
            assert group["correlations"][aspect][other] == same(r(column[aspect], column[other]))
    assert group["pearson"]["reward"] == group["pearson"]["helpfulness"]  # without code of its own it is the first
    assert group["acc"]["coherence"]["value"] == 0, "ties are wrong"
    assert group["pearson"]["coherence"] is group["correlations"]["coherence"]["coherence"] is None


def test_the_table_of_inspect_has_the_same_numbers(five, out):
    printed = metrics(read_eval_log(str(five), header_only=True))
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))["reports"][0]["aspects"]["groups"]
    for aspect in ASPECTS:
        for name, group in found.items():
            suffix = "" if name == "total" else f"_{name}"
            assert printed[f"acc_{aspect}{suffix}"] == same(group["acc"][aspect]["value"])
            assert printed[f"acc_{aspect}{suffix}_stderr"] == same(group["acc"][aspect]["stderr"])
    for name, correlation in found["total"]["pearson"].items():
        assert printed[f"pearson_{name}"] == same(math.nan if correlation is None else correlation, nan_ok=True)


def test_a_run_with_one_output_has_none_of_it(one, tmp_path):
    done = personafeedback("report", "--full", one, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    stored = (tmp_path / "report.json").read_text(encoding="utf-8")
    for text in (done.output, (tmp_path / "report.md").read_text(encoding="utf-8"), stored):
        assert "aspect" not in text
        assert "correlation" not in text
    names = {"report.md", "report.json", "accuracy.png", "accuracy.svg", "index.html"}
    assert {path.name for path in tmp_path.iterdir()} == names


# --- logs that were changed, or are of another version -----------------------------------------------------------------


def refused(log, path) -> str:
    write_eval_log(log, str(path))
    done = personafeedback("report", "--full", path, "--out", path.parent / "out")
    assert done.exit_code == 1, done.output
    assert not (path.parent / "out").exists()
    return " ".join(done.output.split())


def test_an_output_that_was_changed_is_refused(five, tmp_path):
    log = read_eval_log(str(five))
    sample = next(one for one in log.samples if one.scores["personafeedback_reward"].value["acc_correctness"] == 0)
    sample.output.choices[0].message.metadata["aspects"]["correctness"] = 1e9
    sentence = "found acc_correctness 0.* for .*, expected 1 from its answers .1 of 48 rows disagree"
    assert re.search(sentence, refused(log, tmp_path / "x.eval"))
