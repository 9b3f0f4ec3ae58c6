"""The story of a model that writes, as docs/writing.md prints it: eight lines, and the table of its verdict."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from unittest.mock import patch

from inspect_ai.model import _model
from support.as_printed import run_as_printed
from support.documents import DOCS, block, needs_checkout
from support.killed import serving
from support.scripted_models import Prompts, said


@needs_checkout
def test_the_story_prints_the_table_that_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    lines = block(DOCS / "writing.md", "story: writing").splitlines()
    assert len(lines) == 8
    with serving(Prompts(), said) as server, patch.dict(_model._models, clear=True):
        for name in ("LOCAL", "OPENAI"):
            monkeypatch.setenv(f"{name}_BASE_URL", server.url)
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        printed = run_as_printed(lines, monkeypatch)
    shown = [
        " ".join(line.split()) for line in block(DOCS / "writing.md", "story: verdict").splitlines() if line.strip()
    ]
    found = [" ".join(line.split()) for line in printed.splitlines()]
    assert shown
    assert [line for line in shown if line not in found] == []
