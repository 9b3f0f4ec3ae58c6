"""`personafeedback build`, from an empty folder to a release of about 600 cases of 60 people, over a server that answers at once.

    python benchmarks/speed_build.py

Prints the CPU seconds (user and system, without the server), the wall-clock seconds and the peak memory of each command. Bound: 5 minutes of
CPU in all. Needs the extras `build` and `inspect`, and no data.
"""

from __future__ import annotations

import logging
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.building import write
from support.builds import attentive, filled_in
from support.texts_server import texts_server

from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.votes.packs import names
from personafeedback_tasks.common.strict_json import rows

PEOPLE, QUESTIONS, VOTERS = 60, 4, 9
PLANTED = 0.93
"""How often an annotator takes the answer that knew more, or was meant better."""

WRITERS = ("--model", "openai/gpt-4o"), ("--model", "openai/gpt-4o", "--model", "openai/gpt-4o-mini")


def main() -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, texts_server(write, by_model=True) as server:
        os.environ |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        home = Path(folder)
        os.chdir(home)
        ours = Folder(home / "ours")
        spent = [measured(home, "init", "ours")]
        settings, path = {"personas": PEOPLE, "specific": QUESTIONS}, ours.root / "build.yaml"
        path.write_text(
            re.sub(
                r"(?m)^(personas|specific): \d+",
                lambda line: f"{line[1]}: {settings[line[1]]}",
                path.read_text("utf-8"),
            ),
            "utf-8",
        )
        spent += [measured(home, "plan", "ours", "--size", "600")]
        spent += [measured(home, step, "ours", *WRITERS[0]) for step in ("personas", "questions")]
        spent += [measured(home, "answers", "ours", *WRITERS[1]), measured(home, "packs", "ours")]
        rng = random.Random(0)

        def picks(left: str, right: str, item: object) -> str:
            better = "A" if left in ("full", "improved") and right != left else "B"
            return better if rng.random() < PLANTED else "AB"[better == "A"]

        vote = attentive(ours, picks)
        files = [filled_in(ours, name, home / f"{name}.votes.csv", vote) for name in names(VOTERS)]
        accepted = (f"--accept={name}" for name in ("longest", "overlap", "name", "writer"))
        spent += [measured(home, "votes", "ours", *map(str, files)), measured(home, "tiers", "ours")]
        spent += [measured(home, "release", "ours", *accepted), measured(home, "status", "ours")]
        cases = sum(1 for file in (ours.root / "release" / "data").rglob("*.jsonl") for _ in rows(file))
        cpu = sum(spent)
        print(
            f"{cases} cases of {len(ours.people())} people, {len(server.seen):,} calls: {cpu:.0f} s of CPU (bound: 300 s)"
        )


def measured(home: Path, *arguments: str) -> float:
    """CPU seconds of one command, which is printed with them."""
    command = [sys.executable, "-m", "personafeedback_tasks", "build", *arguments]
    begin = time.perf_counter()
    with open(home / "output", "w", encoding="utf-8") as output:
        child = os.posix_spawn(
            sys.executable, command, os.environ, file_actions=[
                (os.POSIX_SPAWN_DUP2, output.fileno(), 1), (os.POSIX_SPAWN_DUP2, output.fileno(), 2),
            ],
        )  # fmt: skip
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit((home / "output").read_text()[-3000:])
    cpu = used.ru_utime + used.ru_stime
    wall = time.perf_counter() - begin
    print(f"{arguments[0]:10} {cpu:6.1f} s of CPU {wall:6.1f} s {used.ru_maxrss / 1024:5.0f} MiB", flush=True)
    return cpu


if __name__ == "__main__":
    main()
