"""docs/scale.md: its loop as printed. Four processes at a time ask two servers, one is killed half-way, and the loop runs again."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from support.documents import DOCS, block, needs_checkout, text
from support.judges import readable, who_asks
from support.killed import kill
from support.servers import serving

from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.personafeedback.cases import load_cases

pytestmark = needs_checkout

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

SCALE = DOCS / "scale.md"
SETTINGS = ("persona", "other_persona", "no_persona")
KILLED = "specific_medium"
ADDRESSES = ("http://localhost:8000/v1", "http://localhost:8001/v1")


class HalfWay:
    """A judge whose choice depends on the setting. It makes one cell wait after half of its calls, until that is released."""

    def __init__(self):
        self.reached, self.released = threading.Event(), threading.Event()
        self._left = sum(case.id.startswith(f"{KILLED}:") for case in load_cases("sample")) * len(SETTINGS)
        self._lock = threading.Lock()

    def __call__(self, asker: str, order: str) -> str:
        if asker.startswith(f"{KILLED}:") and not self.released.is_set():
            with self._lock:
                self._left -= 1
                over = self._left < 0
            if over:
                self.reached.set()
                self.released.wait(timeout=300)
        return readable(asker, order)


class Lab:
    """A folder with the page's scripts, and two servers."""

    def __init__(self, folder: Path, harness: str, servers) -> None:
        self.folder, self._servers = folder, servers
        folder.mkdir()
        (folder / "job.sh").write_text(block(SCALE, f"scale: job for {harness}"), encoding="utf-8")
        loop = block(SCALE, "scale: loop")
        for shown, server in zip(ADDRESSES, servers, strict=True):
            assert shown in loop
            loop = loop.replace(shown, server.url)
        (folder / "loop.sh").write_text(loop, encoding="utf-8")

    def start(self, command: str) -> subprocess.Popen:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen(
                ["bash", "-c", command], cwd=self.folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "PATH": path, "PERSONAFEEDBACK_DATA": "sample", "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"},
            )  # fmt: skip

    def run(self, command: str) -> None:
        process = self.start(command)
        try:
            assert process.wait(timeout=500) == 0, self.output()
        finally:
            kill(process)

    def output(self) -> str:
        return (self.folder / "output").read_text(encoding="utf-8")[-3000:]

    def take_seen(self) -> list[tuple[str, str]]:
        return [who for server in self._servers for who in server.take_seen()]

    def ranking(self) -> dict:
        """What the page's last command finds, without the names of logs and dates."""
        self.run(block(SCALE, "scale: rank"))
        (ranking,) = json.loads((self.folder / "ranking" / "ranking.json").read_text(encoding="utf-8"))["rankings"]
        (run,) = ranking["runs"]
        return {"cells": ranking["cells"], "measures": run["measures"]}


@pytest.fixture(scope="module", params=["inspect", "lm-eval"])
def labs(request, tmp_path_factory):
    """The folder of the loop, killed and run again; that of one run of all cells; what was asked before and after the kill."""
    judge = HalfWay()
    cases = load_cases("sample")
    asked = {
        prompt: (f"{case_id} {setting}", order)
        for setting in SETTINGS
        for prompt, (case_id, order) in who_asks(cases, setting).items()
    }
    root = tmp_path_factory.mktemp("lab")
    with serving(judge, asked) as first, serving(judge, asked) as second:
        sharded = Lab(root / "sharded", request.param, (first, second))
        loop = sharded.start("bash loop.sh")
        try:
            while not judge.reached.wait(timeout=1):
                assert loop.poll() is None, sharded.output()
            time.sleep(10)  # the harness keeps what was answered
            _process_of(KILLED, loop.pid).kill()
            judge.released.set()
            assert loop.wait(timeout=500) != 0  # the loop says that a job failed
        finally:
            judge.released.set()
            kill(loop)
        before = sharded.take_seen()
        sharded.run("bash loop.sh")
        after = sharded.take_seen()

        whole = Lab(root / "whole", request.param, (first, second))
        whole.run(f"bash job.sh personafeedback Qwen/Qwen2.5-7B-Instruct {first.url}")
        yield sharded, whole, (before, after)


