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


def test_what_is_alike_has_the_cosine_of_both_texts(monkeypatch):
    directions = {"Plays chess": (1.0, 0.0), "Explain chess.": (0.6, 0.8), "Bakes": (0.0, 1.0), "A cake?": (0.0, -1.0)}
    embedded = SimpleNamespace(embed=lambda texts: np.array([directions[text] for text in texts]))
    monkeypatch.setattr(baselines, "embedder", lambda model: embedded)
    pairs = (("Plays chess", "Explain chess."), ("Bakes", "Explain chess."), ("Bakes", "A cake?"))
    rows = [Relevance(f"r{number}", "u", prompt, of, True) for number, (of, prompt) in enumerate(pairs)]
    assert similarity(rows, "some") == pytest.approx({"r0": 0.6, "r1": 0.8, "r2": -1})
    assert similarity([], "some") == {}


@pytest.mark.slow
def test_embeddings_select_the_closest_k_by_a_real_model(minilm, monkeypatch):
    monkeypatch.setenv(EMBEDDINGS, str(minilm))
    said, notes = relevance(ROWS)
    cosine = similarity(ROWS, str(minilm))
    for profile in profiles(ROWS):
        chosen = {row.id for row in profile if said["embeddings"][row.id] == ("YES",)}
        assert len(chosen) == selected(len(profile), RATE)
        others = [cosine[row.id] for row in profile if row.id not in chosen]
        assert min(cosine[one] for one in chosen) >= max(others)
    assert "BM25 and embeddings" in notes[0]
