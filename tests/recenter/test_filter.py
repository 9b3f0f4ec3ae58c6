"""The trained filter with the real weights of MiniLM: its folds, its folder, and what a chain asks of it."""

from __future__ import annotations

import json
import pickle
import random
import re
import shlex
import shutil
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personafeedback_tasks.inspect_tasks.recenter import recenter_chain
from support import planted
from support.commands import personafeedback, tree
from support.documents import DOCS, block
from support.lines import write_lines
from support.minilm import cached

metrics = pytest.importorskip("sklearn.metrics")

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.filter.folder import read
from personafeedback_tasks.recenter.filter.model import DEFAULT, embedder, folds, held_out
from personafeedback_tasks.recenter.rows import Relevance
from personafeedback_tasks.stats.clusters import Clusters
from personafeedback_tasks.stats.estimates import jackknife_stderr

PAGE = DOCS / "filter.md"
PLANTED = planted.rows(users=6, prompts=5, attributes=5)


def train(data, out, minilm):
    return personafeedback("recenter", "train", data, "--out", out, "--embeddings", minilm)


def trained(data, out, minilm):
    done = train(data, out, minilm)
    assert done.exit_code == 0, done.output
    return out


def predicted(folder):
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text("utf-8").splitlines()]


def refused(done, *words):
    assert done.exit_code != 0
    for word in words:
        assert word in " ".join(done.output.split()), done.output


@pytest.fixture(scope="module")
def planted_data(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("planted") / "relevance.jsonl", PLANTED).parent


@pytest.fixture(scope="module")
def of_planted(minilm, planted_data, tmp_path_factory):
    return trained(planted_data, tmp_path_factory.mktemp("filter") / "planted", minilm)


# --- embeddings -------------------------------------------------------------------------------------------------------

TEXTS = ["Plays chess", "How do I open with the queen's pawn?", "Is allergic to nuts", "x " * 900, "Ça va ?"]


def test_vectors_have_length_one_and_keep_the_order_of_the_texts(minilm):
    vectors = embedder(str(minilm)).embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert (vectors**2).sum(axis=1) == pytest.approx([1] * len(TEXTS), abs=1e-6)
    order = random.Random(3).sample(range(len(TEXTS)), len(TEXTS))
    again = embedder(str(minilm)).embed([TEXTS[index] for index in order] + TEXTS[:2])
    assert (again == vectors[[*order, 0, 1]]).all()


# --- the model --------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("abcdefgh"), min_size=8, max_size=60).filter(lambda users: len(set(users)) > 1))
@settings(max_examples=40)
def test_no_user_is_on_both_sides_of_a_fold_and_every_row_is_tested_once(users):
    users = np.array(users)
    made = folds(users)
    assert sorted(index for _, tested in made for index in tested) == list(range(len(users)))
    for own, tested in made:
        assert not {*users[own]} & {*users[tested]}
        assert len(own) + len(tested) == len(users)


