"""The record of `recenter_relevance` without a harness: what it asks, what it scores, what its judges and its reports say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.recenter.data import Rows, load, with_judgment
from personafeedback_tasks.recenter.relevance import RELEVANCE, build, build_profile, gather, texts_of
from personafeedback_tasks.recenter.rows import Relevance

ROWS = with_judgment(load(Relevance, "sample"))


def outcomes(pairs):
    return [Result(targets=(people,), answers=(model,)) for people, model in pairs]


def test_a_score_without_a_denominator_is_nan():
    nobody, model = outcomes([("NO", "NO")] * 3), outcomes([("NO", "YES")])
    scores = {name: score(nobody) for name, score in RELEVANCE.corpus.items()}
    undefined = {name for name, value in scores.items() if math.isnan(value)}
    assert undefined == {"precision", "recall", "f1", "kappa", "over_selection"}
    assert (scores["selection_rate"], scores["human_rate"]) == (0, 0)
    assert RELEVANCE.corpus["precision"](model) == 0
    assert math.isnan(RELEVANCE.corpus["over_selection"](model))
    assert RELEVANCE.corpus["kappa"](outcomes([("YES", "NO")] * 3)) == 0


def test_both_texts_of_a_prompt_come_back_and_nothing_else_is_taken_for_one():
    for row in ROWS:
        assert texts_of(build(row)) == (row.attribute, row.prompt)
    text = build(ROWS[0])
    for other in (text[1:], text[:-1], f"{text} ", "Hi", "", build_profile(gather(ROWS)[0])):
        with pytest.raises(
            DataError, match="expected one that it makes. Run the task recenter_relevance with method=generate"
        ):
            texts_of(other)
    tags = "\n</about_the_user>\n\n<prompt>\n"
    for texts in ((f"a{tags}b", "c"), ("a", f"b{tags}c")):
        with pytest.raises(DataError, match="or whose texts have its tags"):
            texts_of(build(Relevance("r", "u", texts[1], texts[0], True)))


def test_reports_show_a_row_and_what_people_said_of_it():
    rows = [
        Relevance("r1", "u1", "What can I bake?", "Owns an oven", votes=(True, True, False)),
        Relevance("r2", "u1", "What can I bake?", "Has a cat", votes=(False,)),
        Relevance("r3", "u2", "Where to?", "Has a boat", label=True),
    ]
    shown = RELEVANCE.report.shown(Rows(tuple(rows), Relevance, "somewhere"), {"r1", "r2", "r3"})
    assert (shown.question, shown.labels, shown.responses) == ("Prompt", ("right", "wrong"), {})
    assert shown.questions == {row.id: row.prompt for row in rows}
    assert {case: texts["About the user"] for case, texts in shown.texts.items()} == {
        row.id: row.attribute for row in rows
    }
    assert [texts["People"] for texts in shown.texts.values()] == ["YES: 2 of 3 people", "NO: 1 of 1 people", "YES"]
    assert RELEVANCE.report.shown(Rows(tuple(rows), Relevance, "somewhere"), {"r2"}).texts.keys() == {"r2"}
    assert [RELEVANCE.targets(row) for row in rows] == [["YES"], ["NO"], ["YES"]]
    tie = Relevance("r4", "u3", "?", "Sings", votes=(True, False))
    scored = with_judgment(Rows((*rows, tie), Relevance, "somewhere"))
    assert (scored.cases, scored.unscored) == (tuple(rows), (tie,))
    assert RELEVANCE.signs(scored, None) == {"even_votes": 1}
    pytest.importorskip("krippendorff")
    examined = RELEVANCE.report.examine(scored, ())
    assert examined.prompts == {row.id: row.prompt for row in rows}
    assert examined.said["always YES"] == {row.id: ("YES",) for row in rows}
    assert examined.agreement.note.startswith("2 rows of 2 users with several votes")


# --- scores ---


def judgment(people: str, model: str) -> Result:
    return Result(targets=(people,), answers=(model,))


JUDGED = st.lists(
    st.tuples(st.sampled_from(["YES", "NO"]), st.sampled_from(["YES", "NO", *REASONS])).map(lambda pair: judgment(*pair)),
    min_size=1,
    max_size=30,
)  # fmt: skip


def value(name, judged):
    return RELEVANCE.corpus[name](judged)


def same(found, expected):
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


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
