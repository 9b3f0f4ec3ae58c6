"""Inspect's own marks: what somebody invalidated or excluded does not count, and an unfinished run is so called."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval_retry
from inspect_ai.log import (
    ProvenanceData,
    edit_score,
    invalidate_samples,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.scorer import ScoreEdit
from support.commands import personafeedback, ran
from support.logs import bent, inspect_log
from support.releases import write_hard
from support.shown import sentences

from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.read import read_run, read_runs
from personafeedback_tasks.stats.estimates import mean

HARD, CASES = "personafeedback_general_hard", 24
BAD = 5
UNFINISHED = "not finished: still running, or killed"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A set, so that a card is not refused for the sample's sake."""
    return write_hard(tmp_path_factory.mktemp("data") / "set", CASES)


@pytest.fixture(scope="module")
def log(data, tmp_path_factory) -> Path:
    return inspect_log(tmp_path_factory.mktemp("log"), "readable", HARD, data)


@pytest.fixture(scope="module")
def epochs(data, tmp_path_factory) -> Path:
    return inspect_log(tmp_path_factory.mktemp("epochs"), "readable", HARD, data, epochs=2)


def invalidated(log: Path, to: Path, of: Callable[[Any], bool], recompute: bool = False) -> Path:
    """A copy some of whose samples Inspect itself invalidates."""
    found = read_eval_log(str(log))
    chosen = [str(sample.uuid) for sample in found.samples or () if of(sample)]
    found = invalidate_samples(found, chosen, ProvenanceData(author="Ann", reason="the server broke"))
    assert found.invalidated
    if recompute:
        recompute_metrics(found)
    write_eval_log(found, str(to))
    return to


def first_wrong(log: Path) -> set[str]:
    """Ids of some cases that the run got wrong: without them its accuracy is another one."""
    cases = read_run(log).cases.values()
    return {case.case_id for case in sorted(cases, key=lambda case: (case.value("acc"), case.case_id))[:BAD]}


@pytest.mark.slow
@pytest.mark.parametrize(("form", "recompute"), [("eval", False), ("json", True)])
def test_invalidated_samples_do_not_count(form, recompute, log, data, tmp_path):
    bad, whole = first_wrong(log), read_run(log)
    marked = invalidated(log, tmp_path / f"log.{form}", lambda sample: sample.id in bad, recompute)
    run = read_run(marked)
    assert run.cases == {name: case for name, case in whole.cases.items() if name not in bad}
    assert run.partial == {"general_hard": (CASES - BAD, CASES)}
    assert run.left_out == {"invalidated": BAD}
    ran("report", "--full", marked, "--data", data, "--out", tmp_path / "out")
    document = json.loads((tmp_path / "out" / "report.json").read_bytes())["reports"][0]
    assert document["left_out"] == {"invalidated": BAD}
    expected = mean(case.value("acc") for case in run.cases.values())
    assert expected > mean(case.value("acc") for case in whole.cases.values())
    assert document["groups"]["general_hard"]["measures"]["acc"]["value"] == pytest.approx(expected, abs=1e-12)
    said = " ".join(sentences(document))
    assert "PARTIAL: general" in said
    assert f"LEFT OUT: samples that do not count ({BAD} invalidated)" in said
    card = personafeedback("card", marked, "--data", data, "--model-card", tmp_path / "card.md")
    assert card.exit_code == 1
    assert f"LEFT OUT: samples that do not count ({BAD} invalidated)." in card.output


