"""How the models of a step are named, told and named again in the next command; how far they are; what they withhold."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("inspect_ai")

from support.building import a_build
from support.commands import build_step, personafeedback

from personafeedback_tasks.building.rows import Answer, Pair, Person, Question, Refused
from personafeedback_tasks.building.texts.answers import answer_id
from personafeedback_tasks.building.texts.asking import ROUNDS
from personafeedback_tasks.building.texts.specific import slots
from personafeedback_tasks.inspect_harness import generation

BIG, SMALL = "openai/gpt-4o", "ollama/llama3:8b"


def step(name, folder, *options):
    done = build_step(name, folder.root, *options)
    assert done.exit_code == 0, done.output
    return done.output


def test_all_models_get_the_arguments_and_the_batch(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    step("personas", folder, "--model", BIG, "-M", "timeout=9", "--batch")
    assert writer.told == {BIG: ({"timeout": 9}, True)}
    step("questions", folder, "--model", BIG)
    step(
        "answers",
        folder,
        *f"--model {BIG} --model {SMALL} -M timeout=9 -M base_url=http://here/v1 -M stop=[1,2]".split(),
    )
    assert writer.told == dict.fromkeys(
        (BIG, SMALL), ({"timeout": 9, "base_url": "http://here/v1", "stop": [1, 2]}, False)
    )


def test_a_text_that_is_withheld_is_asked_for_again_and_then_settled(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=2)
    step("personas", folder, "--model", BIG)
    first, other = (slot for person in folder.people()[:2] for slot in slots(folder.settings, person.user_id)[:1])
    withheld = generation.WrittenText("", False, True)
    checks = (f"{other}~natural", *(f"{other}~{time}~natural" for time in range(1, 1 + ROUNDS)))
    writer.replies = dict.fromkeys((first, *checks), withheld)  # one is never written, one is never checked
    step("questions", folder, "--model", BIG)
    assert Counter((one.id, one.reason) for one in folder.read(Refused)) == {
        (first, "withheld by the provider"): 1 + ROUNDS,
        (other, "withheld by the provider"): 1 + ROUNDS,
    }
    writer.take()
    step("questions", folder, "--model", BIG)
    assert writer.take() == []
    assert "questions  2 (2 specific)\n" in step("status", folder)
    writer.replies = {answer_id(folder.questions()[0].id, "full", BIG): withheld}
    shown = step("answers", folder, "--model", BIG)
    assert shown.splitlines()[-1] == f"Next: personafeedback annotate pack {folder.root}"
    assert "lacking" not in step("status", folder)


def test_one_command_writes_what_steps_one_by_one_write_and_goes_on_where_it_was(tmp_path, writer):
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
