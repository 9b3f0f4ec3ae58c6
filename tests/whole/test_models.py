"""benchmarks/models.py: which cases it asks, and that a run which is done is not run again. Its runs are `tox -e models`."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def models():
    spec = importlib.util.spec_from_file_location("benchmark_models", CHECKOUT / "benchmarks/models.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their annotations
    spec.loader.exec_module(module)
    return module


def test_more_cases_are_further_runs_beside_the_same_ones(models):
    few, many = (models.jobs(cases, agree=8) for cases in (24, 60))
    assert {job.name: job for job in few}.items() <= {job.name: job for job in many}.items()
    assert len({job.name for job in many}) == len(many)
    asked = [place for part in range(60 // models.PART) for place in models.drawn(part)]
    assert len({*asked}) == 60
    assert {*asked} <= {*range(1010)}


def test_what_is_done_is_not_run_again_and_what_failed_is_not_done(models, tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    (tmp_path / "lm_eval").write_text(
        '#!/bin/sh\necho run >> ../runs.txt\n[ -e ../works ] && touch "$OUT/results_1.json"\n', encoding="utf-8"
    )
    (tmp_path / "lm_eval").chmod(0o755)
    monkeypatch.setattr(models, "BIN", tmp_path)
    job = models.Job(models.SMOL, "lm-eval hf", "mc", "sample")
    monkeypatch.setenv("OUT", str(tmp_path / "doing" / job.name))
    assert not models.run(job, tmp_path)
    (tmp_path / "works").touch()
    assert models.run(job, tmp_path)
    assert models.run(job, tmp_path)
    assert (tmp_path / "runs.txt").read_text("utf-8").count("run") == 2
    record = json.loads((tmp_path / "runs" / job.name / "job.json").read_text("utf-8"))
    assert record["command"][:4] == ["lm_eval", "run", "--tasks", "personafeedback_general_hard_mc"]


def test_the_published_table_is_of_these_weights(models):
    published = (CHECKOUT / "benchmarks/models.md").read_text("utf-8")
    assert f"| {' | '.join(models.COLUMNS)} |" in published
    for model in {job.model for job in models.jobs(4, agree=4) if f"| {job.model.name} |" in published}:
        assert model.sha256 in published
