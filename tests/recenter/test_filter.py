"""The trained filter with the real weights of MiniLM: its embeddings, its splits, its folder, and the judge that Inspect runs."""

from __future__ import annotations

import json
import pickle
import random
import re
import shlex
import shutil
from itertools import product

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support import planted
from support.commands import personafeedback, tree
from support.documents import DOCS, block, needs_checkout
from support.minilm import cached

pytestmark = pytest.mark.torch
np = pytest.importorskip("numpy")
metrics = pytest.importorskip("sklearn.metrics")

from personafeedback_tasks.common.clusters import Shared
from personafeedback_tasks.common.embeddings import DEFAULT, embedder
from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.common.jackknife import jackknife_stderr
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.filter.folder import read
from personafeedback_tasks.recenter.filter.model import evaluations, features_of, held_out, threshold
from personafeedback_tasks.recenter.rows import Relevance

NAMES = ("by_user", "by_user_and_prompt")
PAGE = DOCS / "filter.md"
PLANTED = planted.rows(users=6, prompts=5, attributes=5)


def train(data, out, minilm, *arguments):
    return personafeedback("recenter", "train", data, "--out", out, "--embeddings", minilm, *arguments)


def trained(data, out, minilm, *arguments):
    done = train(data, out, minilm, *arguments)
    assert done.exit_code == 0, done.output
    return out


def predicted(folder):
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text("utf-8").splitlines()]


def refused(done, *words):
    assert done.exit_code != 0
    for word in words:
        assert word in " ".join(done.output.split()), done.output


@pytest.fixture(scope="module")
def of_sample(minilm, tmp_path_factory):
    return trained("sample", tmp_path_factory.mktemp("filter") / "sample", minilm)


@pytest.fixture(scope="module")
def planted_data(tmp_path_factory):
    return planted.write(tmp_path_factory.mktemp("planted"), PLANTED)


@pytest.fixture(scope="module")
def of_planted(minilm, planted_data, tmp_path_factory):
    return trained(planted_data, tmp_path_factory.mktemp("filter") / "planted", minilm)


# --- embeddings -------------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("what", ["empty", "not there", "no model"])
def test_a_model_that_cannot_be_loaded_is_named(what, minilm, tmp_path):
    name = {"empty": " ", "not there": "nobody/has-this", "no model": str(tmp_path)}[what]
    with pytest.raises(OptionError, match=re.escape("Hugging Face Hub")):
        embedder(name)


# --- splits -----------------------------------------------------------------------------------------------------------

GROUPS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["p", "q", "r", "s"])), min_size=8, max_size=60
).filter(lambda rows: len({user for user, _ in rows}) > 2 and len({prompt for _, prompt in rows}) > 1)


@given(GROUPS)
@settings(max_examples=60)
def test_nobody_is_on_both_sides_of_a_fold_and_every_row_is_tested_once(rows):
    users, prompts = map(np.array, zip(*rows, strict=True))
    for name, folds in evaluations(users, prompts).items():
        assert sorted(index for _, tested in folds for index in tested) == list(range(len(rows)))
        for own, tested in folds:
            assert not {*users[own]} & {*users[tested]}
            if name == "by_user_and_prompt":
                assert not {*prompts[own]} & {*prompts[tested]}
            else:
                assert len(own) + len(tested) == len(rows)


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_the_rows_of_a_fold_do_not_reach_its_predictions(name):
    """Neither the weights nor the penalty nor the threshold: with all labels of the tested rows inverted they are the same."""
    rng = np.random.default_rng(5)
    users, prompts, _ = map(np.array, zip(*product("abcd", "pq", range(12)), strict=True))
    found = rng.normal(size=(len(users), 7))
    labels = found[:, 0] + rng.normal(size=len(users)) > 0
    folds = evaluations(users, prompts)[name]
    before = held_out(found, labels, users, folds)
    inverted = labels.copy()
    inverted[folds[1][1]] ^= True
    after = held_out(found, inverted, users, folds)
    tested = [index for index, made in enumerate(before) if made.fold == 2]
    assert tested == sorted(folds[1][1])
    assert [after[index] for index in tested] == [before[index] for index in tested]
    assert after != before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (planted.rows(2, 5, 5), "50 rows of 2 users"),
        ([{**row, "prompt": "Same?"} for row in PLANTED], "of 6 users and 1 prompts, too few"),
        ([{**row, "label": row["user_id"] == "u1"} for row in PLANTED], "too few"),
        ([{**row, "label": True} for row in PLANTED], "too few"),
    ],
)
def test_too_few_users_or_labels_are_named(rows, words, minilm, tmp_path):
    refused(train(planted.write(tmp_path / "data", rows), tmp_path / "out", minilm), words, "Add rows of more users")
    assert not (tmp_path / "out").exists()


