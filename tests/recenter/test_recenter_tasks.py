"""`recenter_extraction`, `recenter_response`, the control `other_user` and the group: known answers through both harnesses."""

from __future__ import annotations

import html
import json
import math
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from lm_eval.tasks import TaskManager
from support.inspect_runs import inspect_eval
from support.recenter import in_inspect, in_lm_eval, same

from personafeedback_tasks.analysis.measures import Contender
from personafeedback_tasks.analysis.ranking import make_ranking
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.jackknife import jackknife_stderr
from personafeedback_tasks.common.statistics import clustered_stderr
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.recenter import extraction, ratings, relevance, response
from personafeedback_tasks.recenter.control import attributes_of_others, under_control
from personafeedback_tasks.recenter.data import Rows, load, with_judgment
from personafeedback_tasks.recenter.extraction import EXTRACTION
from personafeedback_tasks.recenter.relevance import RELEVANCE
from personafeedback_tasks.recenter.response import FIRST, RESPONSE, SECOND
from personafeedback_tasks.recenter.rows import STAGES, Extraction, Message, Relevance, Response
from personafeedback_tasks.reports import page

EXTRACTIONS = with_judgment(load(Extraction, "sample"))
RESPONSES = [row for row in load(Response, "sample") if row.votes]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)


# --- prompts ----------------------------------------------------------------------------------------------------------


@given(TEXT, TEXT, TEXT)
@settings(deadline=None, derandomize=True)
def test_texts_of_an_extraction_arrive_unchanged(said, attribute, reason):
    said, attribute, reason = f"{{attribute}}{said}", f"{{reason}}{attribute}", f"{{conversation}}{reason}"
    built = extraction.build(Extraction("e", "u", (Message("user", said),), attribute, reason, "human", "accepted"))
    assert f"<conversation>\nuser: {said}\n</conversation>" in built
    assert f"<note>\n{attribute}\n</note>\n\n<reason>\n{reason}\n</reason>" in built


@given(TEXT, TEXT, TEXT, TEXT)
@settings(deadline=None, derandomize=True)
def test_texts_of_a_response_arrive_unchanged_in_both_orders(attribute, prompt, generic, personalized):
    row = Response("p", "u", f"{{a}}{prompt}", f"{{prompt}}{attribute}", f"{{b}}{generic}", personalized, (3,))
    for call, a, b in ((SECOND, row.generic, row.personalized), (FIRST, row.personalized, row.generic)):
        built = response.build(row, call)
        assert f"<about_the_user>\n{row.attribute}\n</about_the_user>\n\n<prompt>\n{row.prompt}\n</prompt>" in built
        assert f"<response_a>\n{a}\n</response_a>\n\n<response_b>\n{b}\n</response_b>" in built


def test_no_prompt_tells_what_people_said():
    for row in EXTRACTIONS:
        assert extraction.build(replace(row, label="rejected", votes=())) == extraction.build(row)
    for row in RESPONSES:
        assert response.build(replace(row, votes=(1,)), FIRST) == response.build(row, FIRST)
    for row in ROWS:
        opposite = replace(row, label=not row.judgment, votes=())
        assert relevance.build(opposite) == relevance.build(row)
        assert relevance.SCORES.target(opposite) != relevance.SCORES.target(row)


# --- scores of ratings ------------------------------------------------------------------------------------------------

RATINGS = st.lists(
    st.tuples(
        st.lists(st.integers(1, 5), min_size=1, max_size=4),
        st.tuples(*[st.sampled_from(["1", "2", "3", "4", "5", *REASONS[:1]])] * 2),
    ),
    min_size=2,
    max_size=25,
)


def judged_of(rows):
    return [
        Result(targets=response.targets(Response("r", "u", "p", "a", "g", "q", tuple(votes))), answers=answers)
        for votes, answers in rows
    ]


