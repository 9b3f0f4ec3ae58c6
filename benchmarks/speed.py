"""How long reading data, replies and logs takes.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed.py

In one process, after imports: load the General half, read replies. Then whole commands with start and imports: `audit`;
`report` of a run of 8,298 cases from either harness's log; `rank` of twenty such runs. For these the Specific half
repeats the General one, each question with a mark, so that every cell has its size in the paper.
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
import timeit
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import inspect_ai.log  # noqa: F401 - its logs are compressed as zipfile alone cannot read

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS, locate

COPIES = 10
"""Of the run of each harness, under other models' names."""

OURS = (sys.executable, "-m", "personafeedback_tasks")


def seconds(function: Callable[[], object]) -> float:
    """Median of five calls."""
    return statistics.median(timeit.repeat(function, number=1, repeat=5))


def read_all(replies: Sequence[str]) -> None:
    for reply in replies:
        read_reply(reply)


def in_one_process() -> None:
    load = seconds(lambda: load_cases(category="general"))
    print(f"load the General half with personas: {load:.3f} s")
    # more texts than the reader remembers, so that each is read
    short = ["A", "**B**", "Answer: B", "答案：A", "Overall, Response B suits this user better."]
    short = [text + " " * spaces for spaces in range(250) for text in short]
    english = "Response A suggests a busy club, while Response B suggests a quiet tour for someone who reads. " * 105
    chinese = "回答A建议去热闹的俱乐部，不太符合用户的特点；回答B建议参观图书馆，更贴近用户的兴趣。" * 80
    texts = {
        "a short reply": short,
        "10 kB of English": [f"{english}\nAnswer: B"] * 5,
        "10 kB of Chinese": [f"{chinese}\n答案：B"] * 5,
    }
    loops = ["我的", ",", "A\n", "A is better, but B. ", "(", "<x>", '"a":', "I choose A. "]
    for name, replies in texts.items():
        read = seconds(partial(read_all, replies)) / len(replies)
        print(f"read {name}: {1e6 * read:,.0f} us")
    slowest = max(seconds(partial(read_all, [unit * (1_000_000 // len(unit)) + "B"])) for unit in loops)
    print(f"read a megabyte of a repeated unit of text: {slowest:.2f} s at most\n")


def whole_commands(folder: Path) -> None:
    print("| command, median of 3 | seconds | CPU seconds | MiB |\n|---|---|---|---|")
    measure(folder, "audit", "audit", "--json", "audit.json")
    write_logs(folder)
    for harness in ("lm_eval", "inspect"):
        measure(folder, f"report --out, log of {harness}", "report", harness, "--out", "out")
    for number in range(COPIES):
        copy_inspect(next((folder / "inspect").glob("*.eval")), folder / "runs" / f"{number}.eval", f"model/i{number}")
        copy_lm_eval(folder / "lm_eval", folder / "runs" / f"lm{number}", f"model/l{number}")
    measure(folder, f"rank, {2 * COPIES} runs", "rank", "runs", "--data", "release")


def write_release(folder: Path) -> None:
    """A release with the paper's number of cases in all six cells."""
    shutil.copytree(locate().root, folder)
    cases = itertools.cycle(load_cases(category="general"))
    (folder / "data" / "spedific").mkdir()
    for cell, size in PAPER_COUNTS.items():
        category, difficulty = cell.split("_")
        if category == "specific":
            with open(folder / "data" / "spedific" / f"{difficulty}.jsonl", "w", encoding="utf-8") as file:
                for number, case in enumerate(itertools.islice(cases, size)):
                    row = {
                        "user_id": case.user_id, "question": f"{case.question} ({difficulty} {number})",
                        "chosen": case.chosen, "reject": case.rejected,
                    }  # fmt: skip
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")


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


def copy_inspect(log: Path, to: Path, model: str) -> None:
    """The same samples, of another model."""
    to.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(log) as source, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for member in source.infolist():
            content = source.read(member)
            if member.filename in ("header.json", "_journal/start.json"):
                changed = json.loads(content)
                changed["eval"] |= {"model": model, "task_id": model, "eval_id": model}
                content = json.dumps(changed).encode()
            target.writestr(member.filename, content)


def copy_lm_eval(results: Path, to: Path, model: str) -> None:
    """The same samples, of another model."""
    shutil.copytree(next(results.rglob("results_*.json")).parent, to)
    file = next(to.glob("results_*.json"))
    changed = json.loads(file.read_text(encoding="utf-8"))
    changed["config"]["model_args"] = {"pretrained": model}
    file.write_text(json.dumps(changed), encoding="utf-8")


def measure(folder: Path, name: str, *words: str) -> None:
    """Print a row for a command of ours."""
    rounds = [run(folder, (*OURS, *words)) for _ in range(3)]
    wall, cpu, memory = map(statistics.median, zip(*rounds, strict=True))
    print(f"| {name} | {wall:.1f} | {cpu:.1f} | {memory:.0f} |", flush=True)


def run(folder: Path, command: tuple[str, ...]) -> tuple[float, ...]:
    """Wall and CPU seconds of a command, and MiB of its peak memory."""
    # compiled modules are kept, as in any installation, wherever the environment says to keep none
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    start = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(command, cwd=folder, stdout=nowhere, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    memory = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, memory


if __name__ == "__main__":
    in_one_process()
    with tempfile.TemporaryDirectory() as name:
        whole_commands(Path(name))