def _process_of(cell: str, loop: int) -> psutil.Process:
    """The harness's process for a cell. Others come and go meanwhile."""
    for process in psutil.Process(loop).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            program, *words = process.cmdline()
            if "python" in program and any(cell in word for word in words):
                return process
    raise AssertionError(f"no process asks {cell}")


@pytest.mark.release
@pytest.mark.tried("runs that were killed half-way and resumed: every case scored once")
def test_every_case_was_scored_once_under_each_setting(labs):
    sharded, _, _ = labs
    logs = [run for log in sorted((sharded.folder / "logs").rglob("*")) if _is_log(log) for run in read_runs([log])]
    scored = Counter(
        (case_id, run.signature.options["setting"]) for run in logs if run.finished for case_id in run.cases
    )
    assert scored == {(case.id, setting): 1 for case in load_cases("sample") for setting in SETTINGS}


def _is_log(path: Path) -> bool:
    return path.suffix == ".eval" or bool(re.fullmatch(r"results_.*\.json", path.name))


@pytest.mark.release
def test_the_ranking_is_that_of_one_run(labs):
    sharded, whole, _ = labs
    found, expected = sharded.ranking(), whole.ranking()
    assert len(found["cells"]) == 6
    assert found["measures"]["right_minus_wrong"]["value"] != 0
    assert found == expected


@pytest.mark.release
def test_the_second_time_only_what_is_missing_is_asked(labs):
    _, _, (before, after) = labs
    everything = {
        (f"{case.id} {setting}", order)
        for case in load_cases("sample")
        for setting in SETTINGS
        for order in ("chosen_first", "rejected_first")
    }
    assert set(before) | set(after) == everything
    assert {asker.partition(":")[0] for asker, _ in after} == {KILLED}
    assert len(after) < sum(asker.startswith(f"{KILLED}:") for asker, _ in everything)
    assert max(Counter(before).values()) == max(Counter(after).values()) == 1


NOTES_ITS_WORDS = """\
#!/usr/bin/env bash
words=$(printf '%q ' "$@")
echo "$words" >> asked
[ -e again ] || [[ "$*" != *specific_medium* ]]
"""


@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_the_loop_starts_a_job_for_each_cell_and_says_that_one_failed(harness, tmp_path):
    """With a program in the harness's place that notes how it was called, and fails for one cell the first time."""
    for name in ("inspect", "lm_eval"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(NOTES_ITS_WORDS, encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / "bin" / "personafeedback").symlink_to(Path(sys.executable).with_name("personafeedback"))
    (tmp_path / "job.sh").write_text(block(SCALE, f"scale: job for {harness}"), encoding="utf-8")
    (tmp_path / "loop.sh").write_text(block(SCALE, "scale: loop"), encoding="utf-8")

    def run() -> tuple[int, list[list[str]]]:
        (tmp_path / "asked").write_text("", encoding="utf-8")
        path = os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])
        done = subprocess.run(["bash", "loop.sh"], cwd=tmp_path, env={**os.environ, "PATH": path}, check=False)
        return done.returncode, [shlex.split(line) for line in (tmp_path / "asked").read_text("utf-8").splitlines()]

    status, calls = run()
    assert status == 123
    (tmp_path / "again").touch()
    again, more = run()
    assert (again, sorted(more)) == (0, sorted(calls))
    cells = [next(word for word in words if "general_" in word or "specific_" in word) for words in calls]
    assert len(set(cells)) == len(calls) == 6
    for address in ADDRESSES:
        assert sum(any(address in word for word in words) for words in calls) == 3
    if harness == "inspect":
        from inspect_ai._cli.main import inspect

        for command, *words in calls:
            inspect.commands[command].make_context(command, words)  # it knows every option


def test_the_array_runs_the_jobs_of_the_loop():
    """SLURM is not here: its script's syntax, and that it runs the same line of the same file."""
    array, loop = block(SCALE, "scale: array"), block(SCALE, "scale: loop")
    subprocess.run(["bash", "-n"], input=array, text=True, check=True)
    assert "xargs -P 4 -L 1 bash job.sh < jobs.txt" in loop
    assert 'sed -n "${SLURM_ARRAY_TASK_ID}p" jobs.txt' in array
    assert array.splitlines()[-1] == 'bash job.sh "$task" "$model" "http://localhost:$port/v1"'
    assert f"--array=1-{len(re.findall('(?:specific|general)_', loop))}" in text(SCALE)