@pytest.mark.parametrize("whole", ["every sample", "the header"])
def test_an_invalidated_log_is_refused_and_in_a_folder_passed_over(whole, log, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    marked = folder / "a.eval"
    if whole == "every sample":
        invalidated(log, marked, lambda sample: True)
    else:
        marked = bent(log, folder, lambda header, samples: header.update(invalidated=True))
    with pytest.raises(RunError, match="found a log that is marked as invalidated as a whole, .*inspect eval-retry"):
        read_run(marked)
    shutil.copy(log, folder / "b.eval")
    said: list[str] = []
    (run,) = read_runs([folder], said.append)
    assert len(run.cases) == CASES
    (line,) = said
    assert line.startswith(f"Skipped {marked}: found a log that is marked as invalidated")


@pytest.mark.slow
def test_eval_retry_asks_invalidated_samples_again_with_the_same_options(data, tmp_path):
    """What the sentence on them advises; in a folder, the new log takes the place of the old one."""
    log = inspect_log(tmp_path / "first", "readable", HARD, data, told={"prompt": "v2", "hide": "Name"})
    whole, bad = read_run(log), first_wrong(log)
    (tmp_path / "again").mkdir()
    marked = invalidated(log, tmp_path / "again" / "log.eval", lambda sample: sample.id in bad)
    (retried,) = eval_retry(str(marked), log_dir=str(tmp_path / "again"), display="none", score_display=False)
    assert retried.status == "success"
    run = read_run(tmp_path / "again")
    assert (run.cases, run.signature, run.left_out) == (whole.cases, whole.signature, {})
    assert run.logs != (marked,)


def test_scores_that_somebody_took_away_do_not_count(log, tmp_path):
    """A score that is nan is what Inspect 0.3.285 leaves out of its metrics."""
    bad, found = first_wrong(log), read_eval_log(str(log))
    for case_id in sorted(bad):
        edit_score(found, case_id, "personafeedback", ScoreEdit(value=float("nan")), recompute_metrics=False)
    recompute_metrics(found)
    write_eval_log(found, str(tmp_path / "log.eval"))
    run = read_run(tmp_path / "log.eval")
    assert run.left_out == {"excluded from metrics": BAD}
    assert run.cases.keys() == read_run(log).cases.keys() - bad


@pytest.mark.slow
def test_a_case_without_all_of_its_epochs_is_left_out(epochs, tmp_path):
    assert read_run(epochs).partial == {}
    bad = first_wrong(epochs)
    marked = invalidated(epochs, tmp_path / "log.eval", lambda sample: sample.id in bad and sample.epoch == 2)
    run = read_run(marked)
    assert run.cases.keys() == read_run(epochs).cases.keys() - bad
    assert run.left_out == {"invalidated": BAD, "without all 2 epochs of their case": BAD}
    assert run.partial == {"general_hard": (CASES - BAD, CASES)}


# --- runs that have not come to their end -----------------------------------------------------------------------------


def started(log: Path, to: Path) -> Path:
    """A log as it is while the run goes on: no header yet, and the samples that are finished so far."""
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(to, "w") as new:
        names = [name for name in old.namelist() if name.startswith("samples/")]
        for name in ("_journal/start.json", *names[:7]):
            new.writestr(name, old.read(name))
    return to


def test_a_log_that_is_still_being_written_is_not_called_failed(log, data, tmp_path):
    going = started(log, tmp_path / "a.eval")
    pays_twice = (
        "If it is still running, wait for its end: resuming it now would pay twice. If it was killed, `inspect "
    )
    done = ran("report", "--full", going, "--data", data)
    assert f"The run is {UNFINISHED}. {pays_twice}" in done.output
    card = personafeedback("card", going, "--data", data, "--model-card", tmp_path / "card.md")
    assert card.exit_code == 1
    assert pays_twice in card.output
    said: list[str] = []
    whole = bent(log, tmp_path / "whole", lambda header, samples: header["eval"].update(task_id="another"))
    shutil.copy(going, tmp_path / "whole" / "a.eval")
    (run,) = read_runs([tmp_path / "whole"], said.append)
    assert run.logs == (whole,)
    (line,) = said
    assert f"a.eval: {UNFINISHED}, with 7 cases answered. {pays_twice}" in line


def test_a_run_that_ended_early_is_not_called_running(log, tmp_path):
    for status, state in (("error", "an error stopped it"), ("cancelled", "it was cancelled")):
        path = bent(log, tmp_path / status, lambda header, samples, status=status: header.update(status=status))
        done = personafeedback("report", "--full", path)
        assert f"The run is not finished: {state}. `inspect eval-retry LOG` resumes it." in done.output
        assert "still running" not in done.output


@pytest.fixture(scope="module")
def several(tmp_path_factory) -> Path:
    """A log of lm-eval with a samples file for each cell."""
    from support.logs import lm_eval_log

    return lm_eval_log(tmp_path_factory.mktemp("several"), "readable", "personafeedback_general", "sample")


@pytest.mark.parametrize("cut", ["samples", "one of the samples", "a row", "the results", "an .eval"])
def test_logs_that_end_too_early_say_the_same(cut, log, several, tmp_path):
    path = shutil.copytree(several.parent, tmp_path / "lm") / several.name
    files = sorted(path.parent.glob("samples_*.jsonl"))
    if cut == "samples":
        for file in files:
            file.unlink()
    elif cut == "one of the samples":
        files[-1].unlink()
    elif cut == "a row":
        files[0].write_bytes(files[0].read_bytes()[:-300])
    elif cut == "the results":
        path.write_bytes(path.read_bytes()[:-300])
    else:
        path = tmp_path / "cut.eval"
        path.write_bytes(log.read_bytes()[:-2000])
    with pytest.raises(RunError, match=f"The run is perhaps {UNFINISHED}") as caught:
        read_run(path)
    said = str(caught.value)
    assert (files[-1].name in said) == (cut == "one of the samples")
    assert "run again" not in said.lower().replace("--log_samples", "")
    assert "wait for its end: resuming it now would pay twice" in said
