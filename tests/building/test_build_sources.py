"""What texts are made from: drawn traits, a team's own users and their memory, scenarios and examples."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product

import pytest
from support.building import a_build, persona, words, write, write_answers, write_personas, write_questions
from support.builds import change
from support.commands import personafeedback, ran

from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import Answer, Basis, Origin, Pair, Person, Question, Refused
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts.asking import Models
from personafeedback_tasks.building.texts.checks import fault_of_question
from personafeedback_tasks.building.texts.personas import draw_traits, names
from personafeedback_tasks.building.texts.prompts import bundled
from personafeedback_tasks.building.texts.sources import countries, question_examples, scenarios
from personafeedback_tasks.building.texts.specific import draw_scenarios
from personafeedback_tasks.building.votes import study_of
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.personafeedback.persona import Persona

ONE = Models(("openai/gpt-4o",))


def lines(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def ours(root, people=1, pieces=7, **settings):
    """A build of a team's own users, each with a memory."""
    folder = a_build(root, **{"personas": 0, "specific": 2, **settings})
    for number in range(people):
        lines(folder.root / f"persona/u{number}.json", persona(f"own {number}"))
        texts = [f"Piece {number}-{place} on {words(f'{number} {place}', 4)}" for place in range(pieces)]
        dated = [{"date": f"2025-03-0{place}", "text": text} for place, text in enumerate(texts)]
        lines(folder.root / f"memory/u{number}.jsonl", *dated)
    write_personas(folder, Models(()), print)
    return folder


def pieces_in(prompt):
    """The pieces of memory that a prompt shows."""
    return re.findall(r"(?m)^ *- (\[2025-03-0.\] Piece .*)$", prompt)


def asked_of(writer):
    """Request -> prompt, but for the check of each question."""
    return {name: prompt for *_, name, prompt in writer.take() if not name.endswith("~natural")}


# --- questions --------------------------------------------------------------------------------------------------------


def test_questions_are_asked_from_a_handful_of_memory_which_writers_and_annotators_see(tmp_path, writer):
    folder = ours(tmp_path / "build")
    write_questions(folder, ONE, print)
    asked = asked_of(writer)
    assert asked.keys() == {f"u0:specific:{place}{part}" for place in (0, 1) for part in ("", "~features")}
    profile, memory = folder.persona("u0"), [piece.text for piece in folder.memory("u0")]
    questions, bases = folder.read(Question), folder.by_id(Basis)
    for place, question in enumerate(questions):
        told, features = asked[f"u0:specific:{place}"], asked[f"u0:specific:{place}~features"]
        basis = bases[question.id]
        assert len(basis.memory) == len(set(basis.memory)) == 5
        assert set(basis.memory) < set(memory)
        for prompt in (told, features):
            assert pieces_in(prompt) == list(basis.memory)
            assert not any(statement in prompt for statement in profile.statements if len(statement) > 12)
        (inferred,) = re.findall(r"(?s)<features>\n(.*?)\n</features>", told)
        assert inferred.splitlines() == [f"- {feature}" for feature in basis.features]
        assert re.search(rf"Situation: {re.escape(question.scenario)}: \w", told)
        assert told.count("<situation>") == 1
    assert bases[questions[0].id].memory != bases[questions[1].id].memory
    origin = folder.by_id(Origin)[questions[0].id]
    assert re.fullmatch(r"features\.md \w{12}, from_memory\.md \w{12}, natural\.md \w{12}", origin.prompt)
    assert origin.parents == ("u0", "u0:specific:0")
    write_answers(folder, ONE, print)
    asked = asked_of(writer)
    core = {one for one in profile.without(("Preference",)).statements if len(one) > 12}
    preferences = {one for one in profile.statements if len(one) > 12} - core
    for question in questions:
        basis = bases[question.id]
        prompt = {one.strategy: asked[one.id] for one in folder.read(Answer) if one.question_id == question.id}
        added = [*basis.features, *basis.memory]
        assert all(text in prompt["full"] for text in (*core, *added))
        assert not any(text in prompt["full"] for text in preferences)  # only what was inferred for this question
        told = set(re.findall(r"(?m)^ *(?:- |\w+: )(.*)$", prompt["masked"])) & {*core, *added, *preferences}
        assert told < {*core, *added}  # a masked persona is a part of the full one
        assert not any(text in prompt["question"] for text in (*core, *added))
    items = study_of(folder, questions).asked.items
    assert len(items) == len(folder.read(Pair)) > 2
    for item in items:
        (question,) = (one for one in questions if one.question == item.texts["question"])
        assert item.texts["persona"].startswith(profile.text)
        assert pieces_in(item.texts["persona"]) == list(bases[question.id].memory)
    for write_again in (write_questions, write_answers):
        write_again(folder, ONE, print)
        assert writer.take() == []
    change(folder, Basis, memory=("Another",))
    with pytest.raises(DataError, match="found another persona"):
        write_answers(folder, ONE, print)


