"""Answers to questions, and the pairs of them that people compare: what is asked, refused and chosen."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.building import a_build, words, write, write_answers, write_personas, write_questions
from support.builds import change
from support.commands import build_step, personafeedback

from personafeedback_tasks.annotation.rows import Vote
from personafeedback_tasks.building.basis import masked
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import (
    DEGRADED,
    FULL,
    IMPROVED,
    MASKED,
    QUESTION,
    WAYS,
    Answer,
    Origin,
    Pair,
    Person,
    Question,
    Refused,
)
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts import checks
from personafeedback_tasks.building.texts.answers import LENGTHS, MOST, answer_id, target
from personafeedback_tasks.building.texts.asking import Models
from personafeedback_tasks.building.texts.checks import words as count_words
from personafeedback_tasks.building.texts.pairs import balance, choose
from personafeedback_tasks.building.votes import write_packs
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.inspect_harness import generation
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.persona import Persona

ONE, TWO = Models(("openai/gpt-4o",)), Models(("openai/gpt-4o", "openai/gpt-4o-mini"))
MODEL = ONE.names[0]


# --- what is asked, and what is refused ---


@pytest.mark.slow
@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.text("xyz", min_size=1), min_size=1))
def test_the_masked_persona_hides_its_share_and_always_the_same(flat):
    profile = {"Name": "Ada", "Inner": {name: f"{name} {value}" for name, value in flat.items()}}
    settings, whole = Settings(), Persona("u1", profile)
    told = masked(settings, whole)
    leaves = 1 + len(flat)
    assert len(told.statements) == leaves - round(leaves * 4 / 5)
    assert told.text == masked(settings, Persona("u1", profile)).text
    assert told.statements.keys() <= whole.statements.keys()
    assert told.profile.get("Inner") != {}  # a heading over nothing


def test_answers_are_asked_once_each_and_paired_and_differ_by_what_they_know_alone(writer, upto):
    folder = upto("questions", personas=4, specific=2, test="1/2", seed=1)
    test = folder.questions("test")
    write_answers(folder, ONE)
    asked, answers, origins = writer.take(), folder.read(Answer), folder.by_id(Origin)
    counts = {FULL: 8, MASKED: 8, QUESTION: 8, IMPROVED: len(test), DEGRADED: len(test)}
    assert Counter(one.strategy for one in answers) == counts
    assert len({name for *_, name, _ in asked}) == len(asked) == len(answers)
    assert all("<answer>" not in one.text for one in answers)
    for one in answers:
        assert origins[one.id].parents[0] == one.question_id
        assert (origins[one.id].model, one.parent in (*origins[one.id].parents, "")) == (one.model, True)
    ways = {origins[one.id].prompt.partition(".md ")[0]: one.way for one in answers if one.way}
    assert ways == {way: way for way in WAYS}
    prompt_of = {name: prompt for *_, name, prompt in asked}
    for question in folder.questions():
        persona = folder.persona(question.user_id)
        told = {one.strategy: prompt_of[one.id] for one in answers if one.question_id == question.id}
        assert told[FULL].count(persona.text) == 1
        before, after = told[FULL].split(persona.text)
        assert told[MASKED].startswith(before)
        assert told[MASKED].endswith(after)
        long = {one for one in persona.statements if len(one) > 12}
        assert 0 < sum(one in told[MASKED] for one in long) < len(long)
        assert persona.text in told.get(IMPROVED, persona.text)
        assert not any(one in told[QUESTION] or one in told.get(DEGRADED, "") for one in long)
        lengths = {re.search(r"about (\d+) words in English", prompt)[1] for prompt in told.values()}
        assert lengths == {str(target(folder.settings, question.id))}
    pairs, known = folder.read(Pair), folder.by_id(Answer)
    assert {one.question_id for one in pairs} == {one.id for one in test}
    assert len(pairs) == len({one.id for one in pairs}) == 3 * len(test)
    easy = [one for one in pairs if {known[one.first].strategy, known[one.second].strategy} == {FULL, QUESTION}]
    assert easy == [one for one in pairs if one.easy]
    assert all(known[one.easy].strategy == FULL for one in easy)
    assert {one.first == one.easy for one in easy} == {True, False}  # the place says nothing
    write_answers(folder, ONE)
    assert (writer.take(), folder.read(Answer), folder.read(Pair)) == ([], answers, pairs)


def test_each_bad_answer_is_refused_with_its_reason_replaced_and_not_asked_for_a_fifth_time(writer, upto):
    folder = upto("questions", personas=1, specific=9)
    ids = [one.id for one in folder.questions()]
    said = "The same words that another answer has, and many of them, from the first one to the very last one of all."
    full = [answer_id(one, FULL, MODEL) for one in ids]
    boiled, short = answer_id(ids[8], MASKED, MODEL), answer_id(ids[8], QUESTION, MODEL)
    most = MOST * target(folder.settings, ids[7])
    bad = {
        full[0]: ("<thinking>A river.</thinking> Go there.", "markup of its writer"),
        full[1]: ("I'm sorry, but I can't help with that.", "refusal"),
        full[2]: (generation.WrittenText("Go to the", True), "cut off"),
        full[3]: ("我不知道应该怎么办。", "another language"),
        full[4]: ("", "empty"),
        full[7]: (words("long", most + 1), "too long"),
        answer_id(ids[5], MASKED, MODEL): (said, "equal"),
        answer_id(ids[5], QUESTION, MODEL): (said.upper() + " Yes", "nearly equal"),
        answer_id(ids[6], IMPROVED, MODEL, full[6]): ("A better answer.", "no answer tag"),
        answer_id(ids[6], DEGRADED, MODEL, full[6]): ("<answer>\nAn answer like no other. </answer>", "equal"),
        boiled: ("Sure! Here's a personalized answer: take the train.", checks.WRITER),
    }  # fmt: skip
    good = {full[7]: words("fits", most), boiled: "Take the train, early."}
    writer.replies = {name: reply for name, (reply, _) in bad.items()}
    writer.replies |= {full[5]: said, full[6]: "An answer like no other.", short: "Go."}
    writer.replies |= {f"{name}~1": text for name, text in good.items()}
    lines = write_answers(folder, ONE)
    times = Counter((one.id, one.reason) for one in folder.read(Refused))
    assert times == {(name, reason): 1 if name in good else 4 for name, (_, reason) in bad.items()}
    counts = Counter(one.reason for one in folder.read(Refused))
    assert (
        f"Refused 38: {', '.join(f'{count} {reason}' for reason, count in sorted(counts.items()))} (refused.jsonl has the texts)"
        in lines
    )
    texts = {one.id: one.text for one in folder.read(Answer)}
    assert {name: texts[name] for name in bad if name in texts} == good
    assert texts[short] == "Go."
    writer.take()
    write_answers(folder, ONE)
    assert writer.take() == []


def test_a_step_that_leaves_nothing_is_an_error_that_says_what_to_do(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=1, specific=1)
    for step, write_all, what, done in (
        ("personas", write_personas, "person to keep", Person),
        ("questions", write_questions, "question", Question),
        ("answers", write_answers, "pair", Pair),
    ):
        writer.write = lambda prompt, model: generation.WrittenText("Half a", True)
        asked = 4 * (3 if step == "answers" else 1)  # each, and three that replaced it
        for _ in range(2):  # the second time nothing is asked
            shown = build_step(step, folder.root, "--model", "openai/gpt-4o")
            assert shown.exit_code == 1
            assert "Next:" not in shown.output
            assert (
                f"found no {what} (refused: {asked} cut off), expected at least one. Edit the prompts" in shown.output
            )
        writer.write = write
        folder.path(Refused).unlink()
        write_all(folder, ONE)
        assert folder.read(done)


def test_a_text_that_fails_costs_that_text_and_a_dead_server_nothing_that_is_there(tmp_path, writer):
    folder = a_build(tmp_path / "our build", personas=2, specific=2)
    write_personas(folder, ONE)
    write_questions(folder, ONE)
    lost = answer_id(folder.questions()[0].id, QUESTION, ONE.names[0])
    writer.replies = {lost: RuntimeError("the provider does not like it")}
    assert any(line.startswith(f"Failed 1: {lost}: the provider") for line in write_answers(folder, ONE))
    shown = personafeedback("build", "status", folder.root).output
    assert "11 pairs; 1 lacking: run it again" in shown
    assert f"Next: personafeedback build texts '{folder.root}' answers" in shown
    kept = folder.read(Answer)
    assert lost not in {one.id for one in kept}
    writer.take()
    with pytest.raises(generation.GenerationError):
        write_answers(folder, ONE)  # now it is all that is asked, and fails: an error, after all else is written
    assert [id for *_, id, _ in writer.take()] == [lost]
    assert (folder.read(Answer), len(folder.read(Pair))) == (kept, 3 * 4 - 1)
    writer.replies = {}
    write_answers(folder, ONE)
    assert "lacking" not in personafeedback("build", "status", folder.root).output
    assert [id for *_, id, _ in writer.take()] == [lost]
    assert len(folder.read(Pair)) == 3 * 4


def test_a_question_that_was_edited_after_its_answers_is_named(writer, upto):
    folder = upto("answers", personas=1, specific=1)
    question = change(folder, Question, question="Something else altogether?")
    with pytest.raises(DataError) as error:
        write_answers(folder, ONE)
    assert f"question {question.id!r} with another text" in str(error.value)
    assert "set its keep to no, and add the new text as a line without an id" in str(error.value)
    change(folder, Question, keep="no")
    with folder.path(Question).open("a", encoding="utf-8") as file:
        file.write(f",{question.user_id},specific,Something else altogether?\n")
    write_questions(folder, ONE)
    assert writer.take() == []  # the old one does not come back
    write_answers(folder, ONE)
    old, new = folder.read(Question)
    assert (old.id, [one.id for one in folder.questions()]) == (question.id, [new.id])
    assert {one.question_id for one in folder.read(Pair)} == {new.id} != {question.id}


def test_a_persona_that_was_edited_after_its_answers_is_named(upto):
    folder = upto("answers", personas=2, specific=1)
    user = folder.people()[0].user_id
    path = folder.root / "persona" / f"{user}.json"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("Irish", "Dutch"), encoding="utf-8")
    with pytest.raises(DataError) as error:
        write_answers(folder, ONE)
    assert re.search(rf"{user}\.json: found another persona than answer '{user}:\w+:full:", str(error.value))
    with pytest.raises(DataError, match="people would vote with a persona that it never saw"):
        write_packs(folder, "csv", print)
    path.write_text(json.dumps(json.loads(before)), encoding="utf-8")  # the layout of the file says nothing
    write_answers(folder, ONE)
    settings = (folder.root / "build.toml").read_text(encoding="utf-8")
    (folder.root / "build.toml").write_text(re.sub("(?m)^seed = .*$", "seed = 3", settings), encoding="utf-8")
    with pytest.raises(DataError, match=r"another persona \(or seed in .*build\.toml\) than answer .*:masked:"):
        write_answers(Build(folder.root), ONE)


def test_pairs_that_people_may_have_seen_stay(upto):
    folder = upto("answers", personas=2, specific=2)
    old = folder.read(Pair)
    folder.write(Vote, [Vote(annotator="a", pair_id=old[0].id, chosen=old[0].first, shown_as="A")])
    write_answers(folder, TWO)
    assert folder.read(Pair)[: len(old)] == old
    full = {one.id for one in folder.read(Answer) if one.strategy == FULL}
    new = folder.read(Pair)[len(old) :]
    assert len(new) == 4  # of two writers, who were not there before
    assert all({one.first, one.second} <= full for one in new)
    folder.path(Vote).unlink()
    write_answers(folder, TWO)
    assert folder.read(Pair) != old


SIDES = st.lists(st.tuples(*[st.integers(1, 3)] * 4), min_size=1, max_size=5)


@pytest.mark.slow
@given(SIDES, st.integers(0, 99))
def test_pairs_are_as_balanced_as_the_answers_allow(lengths, seed):
    questions, answers = [], []
    for number, of in enumerate(lengths):
        questions.append(Question(id=f"q{number}", user_id="u", category="specific", question="?"))
        for place, (strategy, length) in enumerate(zip((FULL, FULL, QUESTION, QUESTION), of, strict=True)):
            answers.append(
                Answer(
                    id=f"q{number}.{place}", question_id=f"q{number}", user_id="u", strategy=strategy, model=f"m{place % 2}",
                    text="x" * length,
                )
            )  # fmt: skip
    pairs = choose(Settings(seed=seed), questions, answers, [], fixed=False)
    assert len({frozenset((one.first, one.second)) for one in pairs}) == len(pairs) == 2 * len(questions)
    found, writers = balance(pairs, answers)
    sides = [{(a > b) - (a < b) for a in of[:2] for b in of[2:]} for of in lengths]
    longer, shorter = map(int, re.findall(r"(?:longer|shorter) in (\d+)", found))
    assert abs(longer - shorter) <= min(abs(sum(one)) for one in product(*sides)) + 1
    more, fewer = sum(a > b for a, b, *_ in lengths), sum(a < b for a, b, *_ in lengths)
    assert f"the answer of the writer first in the alphabet is longer in {more}, shorter in {fewer}," in writers
    assert pairs == choose(Settings(seed=seed), questions, answers, [], fixed=False)


def test_the_lengths_of_questions_have_the_quantiles_of_the_release():
    settings = Settings(words=200)
    targets = Counter(target(settings, f"q{number}") for number in range(1800))
    assert set(targets) == {5 * round(200 * words / 265 / 5) for words in LENGTHS}
    assert all(count == pytest.approx(200, abs=60) for count in targets.values())
    assert target(Settings(words=200, language="zh"), "q1") == pytest.approx(1.65 * target(settings, "q1"), abs=5)


def test_the_lengths_are_those_of_the_release(real_data):
    texts = {text for case in load_cases(real_data, "general") for text in (case.chosen, case.rejected)}
    ordered = sorted(map(count_words, texts))
    assert tuple(ordered[len(ordered) * tenth // 10] for tenth in range(1, 10)) == pytest.approx(LENGTHS, abs=8)


def test_words_are_counted_in_either_script():
    assert count_words("我想去 New York 玩3天") == 7
    assert count_words("I can't go, o\u0301 ok") == 5
    assert count_words("안녕 하세요 여러분") == 3
