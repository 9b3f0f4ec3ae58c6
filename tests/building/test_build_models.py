"""How the models of a step are named, told and named again in the next command; how far they are; what they withhold."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("inspect_ai")

from support.building import a_build, write
from support.commands import build_step, personafeedback
from support.texts_server import texts_server

from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.rows import Answer, Pair, Person, Question, Refused
from personafeedback_tasks.building.texts.answers import answer_id
from personafeedback_tasks.building.texts.asking import ROUNDS
from personafeedback_tasks.building.texts.specific import slots
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.inspect_harness import generation

BIG, SMALL = "openai/gpt-4o", "ollama/llama3:8b"


def step(name, folder, *options):
    done = build_step(name, folder.root, *options)
    assert done.exit_code == 0, done.output
    return done.output


def test_an_argument_is_of_all_models_or_of_one(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    step("personas", folder, "--model", BIG, "-M", "timeout=9", "--batch")
    assert writer.told == {BIG: ({"timeout": 9}, True)}
    step("questions", folder, "--model", BIG)
    both = (
        f"--model {BIG} --model {SMALL} -M timeout=9 -M {SMALL}:base_url=http://here/v1 -M {SMALL}:timeout=20".split()
    )
    step("answers", folder, *both, "--batch")
    assert writer.told == {BIG: ({"timeout": 9}, True), SMALL: ({"timeout": 20, "base_url": "http://here/v1"}, True)}
    with pytest.raises(
        OptionError, match="expected one of the models 'openai/gpt-4o' before the colon, got 'openai/gpt'"
    ):
        Models((BIG,), ("openai/gpt:x=1",))


def test_a_models_name_may_have_colons_and_begin_like_another():
    models = Models((SMALL, "ollama/llama3"), ("a=1", f"{SMALL}:b=x:y=z", "ollama/llama3:b=2"))
    assert models.arguments == {SMALL: {"a": 1, "b": "x:y=z"}, "ollama/llama3": {"a": 1, "b": 2}}


def test_next_names_the_models_that_were_used(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    needs = personafeedback("build", "texts", folder.root, "answers")
    assert "The step answers needs a model" in needs.output
    shown = step("personas", folder, "--model", BIG, "-M", "api_key=sk-1")
    line = f"Next: personafeedback build texts {folder.root} questions --model {BIG}"
    assert shown.splitlines()[-1] == step("status", folder).splitlines()[-1] == line
    shown = step("questions", folder, "--model", SMALL)
    line = f"Next: personafeedback build texts {folder.root} answers --model {SMALL} --model OTHER"
    assert shown.splitlines()[-1] == step("status", folder).splitlines()[-1] == line
    both = ("--model", BIG, "--model", SMALL)
    writer.replies = {answer_id(folder.questions()[0].id, "question", BIG): RuntimeError("down")}
    line = f"Next: personafeedback build texts {folder.root} answers --model {BIG} --model {SMALL}"
    assert step("answers", folder, *both).splitlines()[-1] == step("status", folder).splitlines()[-1] == line
    writer.replies = {}
    assert step("answers", folder, *both).splitlines()[-1] == f"Next: personafeedback annotate pack {folder.root}"


def test_a_text_that_is_withheld_is_asked_for_again_and_then_settled(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=2)
    step("personas", folder, "--model", BIG)
    first, other = (slot for person in folder.people()[:2] for slot in slots(folder.settings, person.user_id)[:1])
    withheld = generation.WrittenText("", False, True)
    checks = (f"{other}~natural", *(f"{other}~{time}~natural" for time in range(1, 1 + ROUNDS)))
    writer.replies = dict.fromkeys((first, *checks), withheld)  # one is never written, one is never checked
    writer.take()
    shown = step("questions", folder, "--model", BIG)
    assert (
        f"Refused {2 * (1 + ROUNDS)}: {2 * (1 + ROUNDS)} withheld by the provider (refused.jsonl has the texts)"
        in shown
    )
    assert f"Next: personafeedback build texts {folder.root} answers" in shown
    assert {(one.id, one.reason) for one in folder.read(Refused)} == {
        (first, "withheld by the provider"),
        (other, "withheld by the provider"),
    }
    writer.take()
    step("questions", folder, "--model", BIG)
    assert writer.take() == []
    assert "questions  2 (2 specific)\n" in step("status", folder)
    rated = {answer_id(question.id, "full", BIG): withheld for question in folder.questions()[:1]}
    writer.replies = rated
    shown = step("answers", folder, "--model", BIG)
    assert shown.splitlines()[-1] == f"Next: personafeedback annotate pack {folder.root}"
    assert "lacking" not in step("status", folder)


def test_one_command_writes_what_steps_one_by_one_write_and_goes_on_where_it_was(tmp_path, writer, monkeypatch):
    both = ("--model", BIG, "--model", SMALL)
    alone, together = (a_build(tmp_path / name, personas=2, specific=1) for name in ("alone", "together"))
    for name in ("personas", "questions", "answers"):
        step(name, alone, *(both if name == "answers" else both[:2]))
    asked = writer.take()
    shown = personafeedback("build", "texts", together.root, *both)
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("Next:") == 1
    assert shown.output.splitlines()[-1] == f"Next: personafeedback annotate pack {together.root}"
    assert writer.take() == asked
    for kind in (Person, Question, Answer, Pair):
        assert together.read(kind) == alone.read(kind)
    assert personafeedback("build", "texts", together.root, *both).exit_code == 0
    assert writer.take() == []
    monkeypatch.chdir(together.root)
    assert personafeedback("build").output.split("\n\n")[0] == step("status", together).split("\n\n")[0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no terminal to be had")
def test_on_a_terminal_the_line_goes_away_and_what_is_piped_is_whole(tmp_path):
    folder = a_build(tmp_path / "build", personas=2)
    with texts_server(write) as server:
        command = f"build texts {folder.root} personas --model openai/gpt-4o -M base_url={server.url}"
        main, terminal = os.openpty()
        environment = {**os.environ, "OPENAI_API_KEY": "none", "TERM": "xterm", "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, "-m", "personafeedback_tasks", *command.split()], stdout=subprocess.PIPE, stderr=terminal, text=True, env=environment, check=False,
        )  # fmt: skip
        os.close(terminal)
        shown = os.read(main, 100_000).decode()
        os.close(main)
    assert done.returncode == 0, shown
    assert "Wrote 2 personas" in done.stdout
    assert "personas: 2 of 2" in shown
    assert "Wrote" not in shown
