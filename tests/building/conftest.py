"""What the tests of a build share."""

from __future__ import annotations

import pytest
from support.building import Writer


@pytest.fixture
def writer(monkeypatch):
    """A scripted writer in place of every model."""
    generation = pytest.importorskip("personafeedback_tasks.inspect_harness.generation")
    found = Writer()
    monkeypatch.setattr(generation, "generate", found)
    monkeypatch.setattr(generation, "check_models", lambda *_: None)
    return found