# --- the model --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=14))
@settings(max_examples=300)
def test_no_cut_has_a_higher_f1_than_the_threshold(rows):
    labels = np.array([label for _, label in rows])
    if not labels.any():
        return
    probabilities = np.array([number / 7 + 0.01 for number, _ in rows])

    def f1(cut):
        selected = probabilities >= cut
        return 2 * (labels & selected).sum() / (labels.sum() + selected.sum())

    found = threshold(labels, probabilities)
    best = max(f1(cut) for cut in probabilities)
    assert f1(found) == best
    fewest = min((probabilities >= cut).sum() for cut in probabilities if f1(cut) == best)
    assert (probabilities >= found).sum() == fewest


def test_features_are_the_attribute_the_product_and_its_sum_of_about_equal_length():
    found = features_of(np.array([[0.6, 0.8], [1, 0]]), np.array([[0.8, 0.6], [0, 1]]))
    product = 0.48 * 2**0.5
    assert found == pytest.approx(np.array([[0.6, 0.8, product, product, 4 * 0.96], [1, 0, 0, 0, 0]]))


def test_a_signal_that_can_be_told_from_the_meaning_is_learnt(of_planted):
    """For users, and for prompts, that the model has not seen."""
    found = json.loads((of_planted / "filter.json").read_text("utf-8"))["metrics"]
    for name in NAMES:
        assert found[name]["f1"]["value"] > found["always YES"]["f1"]["value"] + 0.15, name
        assert found[name]["kappa"]["value"] > 0.3, name


# --- the folder -------------------------------------------------------------------------------------------------------


def test_metrics_and_card_are_what_scikit_learn_computes_from_the_predictions(of_sample):
    found = json.loads((of_sample / "filter.json").read_text("utf-8"))["metrics"]
    rows = predicted(of_sample)
    people, users = [row["label"] for row in rows], [row["user_id"] for row in rows]
    labeled = with_judgment(load(Relevance, "sample"))
    assert [(row["id"], row["label"]) for row in rows] == [(row.id, row.judgment) for row in labeled]
    prompts = [row.prompt for row in labeled]
    said = {name: [row[name]["answer"] == "YES" for row in rows] for name in NAMES}
    said |= {"always YES": [True] * len(rows), "always NO": [False] * len(rows)}
    theirs = {
        "f1": metrics.f1_score, "recall": metrics.recall_score, "kappa": metrics.cohen_kappa_score,
        "over_selection": lambda people, model: sum(model) / sum(people),
    }  # fmt: skip
    assert found.keys() == said.keys()
    card = (of_sample / "README.md").read_text("utf-8")
    for name, answers in said.items():
        for score, measure in theirs.items():
            assert found[name][score]["value"] == pytest.approx(measure(people, answers), abs=1e-12), (name, score)
        pairs = list(zip(people, answers, strict=True))
        stderr = jackknife_stderr(
            lambda pairs: metrics.f1_score(*zip(*pairs, strict=True)), pairs, users, Shared(prompts)
        )
        assert found[name]["f1"]["stderr"] == pytest.approx(stderr, abs=1e-12)
        assert (
            f"| {100 * found[name]['f1']['value']:.1f} ± {100 * stderr:.1f} | {found[name]['kappa']['value']:.3f} ±"
            in card
        )
    assert found["always NO"]["precision"]["value"] is None
    for name in NAMES:
        for row in rows:
            of = row[name]
            assert of["answer"] == ("YES" if of["probability"] >= of["threshold"] else "NO")


def test_the_same_rows_in_another_order_give_the_same_bytes(of_planted, minilm, tmp_path):
    shuffled = planted.write(tmp_path / "data", random.Random(1).sample(PLANTED, len(PLANTED)))
    assert tree(trained(shuffled, tmp_path / "again", minilm)) == tree(of_planted)


def test_the_card_tells_what_the_hub_reads_and_no_path(of_sample, of_planted, minilm, planted_data):
    for folder in (of_sample, of_planted):
        text = (folder / "README.md").read_text("utf-8")
        _, front, body = text.split("---\n", 2)
        assert yaml.safe_load(front)["pipeline_tag"] == "text-classification"
        assert ("for demonstration only" in body) == (folder == of_sample)
        for private in (minilm.parent, planted_data.parent, folder.parent):
            assert str(private) not in text
        about = json.loads((folder / "filter.json").read_text("utf-8"))
        assert f"{about['data']['rows']} rows of 6 users" in body
        assert about["data"]["digest"] in body
        assert about["embeddings"]["digest"] == embedder(str(minilm)).digest


