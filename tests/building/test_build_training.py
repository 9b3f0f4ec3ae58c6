"""Pairs to train on: of training persons alone, never of test data, in the format that TRL reads."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.builds import a_build
from support.commands import personafeedback, ran
from support.documents import DOCS, block

from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import Answer, Pair, Person, Question
from personafeedback_tasks.common import tables
from personafeedback_tasks.personafeedback.cases import PersonaCase, load_cases
from personafeedback_tasks.personafeedback.prompts import Template, conversation
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.rows import Response

TRAINING = DOCS / "training.md"


def split(root, people=6, questions=2, train=0.5):
    """A build whose first persons are for training; only the others have pairs."""
    build = a_build(root, people, questions)
    persons = [
        replace(one, split="train" if place < train * people else "test")
        for place, one in enumerate(build.read(Person))
    ]
    build.write(Person, persons)
    test = {one.user_id for one in persons if one.split == "test"}
    build.write(Pair, [pair for pair in build.read(Pair) if pair.user_id in test])
    return build


def trained(build, *arguments, benchmark="sample"):
    """The rows to train on, and what the command says."""
    done = ran("build", "training", build.root, "--benchmark", benchmark, *arguments)
    lines = (build.root / "training" / "train.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines], done.stdout


def test_each_pair_is_what_the_reward_prompt_shows_of_an_answer_that_knew_the_persona_and_one_that_did_not(tmp_path):
    build = split(tmp_path / "b")
    answers = build.read(Answer)
    build.write(Answer, [*answers, *(replace(one, id=f"{one.id}:other", model="other/m") for one in answers)])
    found, said = trained(build)
    answers, questions = build.by_id(Answer), build.by_id(Question)
    assert {row["user_id"] for row in found} == {"u0", "u1", "u2"}
    assert len(found) == 3 * 2 * 2
    for row in found:
        better, worse = (answers[name] for name in row["id"].split(" over "))
        assert (better.strategy, worse.strategy) == ("full", "question")
        assert (better.question_id, better.model) == (worse.question_id, worse.model)
        question = questions[better.question_id].question
        case = PersonaCase.of(
            build.persona(better.user_id), id="", cell="", question=question, responses=(better.text, worse.text)
        )
        for side in ("chosen", "rejected"):
            assert row["prompt"] + row[side] == conversation(case, Template(), side)
    assert "12 pairs (full over question 12)" in said
    assert trained(build)[0] == found


def test_a_label_replaces_what_its_pair_was_built_to_be(tmp_path):
    build = split(tmp_path / "b", people=2, questions=1)
    full, _, question = build.read(Answer)[:3]
    pair = Pair(
        id="p", question_id=full.question_id, user_id="u0", first=full.id, second=question.id, label=question.id
    )
    build.write(Pair, [*build.read(Pair), pair])
    found, _ = trained(build)
    assert [(row["chosen"][0]["content"], row["kind"]) for row in found] == [(question.text, "labeled")]


def test_replies_that_people_rated_are_pairs_too(tmp_path):
    """The same reply is preferred on either side; a mean in the middle of the scale is no pair."""
    study = tmp_path / "study"
    ran("annotate", "pack", "sample", "--out", study, "--annotators", 3, "--format", "csv")
    asked = {row.id: row for row in load(Response, study / "asked")}
    equal, generic, *_, last = sorted(asked)
    files = sorted((study / "packs" / "response").glob("*.csv"))
    for path in files:
        lines = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
        for line in lines:
            row = next(
                (one for one in asked.values() if {one.generic, one.personalized} == {line["A"], line["B"]}), None
            )
            better_is_b = row is not None and (line["B"] == row.personalized) != (row.id == generic)
            line["vote"] = "3" if row is None or row.id == equal else "4" if better_is_b else "2"
        path.write_text(
            tables.text(["item", "vote"], [{"item": one["item"], "vote": one["vote"]} for one in lines]), "utf-8"
        )
    ran("annotate", "votes", study, *files)
    build = tmp_path / "b"
    ran("build", "init", build)
    found, _ = trained(Build(build), "--ratings", study)
    assert {row["id"] for row in found} == {f"response:{name}" for name in asked if name != equal}
    for row in found:
        case = asked[row["id"].removeprefix("response:")]
        both = [case.personalized, case.generic]
        assert [row[side][0]["content"] for side in ("chosen", "rejected")] == both[:: -1 if case.id == generic else 1]
        assert row["kind"] == "rated"
        assert case.attribute in row["prompt"][0]["content"]
        assert row["prompt"][-1]["content"] == case.prompt
    folder = split(tmp_path / "with", people=4)  # a person of the study is tested in this build
    people = folder.read(Person)
    (folder.root / "persona" / f"{asked[last].user_id}.json").write_text('{"Name": "Ann"}', "utf-8")
    folder.write(Person, [*people[:-1], replace(people[-1], user_id=asked[last].user_id)])
    more, _ = trained(folder, "--ratings", study)
    tested = sum(row.user_id == asked[last].user_id and row.id != equal for row in asked.values())
    assert tested
    assert sum(row["kind"] == "rated" for row in more) == len(found) - tested


def altered(case, at):
    """A pair that a model will be tested on, made over in one of four ways: (chosen, rejected)."""
    other = f"A text of nobody's, number {at}, about the weather and whatever else there may be to say today."
    return (
        (f"{case.chosen[:-3]}!?!", f"{case.rejected[:-2]}.."),
        (case.chosen, other),
        (other, f"{case.chosen[4:-3]} indeed"),
        (case.rejected.upper(), "  ".join(case.chosen.split(" "))),
    )[at % 4]


def test_every_pair_with_a_text_of_the_benchmark_or_a_near_copy_is_left_out(tmp_path):
    build, cases = split(tmp_path / "b", people=42, questions=1), list(load_cases("sample"))[:20]
    before = [one for one in build.read(Answer) if one.strategy != "masked"]
    texts = [text for at, case in enumerate(cases) for text in altered(case, at)]
    texts += ["Nobody else reads this, since it is about whales.", "Nor that: it is about the price of copper."]
    copied = [replace(one, text=text) for one, text in zip(before, texts, strict=False)]
    build.write(Answer, [*copied, *before[len(copied) :]])
    found, said = trained(build)
    assert "! left out: 20 pairs with a response of test data" in said
    assert [row["user_id"] for row in found] == ["u20"]


def test_a_near_copy_of_the_sets_own_test_data_is_left_out(tmp_path):
    long = "First walk along the river to the old mill, then sit down in its yard and have whatever they baked that morning."
    build = split(tmp_path / "b")
    answers, pair = build.read(Answer), build.read(Pair)[0]
    texts = {pair.first: long, answers[0].id: long.replace("morning", "evening")}
    build.write(Answer, [replace(one, text=texts.get(one.id, one.text)) for one in answers])
    found, said = trained(build)
    assert "! left out: 1 pairs" in said
    assert answers[0].id not in " ".join(row["id"] for row in found)


@pytest.mark.parametrize(("share", "tested"), [("0", 0), ("1/2", 4)])
def test_an_import_keeps_to_the_share_of_test_persons_and_each_person_is_in_one_place(share, tested, tmp_path):
    root, source = tmp_path / "b", tmp_path / "pairs.csv"
    rows = [f"Nurse {n},What {n}?,Yes {n},Nay {n}\n" for n in range(8)]
    source.write_text("".join(["persona,question,chosen,rejected\n", *rows]), "utf-8")
    said = ran("build", "init", root, "--from", source, "--test", share).output
    assert (f"Next: personafeedback build training {root}" in said) == (not tested)
    released = personafeedback("build", "release", root)
    cases = list(load_cases(root / "release", counts="any")) if tested else []
    if tested:
        assert "4 pairs are left out: their question or person has keep = no, or the person is" in released.output
    else:
        assert said.splitlines()[-1].partition("Next: ")[2] in ran("build", "status", root).output
        assert "no pair became a case (none is kept for testing). Look at split and keep in" in released.stderr
    found, _ = trained(Build(root), benchmark="none")
    done = root / ("release" if tested else "training")
    assert ran("build", "status", root).output.splitlines()[-1] == f"Done: {done}"
    learned = {row["chosen"][0]["content"] for row in found}
    assert (len(cases), len(learned)) == (tested, 8 - tested)
    assert learned | {case.chosen for case in cases} == {f"Yes {n}" for n in range(8)}


# --- a model that learned from them -----------------------------------------------------------------------------------


@pytest.mark.release
def test_the_lines_of_the_page_train_a_model_and_score_it(tmp_path):
    pytest.importorskip("torch")
    trl = pytest.importorskip("trl")
    from support import classifiers

    build = split(tmp_path / "ours")
    build.write(Pair, [replace(pair, label=pair.first) for pair in build.read(Pair)])  # as if they were imported
    ran("build", "release", build.root)
    found, _ = trained(build)
    every = [turn["content"] for row in found for turn in (*row["prompt"], *row["chosen"], *row["rejected"])]
    classifiers.random_classifier(tmp_path / "tiny-model", every, max_position_embeddings=512)
    options = {
        name for kind in (trl.RewardConfig, trl.ModelConfig, trl.ScriptArguments) for name in kind.__dataclass_fields__
    }
    assert set(re.findall(r"--(\w+)", block(TRAINING, "training: gpu"))) <= options
    for marker in ("training: tiny", "training: score"):
        done = subprocess.run(
            ["bash", "-ec", block(TRAINING, marker)], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "method reward" in done.stdout
