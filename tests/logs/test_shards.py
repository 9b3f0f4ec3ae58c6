"""Logs that belong together: shards of a run, what `eval-set` leaves, and a log that another one continues."""

from __future__ import annotations

import csv
import json
import re
import shutil
from contextvars import copy_context

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from inspect_ai import eval_set
from inspect_ai.log import read_eval_log, write_eval_log
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback, ran
from support.logs import inspect_log

from personafeedback_tasks.logs.read import read_runs

pytestmark = pytest.mark.slow

TASK = "personafeedback_hard"


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """The whole run, and two halves of it in folders of their own; the second half has another copy in parts."""
    root = tmp_path_factory.mktemp("shards")
    for name, limit in (("whole", None), ("first", (0, 6)), ("second", (6, 16)), ("overlap", (4, 16))):
        inspect_log(root / name, "mixed", TASK, "sample", limit=limit)
    return root


def ranked(tmp_path, *arguments):
    done = ran("rank", *arguments, "--data", "sample", "--json", tmp_path / "r.json")
    rankings = json.loads((tmp_path / "r.json").read_text("utf-8"))["rankings"]
    return [row for ranking in rankings for row in ranking["runs"]], " ".join(done.stderr.split())


def halves(shards, folder, *names):
    for name in names:
        shutil.copytree(shards / name, folder / name)
    return folder


def test_shards_in_a_folder_make_the_run_and_are_named_on_every_first_screen(shards, tmp_path):
    folder = halves(shards, tmp_path / "logs", "first", "second")
    (row,), _ = ranked(tmp_path, folder)
    (whole,), _ = ranked(tmp_path, shards / "whole")
    assert not row["partial"]
    assert row["measures"] == whole["measures"]
    logs = {log.name for log in folder.rglob("*.eval")}  # which one comes first is open within a second
    for command in ("report", "rank"):
        done = personafeedback(command, folder, "--data", "sample", "--out", tmp_path / command)
        joined = re.search(r"JOINED: one run of (.*?\.eval), (.*?\.eval)\.", " ".join(done.stdout.split()))
        assert joined, done.output
        assert {*joined.groups()} == logs
        page = (tmp_path / command / "index.html").read_text("utf-8")
        assert all(log in page for log in logs)
    assert "JOINED" not in personafeedback("report", shards / "whole", "--data", "sample").stdout


def test_a_log_with_fewer_samples_than_its_header_counts_is_void(shards, tmp_path):
    log = read_eval_log(str(next((shards / "whole").glob("*.eval"))))
    log.samples = log.samples[:10]
    log.results.scores[0].metrics = {}
    write_eval_log(log, str(fewer := tmp_path / "fewer.eval"))
    said = "MISSING SAMPLES: fewer.eval has 10 of the 16 samples that its header counts."
    done = personafeedback("report", fewer, "--data", "sample")
    assert said in " ".join(done.stdout.split()).partition("accuracy")[0], done.output
    assert "No verdict: the numbers are void." in done.stdout
    done = personafeedback("rank", fewer, shards / "second", "--data", "sample", "--out", tmp_path / "rank")
    assert said in " ".join(done.stdout.split())
    assert said in (tmp_path / "rank" / "index.html").read_text("utf-8")


def test_logs_with_a_case_in_common_or_other_options_are_no_shards(shards, tmp_path):
    done = personafeedback("rank", halves(shards, tmp_path / "twice", "first", "overlap"), "--data", "sample")
    assert "expected each once in a run. Pass only the log that counts." in " ".join(done.stderr.split())
    folder = halves(shards, tmp_path / "other", "first")
    inspect_log(folder / "hot", "mixed", TASK, "sample", limit=(6, 16), temperature=0.5)
    rows, _ = ranked(tmp_path, folder, "--csv", tmp_path / "r.csv")
    assert [row["partial"] for row in rows] == [True, True]
    with open(tmp_path / "r.csv", encoding="utf-8", newline="") as file:
        assert [row["partial"] for row in csv.DictReader(file)] == ["1", "1"]


def test_a_folder_of_eval_set_has_its_settings_apart(tmp_path):
    settings = ("persona", "other_persona", "no_persona")
    done, _ = copy_context().run(  # Inspect leaves the model of the run in its context
        eval_set,
        [tasks.personafeedback_hard(data="sample", setting=setting) for setting in settings],
        str(tmp_path / "logs"), model="personafeedback/longest", display="none",
    )  # fmt: skip
    assert done
    assert [path for path in (tmp_path / "logs").iterdir() if path.suffix == ".json"]  # its own files lie beside
    (row,), said = ranked(tmp_path, tmp_path / "logs")
    assert said == ""
    assert {row["measures"][name]["value"] for name in ("right_minus_wrong", "persona_gain")} == {0.0}


def test_a_log_that_another_one_continues_is_named(shards, tmp_path):
    log = next((shards / "whole").glob("*.eval"))
    for name in ("a.eval", "b.eval"):
        shutil.copy(log, tmp_path / name)
    said: list[str] = []
    (run,) = read_runs([tmp_path], said.append)
    assert run.logs == (tmp_path / "b.eval",)
    (line,) = said
    assert line.startswith(f"Skipped {tmp_path / 'a.eval'}: {tmp_path / 'b.eval'} continues it and has its samples")


@pytest.mark.parametrize("status", ["error", "started"])
def test_a_log_that_failed_does_not_hide_the_complete_one_that_it_continues(status, shards, tmp_path):
    complete = next((shards / "whole").glob("*.eval"))
    shutil.copy(complete, tmp_path / "a.eval")
    log = read_eval_log(str(complete))
    log.status, log.samples, log.results, log.eval.created = status, log.samples[:3], None, "2099-01-01T00:00:00+00:00"
    write_eval_log(log, str(tmp_path / "b.eval"))
    said: list[str] = []
    (run,) = read_runs([tmp_path], said.append)
    assert (run.finished, len(run.cases)) == (True, 16)
    (line,) = said
    assert line.startswith(f"Skipped {tmp_path / 'b.eval'}: ")
    assert line.endswith(f"; {tmp_path / 'a.eval'}, which it continues, is complete. Name the log to report it.")
