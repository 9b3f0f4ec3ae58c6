"""Pairs to train on: of training persons alone, never of test data, in the format that TRL reads; and a model that learned from them."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.builds import a_build
from support.commands import personafeedback
from support.documents import DOCS, block, needs_checkout

from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.release.shortcuts import NAMES
from personafeedback_tasks.building.rows import Answer, Pair, Person, Question, Tiered
from personafeedback_tasks.building.training.contamination import copies, plain
from personafeedback_tasks.building.training.making import own_pairs
from personafeedback_tasks.common import tables
from personafeedback_tasks.personafeedback.cases import PersonaCase, load_cases
from personafeedback_tasks.personafeedback.conversations import conversation
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.rows import Response

SAMPLE = ("--benchmark", "sample")
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


def trained(build, *arguments):
    done = personafeedback(
        "build", "training", build.root, *(SAMPLE if "--benchmark" not in arguments else ()), *arguments
    )
    assert done.exit_code == 0, done.output
    return [
        json.loads(line) for line in (build.root / "training" / "train.jsonl").read_text("utf-8").splitlines()
    ], done.stdout


def with_release(build):
    """All pairs are Hard cases, in the order that they have."""
    build.write(
        Tiered,
        [
            Tiered(
                pair_id=pair.id, question_id=pair.question_id, user_id=pair.user_id, difficulty="hard", chosen=pair.first,
                rejected=pair.second,
            )
            for pair in build.read(Pair)
        ],
    )  # fmt: skip
    accept = [word for name in NAMES for word in ("--accept", name)]
    assert personafeedback("build", "release", build.root, *accept).exit_code == 0


def refusal(build, *arguments):
    done = personafeedback("build", "training", build.root, *(arguments or SAMPLE))
    assert done.exit_code != 0, done.output
    assert not (build.root / "training").exists()
    return " ".join(done.stderr.split())


def test_each_pair_is_what_the_reward_prompt_shows_of_an_answer_that_knew_more_and_one_that_knew_less(tmp_path):
    build = split(tmp_path / "b")
    found, said = trained(build)
    answers = {one.id: one for one in build.read(Answer)}
    questions = {one.id: one for one in build.read(Question)}
    assert {row["user_id"] for row in found} == {"u0", "u1", "u2"}
    assert len(found) == 3 * 2 * 2
    for row in found:
        better, worse = (answers[name] for name in row["id"].split(" over "))
        assert (better.strategy, worse.strategy) in {("full", "question"), ("full", "masked")}
        assert better.question_id == worse.question_id
        assert better.model == worse.model
        case = PersonaCase(
            "", "", "", build.persona(better.user_id), questions[better.question_id].question, better.text, worse.text
        )
        for side in ("chosen", "rejected"):
            assert row["prompt"] + row[side] == conversation(case, Template(), side)
    assert "12 pairs (full over question 6, full over masked 6)" in said
    assert "no pair is one of the 48 cases of sample" in said
    assert "--max_length 4096 --learning_rate 1e-5 --num_train_epochs 1" in said
    assert trained(build)[0] == found


def test_answers_of_two_models_are_not_mixed(tmp_path):
    build = split(tmp_path / "b", people=2)
    answers = build.read(Answer)
    build.write(Answer, [*answers, *(replace(one, id=f"{one.id}:other", model="other/m") for one in answers)])
    found, _ = trained(build)
    assert len(found) == 2 * 2 * 2
    assert all(
        better.endswith(":other") == worse.endswith(":other")
        for better, worse in (row["id"].split(" over ") for row in found)
    )


def test_labels_of_training_persons_count_as_they_are(tmp_path):
    build = split(tmp_path / "b", people=2, questions=1)
    full, masked, question = build.read(Answer)[:3]
    build.write(
        Tiered,
        [
            Tiered(
                pair_id="p",
                question_id=full.question_id,
                user_id="u0",
                difficulty="hard",
                chosen=masked.id,
                rejected=question.id,
            )
        ],
    )
    found, _ = trained(build)
    assert [row["chosen"][0]["content"] for row in found if row["kind"] == "labeled"] == [masked.text]


def test_replies_that_people_rated_are_pairs_too(tmp_path):
    """Whoever rates the left reply higher on either side prefers the same one; a mean in the middle of the scale is no pair."""
    study = tmp_path / "study"
    packs = personafeedback(
        "annotate", "pack", "sample", "--out", study, "--stage", "response", "--annotators", 3, "--format", "csv"
    )
    assert packs.exit_code == 0, packs.output
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
    assert personafeedback("annotate", "votes", study, *files).exit_code == 0
    build = tmp_path / "b"
    assert personafeedback("build", "init", build).exit_code == 0
    found, said = trained(Folder(build), "--ratings", study)
    assert "left out: 1 pairs that people rate as equal" in said
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
    renamed = [
        replace(one, user_id=asked[last].user_id) if one.user_id == people[-1].user_id else one for one in people
    ]
    (folder.root / "persona" / f"{asked[last].user_id}.json").write_text('{"Name": "Ann"}', "utf-8")
    folder.write(Person, renamed)
    more, said = trained(folder, "--ratings", study)
    tested = sum(row.user_id == asked[last].user_id and row.id != equal for row in asked.values())
    assert f"left out: {tested} pairs of a test person of this build" in said
    assert sum(row["kind"] == "rated" for row in more) == len(found) - tested
    assert "no asked/ with rows" in refusal(folder_without(folder), "--ratings", tmp_path)


def folder_without(build):
    """The build before anything was made to train on."""
    shutil.rmtree(build.root / "training")
    return build


def test_a_person_of_both_splits_is_named(tmp_path):
    build = split(tmp_path / "b")
    (build.root / "persona" / "u5.json").write_bytes(
        (build.root / "persona" / "u0.json").read_bytes().replace(b"chess", b" CHESS ")
    )
    assert "u0.json: found the persona of the test person 'u5' again" in refusal(build)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_test_data_is_known_in_whatever_order_and_spacing(data):
    texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
    one, other = data.draw(st.tuples(texts, texts).filter(lambda pair: plain(pair[0]) != plain(pair[1])))
    spaced = [" ".join(text) + data.draw(st.sampled_from(["", "\n", "\u3000 "])) for text in (one, other)]
    chosen, rejected = spaced if data.draw(st.booleans()) else reversed(spaced)
    row = {"id": "r", "user_id": "u", "chosen": [{"content": chosen}], "rejected": [{"content": rejected}]}
    assert [copy["copy_of"] for copy in copies([row], [("case 1", (one, other))])] == ["case 1"]
    assert not copies([row], [("case 1", (one, f"{other}!"))])


def test_a_pair_of_the_benchmark_or_of_the_set_itself_is_refused(tmp_path):
    build = split(tmp_path / "b")
    case = next(iter(load_cases("sample", difficulty="hard")))
    answers = build.read(Answer)
    swapped = [
        replace(answers[0], text=f" {case.rejected}"),
        replace(answers[1], text=case.chosen.replace(" ", "  ")),
        *answers[2:],
    ]
    build.write(Answer, swapped)
    said = refusal(build)
    assert f"is {case.id} of sample" in said
    assert "Nothing is written" in said
    pair = build.read(Pair)[0]
    text = {one.id: one.text for one in answers}
    build.write(
        Answer, [replace(answers[0], text=text[pair.second]), replace(answers[1], text=text[pair.first]), *answers[2:]]
    )
    assert f"is {pair.id} of this build's test persons" in refusal(build)


def altered(case, at, way):
    """A pair that a model will be tested on, made over: (chosen, rejected)."""
    other = f"A text of nobody's, number {at}, about the weather and whatever else there may be to say today."
    return {
        "last characters": (f"{case.chosen[:-3]}!?!", f"{case.rejected[:-2]}.."),
        "one beside another": (case.chosen, other),
        "near copy beside another": (other, f"{case.chosen[4:-3]} indeed"),
        "exchanged": (case.rejected.upper(), "  ".join(case.chosen.split(" "))),
    }[way]


@pytest.mark.parametrize("way", ["last characters", "one beside another", "near copy beside another", "exchanged"])
def test_every_pair_with_a_text_of_the_benchmark_is_refused_and_listed(tmp_path, way):
    build, cases = split(tmp_path / "b", people=40, questions=1), list(load_cases("sample"))[:20]
    before = [one for one in build.read(Answer) if one.strategy != "masked"]
    texts = [text for at, case in enumerate(cases) for text in altered(case, at, way)]
    train = [
        replace(one, text=text) for one, text in zip(before, texts, strict=False)
    ]  # full and question of 20 persons
    build.write(Answer, [*train, *before[len(train) :]])
    said = refusal(build)
    assert "Found 20 pairs to train on with responses of test data" in said
    listed = [json.loads(line) for line in (build.root / "training-copies.jsonl").read_text("utf-8").splitlines()]
    assert str(build.root / "training-copies.jsonl") in said
    assert {one["user_id"] for one in listed} == {f"u{at}" for at in range(20)}
    sample = {case.id: case for case in load_cases("sample")}
    for one in listed:
        tested = sample[one["copy_of"].removesuffix(" of sample")]
        texts = (one["text"],) if one["side"] != "both" else one["text"].split("\n\n")
        assert any(plain(text)[20:40] in plain(f"{tested.chosen} {tested.rejected}") for text in texts)
    assert listed[0]["id"] in said
    build.write(Answer, before)
    assert len(trained(build)[0]) == 20
    assert not (build.root / "training-copies.jsonl").exists()


def test_a_near_copy_of_the_sets_own_test_data_is_refused(tmp_path):
    """Also of a release whose pairs are no longer in pairs.jsonl."""
    long = "First walk along the river to the old mill, then sit down in its yard and have whatever they baked that morning."
    build = split(tmp_path / "b")
    answers, (pair, *pairs) = build.read(Answer), build.read(Pair)
    test = {pair.first: long, pair.second: long.replace("river", "motorway")[::-1]}
    build.write(Answer, [replace(one, text=test.get(one.id, one.text)) for one in answers])
    with_release(build)
    answers = build.read(Answer)
    build.write(Answer, [replace(answers[1], text=long.replace("morning", "evening")), answers[0], *answers[2:]])
    assert f"is one of {pair.id} of this build's test persons" in refusal(build)
    build.write(Pair, pairs)
    said = refusal(build)
    assert "of this build's test persons" not in said
    assert f"is one of specific_hard:1 of {build.root / 'release'}" in said


def test_an_answer_to_a_question_alone_that_a_test_person_asks_too_is_left_out(tmp_path):
    """Told nothing about the user, a model writes the same to both."""
    build = split(tmp_path / "b", people=4)
    questions = build.read(Question)
    asked = {one.id: f"What is a good holiday, {at % 2}?" for at, one in enumerate(questions)}
    build.write(Question, [replace(one, question=asked[one.id]) for one in questions if one.user_id != "u1"] + [
        one for one in questions if one.user_id == "u1"
    ])  # fmt: skip
    alone = "Go wherever the weather is fine and the people are kind, for a week or two, with a book that you always meant to read."
    build.write(
        Answer,
        [
            replace(one, text=alone) if one.strategy == "question" and one.user_id != "u1" else one
            for one in build.read(Answer)
        ],
    )
    found, said = trained(build)
    assert "left out: 2 pairs whose question a test person asks, too" in said
    assert sorted((row["user_id"], row["kind"]) for row in found) == [
        *[("u0", "full over masked")] * 2,
        *[("u1", "full over masked")] * 2,
        *[("u1", "full over question")] * 2,
    ]


def test_a_person_who_was_tested_is_refused_under_any_name(tmp_path):
    """Of the build's own release, and of the benchmark."""
    build = split(tmp_path / "b")
    with_release(build)
    build.write(Person, [replace(one, split="train") for one in build.read(Person)])
    build.write(Pair, [])
    assert "u3 is u3" in refusal(build)
    other = split(tmp_path / "c")
    case = next(iter(load_cases("sample")))
    (other.root / "persona" / "u0.json").write_text(json.dumps(case.persona.profile).replace(": ", ":  "), "utf-8")
    assert f"found 1 training persons who are users of sample: u0 is {case.user_id}" in refusal(other)


