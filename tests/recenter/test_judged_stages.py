"""The three stages that people judged: prompts, scores against their definitions, known models in both harnesses."""

from __future__ import annotations

import json
import math
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

metrics = pytest.importorskip("sklearn.metrics")
from lm_eval.tasks import TaskManager
from msgspec.structs import replace
from scipy import stats
from support.commands import personafeedback, ran
from support.inspect_runs import inspect_eval
from support.recenter import in_inspect, in_lm_eval, same

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.recenter import response
from personafeedback_tasks.recenter.data import Rows, load, with_judgment
from personafeedback_tasks.recenter.extraction import EXTRACTION
from personafeedback_tasks.recenter.relevance import RELEVANCE, gather
from personafeedback_tasks.recenter.response import FIRST, RESPONSE, SECOND
from personafeedback_tasks.recenter.rows import SCALE, STAGES, Extraction, Message, Relevance, Response
from personafeedback_tasks.recenter.stages import agreement
from personafeedback_tasks.stats.agreement import alpha
from personafeedback_tasks.stats.estimates import clustered_stderr, estimate_of, jackknife_stderr

EXTRACTIONS, ROWS, RESPONSES = (with_judgment(load(stage, "sample")) for stage in STAGES)
LABELS = ("YES", "NO")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)


# --- prompts ----------------------------------------------------------------------------------------------------------


@given(TEXT, TEXT, TEXT, TEXT)
@settings(max_examples=50)
def test_texts_arrive_unchanged(one, other, third, fourth):
    said, attribute, reason = f"{{attribute}}{one}", f"{{reason}}{other}", f"{{conversation}}{third}"
    row = Extraction("e", "u", (Message("user", said),), attribute, reason, "human", "accepted")
    built = EXTRACTION.prompt(row, None, "accept")
    assert f"<conversation>\nuser: {said}\n</conversation>" in built
    assert f"<note>\n{attribute}\n</note>\n\n<reason>\n{reason}\n</reason>" in built
    row = Response("p", "u", f"{{a}}{one}", f"{{prompt}}{other}", f"{{b}}{third}", fourth, (3,))
    for call, a, b in ((SECOND, row.generic, row.personalized), (FIRST, row.personalized, row.generic)):
        built = RESPONSE.prompt(row, None, call)
        assert f"<about_the_user>\n{row.attribute}\n</about_the_user>\n\n<prompt>\n{row.prompt}\n</prompt>" in built
        assert f"<response_a>\n{a}\n</response_a>\n\n<response_b>\n{b}\n</response_b>" in built


def test_no_prompt_tells_what_people_said():
    """Nor does the order in a profile."""
    opposite = [replace(row, label=not row.judgment, votes=()) for row in ROWS]
    for stage, row, other, call in [
        *((RELEVANCE, row, other, "yes_or_no") for row, other in zip(ROWS, opposite, strict=True)),
        *((RELEVANCE, row, other, "select") for row, other in zip(gather(ROWS), gather(opposite), strict=True)),
        *((EXTRACTION, row, replace(row, label="rejected", votes=()), "accept") for row in EXTRACTIONS),
        *((RESPONSE, row, replace(row, votes=(1,)), FIRST) for row in RESPONSES),
    ]:
        assert stage.prompt(other, None, call) == stage.prompt(row, None, call)


# --- scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, *REASONS])), min_size=1, max_size=30),
)
@settings(max_examples=200)
def test_scores_of_labels_are_those_of_scikit_learn(pairs):
    """An unreadable reply is a third label: it selects nothing and is never right. No denominator: nan."""
    people = [person for person, _ in pairs]
    model = [said if said in LABELS else "unreadable" for _, said in pairs]
    outcomes = [Result(targets=(person,), answers=(said,)) for person, said in pairs]
    found = {name: measure(outcomes) for name, measure in RELEVANCE.corpus.items()}
    for name, theirs in (
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
    ):
        expected = theirs(people, model, labels=["YES"], average="micro", zero_division=math.nan)
        assert same(found[name], expected), name
    if not math.isnan(found["kappa"]):
        assert same(found["kappa"], metrics.cohen_kappa_score(people, model, labels=[*LABELS, "unreadable"]))
    selected, wanted = model.count("YES"), people.count("YES")
    assert same(found["selection_rate"], selected / len(pairs))
    assert same(found["human_rate"], wanted / len(pairs))
    assert same(found["over_selection"], selected / wanted if wanted else math.nan)


