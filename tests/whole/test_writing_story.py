"""The story of a model that writes, as docs/writing.md prints it: eight lines, and the table of its verdict."""

from __future__ import annotations

import zlib
from unittest.mock import patch

import pytest
from inspect_ai.model import _model
from support.documents import DOCS, block, run_as_printed
from support.servers import serving

from personafeedback_tasks.pairwise.orders import TWO, responses
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.writing.cases import questions
from personafeedback_tasks.writing.record import Writing, build

pytestmark = pytest.mark.slow

CASES = load_cases("sample")
WORTH = {case.chosen: 2.0 for case in CASES} | {case.rejected: 0.0 for case in CASES}
QUESTIONS = {build(one, Writing()): one for one in questions(CASES)}


def chance(text: str) -> float:
    """A number in [0, 1) that a text decides."""
    return zlib.crc32(text.encode()) / 2**32


def says(prompt: str, model: str) -> str:
    """The model that writes and the one that judges: their replies depend on the prompt alone."""
    return written(QUESTIONS[prompt]) if prompt in QUESTIONS else letter(prompt)


def written(question) -> str:
    """Of four replies, one is the chosen response, one builds on it, one on the rejected response, one is short."""
    case, mood = question.pairs[0], int(4 * chance(question.question + question.user_id))
    first = case.chosen[: len(case.chosen) // 2]
    return [case.chosen, f"{case.chosen} {case.rejected[:40]}", f"{case.rejected} {first[:40]}", first][mood]


def letter(prompt: str) -> str:
    """The better response by its own taste, wrong in one of six prompts."""
    taste = [worth(text) for text in responses(prompt, TWO)]
    better = "AB"[taste[0] < taste[1]]
    return better if chance(prompt) > 1 / 6 else "AB"[better == "A"]


def worth(text: str) -> float:
    """2 for a chosen response, 0 for a rejected one, and for what is made of them up to 1 less or more."""
    if text in WORTH:
        return WORTH[text]
    of = max((worth for known, worth in WORTH.items() if text.startswith(known)), default=1.0)
    return of + 2 * chance(text) - 1


def test_the_story_prints_the_table_that_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    lines = block(DOCS / "writing.md", "story: writing").splitlines()
    assert len(lines) == 8
    with serving(says) as server, patch.dict(_model._models, clear=True):
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