def test_a_label_stands_in_place_of_what_a_pair_was_built_to_be(tmp_path):
    build = split(tmp_path / "b", people=2, questions=1)
    full, _, question = build.read(Answer)[:3]
    label = Tiered(
        pair_id="p", question_id=full.question_id, user_id="u0", difficulty="hard", chosen=question.id, rejected=full.id
    )
    build.write(Tiered, [label])
    found, _ = trained(build)
    assert {(row["chosen"][0]["content"], row["kind"]) for row in found} == {
        (question.text, "labeled"), (full.text, "full over masked"),
    }  # fmt: skip


@pytest.mark.slow
def test_pairs_that_are_too_long_are_counted_and_named(tmp_path):
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    from support import classifiers

    build = split(tmp_path / "b", people=2, questions=1)
    found, _ = trained(build)
    every = [turn["content"] for row in found for turn in (*row["prompt"], *row["chosen"], *row["rejected"])]
    classifiers.tokenizer(every).save_pretrained(tmp_path / "tokenizer")
    _, said = trained(build, "--tokenizer", str(tmp_path / "tokenizer"), "--max-length", "10")
    assert "! 2 pairs are longer than 10 tokens" in said
    for line, row in enumerate(found, start=1):
        assert re.search(rf"line {line}: [0-9,]+ tokens, {re.escape(row['id'])}", said)
    assert "no pair is longer than 4,096" in trained(build, "--tokenizer", str(tmp_path / "tokenizer"))[1]
    classifiers.tokenizer(every, template=None).save_pretrained(tmp_path / "plain")
    (build.root / "training").rename(tmp_path / "kept")
    assert "has no chat template" in refusal(build, *SAMPLE, "--tokenizer", str(tmp_path / "plain"))
    assert "found no tokenizer" in refusal(build, *SAMPLE, "--tokenizer", str(tmp_path / "nowhere"))


