"""Scores, baselines and constant judges of the three stages on a few seeded examples, each counted row by row."""

from __future__ import annotations

import math
import random
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("scipy")
np = pytest.importorskip("numpy")

from personafeedback_tasks.common import embeddings
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.engine.outcome import Outcome
from personafeedback_tasks.recenter import baselines, extraction, profile, ratings, relevance, response
from personafeedback_tasks.recenter.baselines import selected
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.extraction import EXTRACTION
from personafeedback_tasks.recenter.relevance import RELEVANCE
from personafeedback_tasks.recenter.response import RESPONSE
from personafeedback_tasks.recenter.rows import Extraction, Relevance, Response

same = pytest.approx
ROWS = with_judgment(load(Relevance, "sample"))
SEEDS = range(25)


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


# --- two labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_every_score_of_labels_is_its_definition(seed):
    drawn = random.Random(seed)
    people = drawn.choices(("YES", "NO"), k=drawn.randint(1, 12))
    model = [drawn.choice(("YES", "NO", "refusal")) for _ in people]
    judged = [Outcome(targets=(target,), answers=(answer,)) for target, answer in zip(people, model, strict=True)]
    hits = sum(pair == ("YES", "YES") for pair in zip(people, model, strict=True))
    found, theirs, n = model.count("YES"), people.count("YES"), len(people)
    agreed = sum(a == b for a, b in zip(people, model, strict=True)) / n
    chance = sum(people.count(label) * model.count(label) for label in ("YES", "NO")) / n**2
    expected = {
        "precision": ratio(hits, found),
        "recall": ratio(hits, theirs),
        "f1": ratio(2 * hits, found + theirs),
        "selection_rate": found / n,
        "human_rate": theirs / n,
        "over_selection": ratio(found, theirs),
        "kappa": ratio(agreed - chance, 1 - chance) if chance < 1 else math.nan,
    }
    assert {name: measure(judged) for name, measure in RELEVANCE.corpus.items()} == {
        name: same(value, nan_ok=True) for name, value in expected.items()
    }


def test_the_scores_of_a_row():
    for benchmark, (first, second) in ((RELEVANCE, ("YES", "NO")), (EXTRACTION, EXTRACTION.labels)):
        score = benchmark.methods["generate"].score
        assert [score((first,), (answer,))["acc"] for answer in (first, second, "refusal")] == [1, 0, 0]
        assert [score((first,), (answer,))["invalid"] for answer in (first, second, "refusal")] == [0, 0, 1]


# --- ratings ------------------------------------------------------------------------------------------------------------


def ranks(values):
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_score_of_ratings_is_its_definition(seed):
    drawn = random.Random(seed)
    rows = [
        (
            drawn.choices(range(1, 6), k=drawn.randint(1, 3)),
            drawn.choices([*"12345", "refusal"], (2, 2, 2, 2, 2, 1), k=2),
        )
        for _ in range(drawn.randint(2, 12))
    ]
    ours, theirs, scores, judged = [], [], [], []
    for votes, (second, first) in rows:
        mean, readable = sum(votes) / len(votes), second != "refusal" != first
        mine = (int(second) + 6 - int(first)) / 2 if readable else 1.0 if mean >= 3 else 5.0
        ours.append(mine)
        theirs.append(mean)
        scores.append(
            {
                "acc": float(readable and (mine > 3) == (mean > 3)),
                "consistency": float(readable and int(second) == 6 - int(first)),
                "invalid": ((second == "refusal") + (first == "refusal")) / 2,
            }
        )
        row = Response("r", "u", "p", "a", "g", "q", tuple(votes))
        judged.append(Outcome(targets=response.targets(row), answers=(second, first)))
    assert [ratings.rating(one) for one in judged] == ours
    assert [ratings.people(one) for one in judged] == same(theirs)
    assert [ratings.score(one.targets, one.answers) for one in judged] == scores
    assert [ratings.better(one.targets, one.answers) for one in judged] == [
        "refusal" not in answers and mine > 3 for (_, answers), mine in zip(rows, ours, strict=True)
    ]
    spread = [(a - b) ** 2 for a in ours for b in theirs]  # all pairs of rows
    observed = sum((a - b) ** 2 for a, b in zip(ours, theirs, strict=True)) / len(rows)
    kappa = 1 - ratio(observed, sum(spread) / len(spread))
    assert ratings.weighted_kappa(judged) == same(kappa, nan_ok=True)
    if len(set(ours)) > 1 and len(set(theirs)) > 1:
        assert ratings.spearman(judged) == same(np.corrcoef(ranks(ours), ranks(theirs))[0, 1])
    else:
        assert math.isnan(ratings.spearman(judged))
    assert ratings.no_better(judged) == same(sum(one <= 3 for one in ours) / len(ours))
    assert ratings.no_better_people(judged) == same(sum(one <= 3 for one in theirs) / len(theirs))


