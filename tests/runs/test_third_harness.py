"""A harness that this package does not know costs a translator there and back: its logs are read, checked, reported and ranked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from support import jsonl_harness
from support.commands import personafeedback
from support.judges import JUDGES

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.engine import recorded
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.runs import log as logs
from personafeedback_tasks.runs.read import read_run, read_runs
from personafeedback_tasks.runs.recorded import run_of
from personafeedback_tasks.runs.run import RunError

Json = dict[str, Any]
SAMPLE = load_cases("sample")


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(logs, "_REGISTERED", [])
    logs.register(jsonl_harness.READER)


def made(folder: Path, judge: str, **options: Any) -> Path:
    return jsonl_harness.run(JUDGES[judge], judge, folder, "personafeedback", data="sample", **options)


@pytest.fixture
def mixed(tmp_path) -> Path:
    return made(tmp_path / "logs", "mixed")


def test_its_log_is_a_run_like_any_other(mixed, tmp_path):
    run = read_run(mixed)
    assert (run.harness, run.model, run.unchecked, run.otherwise) == ("jsonl-runner 1", "mixed", (), 0)
    assert run.cases.keys() == {case.id for case in SAMPLE}
    assert {outcome.setting for case in run.cases.values() for outcome in case} == {"persona"}
    # The replies, read from a file in place of a log, come to the same outcomes.
    done = personafeedback("replies", mixed, "--out", tmp_path / "replies.jsonl")
    assert done.exit_code == 0, done.output
    replies = recorded.read(tmp_path / "replies.jsonl")
    again = run_of(PERSONAFEEDBACK, "", SAMPLE, Template.strict({"data": "sample"}), replies)
    assert repr(again.cases) == repr(run.cases)
    assert not make_report(run, SAMPLE).run.unchecked  # its prompts are those of its options


def test_it_can_ask_several_settings_in_one_run(tmp_path):
    """Nothing of it is of one harness: the record has the options, the calls, the outcomes and the table of all settings."""

    def model(case_id: str, name: str) -> str:
        *setting, call = name.split()
        return JUDGES["mixed" if setting else "readable"](case_id, call)

    path = jsonl_harness.run(model, "one", tmp_path, "personafeedback", data="sample", setting="persona,no_persona")
    told, nothing = read_runs([path])
    for run, judge in ((told, "readable"), (nothing, "mixed")):
        single = read_run(made(tmp_path / judge, judge, setting=run.setting))
        assert repr(run.cases) == repr(single.cases)
        assert run.signature == single.signature
        assert not make_report(run, SAMPLE).run.unchecked
    table = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["table"]
    gains = [case.value("acc") - nothing.cases[name].value("acc") for name, case in told.cases.items()]
    assert table["persona_gain"] == pytest.approx(sum(gains) / len(gains))


def test_it_is_reported_and_ranked_by_the_commands(mixed, tmp_path):
    control = made(tmp_path / "control", "mixed", setting="no_persona")
    made(mixed.parent, "readable")
    done = personafeedback(
        "report", "--full", mixed, "--no-persona", control, "--data", "sample", "--out", tmp_path / "out"
    )
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["reports"][0]["groups"]["total"]
    values = [case.value("acc") for case in read_run(mixed).cases.values()]
    assert found["measures"]["acc"]["value"] == pytest.approx(sum(values) / len(values))
    assert found["gain"]["value"] == 0  # this judge sees no persona
    done = personafeedback("rank", mixed.parent, "--data", "sample", "--json", tmp_path / "rank.json")
    assert done.exit_code == 0, done.output
    ranked = json.loads((tmp_path / "rank.json").read_text(encoding="utf-8"))["rankings"][0]["runs"]
    means = {run.model: sum(case.value("acc") for case in run.cases.values()) for run in read_runs([mixed.parent])}
    assert [row["model"] for row in ranked] == sorted(means, key=lambda name: (-means[name], name))
    assert len(means) == 2


def test_a_document_of_several_cases_comes_back(tmp_path):
    log = jsonl_harness.run(
        lambda name, call: "1", "first", tmp_path, "recenter_relevance", data="sample", method="select"
    )
    answers = [outcome.answers for case in read_run(log).cases.values() for outcome in case]
    assert {("YES",), ("NO",)} == set(answers)


def changed(log: Path, change: Callable[[list[Json]], object]) -> Path:
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    change(rows)
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return log


def reply(rows: list[Json]) -> None:
    rows[1]["calls"][0]["reply"] = "B" if rows[1]["answers"][0] == "A" else "A"


def value(rows: list[Json]) -> None:
    rows[1]["values"][0]["acc"] += 0.5


def count(rows: list[Json]) -> None:
    del rows[1]


def twice(rows: list[Json]) -> None:
    rows[2] = rows[1]


def version(rows: list[Json]) -> None:
    rows[0]["personafeedback_tasks"]["task_version"] = "99.0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (reply, "line 2: found the answers .* from its replies"),
        (value, "line 2: found acc .* from its answers"),
        (count, "found 47 cases, expected 48"),
        (twice, "line 3: found .* a second time"),
        (version, "found task version 99.0"),
    ],
)
def test_its_log_is_checked(mixed, change, message):
    with pytest.raises(RunError, match=message):
        read_run(changed(mixed, change))