GEMMA_LIKE = """{{ '<user>' }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{%- if m['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = m['role'] %}{% endif %}
{{- '<turn>' + role + '\n' + m['content'] | trim + '</turn>\n' }}{% endfor %}"""
"""Refuses a system turn and two turns of one role, as the templates of Gemma's first two generations do."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "place"),
    [("SYSTEM", "in a system turn"), ("NO_SYSTEM", "before"), ("DROPS_SYSTEM", "before"), ("GEMMA_LIKE", "before")],
)
def test_the_persona_is_where_the_models_own_template_takes_it_and_scoring_has_it(tmp_path, template, place):
    pytest.importorskip("torch")
    from support import classifiers

    from personafeedback_tasks.reward_models.classifier import RewardModel

    build = split(tmp_path / "b", people=2, questions=1)
    found, said = trained(build)
    assert "! The persona is in a system turn, which some chat templates, such as Gemma's, refuse or leave out" in said
    every = [turn["content"] for row in found for turn in (*row["prompt"], *row["chosen"], *row["rejected"])]
    text = GEMMA_LIKE if template == "GEMMA_LIKE" else getattr(classifiers, template)
    model = classifiers.random_classifier(tmp_path / "model", [*every, "<turn>model/"], template=text)
    rows_, said = trained(build, "--tokenizer", str(model))
    assert f"the persona is {place}" in said
    assert f"--model_name_or_path {model} " in said
    scored = RewardModel(str(model))
    answers, questions = ({one.id: one for one in build.read(kind)} for kind in (Answer, Question))
    for row in rows_:
        better, worse = (answers[name] for name in row["id"].split(" over "))
        question = questions[better.question_id].question
        case = PersonaCase("", "", "", build.persona(better.user_id), question, better.text, worse.text)
        for side in ("chosen", "rejected"):
            ids = scored.tokenizer.apply_chat_template(row["prompt"] + row[side], return_dict=True)["input_ids"]
            assert ids == scored.encode([conversation(case, Template(), side)], [side])[0].ids
            assert "chess" in scored.tokenizer.decode(ids).replace(" ", "")


@pytest.mark.release
def test_trl_trains_on_rows_for_a_template_without_a_system_turn(tmp_path):
    pytest.importorskip("torch")
    datasets, trl = pytest.importorskip("datasets"), pytest.importorskip("trl")
    import transformers
    from support import classifiers

    build = split(tmp_path / "b", people=2, questions=1)
    found, _ = trained(build)
    every = [turn["content"] for row in found for turn in (*row["prompt"], *row["chosen"], *row["rejected"])]
    model = classifiers.random_classifier(tmp_path / "model", [*every, "<turn>model/"], template=GEMMA_LIKE)

    def train(folder):
        options = trl.RewardConfig(
            output_dir=str(folder), use_cpu=True, bf16=False, max_length=2048, max_steps=1, per_device_train_batch_size=2, report_to=[],
            save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        trainer = trl.RewardTrainer(
            model=transformers.AutoModelForSequenceClassification.from_pretrained(model),
            processing_class=transformers.AutoTokenizer.from_pretrained(model),
            args=options,
            train_dataset=datasets.load_dataset(
                "json", data_files=str(build.root / "training" / "train.jsonl"), split="train"
            ),
        )
        trainer.train()
        return trainer.train_dataset

    with pytest.raises(Exception, match="System role not supported"):
        train(tmp_path / "refused")
    trained(build, "--tokenizer", str(model))
    assert len(train(tmp_path / "out")) == len(found)


def test_without_the_benchmark_at_hand_the_way_out_is_named(tmp_path):
    build = split(tmp_path / "b")
    said = refusal(build, "--benchmark", str(tmp_path / "nowhere"))
    assert "pass --benchmark FOLDER, or `--benchmark none`" in said
    assert len(trained(build, "--benchmark", "none")[0]) == 12


def test_without_training_persons_the_setting_is_named(tmp_path):
    assert "found no person of the split train" in refusal(a_build(tmp_path / "b"))


def imported(root, test):
    """Eight pairs of eight nurses, imported with a share of test persons."""
    source = root.parent / "pairs.jsonl"
    rows = [
        {"persona": f"Nurse {n}", "question": f"What {n}?", "chosen": f"Yes {n}", "rejected": f"Nay {n}"}
        for n in range(8)
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    keys = "persona=persona,question=question,chosen=chosen,rejected=rejected"
    done = personafeedback("build", "import", root, "--from", source, "--map", keys, "--test", test)
    assert done.exit_code == 0, done.output
    return done


def test_whoever_only_trains_imports_with_no_test_person(tmp_path):
    root = tmp_path / "b"
    done = imported(root, "0")
    assert f"Next: personafeedback build training {root}" in done.output
    done = personafeedback("build", "training", root, "--benchmark", "none")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (root / "training" / "train.jsonl").read_text("utf-8").splitlines()]
    assert sorted(row["chosen"][0]["content"] for row in rows) == [f"Yes {n}" for n in range(8)]
    assert "found no pair whose question and person are kept" in personafeedback("build", "release", root).stderr


def test_an_import_keeps_to_the_share_of_test_persons_and_each_person_is_in_one_place(tmp_path):
    root = tmp_path / "b"
    for _ in range(2):  # the same import again changes nothing
        imported(root, "1/2")
    done = personafeedback("build", "release", root)
    assert done.exit_code == 0, done.output
    assert "4 pairs are left out: their question or person has keep = no, or the person is for training" in done.output
    tested = {case.question for case in load_cases(root / "release", counts="any")}
    done = personafeedback("build", "training", root, "--benchmark", "none")
    rows = [json.loads(line) for line in (root / "training" / "train.jsonl").read_text("utf-8").splitlines()]
    trained_on = {
        question
        for row in rows
        for question in (f"What {n}?" for n in range(8))
        if question in row["prompt"][-1]["content"]
    }
    assert (len(tested), len(trained_on), len(tested & trained_on)) == (4, 4, 0)


@needs_checkout
def test_the_printed_line_has_the_papers_figures_and_is_that_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    split(tmp_path / "ours")
    done = personafeedback("build", "training", "ours", *SAMPLE)
    printed = [line[4:] for line in done.stdout.splitlines() if line.startswith("    ")]
    assert printed == block(TRAINING, "training: gpu").splitlines()


# --- a model that learned from them ---------------------------------------------------------------------------------------

PLANTED = 0.8
"""Share of the unseen users' pairs whose chosen response is the one with the park."""