def test_features_that_are_none_are_refused_and_replaced_before_a_question_is_asked(tmp_path, writer):
    folder = ours(tmp_path / "build", specific=3)
    first, second, third = (f"u0:specific:{number}" for number in range(3))
    chinese, times = "这个人喜欢钟，也喜欢安静的下午，常常在家里读很久的书。", ("", "~1", "~2", "~3")
    writer.replies = {
        f"{first}~features": "",
        **{f"{second}{time}~features": chinese for time in times},
        f"{third}~features": "Here are the features:\n1. likes bells\n\n* avoids crowds\n- likes bells",
    }
    write_questions(folder, ONE, print)
    reasons = Counter((one.id, one.reason) for one in folder.read(Refused))
    assert reasons == {(first, "empty"): 1, (second, "another language"): 4}
    asked = asked_of(writer)
    assert [name for name in asked if not name.endswith("~features")] == [third, f"{first}~1"]
    assert len({frozenset(pieces_in(asked[f"{second}{time}~features"])) for time in times}) > 1  # another handful
    bases = [basis.features for basis in folder.read(Basis)]
    assert bases[0] == ("likes bells", "avoids crowds")
    assert len(bases) == 2
    assert "lacking" not in personafeedback("build", "status", folder.root).output.split("answers")[0]


# --- scenarios and examples -------------------------------------------------------------------------------------------


TABLE_5 = {
    "Recommendation Systems": 23.47,
    "Entertainment & Leisure": 20.79,
    "Education & Learning": 19.02,
    "Office & Productivity": 18.79,
    "Health & Medical": 10.53,
    "Personal Growth": 4.24,
    "Technical Development": 2.02,
    "Finance": 1.1,
}
"""Category of the paper's Table 5 -> percent of its questions."""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scenarios_have_the_shares_of_table_5_and_are_for_those_whom_they_fit(tmp_path, language):
    (tmp_path / "scenarios.csv").write_text(bundled("given", language)["scenarios.csv"], encoding="utf-8")
    choices, settings = scenarios(tmp_path), Settings()
    assert len(choices) == 42
    for name, share in TABLE_5.items():
        assert sum(one.share for one in choices if one.category == name) == pytest.approx(share, abs=0.001)
    anybody = {"text": "software student office dog 软件 学生 办公 狗"}  # whom all scenarios fit
    users = [Persona(f"u{number}", anybody) for number in range(1500)]
    drawn = {user.user_id: draw_scenarios(settings, user, choices, 4) for user in users}
    found = Counter(one.category for of in drawn.values() for one in of)
    for name, share in TABLE_5.items():
        assert 100 * found[name] / 6000 == pytest.approx(share, abs=1.2)
    assert all(draw_scenarios(settings, user, choices, 7)[:4] == drawn[user.user_id] for user in users[:50])
    # few users get one category alone
    assert sum(len({one.category for one in of}) >= 3 for of in drawn.values()) > 1350
    texts = {
        "en": "ties bouquets and retired last year; a software tester with two dogs; her carpet and her catalogue",
        "zh": "花店老板，去年退休;软件测试员，养了两只狗;喜欢地毯",
    }[language].split(";")
    florist, tester, neither = (Persona(f"u{number}", {"Job": text}) for number, text in enumerate(texts))
    for_florist, for_tester, for_neither = (
        {one.scenario for one in choices if one.is_for(who)} for who in (florist, tester, neither)
    )
    assert for_tester - for_florist == {
        "Code Debugging", "Code Optimization", "Pet Health",
        "Career Advice", "Resume Optimization", "Interview Preparation",
    }  # fmt: skip
    assert "Pet Health" not in for_neither
    drawn = {one.scenario for seed in range(300) for one in draw_scenarios(Settings(seed=seed), florist, choices, 8)}
    assert drawn == for_florist


