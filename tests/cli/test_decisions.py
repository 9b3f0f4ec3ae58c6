"""What the commands decide by themselves: which options go together, what is written where, and what is printed. On logs of the toy harness."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from rich.cells import cell_len
from rich.text import Text
from support import jsonl_harness
from support.building import a_build
from support.commands import personafeedback
from support.duel_folders import write_duels
from support.judges import JUDGES
from support.recorded import exported

from personafeedback_tasks.building.models import Models
from personafeedback_tasks.cli import registration
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.recenter.filter import card, training
from personafeedback_tasks.reports.terminal import WIDTH
from personafeedback_tasks.runs import log as logs

SAMPLE = load_cases("sample")
TERMINAL = {"FORCE_COLOR": "1"}
"""The environment in which what is printed is taken for read on a terminal."""


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))


def judged(folder: Path, judge: str, data: object = "sample", selection: str = "", **options: object) -> Path:
    return jsonl_harness.run(JUDGES[judge], judge, folder, "personafeedback", selection, data=str(data), **options)


def done(*arguments: object, **environment: str) -> str:
    """What a command prints that succeeds."""
    ended = personafeedback(*arguments, **environment)
    assert ended.exit_code == 0, ended.output
    return ended.output


def refused(*arguments: object) -> str:
    ended = personafeedback(*arguments)
    assert ended.exit_code != 0, ended.output
    return ended.output


# --- rank, compare, verdict ---------------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path) -> Path:
    """A folder with the logs of two judges."""
    for judge in ("readable", "mixed"):
        judged(tmp_path / "logs", judge)
    return tmp_path / "logs"


def test_a_ranking_is_printed_or_written_as_asked(two, tmp_path):
    printed = done("rank", two)
    assert "readable" in printed
    assert not re.search(r"(?m)^\| ", printed)
    assert list(tmp_path.iterdir()) == [two]  # nothing was written
    marked = done("rank", two, "--markdown", "--csv", tmp_path / "r.csv", "--json", tmp_path / "r.json")
    assert re.search(r"(?m)^\| .*readable", marked)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "r.csv", "r.json"]
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text(encoding="utf-8-sig").splitlines()))
    (ranking,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["rankings"]
    assert [row["model"] for row in rows] == [run["model"] for run in ranking["runs"]] == ["readable", "mixed"]
    said = done("rank", two, "--out", tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["index.html", "ranking.csv", "ranking.json", "ranking.md"]
    assert all(f"wrote {tmp_path / 'out' / name}\n" in said for name in names)
    assert (tmp_path / "out" / "ranking.csv").read_bytes() == (tmp_path / "r.csv").read_bytes()


def test_a_ranking_is_as_narrow_as_a_terminal_and_whole_everywhere_else(two):
    names = {judge: f"acme/{judge}-{'and-a-long-name-' * 4}1" for judge in ("readable", "mixed")}
    rank = ("rank", two, *(f"--name={judge}={name}" for judge, name in names.items()))
    rows = [
        [Text.from_ansi(line).plain for line in done(*rank, *options, **environment).splitlines() if "(1–2)" in line]
        for options, environment in (((), TERMINAL), ((), {}), (("--markdown",), TERMINAL))
    ]
    assert [len(lines) for lines in rows] == [2, 2, 2]
    assert max(map(cell_len, rows[0])) <= WIDTH
    for name, terminal, *whole in zip(names.values(), *rows, strict=True):
        assert name not in terminal
        assert all(name in row for row in whole)


@pytest.mark.parametrize("given", ["readable", "=A", "readable=", "readable= ", ""])
def test_a_name_is_of_a_model(given, tmp_path):
    assert f"--name must be MODEL=SHOWN, got {given!r}." in refused("rank", tmp_path, "--name", given)


def test_what_a_model_is_called_may_have_spaces_and_equals_signs(two):
    assert "| R = 1 | 61.5 |" in done("rank", two, "--name", "readable= R = 1 ", "--markdown")


def test_an_exam_goes_with_duels_only(two, tmp_path):
    said = refused("rank", two, "--exam", two / "mixed.jsonl")
    assert "--exam needs runs on duels, and found none with their data." in said
    duels = write_duels(tmp_path / "duels", lambda case: case.rejected, difficulty="hard")
    log, exam = (judged(tmp_path / str(number), "gold", data, "hard") for number, data in enumerate((duels, "sample")))
    for options in ((), ("--exam", exam)):
        done("rank", log, *options, "--json", tmp_path / "r.json")
        (ranking,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["rankings"]
        (row,) = ranking["runs"]
        assert row["model"] == "acme/writer"


def test_a_run_beside_itself_differs_in_nothing(two, tmp_path):
    log = two / "mixed.jsonl"
    assert not re.search(r"(?m)^\| ", done("compare", log, log))
    assert re.search(r"(?m)^\| ", done("compare", log, log, "--markdown", "--json", tmp_path / "c.json"))
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert "expected one" in refused("compare", two, log)


def test_a_verdict_needs_duels(two):
    assert "has no duels. Pass a judge's run" in refused("verdict", two, "--exam", two / "mixed.jsonl")


# --- report and its controls --------------------------------------------------------------------------------------------


def test_a_control_beside_its_run_is_its_control_and_one_that_does_not_fit_says_why(two, tmp_path):
    log, control = two / "mixed.jsonl", judged(tmp_path / "control", "mixed", setting="no_persona")
    told = done("report", log, control)
    assert told == done("report", control, log) != done("report", log)
    other = judged(tmp_path / "other", "mixed", setting="no_persona", method="cot")
    said = " ".join(done("report", log, other).split())
    assert "found method cot, expected generate as in the run that it controls. Only setting may differ." in said


# --- replies ------------------------------------------------------------------------------------------------------------


def test_replies_are_scored_again(two, tmp_path):
    file = exported(two / "mixed.jsonl", tmp_path / "replies.jsonl")
    done("score-replies", "personafeedback", file, "--data", "sample", "--out", tmp_path / "a")
    document = done("score-replies", "personafeedback", file, "-T", "data=sample", "--json", "-")
    written = json.loads((tmp_path / "a" / "report.json").read_text(encoding="utf-8"))
    assert json.loads(document)["reports"][0]["groups"] == written["reports"][0]["groups"]


@pytest.mark.parametrize("given", ["data", "=sample"])
def test_an_option_of_a_task_is_a_pair(given, tmp_path):
    (tmp_path / "r.jsonl").touch()
    assert "-T needs NAME=VALUE" in refused("score-replies", "personafeedback", tmp_path / "r.jsonl", "-T", given)


def test_several_settings_are_scored_one_at_a_time(tmp_path):
    (tmp_path / "r.jsonl").touch()
    said = refused("score-replies", "personafeedback", tmp_path / "r.jsonl", "-T", "setting=persona,no_persona")
    assert "one setting at a time, got persona, no_persona" in said
    assert "inspect eval ... -T setting=A,B" in said


def test_an_option_that_is_given_twice_is_refused(tmp_path):
    (tmp_path / "r.jsonl").touch()
    arguments = ("score-replies", "personafeedback", tmp_path / "r.jsonl", "--data", "sample", "-T", "data=x")
    assert "data is given twice. Leave one of them out." in refused(*arguments)


# --- build --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (["a=1", "b=true", "c=x"], {"a": 1, "b": True, "c": "x"}),
        (["a=", "b=x=y"], {"a": "", "b": "x=y"}),
        (["a=[1, 2]", "b={"], {"a": [1, 2], "b": "{"}),  # what is no YAML is a text
    ],
)
def test_arguments_of_a_model_are_read_as_inspect_reads_them(given, arguments):
    assert Models(("m",), tuple(given)).arguments == {"m": arguments}


@pytest.mark.parametrize("given", ["a", "=1", ""])
def test_arguments_of_a_model_are_pairs(given):
    with pytest.raises(OptionError, match="-M must be KEY=VALUE"):
        Models(("m",), (given,))


def test_a_history_is_of_users(tmp_path):
    users, chats, root = tmp_path / "users.jsonl", tmp_path / "chats", tmp_path / "build"
    chats.mkdir()
    users.write_text('{"user_id": "u1", "profile": "A baker of Graz."}\n', encoding="utf-8")
    assert "--history is for the users of --users" in refused("build", "init", root, "--history", chats)
    assert not root.exists()
    assert "Read 1 users" in done("build", "init", tmp_path / "with history", "--users", users, "--history", chats)
    assert "Read 1 users" in done("build", "init", tmp_path / "users alone", "--users", users)
    assert "Next: personafeedback build plan" in done("build", "init", root)


def test_the_status_of_a_new_build_names_the_next_command(tmp_path):
    root = a_build(tmp_path / "build").root
    said = done("build", "status", root)
    assert f"Next: personafeedback build pilot {root}" in said
    assert "spent in" not in said
    assert "refused in" not in said
    assert "could not be read" not in said


# --- plan, export ------------------------------------------------------------------------------------------------


def test_a_plan_shows_differences_where_a_method_has_them(tmp_path):
    said = done("plan", "--data", "sample", "--json", tmp_path / "p.json")
    for line, after in pairwise(["Cells, ", "What a run takes", "The smallest difference", "unpaired: "]):
        assert said.index(line) < said.index(after)
    assert "The smallest difference" not in done("plan", "--data", "sample", "--task", "recenter_extraction")


def test_an_export_has_the_cases_that_were_asked_for(tmp_path):
    out = tmp_path / "cases.jsonl"
    said = done("export", "--format", "rewardbench", "--out", out, "--data", "sample", "--category", "general")
    count = len(load_cases("sample", "general"))
    assert f"wrote {out}: {count} cases, data " in said
    assert len(out.read_text(encoding="utf-8").splitlines()) == count < len(SAMPLE)


def test_a_missing_cell_is_said_where_no_table_is_printed(make_release):
    row = {"user_id": "u", "question": "q?", "chosen": "a", "reject": "b"}
    data = make_release({"general/hard": [row]}, {"u": {"Name": "Ann"}})
    for command in ("audit", "baselines"):
        ended = personafeedback(command, "--data", data, "--counts", "any", "--json", "-")
        assert "only the other cells are included." in ended.stderr
        assert "general_hard" not in ended.stderr
        assert json.loads(ended.stdout)
        assert "only the other cells are included." in done(command, "--data", data, "--counts", "any")
        assert "only the other cells" not in done(command, "--data", "sample")


# --- filters, and errors of the system ----------------------------------------------------------------------------------


def test_of_a_filter_that_was_trained_three_scores_are_printed(tmp_path, monkeypatch):
    """The model card has all of them."""
    scores = {score: {"value": number / 10, "stderr": None} for number, score in enumerate(card.SCORE_NAMES)}
    trained = {"README.md": "the card"}, dict.fromkeys(["by_user", *card.CONSTANT], scores)
    monkeypatch.setattr(training, "check_installed", lambda: None)
    monkeypatch.setattr(training, "train_on", lambda *given: trained)
    said = done("recenter", "train", "sample", "--out", tmp_path / "filter").splitlines()
    heading = next(at for at, line in enumerate(said) if "F1" in line)
    columns = ["F1, %", "kappa", "over-selection"]
    assert re.split("  +", said[heading].strip()) == columns
    names = ["filter, by user", *(f"always {label}" for label in card.CONSTANT.values())]
    for name, line in zip(names, said[heading + 1 : heading + 4], strict=True):
        shown, *numbers = re.split("  +", line)
        assert shown == name
        assert [float(number) for number in numbers] == pytest.approx(
            [
                scores[score]["value"] * (100 if column.endswith("%") else 1)
                for score, column in zip(scores, columns, strict=False)
            ]
        )
    assert (tmp_path / "filter" / "README.md").read_text(encoding="utf-8") == "the card"


def raising(number: int, file: str | None):
    """A function that the system does not let do its work."""

    def refuse() -> None:
        raise OSError(number, os.strerror(number), file)

    return refuse


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
    assert refused("task-configs") == f"Error: {sentence}\n"


def test_an_error_of_the_system_without_a_file_or_a_remedy_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(registration, "task_configs", raising(errno.EIO, None))
    with pytest.raises(AssertionError, match=re.escape(os.strerror(errno.EIO))):
        personafeedback("task-configs")
