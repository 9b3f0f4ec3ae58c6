"""Records of Every Eval Ever: their values are the report's, their samples its calls, and their own validator takes them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest
from support.commands import personafeedback, ran
from support.documents import run_as_printed

pytestmark = pytest.mark.slow

ABOUT = ("--evaluator", "Acme", "--relationship", "third_party", "--name")
TASK = "personafeedback_general_hard"


@pytest.fixture(scope="session")
def validator(tmp_path_factory):
    """Release 0.3.0, without the packages that only its figures need: they exclude ours."""
    folder = tmp_path_factory.mktemp("every_eval_ever")
    install = [
        "pip",
        "install",
        "-q",
        "--target",
        folder,
        "--no-deps",
        "--python-version",
        "3.12",
        "every-eval-ever==0.3.0",
    ]
    if subprocess.run([sys.executable, "-m", "uv", *install], capture_output=True).returncode:
        pytest.skip("no package registry is at hand")
    return folder


@pytest.mark.parametrize(
    ("harness", "task", "control"),
    [
        ("lm-eval", TASK, {"metadata": {"setting": "no_persona"}}),
        ("lm-eval", f"{TASK}_mc", {}),
        ("inspect", TASK, {"setting": "no_persona"}),
    ],
)
def test_every_number_of_the_report_and_every_call_is_in_the_record(
    harness, task, control, part_log, real_part, validator, tmp_path
):
    judge = "readable" if control else "anti_gold"
    logs = [part_log(harness, judge, task), *([part_log(harness, judge, task, **control)] if control else [])]
    report = tmp_path / "report"
    assert personafeedback("report", *logs, "--data", real_part, "--out", report).exit_code == 0
    (found,) = json.loads((report / "report.json").read_text("utf-8"))["reports"]
    command = ("export", *logs, *ABOUT, f"{found['model']}=acme/reader", "--data", real_part, "--out")
    ran(*command, tmp_path / "one")
    assert personafeedback(*command, tmp_path / "two").exit_code == 0
    (record_file,) = (tmp_path / "one" / "data" / "personafeedback" / "acme" / "reader").glob("*.json")
    again = tmp_path / "two" / record_file.relative_to(tmp_path / "one")
    assert again.read_bytes() == record_file.read_bytes()

    record = json.loads(record_file.read_bytes())
    results = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
    assert len(results) == len(record["evaluation_results"])
    for group, values in found["groups"].items():
        for name, value in values["measures"].items():
            key = f"persona/{group}/{name}"
            better = found["measures"][name]["higher_is_better"]
            if better is None or value["value"] is None:
                assert key not in results
                continue
            assert results[key]["metric_config"]["lower_is_better"] == (not better)
            scored = results[key]["score_details"]
            assert scored["score"] == value["value"]
            if value["low"] is not None:
                interval = scored["uncertainty"]["confidence_interval"]
                assert [interval["lower"], interval["upper"]] == [value["low"], value["high"]]
                assert scored["uncertainty"]["standard_error"]["value"] == value["stderr"]
            assert scored["uncertainty"]["num_samples"] == value["n"]
    if control:
        gain = results["persona/general_hard/persona_gain"]["score_details"]
        assert gain["score"] == found["groups"]["general_hard"]["measures"]["persona_gain"]["value"]

    (samples_file,) = record_file.parent.glob("*_samples.jsonl")
    samples = [json.loads(line) for line in samples_file.read_text("utf-8").splitlines()]
    by_result = {}
    for one in samples:
        by_result.setdefault(one["evaluation_result_id"], []).append(one["evaluation"]["score"])
        assert one["input"]["raw"].strip()
    assert {name.partition("/")[0] for name in by_result} == ({"persona", "no_persona"} if control else {"persona"})
    for name, scores in by_result.items():
        assert fmean(scores) == pytest.approx(results[name]["score_details"]["score"], abs=1e-12)
        assert len(scores) == 2 * results[name]["score_details"]["uncertainty"]["num_samples"]
    assert len({one["sample_id"] for one in samples}) == len(samples)

    paths = [path.relative_to(tmp_path / "one") for path in (record_file, samples_file)]
    said = subprocess.run(
        [sys.executable, "-m", "every_eval_ever.validator.cli", "--format", "json", *paths],
        cwd=tmp_path / "one", env={**os.environ, "PYTHONPATH": str(validator)}, capture_output=True, text=True,
    )  # fmt: skip
    assert [(one["valid"], one["errors"], one["warnings"]) for one in json.loads(said.stdout)] == [(True, [], [])] * 2


def test_the_command_of_the_page_runs_as_printed(part_log, real_part, tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "publishing.md"
    (line,) = (line for line in page.read_text("utf-8").splitlines() if line.startswith("personafeedback export"))
    (tmp_path / "logs").mkdir()
    shutil.copy(part_log("inspect", "readable", TASK), tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    assert run_as_printed([line], monkeypatch).count("wrote datastore/data/personafeedback/scripted/readable/") == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--evaluator", "Acme"), "Missing option '--relationship'"),
        (ABOUT[:-1], "files a model under DEVELOPER/MODEL"),
        ((*ABOUT, "{model}=acme/reader", "--sample"), "should not be in a model card"),
    ],
)
def test_what_cannot_be_a_record_is_refused(more, message, part_log, real_part, tmp_path):
    log, data = part_log("lm-eval", "readable", TASK), ("--data", real_part)
    if "--sample" in more:
        log, data, more = part_log("lm-eval", "mixed", TASK, limit=30), ("--data", real_part), more[:-2]
        more = (*more, "CUSTOM=acme/reader")
    done = personafeedback("export", log, *more, *data, "--out", tmp_path / "out")
    assert done.exit_code in (1, 2)
    assert message in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()
