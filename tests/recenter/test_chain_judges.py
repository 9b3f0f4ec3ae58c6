"""The funnel through a judge in people's place: of known errors on a planted chain, and through the commands."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import pytest
from support import planted_chain as planted
from support.commands import personafeedback
from support.outputs import faults

pytest.importorskip("numpy")

from personafeedback_tasks.common.jackknife import jackknife_stderr
from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.engine.outcome import Outcome, ScoredCase
from personafeedback_tasks.engine.share import judged_share, part_of
from personafeedback_tasks.recenter.fields import Message
from personafeedback_tasks.recenter.funnel import make_funnel, things_of
from personafeedback_tasks.recenter.judgments import Judgments, StageJudge, about, read_judgments
from personafeedback_tasks.recenter.rows import Extraction

PLAN = planted.plan()
MADE = planted.made_chain(PLAN)
RIGHT_IF_SO, RIGHT_IF_NOT = 0.9, 0.75
STAGES = ("extraction", "relevance", "response")
WORDS = {"extraction": ("PROBLEMATIC", "ACCEPT"), "relevance": ("YES", "NO")}
THROUGH = ("accepted", "selected", "irrelevant", "better", "no_better", "worse")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return read_judgments([planted.write_people(tmp_path_factory.mktemp("people"), PLAN)])


def said_of(stage, judgment, draw):
    """What the judge says of a row, one answer per call: wrong about something that is so less often than about the rest."""
    if stage == "response":
        rating = 3 + (judgment > 3) - (judgment < 3)
        if draw.random() > (RIGHT_IF_SO if rating == 4 else RIGHT_IF_NOT):
            rating = draw.choice([one for one in (2, 3, 4) if one != rating])
        return str(rating), str(6 - rating)
    right = draw.random() < (RIGHT_IF_SO if judgment else RIGHT_IF_NOT)
    return (WORDS[stage][0 if bool(judgment) == right else 1],)


def scored(stage, name, user, judgment, draw, cell="human"):
    targets = (str(judgment),) * 2 if stage == "response" else (WORDS[stage][0 if judgment else 1],)
    return ScoredCase(
        [Outcome(case_id=name, cell=cell, user_id=user, targets=targets, answers=said_of(stage, judgment, draw))]
    )


def judge(stage, people, seed, rows=400):
    """Asked about all that people judged, with an exam of 40 other users."""
    draw = random.Random(f"{stage} {seed}")
    cases = {
        key: scored(stage, str(number), row.user_id, row.judgment, draw)
        for number, (key, row) in enumerate(people.rows.items())
        if key[0] == stage
    }
    judgments = (2.0, 3.0, 4.0) if stage == "response" else (True, False)
    exam = [scored(stage, f"e{number}", f"e{number % 40}", draw.choice(judgments), draw) for number in range(rows)]
    return StageJudge("judge", find(f"recenter_{stage}").report.share, cases, exam)


def through(people, seed=0, **others):
    judges = {stage: judge(stage, people, seed) for stage in STAGES} | others
    return make_funnel(MADE, Judgments({}, 0, {}, judges))


@pytest.mark.slow
def test_every_share_through_the_judge_is_the_planted_one_within_its_interval(people):
    """Without a single judgment of people on what the model made, whose shares are the planted ones (`test_funnel`)."""
    true = make_funnel(MADE, people).steps
    found = [through(people, seed).steps for seed in range(10)]
    for name in THROUGH:
        inside = sum(steps[name].low <= true[name].value <= steps[name].high for steps in found)
        assert inside >= 9, name
        center = sum(steps[name].value for steps in found) / len(found)
        assert center == pytest.approx(true[name].value, abs=0.05), name
    assert "found" not in found[0]  # nobody asks a judge what is missing


def test_as_the_judge_says_it_the_share_would_be_wrong(people):
    """What is taken out is much: 25 % of what is irrelevant is called relevant."""
    true, funnel = make_funnel(MADE, people).steps, through(people)
    assert funnel.judged["relevance"].share.said.value > 1.5 * funnel.judged["relevance"].share.best.value
    said = [one.judged["relevance"].share.said for one in (funnel, through(people, 1))]
    assert all(one.low > 0.3 for one in said)
    assert true["irrelevant"].n * (1 - true["irrelevant"].value) / 768 < 0.2


@pytest.mark.slow
def test_errors_are_larger_than_those_of_people_and_more_so_with_a_small_exam(people):
    true = make_funnel(MADE, people).steps

    def stderr(name, rows):
        found = [
            through(people, seed, **{stage: judge(stage, people, seed, rows) for stage in STAGES}) for seed in range(4)
        ]
        return sum(one.steps[name].stderr for one in found) / 2

    for name in ("accepted", "irrelevant", "better"):
        assert true[name].stderr < stderr(name, 400) < stderr(name, 80), name


def test_parts_go_through_the_judge_as_well(people):
    funnel, true = through(people), make_funnel(MADE, people)
    assert list(funnel.parts) == ["source", "sensitive", "attributes"]
    for split, name in (("source", "accepted"), ("sensitive", "irrelevant"), ("sensitive", "better")):
        for part, steps in funnel.parts[split].items():
            if name in steps:
                assert steps[name].low <= true.parts[split][part][name].value <= steps[name].high


def test_the_error_of_the_ratio_is_that_of_a_jackknife_over_users(people):
    of = judge("relevance", people, 0)
    things = things_of(MADE, people)["relevance"]
    cases = [(one.user, one) for one in things] + [(case.user_id, case) for case in of.exam]

    def ratio(some):
        exam = [case for _, case in some if isinstance(case, ScoredCase)]
        left = replace(of, exam=exam)
        asked = [one._replace(said=None) for _, one in some if not isinstance(one, ScoredCase)]
        return part_of(left.share(asked, bool, made=True), left.share(asked, bool)).value

    found = through(people).steps["selected"]
    assert found.value == pytest.approx(ratio(cases))
    assert found.stderr == pytest.approx(jackknife_stderr(ratio, cases, [user for user, _ in cases]), rel=0.1)


def test_without_an_exam_or_with_one_that_tells_nothing_there_is_no_number(people):
    of = judge("extraction", people, 0)
    funnel = through(people, extraction=replace(of, exam=[]))
    assert "accepted" not in funnel.steps
    assert "extraction" not in funnel.judged
    assert (
        "judge judges in people's place without an exam, so its answers are left out. Pass its exam with --exam."
        in funnel.notes
    )
    blind = [
        ScoredCase([replace(case[0], answers=(WORDS["extraction"][number % 2],))])
        for number, case in enumerate(of.exam)
    ]
    funnel = through(people, extraction=replace(of, exam=blind))
    assert "accepted" not in funnel.steps
    assert any(
        "its answers are left out, since they cannot be corrected. In its exam the judge says so only" in note
        for note in funnel.notes
    )
    funnel = through(people, extraction=replace(of, cases={}))
    assert "judge was asked about none of them (no row of its run has the same texts)." in funnel.notes


def test_what_cannot_be_estimated_is_named_and_a_model_that_selects_nothing_selects_none_of_it(people):
    nothing = replace(MADE, selected=[replace(one, selected=()) for one in MADE.selected])
    blind = judge("response", people, 0)
    exam = [ScoredCase([replace(case[0], targets=("4.0",) * 2, answers=("4", "2"))]) for case in blind.exam[:40]]
    exam += [ScoredCase([replace(case[0], targets=("3.0",) * 2, answers=("3", "3"))]) for case in blind.exam[40:80]]
    judges = {"relevance": judge("relevance", people, 0), "response": replace(blind, exam=exam)}
    funnel = make_funnel(nothing, Judgments({}, 0, {}, judges))
    assert (funnel.steps["selected"].value, math.isnan(funnel.steps["selected"].high)) == (0, True)
    assert "irrelevant" not in funnel.steps  # of nothing there is no share
    assert "worse" not in funnel.steps  # the exam has no such replies
    assert [list(of.steps) for of in funnel.judged.values()] == [["selected"], ["better", "no_better"]]
    for label in ("irrelevant of selected", "worse than generic"):
        assert any(note.startswith(f"{label}: absent, since") for note in funnel.notes), label


def test_an_unreadable_reply_says_of_nothing_that_it_is_so(people):
    """In the exam as in the run: 3 of 4 ratings of the better replies, and none of the others, are readable."""
    of = judge("response", people, 0)
    exam = [
        ScoredCase([Outcome(case_id=f"e{n}", cell="human", user_id=f"e{n % 20}", targets=("4.0",) * 2 if n % 2 else ("2.0",) * 2,
                            answers=("4", "2") if n % 2 and n % 8 != 1 else ("empty", "empty"))])
        for n in range(80)
    ]  # fmt: skip
    share = judged_share(of.of, exam, exam, [None] * 80)
    assert share.corrected.longer == 0.75
    assert share.corrected.shorter == 1
    assert share.best.value == pytest.approx(0.5)


def test_with_votes_of_people_on_everything_these_count_alone(people):
    judges = {stage: judge(stage, people, 0) for stage in STAGES}
    both = make_funnel(MADE, replace(people, judges=judges))
    alone = make_funnel(MADE, people)
    assert (both.steps, both.parts, both.judged) == (alone.steps, alone.parts, {})
    assert any("People judged all that judge was asked about" in note for note in both.notes)
    few = {key: row for number, (key, row) in enumerate(people.rows.items()) if number % 3 == 0}
    some = make_funnel(MADE, Judgments(few, 0, {}, judges))
    assert some.steps["accepted"] == through(people).steps["accepted"]  # of 8 users; 10 are needed
    assert 0 < some.judged["extraction"].share.people < 96


def test_with_votes_of_enough_people_on_a_part_it_is_prediction_powered():
    """40 users with 4 attributes; people judged a quarter at random. The judge is worse here than in its exam, and this does no harm."""
    draw = random.Random(3)
    said = [Message("user", "Hello.")]
    names = [(f"u{user}", f"Likes {user} {number}") for user in range(40) for number in range(4)]
    rows = {
        about(row): row
        for place, (user, attribute) in enumerate(names)
        for row in [Extraction(f"x{place}", user, tuple(said), attribute, "So.", "human", votes=("rejected" if draw.random() < 0.4 else "accepted",))]
    }  # fmt: skip
    one = MADE.extracted[0]
    made = [
        replace(one, id=row.id, user_id=row.user_id, conversation_id=key[1], attribute=row.attribute)
        for key, row in rows.items()
    ]
    exam = [scored("extraction", f"e{n}", f"e{n % 40}", n % 2 == 0, random.Random(n)) for n in range(200)]
    cases = {
        key: scored("extraction", row.id, row.user_id, row.judgment or draw.random() < 0.3, draw)
        for key, row in rows.items()
    }
    judge = StageJudge("judge", find("recenter_extraction").report.share, cases, exam)
    some = dict(draw.sample(sorted(rows.items()), 40))
    funnel = make_funnel(replace(MADE, extracted=made), Judgments(some, 0, {}, {"extraction": judge}))
    true = sum(not row.judgment for row in rows.values()) / len(rows)
    accepted, share = funnel.steps["accepted"], funnel.judged["extraction"].share
    assert share.powered
    assert accepted.value == pytest.approx(1 - share.powered.rate.value)
    assert accepted.low < true < accepted.high
    assert not share.corrected.rate.low < 1 - true < share.corrected.rate.high  # the exam alone would mislead
    assert not math.isnan(accepted.stderr)


@pytest.mark.slow
def test_the_commands_take_a_judge_and_mark_what_goes_through_it(tmp_path):
    """Logs of the chain -> packs' rows -> a judge on them, in Inspect -> the funnel, without a judgment of people on what the model made."""
    pytest.importorskip("inspect_ai")
    pytest.importorskip("matplotlib")
    from support.recenter import in_inspect

    data = planted.write_data(tmp_path / "data", PLAN)
    extract = find("recenter_extract")
    in_inspect(extract, planted.script(PLAN, extract.name, {}), tmp_path / "logs", method="extract", data=str(data))
    done = personafeedback("annotate", "pack", tmp_path / "logs", "--out", tmp_path / "study")
    assert done.exit_code == 0, done.output
    asked = {
        row["id"]: row
        for row in map(json.loads, (tmp_path / "study" / "asked" / "extraction.jsonl").read_text("utf-8").splitlines())
    }
    accepted = {(PLAN.owner[name], text.casefold()): right for (name, text), right in PLAN.accepted.items()}
    wrong = {name: not accepted[row["user_id"], row["attribute"].casefold()] for name, row in asked.items()}
    wrong |= {f"e{number}": number % 2 == 0 for number in range(120)}
    planted.lines(
        tmp_path / "examined" / "extraction.jsonl",
        ({"id": name, "user_id": f"v{number % 30}", "conversation": [{"role": "user", "content": name}], "attribute": f"Likes {name}",
          "reason": "So.", "source": ("human", "synthetic")[number // 2 % 2], "votes": ["rejected" if wrong[name] else "accepted"]}
         for number, name in enumerate(f"e{number}" for number in range(120))),
    )  # fmt: skip

    def says(name, call):
        return said_of("extraction", wrong[name], random.Random(f"judge {name}"))[0]

    judged = find("recenter_extraction")
    in_inspect(judged, says, tmp_path / "judged", data=str(tmp_path / "study" / "asked"), rows="unjudged")
    in_inspect(judged, says, tmp_path / "exam", data=str(tmp_path / "examined"))
    chain = ("chain", tmp_path / "logs", "--judge", tmp_path / "judged")
    done = personafeedback(*chain, "--exam", tmp_path / "exam", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "out" / "chain.json").read_text("utf-8"))
    assert faults(document, "chain") == []
    (model,) = document["models"]
    share, judged = model["steps"]["accepted"], model["judged"]["extraction"]
    assert share["low"] < sum(PLAN.accepted.values()) / len(PLAN.accepted) < share["high"]
    assert (share["n"], judged["finds"], judged["steps"]) == (96, "problematic", ["accepted"])
    shares = personafeedback(
        "annotate", "shares", tmp_path / "judged", "--exam", tmp_path / "exam", "--markdown"
    ).stdout
    assert f"**{100 * judged['corrected']['value']:.1f}**" in shares  # the same number
    assert judged["corrected"]["value"] == pytest.approx(1 - share["value"])
    assert {"judge, recenter_extraction", "exam, recenter_extraction"} <= model["signatures"].keys()
    text = (tmp_path / "out" / "chain.md").read_text("utf-8")
    assert f"≈ {100 * share['value']:.1f}" in text
    assert "accepted: estimated through" in text
    assert f"says so in {100 * judged['sensitivity']:.1f} % of the cases" in text
    done = personafeedback(*chain, "--json", "-")
    (model,) = json.loads(done.stdout)["models"]
    assert (model["steps"], model["judged"]) == ({}, {})
    assert any("without an exam" in note for note in model["notes"])
    done = personafeedback(*chain, "--exam", tmp_path / "judged")
    assert done.exit_code == 1
    assert "expected cases that people judged" in done.output
    in_inspect(find("recenter_relevance"), "recenter_relevance/always_yes", tmp_path / "other")
    done = personafeedback(*chain, "--exam", tmp_path / "exam", "--exam", tmp_path / "other")
    assert done.exit_code == 1
    assert "found an exam in recenter_relevance, but no run of that judge" in done.output