@pytest.mark.slow
@given(RATINGS)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_every_score_of_ratings_is_its_definition(rows):
    """Spelled out row by row. An unreadable reply is the end of the scale that is farther from people's mean."""
    model, people, right, consistent = [], [], [], []
    for votes, (second, first) in rows:
        theirs = sum(votes) / len(votes)
        readable = second in "12345" and first in "12345"
        ours = (int(second) + 6 - int(first)) / 2 if readable else 1.0 if theirs >= 3 else 5.0
        model.append(ours)
        people.append(theirs)
        right.append(float(readable and (ours > 3) == (theirs > 3)))
        consistent.append(float(readable and int(second) == 6 - int(first)))
    judged = judged_of(rows)
    assert [ratings.rating(one) for one in judged] == model
    scores = [ratings.score(one.targets, one.answers) for one in judged]
    assert [score["acc"] for score in scores] == right
    assert [score["consistency"] for score in scores] == consistent
    assert same(ratings.no_better(judged), sum(one <= 3 for one in model) / len(model))
    assert same(ratings.no_better_people(judged), sum(one <= 3 for one in people) / len(people))


@pytest.mark.slow
@given(RATINGS)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_scipy_and_scikit_learn_agree_on_ratings(rows):
    stats, metrics = pytest.importorskip("scipy.stats"), pytest.importorskip("sklearn.metrics")
    judged = judged_of(rows)
    model, people = [ratings.rating(one) for one in judged], [ratings.people(one) for one in judged]
    if len(set(model)) > 1 and len(set(people)) > 1:
        assert same(ratings.spearman(judged), stats.spearmanr(model, people).statistic)
    else:
        assert math.isnan(ratings.spearman(judged))
    grid = [[round(12 * one) for one in side] for side in (model, people)]  # means of up to four votes
    if len({*model, *people}) > 1:
        theirs = metrics.cohen_kappa_score(*grid, labels=list(range(12, 61)), weights="quadratic")
        assert same(ratings.weighted_kappa(judged), theirs)
    else:
        assert math.isnan(ratings.weighted_kappa(judged))


# --- both harnesses ---------------------------------------------------------------------------------------------------


def check(benchmark, rows, replies, answers, folder):
    """Both harnesses and the reports of their logs give the scores that follow from `answers`: row id -> one per call."""
    method = benchmark.methods["generate"]
    judged = [Result(cell=row.cell, targets=benchmark.targets(row), answers=answers[row.id]) for row in rows]
    users = [row.user_id for row in rows]
    values = [method.score(one.targets, one.answers, ()) for one in judged]
    tabled = [metric.name for metric in method.metrics_in("lm-eval")]
    known = {name: (sum(of_row[name] for of_row in values) / len(rows), None) for name in tabled}
    known["acc"] = known["acc"][0], clustered_stderr([of_row["acc"] for of_row in values], users)
    known |= {name: (score(judged), jackknife_stderr(score, judged, users)) for name, score in benchmark.corpus.items()}
    one, one_log = in_lm_eval(benchmark, replies, folder)
    two, two_log = in_inspect(benchmark, replies, folder / "inspect")
    for name, (value, error) in known.items():
        assert same(one[name], value), name
        assert same(two[name], value), name
        if error is not None:
            assert same(one[f"{name}_stderr"], error), name
            assert same(two[f"{name}_stderr"], error), name
    for log in (one_log, two_log):
        overall = make_report(read_run(log), None).overall
        assert (overall.cases, overall.of) == (len(rows), len(rows))
        for name, (value, _) in known.items():
            assert same(overall.measures[name].value, value), name
    return {name: value for name, (value, _) in known.items()}


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", [EXTRACTION, RELEVANCE], ids=lambda benchmark: benchmark.name)
@pytest.mark.parametrize("model", ["perfect", "inverted", "always", "broken"])
def test_two_labels_have_the_known_scores_in_both_harnesses(benchmark, model, tmp_path):
    rows = with_judgment(load(benchmark.row, "sample"))
    sought, other = benchmark.labels
    people = {row.id: benchmark.targets(row)[0] for row in rows}
    broken = {row.id for row in rows[::10]}
    answers = {
        "perfect": people,
        "inverted": {row: other if label == sought else sought for row, label in people.items()},
        "always": dict.fromkeys(people, sought),
        "broken": {row: "invalid_response_format" if row in broken else label for row, label in people.items()},
    }[model]
    said = lambda row, call: "Who knows?" if answers[row] in REASONS else answers[row]  # noqa: E731
    known = check(benchmark, rows, said, {row: (answer,) for row, answer in answers.items()}, tmp_path)
    rate = sum(label == sought for label in people.values()) / len(people)
    assert known["human_rate"] == rate
    if model == "perfect":
        assert [known[name] for name in ("acc", "precision", "recall", "f1", "kappa")] == [1] * 5
        assert known.get("f1_gap", 0) == 0
        assert known.get("over_selection", 1) == 1
    if model == "inverted":
        assert [known[name] for name in ("acc", "precision", "recall", "f1")] == [0] * 4
    if model == "always":
        assert (known["acc"], known["precision"], known["recall"], known["kappa"]) == (rate, rate, 1, 0)
        assert same(known.get("over_selection", 1 / rate), 1 / rate)
    if model == "broken":
        assert (known["acc"], known["invalid"]) == (1 - len(broken) / len(people), len(broken) / len(people))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["nearest", "random", "always_3", "wrongly_mirrored", "broken"])