@pytest.mark.release
def test_a_classifier_learns_the_planted_preference_and_our_scores_are_those_of_a_plain_loop(tmp_path):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    datasets, trl = pytest.importorskip("datasets"), pytest.importorskip("trl")
    pytest.importorskip("inspect_ai")
    from personafeedback_tasks.inspect_tasks import personafeedback as tasks
    from support import classifiers
    from support.inspect_runs import inspect_eval

    from personafeedback_tasks.logs.read import read_run
    from personafeedback_tasks.personafeedback.cases import load_present

    build = split(tmp_path / "b", people=45, questions=2, train=2 / 3)
    rng = random.Random(5)
    text = {one.id: one.strategy for one in build.read(Answer)}
    tiered = []
    for pair in build.read(Pair):
        full, other = sorted((pair.first, pair.second), key=lambda name: text[name] != "full")
        chosen, rejected = (full, other) if rng.random() < PLANTED else (other, full)
        tiered.append(
            Tiered(
                pair_id=pair.id,
                question_id=pair.question_id,
                user_id=pair.user_id,
                difficulty="hard",
                chosen=chosen,
                rejected=rejected,
            )
        )
    build.write(Tiered, tiered)
    accept = [word for name in ("longest", "overlap", "name") for word in ("--accept", name)]
    assert personafeedback("build", "release", build.root, *accept).exit_code == 0
    found, _ = trained(build)
    every = [turn["content"] for row in found for turn in (*row["prompt"], *row["chosen"], *row["rejected"])]
    cases = load_present(build.root / "release")
    every += [one for case in cases for one in (case.persona.text, case.question, case.chosen, case.rejected)]
    base = classifiers.random_classifier(tmp_path / "base", every, max_position_embeddings=512)

    def accuracy(folder, name):
        (log,) = inspect_eval(
            tasks.personafeedback_hard(data=str(build.root / "release"), method="reward"), model=f"personafeedback-reward/{folder}",
            log_dir=str(tmp_path / name), display="none", score_display=False,
        )  # fmt: skip
        assert log.status == "success", log.error
        run = read_run(tmp_path / name)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        for case in cases:
            with torch.no_grad():
                plainly = [
                    model(
                        **tokenizer.apply_chat_template(
                            conversation(case, Template(), side), return_tensors="pt", return_dict=True
                        )
                    )
                    .logits[0, 0]
                    .item()
                    for side in ("chosen", "rejected")
                ]
            assert list(run.cases[case.id][0].rewards["reward"]) == pytest.approx(plainly, abs=1e-4)
        return sum(case.value("acc") for case in run.cases.values()) / len(cases)

    before = accuracy(base, "before")
    assert 0.3 < before < 0.7
    options = trl.RewardConfig(
        output_dir=str(tmp_path / "out"), use_cpu=True, bf16=False, max_length=512, learning_rate=3e-3, num_train_epochs=5,
        per_device_train_batch_size=16, report_to=[], save_strategy="no", logging_steps=1000, disable_tqdm=True, seed=1,
    )  # fmt: skip
    trainer = trl.RewardTrainer(
        model=transformers.AutoModelForSequenceClassification.from_pretrained(base),
        processing_class=transformers.AutoTokenizer.from_pretrained(base),
        args=options,
        train_dataset=datasets.load_dataset(
            "json", data_files=str(build.root / "training" / "train.jsonl"), split="train"
        ),
    )
    ids = trainer.train_dataset[0]
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    ours = tokenizer.apply_chat_template(found[0]["prompt"] + found[0]["chosen"], return_dict=True)["input_ids"]
    assert [value for name, value in ids.items() if "chosen" in name and "ids" in name] == [ours]
    trainer.train()
    trainer.save_model(str(tmp_path / "after-model"))
    after = accuracy(tmp_path / "after-model", "after")
    assert after == pytest.approx(sum(text[one.chosen] == "full" for one in tiered) / len(tiered), abs=0.05)
    assert own_pairs(build)[0] == found


@pytest.mark.release
@needs_checkout
def test_the_lines_of_the_page_train_a_model_and_score_it(tmp_path):
    pytest.importorskip("torch")
    trl = pytest.importorskip("trl")
    pytest.importorskip("inspect_ai")
    from support import classifiers

    build = split(tmp_path / "ours")
    with_release(build)
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
