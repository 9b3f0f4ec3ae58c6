"""Files that the commands write: whole or not at all, on a full disk too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from support.authors import PROFILES, profile, write
from support.commands import AWAY, personafeedback, ran, room_for, tree
from support.logs import lm_eval_log
from support.releases import write_release

from personafeedback_tasks.common import files
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS

pytestmark = pytest.mark.slow

JUDGES = {"v1": "gold", "v2": "readable"}
"""Wording -> who answers."""


CASES = 40


@pytest.fixture(scope="module", autouse=True)
def few_cases():
    """A cell of the paper has as many as ours: then a run on it may be published."""
    with patch.dict(PAPER_COUNTS, dict.fromkeys(PAPER_COUNTS, CASES)):
        yield


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    """A whole cell."""
    rows = [
        {"user_id": f"u{number % 20}", "question": f"{number}?", "chosen": f"Yes, {number}.", "reject": "No."}
        for number in range(CASES)
    ]
    personas = {f"u{number}": {"Name": f"Li {number}"} for number in range(20)}
    return write_release(tmp_path_factory.mktemp("data") / "release", {"general/hard": rows}, personas)


@pytest.fixture(scope="module")
def logs(release, tmp_path_factory) -> dict[str, Path]:
    folder, task = tmp_path_factory.mktemp("logs"), "personafeedback_general_hard"
    return {
        prompt: lm_eval_log(folder / prompt, judge, task, release, metadata={"prompt": prompt})
        for prompt, judge in JUDGES.items()
    }


@pytest.fixture(scope="module")
def authors(tmp_path_factory) -> Path:
    """People's labels of relevance, in the authors' layout."""
    labels = [(f"user-{number}", number, "What can I bake?", {"Owns an oven": True}) for number in range(5)]
    return write(tmp_path_factory.mktemp("authors") / "files", {PROFILES: [profile(*line) for line in labels]})


SAMPLE = ("--data", "sample")
COMMANDS = ("audit", "report", "card", "recenter import")


@pytest.fixture
def command(request, release, logs, authors):
    """(what a command writes: file name -> what may stand there before; a folder -> its arguments)."""
    one, two = logs.values()
    return {
        "audit": ({"a.json": "old"}, lambda to: ["audit", *SAMPLE, "--json", to / "a.json"]),
        "report": (
            dict.fromkeys(("report.md", "report.json", "report.html"), "old"),
            lambda to: ["report", one, "--data", release, "--out", to],
        ),
        "card": (
            {"README.md": "# Old\n"},
            lambda to: ["card", two, "--data", release, "--model-card", to / "README.md"],
        ),
        "recenter import": ({"relevance.jsonl": "old"}, lambda to: ["recenter", "import", authors, "--out", to]),
    }[request.param]  # fmt: skip


every_command = pytest.mark.parametrize("command", COMMANDS, indirect=True)


def fill(folder: Path, contents: dict[str, str]) -> Path:
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
        (folder / name).chmod(0o640)
    return folder


# --- one writer ------------------------------------------------------------------------------------------------------


@every_command
def test_missing_folders_are_made_a_link_stays_a_link_and_a_mode_a_mode(command, tmp_path):
    contents, arguments = command
    new = tmp_path / "not" / "there"
    ran(*arguments(new))
    assert {path.name for path in new.iterdir()} == contents.keys()

    real, linked = fill(tmp_path / "real", contents), tmp_path / "linked"
    linked.mkdir()
    for name in contents:
        (linked / name).symlink_to(real / name)
    links = tree(linked)
    assert personafeedback(*arguments(linked)).exit_code == 0
    assert tree(linked) == links
    assert {path.name for path in real.iterdir()} == contents.keys()
    for path in real.iterdir():
        assert path.stat().st_mode & 0o777 == 0o640
        assert path.read_bytes() == (new / path.name).read_bytes() or path.name == "README.md"
        assert path.read_text(encoding="utf-8", errors="replace") != contents[path.name]


# --- what fails changes nothing --------------------------------------------------------------------------------------


@every_command
@pytest.mark.parametrize("room", ["for none", "for all but the largest"])
def test_a_full_disk_is_one_sentence_and_everything_is_as_it_was(command, room, tmp_path):
    contents, arguments = command
    folder = fill(tmp_path / "folder", contents)
    personafeedback(*arguments(tmp_path / "new"))
    second, largest = sorted((0, *(path.stat().st_size for path in (tmp_path / "new").iterdir())))[-2:]
    before = tree(folder)
    limit = 16 if room == "for none" else (second + largest) // 2
    for there in (folder, tmp_path / "new folder"):
        with room_for(limit):
            done = personafeedback(*arguments(there))
        assert done.exit_code == 1
        assert re.match(r"Error: (.*): could not be written \(File too large\)", done.stderr)[1] in map(
            str, map(there.joinpath, contents)
        )
        assert done.stderr.count("\n") == 1, done.stderr
    assert tree(folder) == before
    assert tree(tmp_path / "new folder") == {}


@pytest.mark.parametrize("error", [DataError("broken row"), KeyboardInterrupt()])
def test_content_that_breaks_off_leaves_nothing_behind(error, tmp_path):
    def lines():
        yield "new\n" * 100_000
        raise error

    folder = fill(tmp_path / "folder", {"a": "old"})
    before = tree(folder)
    for path in (folder / "a", folder / "b"):
        with pytest.raises(type(error)):
            files.write(path, lines())
    assert tree(folder) == before


def test_a_device_is_refused_and_not_replaced():
    done = personafeedback("audit", *SAMPLE, "--json", "/dev/full")
    assert done.exit_code == 1
    assert done.output.startswith("Error: /dev/full: could not be written (it is not a regular file)")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("arguments", [["--json", "-"], []])
def test_a_full_disk_behind_stdout_is_one_sentence(arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "personafeedback_tasks", "audit", *SAMPLE, *arguments], cwd=AWAY,
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert done.stderr.startswith("Error: The output could not be written (No space left on device).")
    assert "Traceback" not in done.stderr
