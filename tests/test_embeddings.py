"""Sentence embeddings with the real weights of MiniLM: unit vectors, the same in any company, and similarity by meaning."""

from __future__ import annotations

import random
import re

import pytest

pytestmark = pytest.mark.torch

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.recenter.embeddings import DEFAULT, embedder, name_of, similarity
from personafeedback_tasks.recenter.rows import Relevance

TEXTS = [
    "Plays chess",
    "How do I open with the queen's pawn?",
    "Is allergic to nuts",
    "Suggest a cake.",
    "x " * 900,
    "Ça va ?",
]


def test_vectors_have_length_one_and_keep_the_order_of_the_texts(minilm):
    vectors = embedder(str(minilm)).embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert (vectors**2).sum(axis=1) == pytest.approx([1] * len(TEXTS), abs=1e-12)
    order = random.Random(3).sample(range(len(TEXTS)), len(TEXTS))
    again = embedder(str(minilm)).embed([TEXTS[index] for index in order] + TEXTS[:2])
    assert (again == vectors[[*order, 0, 1]]).all()


def test_vectors_are_those_of_sentence_transformers(minilm):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(minilm), device="cpu").encode(TEXTS, normalize_embeddings=True)
    assert embedder(str(minilm)).embed(TEXTS) == pytest.approx(theirs, abs=1e-5)


def test_what_belongs_together_is_more_similar(minilm):
    prompts = {"chess": "Explain the Sicilian defence.", "nuts": "Suggest a cake for my birthday."}
    attributes = {"chess": "Plays in a chess club", "nuts": "Must not eat nuts or pastry with nuts"}
    rows = [
        Relevance(f"{of}-{about}", "u", prompts[about], attributes[of], True) for of in attributes for about in prompts
    ]
    found = similarity(rows, str(minilm))
    assert list(found) == [row.id for row in rows]
    assert all(-1 <= cosine <= 1 for cosine in found.values())
    for of, other in (("chess", "nuts"), ("nuts", "chess")):
        assert found[f"{of}-{of}"] > found[f"{of}-{other}"] + 0.1
    assert similarity([], str(minilm)) == {}


def test_the_digest_is_that_of_the_model_and_not_of_its_folder(minilm, tmp_path):
    import json
    import shutil

    shutil.copytree(minilm, tmp_path / "copy")
    assert embedder(str(tmp_path / "copy")).digest == embedder(str(minilm)).digest
    settings = tmp_path / "copy" / "sentence_bert_config.json"
    settings.write_text(json.dumps({"max_seq_length": 64, "do_lower_case": False}), encoding="utf-8")
    shutil.move(tmp_path / "copy", tmp_path / "other")
    assert embedder(str(tmp_path / "other")).digest != embedder(str(minilm)).digest


@pytest.mark.parametrize("what", ["empty", "not there", "no model"])
def test_a_model_that_cannot_be_loaded_is_named(what, minilm, tmp_path):
    name = {"empty": " ", "not there": "nobody/has-this", "no model": str(tmp_path)}[what]
    with pytest.raises(OptionError, match=re.escape("Hugging Face Hub")):
        embedder(name)


def test_progress_names_how_far_it_is(minilm):
    told = []
    embedder(str(minilm)).embed([f"text {number}" for number in range(70)], told.append)
    assert told == ["embedding 0 of 70 texts", "embedding 64 of 70 texts"]


def test_a_folder_is_absolute_and_a_name_stays(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    assert name_of("here") == str((tmp_path / "here").resolve())
    assert name_of(DEFAULT) == DEFAULT
