"""`personafeedback audit` and `baselines` on the General half, `report` on a run of all 8,298 cases from either harness's log.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_report.py

The Specific half repeats the General one, each question with a mark, so that every cell has its size in the paper.
Prints the seconds and peak memory of each command. Bounds: audit and baselines under 5 s, a report under 10 s and 500
MB.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS, locate


def write_release(folder: Path) -> Path:
    """A release with the paper's number of cases in all six cells."""
    root = locate().root
    shutil.copytree(root, folder)
    cases = itertools.cycle(load_cases(category="general"))
    (folder / "data" / "spedific").mkdir()
    for (category, difficulty), size in PAPER_COUNTS.items():
        if category == "specific":
            with open(folder / "data" / "spedific" / f"{difficulty}.jsonl", "w", encoding="utf-8") as file:
                for number, case in enumerate(itertools.islice(cases, size)):
                    row = {
                        "user_id": case.user_id, "question": f"{case.question} ({difficulty} {number})",
                        "chosen": case.chosen, "reject": case.rejected,
                    }  # fmt: skip
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return folder


def write_logs(folder: Path) -> None:
    """A release, and a run of all its cases in `lm_eval` and in `inspect`."""
    write_release(folder / "release")
    call(
        sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", "personafeedback_mc", "--log_samples",
        "--include_path", task_configs(), "--output_path", "lm_eval", folder=folder,
    )  # fmt: skip
    call(
        sys.executable, "-m", "inspect_ai", "eval", "personafeedback_tasks/personafeedback", "--log-dir", "inspect",
        "--model", "personafeedback/longest", "--display", "none", folder=folder,
    )  # fmt: skip


def call(*command: object, folder: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PERSONAFEEDBACK_DATA": str(folder / "release")}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])


def measure(folder: Path, *arguments: object) -> tuple[float, float]:
    """(seconds, MiB of peak memory) of one command."""
    command = [sys.executable, "-m", "personafeedback_tasks", *map(str, arguments)]
    start = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(command, cwd=folder, stdout=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def row(name: str, folder: Path, *arguments: object) -> None:
    seconds, memory = (
        statistics.median(values) for values in zip(*(measure(folder, *arguments) for _ in range(3)), strict=True)
    )
    print(f"| {name} | {seconds:.1f} | {memory:.0f} |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| command, median of 3 | seconds | MiB |\n|---|---|---|")
        for command in ("audit", "baselines"):
            row(command, folder, command, "--json", folder / f"{command}.json")
        write_logs(folder)
        for harness in ("lm_eval", "inspect"):
            row(f"report, log of {harness}", folder, "report", folder / harness, "--out", folder / "out")


if __name__ == "__main__":
    main()