# --- profiles and constant judges ---------------------------------------------------------------------------------------


def test_a_judge_that_always_says_the_same_says_it_to_one_attribute_or_to_all():
    yes, no = RELEVANCE.judges["always_yes"], RELEVANCE.judges["always_no"]
    documents = profile.gather(ROWS.cases)
    assert sum(len(document.cases) for document in documents) == len(ROWS)
    for document in documents:
        built = profile.build(document)
        count = len(document.cases)
        assert profile.listed(built) == count
        assert yes(built) == ", ".join(str(number) for number in range(1, count + 1))
        assert profile.split(RELEVANCE.methods["select"].read(yes(built), False), count) == ("YES",) * count
        assert profile.split(RELEVANCE.methods["select"].read(no(built), False), count) == ("NO",) * count
    single = relevance.build(ROWS.cases[0])
    assert profile.listed(single) is None
    assert (yes(single), no(single)) == ("YES", "NO")
    assert relevance.texts_of(single) == (ROWS.cases[0].attribute, ROWS.cases[0].prompt)


@pytest.mark.parametrize("reason", ["refusal", "truncated"])
def test_a_reason_or_a_number_that_no_row_has_counts_for_every_row(reason):
    assert profile.split(reason, 3) == (reason,) * 3
    assert profile.split("4", 3) == ("invalid_response_format",) * 3
    assert profile.split("3", 3) == ("NO", "NO", "YES")


@pytest.mark.parametrize("benchmark", [RELEVANCE, EXTRACTION, RESPONSE], ids=lambda one: one.name)
def test_a_fingerprint_is_a_version_and_twelve_digits(benchmark):
    prints = {benchmark.fingerprint(benchmark.options(method=name)) for name in benchmark.methods}
    assert all(re.fullmatch(r"v\d+-[0-9a-f]{12}", one) for one in prints)


def test_a_prompt_that_the_task_does_not_make_is_refused():
    single = relevance.build(ROWS.cases[0])
    for text in (single[1:], single + " ", "What?"):
        with pytest.raises(Exception, match="does not make for a single attribute"):
            relevance.texts_of(text)


# --- what a report adds -------------------------------------------------------------------------------------------------


def test_the_number_that_a_baseline_selects():
    assert [selected(size, 0.25) for size in (1, 2, 5, 6, 9, 10, 100)] == [1, 1, 1, 2, 2, 3, 25]
    assert [selected(4, rate) for rate in (0.0, 0.37, 0.38, 1.0)] == [1, 1, 2, 4]


def test_people_are_counted_for_the_label_that_most_of_them_gave():
    shown = RELEVANCE.report.shown(ROWS, {row.id for row in ROWS})
    for row in ROWS:
        label, agree = ("YES" if row.judgment else "NO"), sum(vote == row.judgment for vote in row.votes)
        expected = f"{label}: {agree} of {len(row.votes)} people" if row.votes else label
        assert shown.texts[row.id]["People"] == expected
        assert shown.questions[row.id] == row.prompt
    some = {ROWS.cases[0].id}
    assert RELEVANCE.report.shown(ROWS, some).questions.keys() == some


