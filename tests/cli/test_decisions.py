"""What the commands decide by themselves: which options go together, what is written where, and what is printed. On logs of the toy harness."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from support import jsonl_harness
from support.commands import personafeedback, ran
from support.jsonl_harness import judged

from personafeedback_tasks.cli import registration
from personafeedback_tasks.logs import log as logs


def refused(*arguments: object) -> str:
    ended = personafeedback(*arguments)
    assert ended.exit_code != 0, ended.output
    return ended.output


def test_a_control_beside_its_run_is_its_control_and_one_that_does_not_fit_says_why(tmp_path):
    log, control = judged(tmp_path, "mixed"), judged(tmp_path / "control", "mixed", setting="no_persona")
    told = ran("report", log, control).output
    assert told == ran("report", control, log).output != ran("report", log).output
    other = judged(tmp_path / "other", "mixed", setting="no_persona", method="cot")
    unfit = "found method cot, expected generate as in the run that it controls. Only setting may differ."
    record = ("export", log, other, "--out", tmp_path, "--evaluator", "me", "--relationship", "first_party")
    for shown in (ran("report", log, other).output, refused(*record)):
        assert unfit in " ".join(shown.split())
    for judge in ("mixed", "gold"):
        judged(tmp_path / "other" / judge, judge)
    assert "found 3 runs" in refused("compare", log, tmp_path / "other")


@pytest.fixture
def mixed_logs(tmp_path) -> Path:
    """Runs of the chain and of a writer, and beside them two logs of PersonaFeedback with a case in common."""
    folder = tmp_path / "logs"
    for name in ("recenter_extract", "recenter_respond", "personafeedback_write"):
        jsonl_harness.run(lambda case, model: "[]", "acme/writer", folder / name, name, data="sample")
    log = judged(folder / "whole", "gold")
    header, *rows, last = log.read_text("utf-8").splitlines()
    for name, part in (("first", rows[:-1]), ("last", rows[1:])):
        (folder / name).mkdir()
        end = json.dumps({**json.loads(last), "cases": len(part)})
        (folder / name / log.name).write_text("\n".join([header, *part, end]), "utf-8")
    log.unlink()
    assert "expected each once in a run" in " ".join(refused("report", folder).split())
    return folder


def test_logs_of_a_benchmark_that_a_command_does_not_need_stop_nothing(mixed_logs, tmp_path):
    for command in (
        ("annotate", "pack", mixed_logs, "--out", tmp_path / "study"),
        ("chain", mixed_logs, "--people", "sample"),
    ):
        assert "found a run of personafeedback, expected one of recenter_extract" in ran(*command).output
    ran("duel", mixed_logs, "--against", "rejected", "--out", tmp_path / "duel")
    said = refused("chain", mixed_logs / "first", "--people", "sample")
    assert "Found no run of recenter_extract, recenter_select, recenter_respond, expected at least one" in said


def test_what_can_be_refused_at_once_is_refused_before_a_log_is_read(tmp_path, monkeypatch):
    log = judged(tmp_path, "gold")
    monkeypatch.setattr(logs, "READERS", ())  # a log that is read would be none of ours
    assert "--against must be chosen, rejected or a log" in refused(
        "duel", log, "--against", "x", "--out", tmp_path / "d"
    )
    assert "There is no folder" in refused("chain", log, "--people", tmp_path / "nobody")


def test_several_settings_are_scored_one_at_a_time(tmp_path):
    (tmp_path / "r.jsonl").touch()
    said = refused("score-replies", "personafeedback", tmp_path / "r.jsonl", "-T", "setting=persona,no_persona")
    assert "one setting at a time, got persona, no_persona" in said
    assert "inspect eval ... -T setting=A,B" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rank LOG --json x --csv x", "--json and --csv cannot both write to x."),
        ("rank LOG --value acc", "value acc is of other tasks, and cost names no log of one."),
        ("card LOG --value acc --model-card x", "value acc is of other tasks, and cost names no log of one."),
        ("score-replies personafeedback x --template --partial", "Leave --partial, --out and --json out."),
        ("score-replies personafeedback x --template --json y", "Leave --partial, --out and --json out."),
        ("register --undo --path", "Leave one of them out."),
        ("build texts . --batch", "Pass --model MODEL."),
        ("build pilot . -M base_url=x", "Pass --model MODEL."),
    ],
)
def test_an_option_that_nothing_would_read_is_refused(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran("build", "init", ".")
    log = judged(tmp_path / "log", "gold")
    assert sentence in refused(*words.replace("LOG", str(log)).split())
    assert not {"x", "y"} & {path.name for path in tmp_path.iterdir()}


def test_no_output_replaces_what_the_command_reads(tmp_path):
    log, other = judged(tmp_path, "gold"), judged(tmp_path / "other", "readable")
    before = log.read_bytes()
    for command in (("report", log, "--json"), ("rank", log, "--csv"), ("compare", log, other, "--json")):
        assert "found a file that this command reads" in refused(*command, log)
    for folder in (tmp_path, other.parent):
        assert f"{log}: found a log, expected another file" in refused("rank", folder, "--json", log)
    assert log.read_bytes() == before
    for _ in range(2):
        ran("rank", tmp_path, "--json", tmp_path / "ranking.json", "--csv", tmp_path / "ranking.csv")


def test_a_missing_cell_is_said_where_no_table_is_printed(make_release):
    row = {"user_id": "u", "question": "q?", "chosen": "a", "reject": "b"}
    data = make_release({"general/hard": [row]}, {"u": {"Name": "Ann"}})
    ended = personafeedback("audit", "--data", data, "--json", "-")
    assert "only the other cells are included." in ended.stderr
    assert "general_hard" not in ended.stderr
    assert "counts=any" in json.loads(ended.stdout)["data"]
    assert "only the other cells are included." in ran("audit", "--data", data).output
    assert "only the other cells" not in ran("audit", "--data", "sample").output


def raising(number: int, file: str | None):
    """A function that the system does not let do its work."""
    return Mock(side_effect=OSError(number, os.strerror(number), file))


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ((errno.EACCES, "/etc/no"), f"Could not open file '/etc/no': {os.strerror(errno.EACCES)}"),
        ((errno.ENOSPC, "/mnt/full"), f"Could not open file '/mnt/full': {os.strerror(errno.ENOSPC)}"),
        ((errno.ENOSPC, None), f"The output could not be written ({os.strerror(errno.ENOSPC)}). Free some disk space."),
    ],
)
def test_an_error_of_the_system_is_a_sentence_with_the_file_that_it_is_about(error, sentence, monkeypatch):
    monkeypatch.setattr(registration, "task_configs", raising(*error))
    assert refused("register", "--path") == f"Error: {sentence}\n"


def test_an_error_of_the_system_without_a_file_or_a_remedy_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(registration, "task_configs", raising(errno.EIO, None))
    with pytest.raises(AssertionError, match=re.escape(os.strerror(errno.EIO))):
        personafeedback("register", "--path")


@pytest.mark.parametrize("group", ["build", "annotate", "recenter"])
def test_a_group_without_a_command_shows_its_help(group, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = personafeedback(group)
    assert len(ended.output.splitlines()) > 5
    assert "\\n" not in ended.output
