"""`recenter_extraction`, `recenter_response`, the control `other_user` and the group: known answers through both harnesses."""

from __future__ import annotations

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

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.jackknife import jackknife_stderr
from personafeedback_tasks.common.statistics import clustered_stderr
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.recenter import relevance, response
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.extraction import EXTRACTION
from personafeedback_tasks.recenter.relevance import RELEVANCE
from personafeedback_tasks.recenter.response import FIRST, RESPONSE, SECOND
from personafeedback_tasks.recenter.rows import STAGES, Extraction, Message, Relevance, Response

EXTRACTIONS = with_judgment(load(Extraction, "sample"))
RESPONSES = [row for row in load(Response, "sample") if row.votes]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)


# --- prompts ----------------------------------------------------------------------------------------------------------


@given(TEXT, TEXT, TEXT)
@settings(deadline=None, derandomize=True)
def test_texts_of_an_extraction_arrive_unchanged(said, attribute, reason):
    said, attribute, reason = f"{{attribute}}{said}", f"{{reason}}{attribute}", f"{{conversation}}{reason}"
    row = Extraction("e", "u", (Message("user", said),), attribute, reason, "human", "accepted")
    built = EXTRACTION.prompt(row, None, "accept")
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
        other = replace(row, label="rejected", votes=())
        assert EXTRACTION.prompt(other, None, "accept") == EXTRACTION.prompt(row, None, "accept")
    for row in RESPONSES:
        assert response.build(replace(row, votes=(1,)), FIRST) == response.build(row, FIRST)
    for row in ROWS:
        opposite = replace(row, label=not row.judgment, votes=())
        assert relevance.build(opposite) == relevance.build(row)
        assert RELEVANCE.targets(opposite) != RELEVANCE.targets(row)


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
        Result(targets=RESPONSE.targets(Response("r", "u", "p", "a", "g", "q", tuple(votes))), answers=answers)
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
    assert [response.rating(one) for one in judged] == model
    scores = [response.score(one.targets, one.answers) for one in judged]
    assert [score["acc"] for score in scores] == right
    assert [score["consistency"] for score in scores] == consistent
    assert same(response.no_better(judged), sum(one <= 3 for one in model) / len(model))
    assert same(response.no_better_people(judged), sum(one <= 3 for one in people) / len(people))


@pytest.mark.slow
@given(RATINGS)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_scipy_agrees_on_ratings(rows):
    stats = pytest.importorskip("scipy.stats")
    judged = judged_of(rows)
    model, people = [response.rating(one) for one in judged], [response.people(one) for one in judged]
    if len(set(model)) > 1 and len(set(people)) > 1:
        assert same(response.spearman(judged), stats.spearmanr(model, people).statistic)
    else:
        assert math.isnan(response.spearman(judged))


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


ROWS = with_judgment(load(Relevance, "sample"))


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
