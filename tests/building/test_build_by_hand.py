"""Numbers that a build decides by, each as its documents say: defaults and limits of settings, lengths, packs, agreement, scripted personas."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from support import building as scripted
from support.builds import a_build
from support.commands import personafeedback

from personafeedback_tasks.building.coins import CONFIRMED, LEAST_VOTES, label_rule, least_majority
from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.release.tiers import sort_into_tiers
from personafeedback_tasks.building.release.voting import HEADLINE, agreement
from personafeedback_tasks.building.rows import Answer, Pair, Question, Refused, Vote
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts import structure
from personafeedback_tasks.building.texts.personas import next_split, write_personas
from personafeedback_tasks.building.texts.questions import write_questions
from personafeedback_tasks.building.votes.growing import ATTENTION, names
from personafeedback_tasks.building.votes.packs import grown
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.inspect_harness import generation

ONE = Models(("openai/gpt-4o",))


# --- settings -----------------------------------------------------------------------------------------------------------


def test_a_build_starts_with_these_settings():
    found = Settings()
    numbers = {name: getattr(found, name) for name in ("seed", "personas", "specific", "general", "annotators")}
    assert numbers == {"seed": 0, "personas": 20, "specific": 5, "general": 0, "annotators": 9}
    assert (found.test, found.masked, found.medium) == (1, Fraction(4, 5), Fraction(8, 9))


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("seed", ("0", "1000000000000"), ("-1", "1000000000001")),
        ("personas", ("0", "100000"), ("-1", "100001")),
        ("memory", ("1", "1000"), ("0", "1001")),
        ("specific", ("0", "1000"), ("-1", "1001")),
        ("general", ("0", "1000"), ("-1", "1001")),
        ("annotators", ("1", "1000"), ("0", "1001")),
        ("test", ("0", "1", "1/3"), ("1.1", "4/3", "1/0")),
        ("masked", ("0", "1", "0.5"), ("1.1",)),
        ("medium", ("0.51", "1"), ("1/2", "1.1")),
        ("language", ("zh", "deu"), ("z", "zh-CN", "ZHXX")),
    ],
)  # fmt: skip
def test_a_setting_has_its_limits(name, allowed, refused, tmp_path):
    path = tmp_path / "build.yaml"
    for value in allowed:
        path.write_text(f"{name}: {value}\n", encoding="utf-8")
        assert str(getattr(Settings.load(path), name)) == str(
            Fraction(value) if name in ("test", "masked", "medium") else value
        )
    for value in refused:
        path.write_text(f"{name}: {value}\n", encoding="utf-8")
        with pytest.raises(DataError, match=f"found {name} = "):
            Settings.load(path)


def test_a_majority_is_one_that_coins_seldom_have():
    assert {votes: least_majority(votes) for votes in (5, 6, 7, 8, 9, 25)} == {5: 6, 6: 6, 7: 7, 8: 8, 9: 8, 25: 18}
    assert {votes: least_majority(votes, CONFIRMED, sides=1) for votes in (3, 4, 6, 9)} == {3: 4, 4: 4, 6: 6, 9: 7}
    assert LEAST_VOTES == 6
    assert label_rule(5).startswith("! With 5 votes to a pair, no pair can become Medium or Hard")
    assert "needs 8 votes for one answer" in label_rule(9)


def test_too_few_votes_are_named_before_anybody_is_paid(tmp_path):
    build = a_build(tmp_path / "build", people=1, questions=1, annotators=5, votes_per_pair=5)
    assert personafeedback("build", "init", build.root).exit_code == 0
    for step in ("plan", "packs"):
        done = personafeedback("build", step, build.root)
        assert done.exit_code == 0, done.output
        assert label_rule(5) in done.output


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])
def test_persons_are_split_by_their_share_one_after_the_other(share):
    splits: list[str] = []
    for number in range(1, 13):
        splits.append(next_split(Settings(test=share), splits))
        assert 0 <= splits.count("test") - share * number < 1


# --- texts --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def writer(monkeypatch):
    found = scripted.Writer()
    monkeypatch.setattr(generation, "generate", found)
    monkeypatch.setattr(generation, "check_models", lambda *_: None)
    return found


def test_a_question_has_120_words_at_most(tmp_path, writer):
    folder = scripted.a_build(tmp_path / "build", personas=1, specific=2)
    write_personas(folder, ONE, print)
    (person,) = folder.people()
    begins = (
        "What should I do about the garden behind my house when ",
        "How do other people manage a very long journey with ",
    )
    texts = []
    for begin, length in zip(begins, (120, 121), strict=True):
        text = begin
        while len(text.split()) < length:
            text += scripted.words(f"{text} {length}", 1) + " "
        texts.append(f"{text.strip()}?")
    writer.replies = {f"{person.user_id}:specific:{number}": text for number, text in enumerate(texts)}
    said: list[str] = []
    write_questions(folder, ONE, said.append)
    assert [len(one.question.split()) for one in folder.read(Question)] == [120]
    assert any(line.startswith("Refused 4: 4 too_long") for line in said)
    assert [one.id for one in folder.read(Refused)] == [f"{person.user_id}:specific:1"] * 4


def test_a_model_is_asked_for_the_structure_of_the_release():
    shape = json.loads(structure.as_shown())
    assert shape["Demographics"]["Age"] == 0
    assert list(shape) == ["Name", "Demographics", "Personality", "Preference"]
    profile, reason = structure.profile(f"```json\n{json.dumps(scripted.persona('x'))}\n```")
    assert (profile, reason) == (scripted.persona("x"), "")
    for reply in ("", "no JSON", "[1]"):
        found, reason = structure.profile(reply)
        assert found is None
        assert reason


# --- packs and agreement ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("people", "questions", "attention"), [(2, 2, 2), (7, 3, 2), (10, 3, 3)])
def test_there_is_an_attention_item_for_each_twenty_pairs_and_two_at_least(people, questions, attention, tmp_path):
    folder = a_build(tmp_path / "build", people=people, questions=questions)
    assert len(folder.read(Pair)) == people * questions * 2
    items = grown(folder, names(2))
    for annotator in ("annotator-1", "annotator-2"):
        own = [item for item in items if item.annotator == annotator]
        assert sum(item.pair_id.startswith(ATTENTION) for item in own) == attention
        assert len(own) == people * questions * 2 + attention
        assert all(bool(item.attention) == item.pair_id.startswith(ATTENTION) for item in own)


def test_a_pair_without_its_question_is_named(tmp_path):
    folder = a_build(tmp_path / "build", people=2, questions=2)
    first, *rest = folder.read(Question)
    folder.write(Question, rest)
    with pytest.raises(DataError, match=f"has the question '{first.id}', expected one of"):
        grown(folder, names(1))


def test_agreement_is_that_of_pairs_with_two_votes_or_more(tmp_path):
    folder = a_build(tmp_path / "build", people=4, questions=2, annotators=2)
    pairs = folder.read(Pair)
    counted = {pair.id: (2, 0) for pair in pairs[:4]} | {pair.id: (1, 1) for pair in pairs[4:6]} | {pairs[6].id: (1, 0)}
    votes = [
        Vote(annotator=f"a{number}", pair_id=pair.id, chosen=chosen, shown_as="AB"[number])
        for pair in pairs
        for number, chosen in enumerate([pair.first] * counted.get(pair.id, (0, 0))[0] + [pair.second] * counted.get(pair.id, (0, 0))[1])
    ]  # fmt: skip
    cases, below = sort_into_tiers(folder, votes)
    found = agreement(folder.settings, pairs, folder.read(Answer), [*cases, *below], votes)["all"]
    assert (found.pairs, found.votes) == (6, (2, 2))
    # Four of six pairs of votes agree: P = 2 / 3, and 2 P - 1.
    assert found.coefficients[HEADLINE].value == pytest.approx(1 / 3)
    # Each letter is picked once in every pair, so that no two agree where each has half: (0 - .5) / .5.
    assert found.coefficients["Fleiss, by letter"].value == pytest.approx(-1)