RATINGS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(SCALE), min_size=1, max_size=4),
        st.tuples(*[st.sampled_from([*map(str, SCALE), REASONS[0]])] * 2),
    ),
    min_size=2,
    max_size=25,
)


@pytest.mark.slow
@given(RATINGS)
@settings(max_examples=200)
def test_every_score_of_ratings_is_its_definition(rows):
    """Spelled out row by row. An unreadable reply is the end of the scale that is farther from people's mean."""
    model, people, right, consistent = [], [], [], []
    any_readable = any(REASONS[0] not in answers for _, answers in rows)
    for votes, (second, first) in rows:
        theirs = sum(votes) / len(votes)
        readable = second in "12345" and first in "12345"
        ours = (int(second) + 6 - int(first)) / 2 if readable else 1.0 if theirs >= 3 else 5.0
        model.append(ours)
        people.append(theirs)
        right.append(float(readable and (ours > 3) == (theirs > 3)))
        consistent.append(float(readable and int(second) == 6 - int(first)))
    judged = [
        Result(targets=RESPONSE.targets(Response("r", "u", "p", "a", "g", "q", tuple(votes))), answers=answers)
        for votes, answers in rows
    ]
    scores = [response.score(one.targets, one.answers) for one in judged]
    assert [(score["acc"], score["consistency"]) for score in scores] == list(zip(right, consistent, strict=True))
    assert same(response.no_better(judged), sum(one <= 3 for one in model) / len(model) if any_readable else math.nan)
    assert same(response.no_better_people(judged), sum(one <= 3 for one in people) / len(people))
    if any_readable and len(set(model)) > 1 and len(set(people)) > 1:
        assert same(response.spearman(judged), stats.spearmanr(model, people).statistic)
    else:
        assert math.isnan(response.spearman(judged))


def test_agreement_leaves_out_one_user_at_a_time_and_rows_with_one_vote_do_not_count():
    votes = [["YES", "NO", "NO"], ["YES", "YES"], ["NO", "NO"]]
    rows = [(f"u{number}", "", of_row) for number, of_row in enumerate(votes, 1)]
    found = agreement([*rows, ("u3", "", ["YES"]), ("u4", "", [])], LABELS, "nominal")
    expected = estimate_of(lambda of: alpha(of, LABELS, "nominal"), votes, ["u1", "u2", "u3"], (-1.0, 1.0))
    assert found.coefficients == {"Krippendorff's alpha (nominal)": expected}
    # of 7 votes 3 are YES: chance disagrees in 2 * 3 * 4 / (7 * 6) = 4 / 7; one row of three has 4 / 2 / 7 = 2 / 7
    assert expected.value == pytest.approx(1 - (2 / 7) / (4 / 7))
    nobody = agreement([("u1", "", []), ("u2", "", [])], LABELS, "nominal")
    assert nobody.coefficients == {}
    assert "unknown" in nobody.note


def test_agreement_allows_for_prompts_that_users_share():
    with_votes = [row for row in load(Relevance, "sample") if len(row.votes) > 1]
    votes = [[LABELS[not vote] for vote in row.votes] for row in with_votes]

    def stderr(clusters: list[object]) -> float:
        return jackknife_stderr(lambda of: alpha(of, LABELS, "nominal"), votes, clusters)

    users, prompts = [row.user_id for row in with_votes], [row.prompt for row in with_votes]
    of_users, of_prompts, of_both = stderr(users), stderr(prompts), stderr(list(zip(users, prompts, strict=True)))
    expected = max(of_users**2, of_prompts**2, of_users**2 + of_prompts**2 - of_both**2) ** 0.5
    (value,) = RELEVANCE.report.examine(ROWS, {row.id for row in ROWS}).agreement.coefficients.values()
    assert value.stderr == pytest.approx(expected) != of_users