def test_a_table_of_scenarios_is_a_teams_own(tmp_path):
    path = tmp_path / "scenarios.csv"
    path.write_text(
        "category;scenario;description;share;fits\nA;One;first;3;\nA;Two;;1;\nB;Three;;4;farm\n", encoding="utf-8"
    )
    choices = scenarios(tmp_path)
    assert [one.text for one in choices] == ["One: first", "Two", "Three"]
    farmer, other = Persona("u1", {"Job": "Farm hand"}), Persona("u2", {"Job": "clerk"})
    first = Counter(draw_scenarios(Settings(seed=seed), farmer, choices, 1)[0].scenario for seed in range(2000))
    assert {name: count / 2000 for name, count in first.items()} == pytest.approx(
        {"One": 3 / 8, "Two": 1 / 8, "Three": 1 / 2}, abs=0.04
    )
    assert {one.scenario for one in draw_scenarios(Settings(), other, choices, 6)} == {"One", "Two"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examples_are_questions_of_known_scenarios_and_a_teams_own_replace_ours(tmp_path, language):
    path = tmp_path / "examples.jsonl"
    path.write_text(bundled("given", language)["examples.jsonl"], encoding="utf-8")
    found = question_examples(tmp_path)
    assert len(found) == len(set(found)) == 150
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    known = [line.split(",")[1] for line in bundled("given", language)["scenarios.csv"].splitlines()[1:]]
    assert {row["scenario"] for row in rows} <= {*known}
    assert all(fault_of_question(row["question"], language) == "" and len(row["features"]) == 3 for row in rows)
    path.write_text('{"scenario": "Rain", "question": "Which boots?"}\n', encoding="utf-8")
    assert question_examples(tmp_path) == ["<situation>Rain</situation>\n<question>Which boots?</question>"]


# --- what is drawn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_name_and_a_country_are_drawn_and_fit(language, tmp_path):
    (tmp_path / "names.csv").write_text(bundled("given", language)["names.csv"], encoding="utf-8")
    table, taken, seen = countries(tmp_path), set(), Counter()
    of = {country.country: country for country in table}
    for number in range(1000):
        traits = draw_traits(Settings().generator("traits", f"u{number}"), table, taken if number < 200 else ())
        country = of[traits["country"]]
        shape = "{1}{0}" if language == "zh" else "{0} {1}"
        choices = product(getattr(country, traits["gender"]), country.family)
        assert traits["name"] in {shape.format(*both) for both in choices}
        assert number >= 200 or traits["name"] not in taken
        assert 18 <= int(traits["age"]) <= 80
        assert re.fullmatch("[EI][SN][TF][JP]", traits["personality (MBTI)"])
        taken.add(traits["name"])
        seen.update((traits["country"], traits["gender"], traits["field of work"]))
    assert all(seen[gender] == pytest.approx(500, abs=60) for gender in ("female", "male"))
    for country in table[:2]:
        share = country.share / sum(one.share for one in table)
        assert seen[country.country] / 1000 == pytest.approx(share, abs=0.05)
    assert "name" not in draw_traits(Settings().generator("traits", "u"), [], taken)


def test_a_prompt_shows_the_seed_and_what_was_drawn_and_a_second_run_asks_the_same(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=8)
    warned = f"! {folder.root / 'seeds.jsonl'} still has examples that `build init` wrote"
    assert any(line.startswith(warned) for line in write_personas(folder, ONE))
    other = a_build(tmp_path / "other", personas=8)
    lines(other.root / "seeds.jsonl", {"age": 58, "job": "mechanic"})
    failing, second, third, *_ = names(other.settings)
    profile, another = (write(f"Write the profile of one invented person{key}") for key in ("", ": b"))
    writer.take()
    writer.replies = {failing: RuntimeError("down"), second: profile, third: profile, f"{third}~1": another}
    assert "examples" not in " ".join(write_personas(other, ONE))
    first = {name: prompt for *_, name, prompt in writer.take()}
    assert first.keys() == {*names(other.settings), f"{third}~1"}
    assert all('"job": "mechanic"' in prompt for prompt in first.values())
    drawn = {re.search("(?m)^- name: (.*)$", prompt)[1] for prompt in first.values()}
    assert len(drawn) == 9  # the one that replaces another, too
    assert len(other.read(Person)) == 7
    writer.replies = {}
    write_personas(other, ONE)
    assert [(name, prompt) for *_, name, prompt in writer.take()] == [(failing, first[failing])]
    assert len(other.read(Person)) == 8


# --- a team's own users -----------------------------------------------------------------------------------------------


def test_users_and_their_history_stay_as_they_were_brought_and_twins_are_named_before_questions_are_paid(
    tmp_path, writer
):
    profile = persona("one", Name="Wen")
    root, chats = (
        tmp_path / "ours",
        [{"role": "user", "content": "Which tent?", "date": "2025-03-01"}, {"text": "An essay"}],
    )
    lines(root / "persona" / "u1.json", profile)
    lines(root / "persona" / "u2.json", {**profile, "Name": "Bo"})
    for user in ("u1", "ghost"):
        lines(root / "memory" / f"{user}.jsonl", *chats)
    said = ran("build", "init", root).output
    assert said.splitlines()[-1] == f"Next: personafeedback build texts {root} personas"
    folder = Build(root)
    assert folder.settings.personas == 0
    said = write_personas(folder, ONE)
    assert (writer.take(), [person.name for person in folder.read(Person)]) == ([], ["Wen", "Bo"])
    assert folder.persona("u1").profile == profile
    assert [piece.text for piece in folder.memory("u1")] == ["[2025-03-01] user: Which tent?", "An essay"]
    assert f"{root / 'memory' / 'ghost.jsonl'} is not read: people.csv has no 'ghost'. Rename it." in said
    warned = "! The control setting=other_persona will not run on this set: found no persona to show in place of that of user_id 'u1'"
    assert any(line.startswith(warned) for line in said)
    lines(root / "persona" / "u2.json", {"Name": "Bo", "Job": "baker", "Likes": "bread"})
    assert not any("other_persona" in line for line in write_personas(folder, ONE))
