"""A build that is killed in every step that asks a model, over a server: no text is lost, and none is paid twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter

import pytest
from support.building import a_build, write
from support.commands import AWAY
from support.killed import kill
from support.servers import serving

from personafeedback_tasks.building.rows import Answer
from personafeedback_tasks.inspect_harness.generation import CACHE

pytestmark = pytest.mark.release


def killed_and_resumed(server, step, folder, places):
    """Run a step that is killed after each of so many more answers, and once to its end. Nothing is billed twice."""
    command = [
        sys.executable, "-m", "personafeedback_tasks", "build", "texts", str(folder.root), step,
        "--model", "openai/gpt-4o", "-M", f"base_url={server.url}",
    ]  # fmt: skip
    environment, paid = {**os.environ, "OPENAI_API_KEY": "none"}, len(server.billed)
    for after in places:
        server.answer_only(after)
        process = subprocess.Popen(command, cwd=AWAY, env=environment, start_new_session=True)
        try:
            server.wait_until_it_answers_no_more(process, 1)
            while sum(path.is_file() for path in (folder.root / CACHE / step).rglob("*")) < len(server.billed) - paid:
                assert process.poll() is None, "the run ended by itself"
                time.sleep(0.05)
        finally:
            kill(process)
    server.answer_only(float("inf"))
    done = subprocess.run(command, cwd=AWAY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    billed = Counter(who for who, _ in server.billed[paid:])
    assert max(billed.values()) == 1
    assert sum(places) < len(billed)


def test_killed_at_ten_random_places_a_build_goes_on_and_pays_nothing_twice(tmp_path):
    folder, drawn = a_build(tmp_path / "ours", personas=15), random.Random(47)
    with serving(write) as server:
        # Personas are written in groups of five; a later group is under way when the last kill comes.
        for step, kills, most in (("personas", 3, 4), ("questions", 3, 15), ("answers", 4, 30)):
            killed_and_resumed(server, step, folder, [drawn.randint(1, most) for _ in range(kills)])
    assert len(folder.people()) == 15
    assert {one.question_id for one in folder.read(Answer)} == {one.id for one in folder.questions()}
