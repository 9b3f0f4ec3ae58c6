"""What relevance is without understanding: who is selected, how many, and what is said where something is missing."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")

from personafeedback_tasks.common import retrieval
from personafeedback_tasks.recenter import baselines
from personafeedback_tasks.recenter.baselines import EMBEDDINGS, most_alike, relevance, selected, similarity
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.rows import Relevance

ROWS = with_judgment(load(Relevance, "sample")).cases
RATE = sum(row.judgment for row in ROWS) / len(ROWS)


@pytest.fixture(autouse=True)
def _no_embeddings(monkeypatch):
    monkeypatch.delenv(EMBEDDINGS, raising=False)


def profiles(rows):
    found = {}
    for row in rows:
        found.setdefault((row.user_id, row.prompt), []).append(row)
    return found.values()


@given(st.integers(1, 60), st.floats(0, 1))
@settings(deadline=None, derandomize=True)
def test_k_is_the_nearest_number_and_at_least_one(size, rate):
    k = selected(size, rate)
    assert 1 <= k <= size
    assert k == 1 or abs(k - size * rate) <= 0.5


def test_bm25_selects_k_of_every_profile_whoever_comes_first():
    said, notes = relevance(ROWS)
    for profile in profiles(ROWS):
        assert len({row.attribute for row in profile}) == len(profile)
        assert sum(said["BM25"][row.id] == ("YES",) for row in profile) == selected(len(profile), RATE)
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


def test_embeddings_select_the_k_whose_cosine_with_the_prompt_is_highest(monkeypatch):
    directions = {"A cake?": (0.0, 1.0), "Plays chess": (1.0, 0.0), "Bakes": (0.0, 1.0), "Owns an oven": (0.6, 0.8)}
    embedded = SimpleNamespace(embed=lambda texts: np.array([directions[text] for text in texts]))
    monkeypatch.setattr(baselines, "embedder", lambda model: embedded)
    monkeypatch.setenv(EMBEDDINGS, "some")
    attributes = ["Plays chess", "Bakes", "Owns an oven"]
    rows = [Relevance(f"r{number}", "u", "A cake?", of, number > 0) for number, of in enumerate(attributes)]
    assert similarity(rows, "some") == pytest.approx({"r0": 0, "r1": 1, "r2": 0.8})
    said, notes = relevance(rows)
    assert said["embeddings"] == {"r0": ("NO",), "r1": ("YES",), "r2": ("YES",)}  # two of three, as people do
    assert "BM25 and embeddings" in notes[0]
