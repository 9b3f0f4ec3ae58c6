"""docs/scale.md: its loop as printed. Four processes at a time ask two servers, one is killed half-way, and the loop runs again."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from itertools import count
from pathlib import Path

import psutil
import pytest
from inspect_ai._cli.main import inspect
from support.documents import DOCS, block, text
from support.judges import readable, who_asks
from support.killed import kill
from support.servers import serving

from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.personafeedback.cases import load_cases

SCALE = DOCS / "scale.md"
SETTINGS = ("persona", "other_persona", "no_persona")
KILLED = "specific_medium"
ADDRESSES = ("http://localhost:8000/v1", "http://localhost:8001/v1")


def scripts(folder: Path, harness: str, *addresses: str) -> None:
    """The page's job and loop, with the addresses of two servers."""
    (folder / "job.sh").write_text(block(SCALE, f"scale: job for {harness}"), encoding="utf-8")
    loop = block(SCALE, "scale: loop")
    assert all(shown in loop for shown in ADDRESSES)
    for shown, address in zip(ADDRESSES, addresses, strict=False):
        loop = loop.replace(shown, address)
    (folder / "loop.sh").write_text(loop, encoding="utf-8")


def start(command: str, folder: Path, programs: Path = Path(sys.executable).parent) -> subprocess.Popen:
    told = {"PERSONAFEEDBACK_DATA": "sample", "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"}
    environment = {**os.environ, **told, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.Popen(["bash", "-c", command], cwd=folder, start_new_session=True, env=environment)


def ended(process: subprocess.Popen) -> int:
    try:
        return process.wait(timeout=500)
    finally:
        kill(process)


def process_of(cell: str, loop: int) -> psutil.Process:
    """The harness's process for a cell. Others come and go meanwhile."""
    for process in psutil.Process(loop).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            program, *words = process.cmdline()
            if "python" in program and any(cell in word for word in words):
                return process
    raise AssertionError(f"no process asks {cell}")


@pytest.mark.release
@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_a_loop_of_which_a_job_is_killed_half_way_runs_again(harness, tmp_path):
    cases = load_cases("sample")
    asked = {
        prompt: (f"{case_id} {setting}", order)
        for setting in SETTINGS
        for prompt, (case_id, order) in who_asks(cases, setting).items()
    }
    half = len(SETTINGS) * sum(case.cell == KILLED for case in cases)
    calls, reached, released = count(1), threading.Event(), threading.Event()

    def judge(asker: str, order: str) -> str:
        """Makes one cell wait after half of its calls."""
        if asker.startswith(f"{KILLED}:") and not released.is_set() and next(calls) > half:
            reached.set()
            released.wait(timeout=300)
        return readable(asker, order)

    with serving(judge, asked) as first, serving(judge, asked) as second:
        scripts(tmp_path, harness, first.url, second.url)
        loop = start("bash loop.sh", tmp_path)
        try:
            while not reached.wait(timeout=1):
                assert loop.poll() is None
            process_of(KILLED, loop.pid).kill()
        finally:
            released.set()
            status = ended(loop)
        before = first.take_seen() + second.take_seen()
        again = ended(start("bash loop.sh", tmp_path))
        after = first.take_seen() + second.take_seen()
    assert status != 0 == again  # the first time, the loop says that a job failed
    assert set(before) | set(after) == set(asked.values())
    assert {asker.partition(":")[0] for asker, _ in after} == {KILLED}
    assert max(Counter(before).values()) == max(Counter(after).values()) == 1

    logs = [path for path in (tmp_path / "logs").rglob("*") if re.search(r"\.eval$|/results_.*\.json$", str(path))]
    runs = [run for log in logs for run in read_runs([log]) if run.finished]
    scored = Counter((case_id, run.setting) for run in runs for case_id in run.cases)
    assert scored == {(case.id, setting): 1 for case in cases for setting in SETTINGS}
    assert ended(start(block(SCALE, "scale: rank"), tmp_path)) == 0
    (ranking,) = json.loads((tmp_path / "ranking" / "ranking.json").read_text(encoding="utf-8"))["rankings"]
    assert (len(ranking["runs"]), len(ranking["cells"])) == (1, 6)


NOTES_ITS_WORDS = """\
#!/usr/bin/env bash
words=$(printf '%q ' "$@")
echo "$words" >> asked
[ -e again ] || [[ "$*" != *specific_medium* ]]
"""


@pytest.mark.slow
@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_the_loop_starts_a_job_for_each_cell_and_says_that_one_failed(harness, tmp_path):
    """With a program in the harness's place that notes how it was called, and fails for one cell the first time."""
    for name in ("inspect", "lm_eval"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(NOTES_ITS_WORDS, encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / "bin" / "personafeedback").symlink_to(Path(sys.executable).with_name("personafeedback"))
    scripts(tmp_path, harness)

    def run() -> tuple[int, list[list[str]]]:
        (tmp_path / "asked").write_text("", encoding="utf-8")
        status = ended(start("bash loop.sh", tmp_path, tmp_path / "bin"))
        return status, [shlex.split(line) for line in (tmp_path / "asked").read_text("utf-8").splitlines()]

    status, calls = run()
    (tmp_path / "again").touch()
    again, more = run()
    assert (status, again, sorted(more)) == (123, 0, sorted(calls))
    cells = [next(word for word in words if "general_" in word or "specific_" in word) for words in calls]
    assert len(set(cells)) == len(calls) == 6
    for address in ADDRESSES:
        assert sum(any(address in word for word in words) for words in calls) == 3
    for command, *words in calls if harness == "inspect" else ():
        inspect.commands[command].make_context(command, words)  # it knows every option


def test_the_array_runs_the_jobs_of_the_loop():
    """SLURM is not here: its script's syntax, and that it runs the same line of the same file."""
    array, loop = block(SCALE, "scale: array"), block(SCALE, "scale: loop")
    subprocess.run(["bash", "-n"], input=array, text=True, check=True)
    assert "xargs -P 4 -L 1 bash job.sh < jobs.txt" in loop
    assert 'sed -n "${SLURM_ARRAY_TASK_ID}p" jobs.txt' in array
    assert array.splitlines()[-1] == 'bash job.sh "$task" "$model" "http://localhost:$port/v1"'
    assert f"--array=1-{len(re.findall('(?:specific|general)_', loop))}" in text(SCALE)
