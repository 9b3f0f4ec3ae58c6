"""Reward models with several outputs, from Inspect's command to the report: every number against a plain recomputation."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
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
from support.tables import in_markdown, printed_rows

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.common.statistics import share
from personafeedback_tasks.engine.outcome import ScoredCase
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.conversations import SIDES, conversation
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.reports.table import NOTHING, interval, percent
from personafeedback_tasks.runs.read import read_run

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


@pytest.mark.parametrize("name", [*groups()])
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


def test_the_example_has_ties_and_correlations_of_every_kind():
    """Else the tests around it would say little."""
    cases = groups()["total"]
    ties = [aspect for aspect in ASPECTS if any(len({value(c, side, aspect) for side in SIDES}) == 1 for c in cases)]
    assert set(ties) >= {"helpfulness", "coherence", "verbosity"}
    column = {aspect: [value(case, side, aspect) for case in cases for side in SIDES] for aspect in ASPECTS}
    assert r(column["correctness"], column["verbosity"]) < -0.99
    assert abs(r(column["helpfulness"], column["complexity"])) < 0.3


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


def shown(report, heading):
    """Column -> texts of a Markdown table."""
    return {column: list(texts.values()) for column, texts in in_markdown(report)[heading].items()}


def test_the_tables_show_these_numbers_and_what_is_undefined(five, out):
    text = (out / "report.md").read_text(encoding="utf-8")
    made = make_report(read_run(five), None)
    groups_of = [made.aspects.groups[group.name] for group in made.groups]
    accuracy, correlation = shown(text, "Accuracy of each aspect"), shown(text, "Correlation with chosen")
    assert accuracy.keys() == {*ASPECTS, *(f"{aspect} 95 % interval" for aspect in ASPECTS)}
    assert list(correlation) == ["reward", *ASPECTS]
    assert correlation["coherence"] == [NOTHING] * 9
    for aspect in ASPECTS:
        assert accuracy[aspect] == [percent(group.acc[aspect].value) for group in groups_of]
        assert accuracy[f"{aspect} 95 % interval"] == [interval(group.acc[aspect]) for group in groups_of]
        if aspect != "coherence":
            assert correlation[aspect] == [f"{group.pearson[aspect]:+.3f}" for group in groups_of]
    note = "A tie counts as wrong. Correlations are Pearson's over both responses of every case (96 in all; one that is in several cases counts in each), with epochs averaged; – is undefined."
    assert note in text
    printed = (out / "printed").read_text(encoding="utf-8")
    for row, (label, texts) in enumerate(printed_rows(printed, "Correlation with chosen").items()):
        assert label == made.groups[row].name.replace("_", " ")
        assert texts == [column[row] for column in correlation.values()]
    for row, texts in enumerate(printed_rows(printed, "Accuracy of each aspect").values()):
        assert texts[0] == accuracy[ASPECTS[0]][row]
    assert note in " ".join(printed.split())


def test_a_run_with_one_output_has_none_of_it(one, tmp_path):
    done = personafeedback("report", "--full", one, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    stored = (tmp_path / "report.json").read_text(encoding="utf-8")
    for text in (done.output, (tmp_path / "report.md").read_text(encoding="utf-8"), stored):
        assert "aspect" not in text
        assert "correlation" not in text
    names = {"report.md", "report.json", "accuracy.png", "accuracy.svg", "index.html"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_epochs_are_averaged_before_they_are_correlated(five):
    run = read_run(five)
    added = {name: (2.0, -1.0) for name in ("reward", *ASPECTS)}
    cases = {
        id_: ScoredCase([*case, replace(case[0], epoch=2, rewards=added)]) if case.cell == "general_hard" else case
        for id_, case in run.cases.items()
    }
    found = make_report(replace(run, cases=cases), None).aspects.groups["general_hard"]
    members = groups()["general_hard"]
    averaged = {
        aspect: [(value(case, side, aspect) + extra) / 2 for case in members for side, extra in zip(SIDES, (2, -1), strict=True)]
        for aspect in ASPECTS
    }  # fmt: skip
    assert found.responses == 16
    for aspect in ASPECTS:
        assert found.pearson[aspect] == same(r(averaged[aspect], [1.0, 0.0] * 8))
        right = [value(case, "chosen", aspect) > value(case, "rejected", aspect) for case in members]
        assert found.acc[aspect].value == same((sum(right) / 8 + 1) / 2)


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


def test_an_aspect_that_one_case_lacks_is_refused(five, tmp_path):
    log = read_eval_log(str(five))
    for choice in log.samples[0].output.choices:
        del choice.message.metadata["aspects"]["coherence"]
    del log.samples[0].scores["personafeedback_reward"].value["acc_coherence"]
    log.status, log.results = "error", None
    said = refused(log, tmp_path / "x.eval")
    assert (
        "found the rewards 'reward', 'helpfulness', 'correctness', 'coherence', 'complexity', 'verbosity' of " in said
    )
    assert (
        f"expected 'reward', 'helpfulness', 'correctness', 'complexity', 'verbosity' as of {log.samples[0].id}." in said
    )