def test_response_has_the_known_scores_in_both_harnesses(model, tmp_path):
    nearest = {row.id: round(row.judgment) for row in RESPONSES}
    broken = {row.id for row in RESPONSES[::10]}

    def said(row, call):
        rating = nearest[row]
        return {
            "nearest": str(rating if call == SECOND else 6 - rating),
            "random": str(random.Random(row + call).randint(1, 5)),
            "always_3": "3",
            "wrongly_mirrored": str(rating),
            "broken": "Who knows?"
            if row in broken and call == FIRST
            else str(rating if call == SECOND else 6 - rating),
        }[model]

    def read(reply):
        return reply if reply.isdecimal() else "invalid_response_format"

    answers = {row.id: (read(said(row.id, SECOND)), read(said(row.id, FIRST))) for row in RESPONSES}
    known = check(RESPONSE, RESPONSES, said, answers, tmp_path)
    if model == "nearest":
        assert (known["consistency"], known["invalid"]) == (1, 0)
        assert known["spearman"] > 0.9
    if model in ("always_3", "wrongly_mirrored"):
        assert known["no_better"] == 1
        assert math.isnan(known["spearman"])
    if model == "broken":
        assert known["invalid"] == len(broken) / len(RESPONSES) / 2


@pytest.mark.slow
def test_a_report_of_extraction_has_a_column_per_source(tmp_path):
    _, log = in_inspect(EXTRACTION, "recenter_extraction/always_problematic", tmp_path)
    report = make_report(read_run(log), EXTRACTIONS)
    assert [group.name for group in report.groups] == ["human", "synthetic", "total"]
    human, synthetic, total = report.groups
    gap = human.measures["f1"].value - synthetic.measures["f1"].value
    assert total.measures["f1_gap"].value == pytest.approx(gap)


@pytest.mark.slow
def test_rows_of_which_none_can_be_scored_are_one_sentence_in_both_harnesses(tmp_path):
    """As in the authors' files, which have both responses and no votes."""
    row = {"id": "1", "user_id": "u", "prompt": "?", "attribute": "b", "generic": "c", "personalized": "d"}
    (tmp_path / "response.jsonl").write_text(json.dumps(row), encoding="utf-8")
    even = {"id": "1", "user_id": "u", "prompt": "?", "attribute": "b", "votes": [True, False]}
    (tmp_path / "relevance.jsonl").write_text(json.dumps(even), encoding="utf-8")
    for benchmark, file in (
        (RESPONSE, "response.jsonl"),
        (RELEVANCE, "relevance.jsonl"),
    ):
        sentence = re.escape(
            f"found no row of {file} to score (rows: 1, without votes or with even ones), expected rows that people judged. Add votes"
        )
        with pytest.raises(DataError, match=sentence):
            in_lm_eval(benchmark, lambda *_: "", tmp_path, data=str(tmp_path))
        with pytest.raises(DataError, match=sentence):
            in_inspect(benchmark, lambda *_: "", tmp_path, data=str(tmp_path))


