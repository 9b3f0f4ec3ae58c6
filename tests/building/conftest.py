"""What the tests of a build share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.building import Writer, a_build

from personafeedback_tasks.building.build import Build


@pytest.fixture
def writer(monkeypatch):
    """A scripted writer in place of every model."""
    from personafeedback_tasks.inspect_harness import generation

    found = Writer()
    monkeypatch.setattr(generation, "generate", found)
    monkeypatch.setattr(generation, "check_models", lambda *_: None)
    return found


@pytest.fixture(scope="session")
def made():
    """(last step, settings) -> a build that `upto` copies."""
    return dict[object, Path]()


@pytest.fixture
def upto(writer, made, tmp_path, tmp_path_factory):
    """A copy of a build with the texts of all steps up to one, by one model; each is made once. Nothing counts as asked."""
    from personafeedback_tasks.building.texts.asking import Models
    from personafeedback_tasks.building.texts.runner import write_texts

    def build(step, to="build", **settings):
        key = step, *sorted(settings.items())
        if key not in made:
            folder = a_build(tmp_path_factory.mktemp("made") / "build", **settings)
            steps = ("personas", "questions", "answers")
            for name in steps[: steps.index(step) + 1]:
                write_texts(folder, Models(("openai/gpt-4o",)), print, name)
            made[key] = folder.root
            writer.take()
        return Build(shutil.copytree(made[key], tmp_path / to))

    return build