def test_rows_with_even_votes_count_for_agreement_and_for_nothing_else():
    found = RELEVANCE.report.examine(ROWS, {row.id for row in ROWS})
    with_votes = [row for row in load(Relevance, "sample") if len(row.votes) > 1]
    assert {*ROWS.unscored} <= {*with_votes}
    assert RELEVANCE.signs(ROWS, None) == {"even_votes": len(ROWS.unscored)} == {"even_votes": 5}
    (value,) = found.agreement.coefficients.values()
    assert same(value.value, alpha([[LABELS[not vote] for vote in row.votes] for row in with_votes], LABELS, "nominal"))
    for benchmark, said in (
        (RELEVANCE, {"always YES": ("YES",), "always NO": ("NO",)}),
        (EXTRACTION, {"always PROBLEMATIC": ("PROBLEMATIC",), "always ACCEPT": ("ACCEPT",)}),
        (RESPONSE, {"always no difference": ("3", "3"), "always much better": ("5", "1")}),
    ):
        assert benchmark.constant() == said
    assert found.constant["always YES"] == ("YES",)


def test_reports_show_a_row_and_what_people_said_of_it():
    rows = (
        Relevance("r1", "u1", "What can I bake?", "Owns an oven", votes=(True, True, False)),
        Relevance("r2", "u1", "What can I bake?", "Has a cat", votes=(False,)),
        Relevance("r3", "u2", "Where to?", "Has a boat", label=True),
    )
    shown = RELEVANCE.report.shown(Rows(rows, Relevance, "somewhere"), {"r1", "r2", "r3"})
    assert shown.questions == {row.id: row.prompt for row in rows}
    assert [texts["About the user"] for texts in shown.texts.values()] == [row.attribute for row in rows]
    assert [texts["People"] for texts in shown.texts.values()] == ["YES: 2 of 3 people", "NO: 1 of 1 people", "YES"]
    texts = EXTRACTION.report.shown(EXTRACTIONS, {EXTRACTIONS[0].id}).texts
    assert texts[EXTRACTIONS[0].id]["Conversation"] == EXTRACTIONS[0].transcript
    shown = RESPONSE.report.shown(RESPONSES, {RESPONSES[0].id})
    assert shown.responses == {RESPONSES[0].id: (RESPONSES[0].personalized, RESPONSES[0].generic)}
    assert shown.texts[RESPONSES[0].id]["People"].startswith(f"{RESPONSES[0].judgment:.2f} on average: ")


# --- both harnesses ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", [EXTRACTION, RELEVANCE, RESPONSE], ids=lambda benchmark: benchmark.name)
def test_both_harnesses_and_reports_give_the_scores_that_follow_from_the_answers(benchmark, tmp_path):
    """Of a model that gives any label, and none in about one reply of eight."""
    rows, method = with_judgment(load(benchmark.row, "sample")), benchmark.methods["generate"]

    def replies(row, call):
        chance = random.Random(row + call)
        return chance.choice(benchmark.labels) if chance.random() < 7 / 8 else "Who knows?"

    judged = []
    for row in rows:
        said = [replies(row.id, call) for call in method.calls]
        answers = tuple(reply if reply in benchmark.labels else "invalid_response_format" for reply in said)
        judged.append(Result(cell=row.cell, targets=benchmark.targets(row), answers=answers))
    users = [row.user_id for row in rows]
    values = [method.score(one.targets, one.answers) for one in judged]
    tabled = [metric.name for metric in method.metrics_in("lm-eval")]
    known = {name: (sum(of_row[name] for of_row in values) / len(rows), None) for name in tabled}
    assert all(0 < value < 1 for value, _ in known.values())  # else it would show nothing
    known["acc"] = known["acc"][0], clustered_stderr([of_row["acc"] for of_row in values], users)
    known |= {name: (score(judged), jackknife_stderr(score, judged, users)) for name, score in benchmark.corpus.items()}
    for run, place in ((in_lm_eval, tmp_path), (in_inspect, tmp_path / "inspect")):
        table, log = run(benchmark, replies, place)
        overall = make_report(read_run(log), None).overall
        assert (overall.cases, overall.of) == (len(rows), len(rows))
        for name, (value, error) in known.items():
            assert same(table[name], value), name
            assert error is None or same(table[f"{name}_stderr"], error), name
            assert same(overall.measures[name].value, value), name


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", [EXTRACTION, RELEVANCE], ids=lambda benchmark: benchmark.name)
def test_a_judge_that_always_finds_what_is_sought_selects_every_row_and_is_the_baseline_of_that_name(
    benchmark, tmp_path
):
    rows, sought = with_judgment(load(benchmark.row, "sample")), benchmark.labels[0]
    found, log = in_inspect(benchmark, f"{benchmark.name}/always_{sought.lower()}", tmp_path)
    rate = sum(row.judgment for row in rows) / len(rows)
    assert [found[name] for name in ("acc", "precision", "recall", "kappa", "human_rate")] == [rate, rate, 1, 0, rate]
    assert same(found.get("over_selection", 1 / rate), 1 / rate)
    done = ran("report", "--full", log, COLUMNS="80")
    tables = re.findall(rf"^(?:this run|always {sought}) +(.*)$", done.stdout, re.M)
    assert len(tables) == 4  # in both parts of the table
    assert tables[::2] == tables[1::2]
    assert "Krippendorff's alpha (nominal) +0." in " ".join(done.stdout.split())
    if benchmark is RELEVANCE:  # a ratio has no sign, a coefficient has one
        assert re.search(r" \+0\.000\b.* 2\.292\b", " ".join(tables))


