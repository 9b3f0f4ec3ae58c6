"""How the models of a step are named, told and named again in the next command; how far they are; what they withhold."""

from __future__ import annotations

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("datasketch")

from support.building import Writer, a_build
from support.commands import personafeedback

from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.texts.answers import answer_id
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.inspect_harness import generation

BIG, SMALL = "openai/gpt-4o", "ollama/llama3:8b"


@pytest.fixture
def writer(monkeypatch):
    found = Writer()
    monkeypatch.setattr(generation, "generate", found)
    monkeypatch.setattr(generation, "check_models", lambda *_: None)
    return found


def step(name, folder, *options):
    done = personafeedback("build", name, folder.root, *options)
    assert done.exit_code == 0, done.output
    return done.output


def test_an_argument_is_of_all_models_or_of_one(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    step("personas", folder, "--model", BIG, "-M", "timeout=9", "--batch")
    assert writer.told == {BIG: ({"timeout": 9}, True)}
    step("questions", folder, "--model", BIG)
    both = (
        "--model",
        BIG,
        "--model",
        SMALL,
        "-M",
        "timeout=9",
        "-M",
        f"{SMALL}:base_url=http://here/v1",
        "-M",
        f"{SMALL}:timeout=20",
    )
    step("answers", folder, *both, "--batch=50")
    assert writer.told == {BIG: ({"timeout": 9}, 50), SMALL: ({"timeout": 20, "base_url": "http://here/v1"}, 50)}
    personafeedback("build", "votes", folder.root, "--votes-by", SMALL, "-M", f"{SMALL}:seed=1", "--batch")
    assert writer.told[SMALL] == ({"seed": 1}, True)
    done = personafeedback("build", "votes", folder.root, "--batch")
    assert "-M and --batch are for the models of --votes-by, and there are none." in done.output
    with pytest.raises(
        OptionError, match="expected one of the models 'openai/gpt-4o' before the colon, got 'openai/gpt'"
    ):
        Models((BIG,), ("openai/gpt:x=1",))
    done = personafeedback("build", "answers", folder.root, "--model", BIG, "--batch=none.yaml")
    assert "expected nothing, a number of requests or a YAML or JSON file, got 'none.yaml'" in " ".join(
        done.output.split()
    )


def test_next_names_the_models_that_were_used(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    given = ("-M", "base_url=https://me:secret@here/v1", "-M", "api_key=sk-1", "--batch")
    shown = step("personas", folder, "--model", BIG, "--temperature", "0.5", *given)
    again = "-M base_url=https://here/v1 --batch"
    assert shown.splitlines()[-1] == f"Next: personafeedback build questions {folder.root} --model {BIG} {again}"
    assert f"Next: personafeedback build questions {folder.root} --model {BIG}\n" in step("status", folder)
    shown = step("questions", folder, "--model", SMALL)
    assert shown.splitlines()[-1] == f"Next: personafeedback build answers {folder.root} --model {SMALL} --model OTHER"
    both = ("--model", BIG, "--model", SMALL)
    writer.replies = {answer_id(folder.questions()[0].id, "question", BIG): RuntimeError("down")}
    shown = step("answers", folder, *both, "--max-tokens", "900", "-M", f"{SMALL}:base_url=http://there/v1")
    named = f"personafeedback build answers {folder.root} --model {BIG} --model {SMALL}"
    assert shown.splitlines()[-1] == f"Next: {named} -M {SMALL}:base_url=http://there/v1 --max-tokens 900"
    assert f"Next: {named}\n" in step("status", folder)
    writer.replies = {}
    assert step("answers", folder, *both).splitlines()[-1] == f"Next: personafeedback build packs {folder.root}"