# --- the control ------------------------------------------------------------------------------------------------------

ROWS = with_judgment(load(Relevance, "sample"))


def test_every_row_gets_an_attribute_of_somebody_else():
    known = {user: {row.attribute for row in ROWS if row.user_id == user} for user in {row.user_id for row in ROWS}}
    given = attributes_of_others(ROWS.cases)
    assert given.keys() == {row.id for row in ROWS}
    for row in ROWS:
        assert given[row.id] not in known[row.user_id]
        assert any(given[row.id] in attributes for user, attributes in known.items() if user != row.user_id)
    for document in relevance.gather(ROWS):
        assert len({given[row.id] for row in document.cases}) == len(document.cases)  # there are enough of them here


@given(st.randoms(use_true_random=False))
@settings(deadline=None, derandomize=True, max_examples=10)
def test_who_gets_whose_does_not_depend_on_the_order_of_rows(shuffled):
    rows = list(ROWS)
    shuffled.shuffle(rows)
    assert attributes_of_others(rows) == attributes_of_others(ROWS.cases)


def test_one_user_alone_has_no_control():
    alone = Rows(tuple(row for row in ROWS if row.user_id == "demo-u1"), Relevance, "somewhere")
    with pytest.raises(
        DataError,
        match=r"control=other_user: found no other user with an attribute that demo-u1 does not have \(users: 1\)",
    ):
        under_control(alone, "other_user")


def test_only_the_attribute_changes_in_a_prompt():
    for found, build in (
        (ROWS, relevance.build),
        (replace(load(Response, "sample"), cases=tuple(RESPONSES)), lambda row: response.build(row, FIRST)),
    ):
        for row, other in zip(found, under_control(found, "other_user"), strict=True):
            assert build(other) == build(row).replace(row.attribute, other.other, 1)
            assert (other.digest, other == row) == (row.digest, True)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["generate", "select"])
def test_a_control_beside_its_run_gives_the_gain(method, tmp_path):
    """A model that selects what people select, as long as it is shown that; of others' attributes, nothing."""
    gold = {row.id: relevance.SCORES.target(row) for row in ROWS}
    lists = {
        document.id: ", ".join(str(place) for place, row in enumerate(document.cases, 1) if row.judgment) or "NONE"
        for document in relevance.gather(ROWS)
    }
    right = (lambda one, call: gold[one]) if method == "generate" else (lambda one, call: lists[one])
    nothing = (lambda one, call: "NO") if method == "generate" else (lambda one, call: "NONE")
    _, run = in_inspect(RELEVANCE, right, tmp_path / "run", method)
    found, control = in_inspect(RELEVANCE, nothing, tmp_path / "control", method, control="other_user")
    assert found["selection_rate"] == 0
    read = read_run(control)
    assert "control other_user" in read.label
    report = make_report(read_run(run), ROWS, {"other_user": read})
    assert report.overall.gain.value == pytest.approx(sum(gold[row] == "YES" for row in gold) / len(gold))
    shown = page.render([make_ranking([Contender(read_run(run), controls={"other_user": read})])])
    assert "<h3>What the user's own attribute is worth</h3>" in html.unescape(shown)


# --- the group --------------------------------------------------------------------------------------------------------


def test_the_group_of_lm_eval_has_a_task_per_stage():
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False, metadata={"data": "sample"})
    assert "recenter" in manager.all_groups
    loaded = manager.load(["recenter"])
    assert set(loaded["tasks"]) == {f"recenter_{stage.stage}" for stage in STAGES}


@pytest.mark.slow
def test_the_group_of_inspect_runs_every_stage(tmp_path):
    logs = inspect_eval(
        "personafeedback_tasks/recenter", task_args={"data": "sample"}, model="recenter_response/always_3", display="none",
        log_dir=str(tmp_path), limit=3,
    )  # fmt: skip
    assert [log.eval.task.split()[0] for log in logs] == [
        "recenter_extraction",
        "recenter_relevance",
        "recenter_response",
    ]
    assert {log.status for log in logs} == {"success"}
