"""What relevance is without understanding: who is selected, how many, and what is said where something is missing."""

from __future__ import annotations

import pytest

pytest.importorskip("bm25s")

from personafeedback_tasks.common import retrieval
from personafeedback_tasks.recenter.baselines import most_alike, relevance
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.rows import Relevance

ROWS = with_judgment(load(Relevance, "sample")).cases
RATE = sum(row.judgment for row in ROWS) / len(ROWS)


def profiles(rows):
    found = {}
    for row in rows:
        found.setdefault((row.user_id, row.prompt), []).append(row)
    return found.values()


def test_bm25_selects_k_of_every_profile_whoever_comes_first():
    said, notes = relevance(ROWS)
    for profile in profiles(ROWS):
        assert len({row.attribute for row in profile}) == len(profile)
        assert sum(said["BM25"][row.id] == ("YES",) for row in profile) == max(1, round(len(profile) * RATE))
    assert f"{100 * RATE:.1f} %" in notes[0]


def test_what_shares_words_with_the_prompt_is_selected_and_equal_attributes_together():
    texts = ["plays the violin", "has two cats", "Has a boat", "has two cats"]
    rows = [Relevance(f"r{n}", "u", "What do my two cats need?", text, True) for n, text in enumerate(texts)]
    assert most_alike(rows, 1) == {"r1", "r3"}


def test_without_bm25s_a_note_names_the_extra(monkeypatch):
    retrieval._index.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said, notes = relevance(ROWS)
    assert said.keys() == {"always YES", "always NO"}
    assert any(note.startswith("No BM25: ") and "'personafeedback-tasks[retrieval]'" in note for note in notes)