def test_an_extraction_is_problematic_where_most_people_did_not_accept_it():
    rows = with_judgment(load(Extraction, "sample"))
    shown = EXTRACTION.report.shown(rows, {row.id for row in rows})
    for row in rows:
        against = sum(vote != "accepted" for vote in row.votes)
        label = extraction.SCORES.target(row)
        assert shown.texts[row.id]["People"].startswith(label)
        if row.votes:
            most = against if 2 * against > len(row.votes) else len(row.votes) - against
            assert (label == EXTRACTION.labels[0]) == (2 * against > len(row.votes))
            assert shown.texts[row.id]["People"] == f"{label}: {most} of {len(row.votes)} people"
    assert len({extraction.SCORES.target(row) for row in rows}) == 2


def test_a_response_shows_the_mean_and_the_votes_in_order():
    rows = with_judgment(load(Response, "sample"))
    shown = RESPONSE.report.shown(rows, {row.id for row in rows})
    for row in rows:
        mean = sum(row.votes) / len(row.votes)
        assert (
            shown.texts[row.id]["People"]
            == f"{mean:.2f} on average: {', '.join(str(vote) for vote in sorted(row.votes))}"
        )
        assert shown.responses[row.id] == (row.personalized, row.generic)


def test_baselines_that_always_say_the_same_are_those_of_the_stage():
    rows = with_judgment(load(Response, "sample"))
    said = RESPONSE.report.examine(rows, set()).said
    assert {name: set(answers.values()) for name, answers in said.items()} == {
        "always no difference": {("3", "3")},
        "always much better": {("5", "1")},
    }


# --- embeddings ---------------------------------------------------------------------------------------------------------


class FakeModel:
    """Embeds a text as the numbers of its a's and b's; notes the batches."""

    def __init__(self):
        self.batches = []

    def encode(self, batch, batch_size, show_progress_bar):
        self.batches.append(list(batch))
        return np.array([[text.count("a"), text.count("b")] for text in batch], dtype="float32")


@pytest.fixture
def embedder(monkeypatch):
    monkeypatch.setattr(embeddings, "_threads", lambda number: nullcontext())
    made = object.__new__(embeddings.Embedder)
    made._model = FakeModel()
    return made


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_each_text_is_embedded_once_in_batches_of_similar_length(embedder, count):
    texts = ["a" * number + "b" * (number % 7) for number in range(count)]
    found = embedder.embed([*reversed(texts), *texts])
    assert [len(batch) for batch in embedder._model.batches] == [64] * (count // 64) + [count % 64] * (count % 64 > 0)
    lengths = [len(text) for batch in embedder._model.batches for text in batch]
    assert lengths == sorted(lengths)
    assert found.shape == (2 * count, 2)
    assert np.array_equal(found[:count][::-1], found[count:])
    for text, vector in zip(texts, found[count:], strict=True):
        length = math.hypot(text.count("a"), text.count("b"))
        assert list(vector) == same([text.count("a") / (length or 1), text.count("b") / (length or 1)])


def test_the_similarity_of_a_row_is_the_cosine_of_its_two_texts(embedder, monkeypatch):
    monkeypatch.setattr(baselines, "embedder", lambda model: embedder)
    rows = [Relevance("1", "u", "aab", "ab", label=True), Relevance("2", "u", "b", "a", label=True)]
    assert baselines.similarity(rows, "m") == {"1": same(3 / math.sqrt(10)), "2": 0}
    assert baselines.similarity([], "m") == {}


def test_a_model_is_a_name_or_a_folder(tmp_path, monkeypatch):
    assert embeddings.name_of("owner/model") == "owner/model"
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert embeddings.name_of("model") == str(Path(tmp_path / "model").resolve())
    for empty in ("", " "):
        with pytest.raises(OptionError, match="The embedding model must be a name"):
            embeddings.name_of(empty)
