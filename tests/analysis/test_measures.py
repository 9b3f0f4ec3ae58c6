"""A measure is one entry of its benchmark's record, and is in every output."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support import jsonl_harness
from support.commands import personafeedback
from support.judges import JUDGES
from support.shown import faults

from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.report import SIGNED, Line
from personafeedback_tasks.logs import log as logs

NEW = Line("acc_readable", "newness", unit=SIGNED, table="New", meaning="what a test adds", ranked=True)

DIRECTIONS = {
    "acc": True,
    "consistency": True,
    "over_longest": True,
    "invalid": False,
    "bias_first": False,
    "first_rate": None,
}
"""Whether more is better; None where neither is."""

UNDIRECTED = {
    "recenter_relevance": ("selection_rate", "human_rate", "over_selection"),
    "recenter_response": ("no_better", "no_better_people"), "personafeedback_swap": ("changed",),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Runs of two judges, whose benchmark has one measure more in its rankings."""
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))
    record = find("personafeedback")
    details = [line for line in record.report.details if line.key != NEW.key]
    monkeypatch.setitem(vars(record), "report", replace(record.report, details=(*details, NEW)))
    for judge in ("readable", "gold"):
        jsonl_harness.run(JUDGES[judge], judge, tmp_path / "logs", "personafeedback", "hard", data="sample")
    return tmp_path / "logs"


def test_a_measure_is_one_entry_and_is_in_every_output(folder, tmp_path):
    out = tmp_path / "out"  # of both: neither writes over a file of the other
    reported = personafeedback("report", folder, "--full", "--out", out)
    ranked = personafeedback("rank", folder, "--full", "--out", out)
    assert reported.exit_code == ranked.exit_code == 0, reported.output + ranked.output
    files = {path.name: path.read_text("utf-8") for path in out.iterdir()}
    kinds = {"report": ("md", "json", "html"), "ranking": ("md", "csv", "json", "html")}
    assert files.keys() == {f"{name}.{kind}" for name in kinds for kind in kinds[name]}
    for text in (reported.stdout, files["report.md"]):
        assert NEW.label in text
    for text in (ranked.stdout, files["ranking.md"].replace("\\", "")):
        assert NEW.key in text
        assert "+1.000" in text  # in its unit
    document = json.loads(files["ranking.json"])
    assert faults(document, "rank") == []
    entry = document["rankings"][0]["measures"][NEW.key]
    assert (entry["unit"], entry["meaning"]) == (SIGNED, NEW.meaning)
    gold = next(run for run in document["rankings"][0]["runs"] if run["model"] == "gold")
    assert gold["measures"][NEW.key]["value"] == 1
    rows = {row["model"]: row for row in csv.DictReader(files["ranking.csv"].splitlines())}
    assert float(rows["gold"][NEW.key]) == 1
    report = json.loads(files["report.json"])
    assert faults(report, "report") == []
    assert all(NEW.key in run["groups"]["total"]["measures"] for run in report["reports"])
    assert all(run["measures"][NEW.key]["meaning"] == NEW.meaning for run in report["reports"])
    assert NEW.meaning in files["report.html"]
    assert NEW.meaning in files["ranking.html"]


def test_a_document_says_whether_more_of_a_measure_is_better(folder, tmp_path):
    assert personafeedback("report", folder, "--out", tmp_path).exit_code == 0
    run, _ = json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"]
    found = {key: one["higher_is_better"] for key, one in run["measures"].items()}
    assert {key: found[key] for key in DIRECTIONS} == DIRECTIONS
    assert {found[key] for key, one in run["measures"].items() if one["kind"] in ("baseline", "shared")} == {None}
    for name, keys in UNDIRECTED.items():
        assert {find(name).report.line(key).higher_is_better for key in keys} == {None}
