"""From users with a chat history to `setting=rag` on a set of one's own, over a server, with a kill in every step that asks a model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from unittest.mock import patch

import pytest

pytestmark = pytest.mark.release

pytest.importorskip("inspect_ai")
pytest.importorskip("bm25s")

from inspect_ai.model import _model
from support.as_printed import run_as_printed
from support.building import persona, words, write
from support.builds import attentive, filled_in, likes_full
from support.commands import AWAY
from support.killed import kill
from support.texts_server import texts_server

from personafeedback_tasks.annotation.assignment import names
from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.rows import Answer, Basis, Question
from personafeedback_tasks.inspect_harness.generation import spent
from personafeedback_tasks.logs.read import read_run

USERS = 6
STARTED = ("personas", "questions", "answers")


def says(prompt: str) -> str:
    return "A" if "<response_A>" in prompt else write(prompt)


def _lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _killed_and_resumed(server, step, folder, after, failed):
    """Run a step that is killed after some answers, and again; nothing that was answered is asked twice, but for those that failed."""
    command = [
        sys.executable, "-m", "personafeedback_tasks", "build", "texts", str(folder.root), step, "--model", "openai/gpt-4o", "-M", f"base_url={server.url}",
    ]  # fmt: skip
    environment, before = {**os.environ, "OPENAI_API_KEY": "none"}, len(server.seen)
    server.answer_only(after)
    process = subprocess.Popen(command, cwd=AWAY, env=environment, start_new_session=True)
    try:
        in_flight = server.wait_until_all_wait(process)
    finally:
        kill(process)
    server.answer_only(float("inf"))
    done = subprocess.run(command, cwd=AWAY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    times = Counter(server.seen[before:])
    twice = in_flight + sum(prompt in times for prompt in failed)
    assert Counter(times.values()) == {2: twice, 1: len(times) - twice}
    return done.stdout


def test_users_with_a_history_become_a_set_that_runs_with_retrieval(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(USERS):
        _lines(tmp_path / "ours" / "persona" / f"u{number}.json", [persona(f"user {number}")])
    for number in range(USERS - 2):  # two have no history yet
        turns = (
            {"role": ("user", "assistant")[place % 2], "content": f"What about {words(f'{number} {place}', 6)}?", "date": f"2025-01-{place + 1:02}"}
            for place in range(8)
        )  # fmt: skip
        _lines(tmp_path / "ours" / "memory" / f"u{number}.jsonl", turns)
    failed = []

    def first_fails(prompt):
        if failed:
            return says(prompt)
        failed.append(prompt)  # of the first group of personas, so that the second one knows one less
        return 400, "down"

    with texts_server(first_fails) as server, patch.dict(_model._models, clear=True):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        run_as_printed(["personafeedback build init ours"], monkeypatch)
        folder = Folder(tmp_path / "ours")
        path = folder.root / "build.yaml"
        sizes = {
            "personas: 0": "personas: 9",
            "specific: 5": "specific: 2",
            "annotators: 9": "annotators: 6",
        }
        text = path.read_text("utf-8")
        for before, after in sizes.items():
            assert before in text
            text = text.replace(before, after)
        path.write_text(text, "utf-8")
        folder = Folder(tmp_path / "ours")
        # Personas are written in groups of five; the second group is under way when the first kill comes.
        for step, after in zip(STARTED, (7, 20, 30), strict=True):
            _killed_and_resumed(server, step, folder, after, failed)
            for user in (person.user_id for person in folder.people()):
                if folder.memory_path(user).is_file():
                    continue
                pieces = ({"text": f"An article on {words(f'{user} {number}', 8)}"} for number in range(8))
                _lines(folder.memory_path(user), pieces)
        usage, broken = spent(folder.root)  # what a killed run wrote counts once
        assert (usage["openai/gpt-4o"].calls, broken) == (len(set(server.seen)), 0)
        run_as_printed(["personafeedback annotate pack ours"], monkeypatch)
        for annotator in names(6):
            filled_in(folder, annotator, tmp_path / f"{annotator}.votes.csv", attentive(folder, likes_full))
        run_as_printed(
            [
                "personafeedback annotate votes ours *.votes.csv",
                "personafeedback build release ours",
                "inspect eval personafeedback_tasks/personafeedback -T data=ours/release -T setting=rag --model openai/gpt-4o --log-dir logs",
            ],
            monkeypatch,
        )
        asked = server.seen
    assert len(folder.people()) == USERS + 9
    bases, questions = folder.by_id(Basis), {one.id: one for one in folder.read(Question)}
    assert bases.keys() == questions.keys()
    assert all(
        basis.features and set(basis.memory) <= set(folder.persona(questions[name].user_id).memory)
        for name, basis in bases.items()
    )
    chats = [basis for name, basis in bases.items() if questions[name].user_id in ("u0", "u1", "u2", "u3")]
    assert chats
    assert all(
        re.match(r"\[2025-01-0.\] (user|assistant): What about", piece) for basis in chats for piece in basis.memory
    )
    full = {one.question_id for one in folder.read(Answer) if one.strategy == "full"}
    assert full == questions.keys()
    run = read_run(tmp_path / "logs")
    judged = [prompt for prompt in asked if "<response_A>" in prompt]
    assert len(judged) == 2 * len(run.cases) > 20
    assert all("<memory>" in prompt for prompt in judged)
    assert any("[2025-01-0" in prompt for prompt in judged)