def test_a_folder_with_something_else_is_refused_and_stays_as_it_is(minilm, tmp_path):
    (tmp_path / "README.md").write_text("mine", encoding="utf-8")
    before = tree(tmp_path)
    refused(train("sample", tmp_path, minilm), "found a folder with other files", "Pass another --out")
    assert tree(tmp_path) == before


def test_without_the_extra_it_is_named(monkeypatch, tmp_path):
    from personafeedback_tasks.common import errors

    monkeypatch.setattr(errors.importlib.util, "find_spec", lambda module: None)
    refused(train("sample", tmp_path / "out", DEFAULT), "pip install 'personafeedback-tasks[filter]'")


# --- what a chain asks ------------------------------------------------------------------------------------------------


def test_training_rows_get_their_held_out_prediction_and_others_that_of_the_filter_of_all_rows(
    of_planted, planted_data, minilm
):
    made, about = read(of_planted), json.loads((of_planted / "filter.json").read_text("utf-8"))
    first = {}
    for row, line in zip(with_judgment(load(Relevance, planted_data)), predicted(of_planted), strict=True):
        first.setdefault((row.attribute, row.prompt), line["by_user"]["probability"])
        assert made.predicted(row).probability == first[row.attribute, row.prompt]
    for text in ("Bakes bread on Sundays", "Uses Linux on a laptop"):
        row = Relevance("new", "u9", "Which pan should I buy?", text)
        one, other = embedder(str(minilm)).embed([row.attribute, row.prompt])
        values = [*one, *(one * other * 384**0.5), 4 * one @ other]
        probability = 1 / (1 + np.exp(-(about["bias"] + np.dot(about["weights"], values))))
        assert made.predicted(row).probability == pytest.approx(probability)
        assert made.drops(row) == (probability < about["threshold"])


def test_a_folder_is_loaded_without_pickle(of_sample, monkeypatch):
    assert {path.name for path in of_sample.iterdir()} == {"filter.json", "predictions.jsonl", "README.md"}

    def never(*arguments, **words):
        raise AssertionError("no file of somebody else's may be unpickled")

    for module, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (np, "load")):
        monkeypatch.setattr(module, name, never)
    assert read(of_sample).predicted(with_judgment(load(Relevance, "sample"))[0]).fold > 0


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("filter.json", None, "found no filter.json"),
        ("filter.json", lambda text: text[:40], "expected JSON"),
        ("filter.json", lambda text: re.sub(r'"threshold": [^,]+', '"threshold": null', text), "threshold = None, expected float"),
        ("filter.json", lambda text: re.sub(r'"bias": [^,]+', '"bias": NaN', text), "byte"),
        ("filter.json", lambda text: "[]", "found [], expected object"),
        ("predictions.jsonl", None, "could not be read"),
        ("predictions.jsonl", lambda text: text.replace('"probability"', '"chance"', 1), "line 1: found no by_user.probability"),
    ],
)  # fmt: skip
def test_a_broken_folder_is_named_with_what_to_do(file, change, words, of_sample, tmp_path):
    shutil.copytree(of_sample, tmp_path / "broken")
    path = tmp_path / "broken" / file
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
        return read(folder).predicted(row)

    assert moved_to(shutil.copytree(minilm, tmp_path / "moved")) == read(of_planted).predicted(row)
    other = shutil.copytree(minilm, tmp_path / "other")
    (other / "sentence_bert_config.json").write_text('{"max_seq_length": 32}', encoding="utf-8")
    with pytest.raises(DataError, match=f"expected the one .* trained with, {embedder(str(minilm)).digest}"):
        moved_to(other)


@needs_checkout
def test_the_page_runs_as_printed(minilm, tmp_path, monkeypatch):
    """With the default embedding model, which lies in a cache as the Hub's client fills it."""
    monkeypatch.chdir(tmp_path)
    _, *words = shlex.split(block(PAGE, "filter: train"))
    done = personafeedback(*words, **cached(minilm, tmp_path))
    assert done.stdout.endswith(block(PAGE, "filter: output"))  # after a warning of the Hub's client: it is offline
    assert f"base_model: {DEFAULT}\n" in (tmp_path / "filter" / "README.md").read_text("utf-8")