@pytest.mark.slow
def test_where_every_rating_is_unreadable_there_is_no_correlation_and_no_share_of_ratings(tmp_path):
    found, log = in_inspect(RESPONSE, lambda row, call: "Who knows?", tmp_path)
    assert (found["acc"], found["invalid"]) == (0, 1)
    assert math.isnan(found["spearman"])
    assert math.isnan(found["no_better"])
    assert found["no_better_people"] == sum(row.judgment <= 3 for row in RESPONSES) / len(RESPONSES)
    done = personafeedback("report", "--full", log)
    assert "100.0 % of the replies are unreadable" in done.stdout
    assert not re.search("^(spearman|no better)", done.stdout, re.M)
    assert re.search(r"^this run .* –$", done.stdout, re.M)


@pytest.mark.slow
def test_rows_of_which_none_can_be_scored_are_one_sentence_in_both_harnesses(tmp_path):
    """As in the authors' files, which have both responses and no votes."""
    row = {"id": "1", "user_id": "u", "prompt": "?", "attribute": "b", "generic": "c", "personalized": "d"}
    (tmp_path / "response.jsonl").write_text(json.dumps(row), encoding="utf-8")
    even = {"id": "1", "user_id": "u", "prompt": "?", "attribute": "b", "votes": [True, False]}
    (tmp_path / "relevance.jsonl").write_text(json.dumps(even), encoding="utf-8")
    for benchmark, run in ((RESPONSE, in_lm_eval), (RELEVANCE, in_inspect)):
        sentence = f"found no row of {benchmark.row.file} to score (rows: 1, without votes or with even ones)"
        with pytest.raises(DataError, match=re.escape(sentence)):
            run(benchmark, lambda *_: "", tmp_path, data=str(tmp_path))


# --- the group --------------------------------------------------------------------------------------------------------


def test_the_group_of_lm_eval_has_a_task_per_stage():
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False, metadata={"data": "sample"})
    assert set(manager.load(["recenter"])["tasks"]) == {f"recenter_{stage.stage}" for stage in STAGES}


@pytest.mark.slow
def test_the_group_of_inspect_runs_every_stage(tmp_path):
    logs = inspect_eval(
        "personafeedback_tasks/recenter", task_args={"data": "sample"}, model="recenter_response/always_3",
        display="none", log_dir=str(tmp_path), limit=3,
    )  # fmt: skip
    assert [log.eval.task.split()[0] for log in logs] == [f"recenter_{stage.stage}" for stage in STAGES]
    assert {log.status for log in logs} == {"success"}