@pytest.mark.slow
def test_labels_of_the_rows_of_a_fold_do_not_reach_its_predictions():
    """Neither the weights nor the threshold: with all labels of the tested rows inverted they are the same."""
    rng = np.random.default_rng(5)
    users, _ = map(np.array, zip(*product("abcd", range(24)), strict=True))
    found = rng.normal(size=(len(users), 8))
    labels = found[:, 0] + rng.normal(size=len(users)) > 0
    before = np.array(held_out(found, labels, users))
    (_, tested), *_ = folds(users)
    inverted = labels.copy()
    inverted[tested] ^= True
    after = np.array(held_out(found, inverted, users))
    assert (after[:, tested] == before[:, tested]).all()
    assert (after != before).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "model", "words"),
    [
        (planted.rows(2, 5, 5), "", ["50 rows of 2 users", "Add rows of more users"]),
        ([{**row, "label": row["user_id"] == "u1"} for row in PLANTED], "", ["too few", "Add rows of more users"]),
        (PLANTED, " ", ["could not be loaded", "Hugging Face Hub"]),
        (PLANTED, "data", ["could not be loaded", "Hugging Face Hub"]),
    ],
)
def test_too_few_users_or_labels_and_what_is_no_model_are_named(rows, model, words, minilm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = train(write_lines(tmp_path / "data" / "relevance.jsonl", rows).parent, tmp_path / "out", model or minilm)
    refused(done, *words)
    assert not (tmp_path / "out").exists()


# --- the folder -------------------------------------------------------------------------------------------------------


def test_metrics_are_what_scikit_learn_computes_from_the_predictions_and_a_planted_signal_is_learnt(
    of_planted, planted_data
):
    about = json.loads((of_planted / "filter.json").read_text("utf-8"))
    found, rows = about["metrics"], predicted(of_planted)
    labeled = with_judgment(load(Relevance, planted_data))
    assert [(row["id"], row["label"]) for row in rows] == [(row.id, row.judgment) for row in labeled]
    assert all((row["answer"] == "YES") == (row["probability"] >= row["threshold"]) for row in rows)
    people, users = [row["label"] for row in rows], [row["user_id"] for row in rows]
    theirs = {
        "f1": metrics.f1_score, "recall": metrics.recall_score, "kappa": metrics.cohen_kappa_score,
        "over_selection": lambda people, model: sum(model) / sum(people),
    }  # fmt: skip
    every = len(rows)
    said = {
        "filter": [row["answer"] == "YES" for row in rows],
        "always YES": [True] * every,
        "always NO": [False] * every,
    }
    assert found.keys() == said.keys()
    for name, answers in said.items():
        for score, measure in theirs.items():
            assert found[name][score]["value"] == pytest.approx(measure(people, answers), abs=1e-12), (name, score)
    stderr = jackknife_stderr(
        lambda pairs: metrics.f1_score(*zip(*pairs, strict=True)),
        list(zip(people, said["filter"], strict=True)), Clusters.of(users, [row.prompt for row in labeled]),
    )  # fmt: skip
    assert found["filter"]["f1"]["stderr"] == pytest.approx(stderr, abs=1e-12)
    assert found["filter"]["f1"]["value"] > found["always YES"]["f1"]["value"] + 0.15
    assert found["filter"]["kappa"]["value"] > 0.3


def test_the_same_rows_in_another_order_give_the_same_bytes_and_no_path_is_in_them(
    of_planted, planted_data, minilm, tmp_path
):
    shuffled = write_lines(tmp_path / "data" / "relevance.jsonl", random.Random(1).sample(PLANTED, len(PLANTED))).parent
    assert tree(trained(shuffled, tmp_path / "again", minilm)) == tree(of_planted)
    assert str(planted_data) not in (of_planted / "filter.json").read_text("utf-8")


def test_without_the_extra_it_is_named(monkeypatch, tmp_path):
    from personafeedback_tasks.common import errors

    monkeypatch.setattr(errors.importlib.util, "find_spec", lambda module: None)
    refused(train("sample", tmp_path / "out", DEFAULT), "pip install 'personafeedback-tasks[filter]'")
    with pytest.raises(ModuleNotFoundError, match=r"personafeedback-tasks\[filter\]"):  # before a step is paid for
        recenter_chain(data="sample", relevance_filter=str(tmp_path))


# --- what a chain asks ------------------------------------------------------------------------------------------------


def test_training_rows_get_their_held_out_prediction_and_others_that_of_the_filter_of_all_rows(
    of_planted, planted_data, minilm, monkeypatch
):
    def never(*arguments, **words):
        raise AssertionError("no file of somebody else's may be unpickled")

    for module, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (np, "load")):
        monkeypatch.setattr(module, name, never)
    made, about = read(of_planted), json.loads((of_planted / "filter.json").read_text("utf-8"))
    first = {}
    for row, line in zip(with_judgment(load(Relevance, planted_data)), predicted(of_planted), strict=True):
        first.setdefault((row.attribute, row.prompt), line["answer"])
        assert made.drops(row) == (first[row.attribute, row.prompt] == "NO")
    monkeypatch.undo()
    for text in ("Bakes bread on Sundays", "Uses Linux on a laptop", "Has a pan", "Was born in May"):
        row = Relevance("new", "u9", "Which pan should I buy?", text)
        one, other = embedder(str(minilm)).embed([row.attribute, row.prompt])
        values = [*one, *(one * other * 384**0.5), 4 * one @ other]
        probability = 1 / (1 + np.exp(-(about["bias"] + np.dot(about["weights"], values))))
        assert made.drops(row) == (probability < about["threshold"])


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("filter.json", None, "found no filter.json"),
        ("filter.json", lambda text: text.replace('"threshold"', '"limit"'), "found no threshold"),
        ("predictions.jsonl", None, "could not be read"),
        ("predictions.jsonl", lambda text: text.replace('"answer"', '"said"', 1), "line 1: found no answer"),
    ],
)  # fmt: skip
def test_a_broken_folder_is_named_with_what_to_do(file, change, words, of_planted, tmp_path):
    path = shutil.copytree(of_planted, tmp_path / "broken") / file
    text = path.read_text("utf-8")
    path.unlink()
    if change is not None:
        assert change(text) != text
        path.write_text(change(text), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(words)) as error:
        read(tmp_path / "broken")
    assert "broken" in str(error.value)


def test_another_embedding_model_is_refused_and_the_same_one_elsewhere_is_not(of_planted, minilm, tmp_path):
    row = Relevance("new", "u", "Where should I go?", "Has a boat")

    def moved_to(model):
        folder = shutil.copytree(of_planted, tmp_path / model.name / "filter")
        text = (folder / "filter.json").read_text("utf-8")
        (folder / "filter.json").write_text(text.replace(str(minilm), str(model)), "utf-8")
        return read(folder).drops(row)

    assert moved_to(shutil.copytree(minilm, tmp_path / "moved")) == read(of_planted).drops(row)
    other = shutil.copytree(minilm, tmp_path / "other")
    (other / "sentence_bert_config.json").write_text('{"max_seq_length": 32}', encoding="utf-8")
    with pytest.raises(DataError, match=f"expected the one .* trained with, {embedder(str(minilm)).digest}"):
        moved_to(other)


def test_the_page_runs_as_printed(minilm, tmp_path, monkeypatch):
    """With the default embedding model, which lies in a cache as the Hub's client fills it."""
    monkeypatch.chdir(tmp_path)
    _, *words = shlex.split(block(PAGE, "filter: train"))
    done = personafeedback(*words, **cached(minilm, tmp_path))
    assert done.stdout.endswith(block(PAGE, "filter: output"))  # after a warning of the Hub's client: it is offline
