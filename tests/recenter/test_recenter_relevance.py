"""Scores of `recenter_relevance`: each by its definition, and its error by another way. Both harnesses: `test_recenter_tasks`."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from support.recenter import same

from personafeedback_tasks.common.jackknife import jackknife_stderr
from personafeedback_tasks.core.outcome import Outcome
from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.recenter.relevance import RELEVANCE

CORPUS = RELEVANCE.corpus


def judgment(people: str, model: str) -> Outcome:
    return Outcome(targets=(people,), answers=(model,))


JUDGED = st.lists(
    st.tuples(st.sampled_from(["YES", "NO"]), st.sampled_from(["YES", "NO", *REASONS])).map(lambda pair: judgment(*pair)),
    min_size=1,
    max_size=30,
)  # fmt: skip


def value(name, judged):
    return CORPUS[name](judged)


@pytest.mark.slow
@given(JUDGED)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_every_score_is_its_definition(judged):
    """Spelled out row by row. An unreadable reply selects nothing and is never right."""
    pairs = [(outcome.targets[0], outcome.answers[0]) for outcome in judged]
    people, model = [p == "YES" for p, _ in pairs], [s == "YES" for _, s in pairs]
    hits = sum(p and m for p, m in zip(people, model, strict=True))

    def ratio(part, whole):
        return part / whole if whole else math.nan

    assert same(value("precision", judged), ratio(hits, sum(model)))
    assert same(value("recall", judged), ratio(hits, sum(people)))
    assert same(value("f1", judged), ratio(2 * hits, sum(people) + sum(model)))
    assert same(value("selection_rate", judged), sum(model) / len(model))
    assert same(value("human_rate", judged), sum(people) / len(people))
    assert same(value("over_selection", judged), ratio(sum(model), sum(people)))


@pytest.mark.slow
@given(JUDGED)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_scikit_learn_agrees(judged):
    metrics = pytest.importorskip("sklearn.metrics")
    people = [outcome.targets[0] for outcome in judged]
    said = [outcome.answers[0] for outcome in judged]
    model = [answer if answer in RELEVANCE.labels else "unreadable" for answer in said]
    labels = ["YES", "NO", "unreadable"]
    for name, of_theirs in (
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
    ):
        theirs = of_theirs(people, model, labels=["YES"], average="micro", zero_division=math.nan)
        assert same(value(name, judged), theirs), name
    if not math.isnan(value("kappa", judged)):
        assert same(value("kappa", judged), metrics.cohen_kappa_score(people, model, labels=labels))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "precision", "recall", "over_selection"])
def test_a_jackknife_over_users_gives_the_error_of_a_bootstrap_over_users(name):
    """Users differ in how often people, and the model, say YES: 60 users, 40 rows each, 20,000 resamples of whole users."""
    np = pytest.importorskip("numpy")
    random = np.random.default_rng(1)
    judged, users, counts = [], [], []
    for user in range(60):
        rate, noise = random.beta(3, 5), random.uniform(0.05, 0.4)
        people = random.random(40) < rate
        model = people ^ (random.random(40) < noise)
        counts.append([np.sum(people & model), np.sum(people), np.sum(model)])
        users += [f"u{user}"] * 40
        judged += [judgment("YES" if p else "NO", "YES" if m else "NO") for p, m in zip(people, model, strict=True)]
    hits, said, selected = np.array(counts)[random.integers(0, 60, (20_000, 60))].sum(axis=1).T
    resampled = {
        "f1": 2 * hits / (said + selected), "precision": hits / selected, "recall": hits / said,
        "over_selection": selected / said,
    }[name]  # fmt: skip
    assert jackknife_stderr(CORPUS[name], judged, users) == pytest.approx(np.std(resampled), rel=0.03)
