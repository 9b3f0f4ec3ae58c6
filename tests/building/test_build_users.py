"""Who a set is for: what is drawn for a persona, and a team's own users."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

pytest.importorskip("inspect_ai")

from support.building import a_build, persona, write
from support.commands import build_step, personafeedback

from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.rows import Person
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts.personas import countries, draw_traits, names, write_personas
from personafeedback_tasks.building.texts.seeds import examples
from personafeedback_tasks.common.errors import DataError

ONE = Models(("openai/gpt-4o",))


def personas(folder, models=ONE):
    said = []
    write_personas(folder, models, said.append)
    return said


# --- what is drawn ----------------------------------------------------------------------------------------------------


def test_a_table_of_names_that_is_broken_is_named(tmp_path):
    path = tmp_path / "names.csv"
    for line, found in (
        ("Chad,1,,Idriss,Deby", "nothing under female"),
        ("Chad,none,Zara,Idriss,Deby", "share = 'none'"),
    ):
        path.write_text(f"country,share,female,male,family\n{line}\n", encoding="utf-8")
        with pytest.raises(DataError, match=f"names.csv, line 2: found {found}"):
            countries(tmp_path)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_name_and_a_country_are_drawn_and_fit(language, tmp_path):
    (tmp_path / "names.csv").write_text(examples(language)["names.csv"], encoding="utf-8")
    table, taken, seen = countries(tmp_path), set(), Counter()
    of = {country.country: country for country in table}
    for number in range(1000):
        traits = draw_traits(Settings().generator("traits", f"u{number}"), table, taken if number < 200 else ())
        country = of[traits["country"]]
        join = (lambda one, two: f"{two}{one}") if language == "zh" else (lambda one, two: f"{one} {two}")
        assert traits["name"] in {
            join(first, last) for first in getattr(country, traits["gender"]) for last in country.family
        }
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
    assert f"! {folder.root / 'seeds.jsonl'} still has examples that `build init` wrote" in " ".join(personas(folder))
    other = a_build(tmp_path / "other", personas=8)
    (other.root / "seeds.jsonl").write_text('{"age": 58, "job": "mechanic"}\n', encoding="utf-8")
    failing, second, third, *_ = names(other.settings)
    profile = write("Write the profile of one invented person")
    writer.take()
    writer.replies = {
        failing: RuntimeError("down"),
        second: profile,
        third: profile,
        f"{third}~1": write("Write the profile of one invented person: b"),
    }
    assert "examples" not in " ".join(personas(other))
    first = {name: prompt for *_, name, prompt in writer.take()}
    assert first.keys() == {*names(other.settings), f"{third}~1"}
    assert all('"job": "mechanic"' in prompt for prompt in first.values())
    drawn = [re.search("(?m)^- name: (.*)$", prompt)[1] for prompt in first.values()]
    assert len(set(drawn)) == 9  # the one that replaces another, too
    assert len(other.read(Person)) == 7
    writer.replies = {}
    personas(other)
    assert [(name, prompt) for *_, name, prompt in writer.take()] == [(failing, first[failing])]
    assert len(other.read(Person)) == 8


# --- a team's own users -----------------------------------------------------------------------------------------------


def lines(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def brought(tmp_path, users, histories, *options):
    for user, rows in histories.items():
        lines(tmp_path / "chats" / f"{user}.jsonl", *rows)
    arguments = ["--users", lines(tmp_path / "users.jsonl", *users), "--history", tmp_path / "chats", *options]
    (tmp_path / "chats").mkdir(exist_ok=True)
    return personafeedback("build", "init", tmp_path / "ours", *arguments)


U1 = {"user_id": "u1", "profile": persona("one", Name="Wen")}
U2 = {"user_id": "u2", **persona("two", Name="Bo")}
SAFE = {"u1": [{"role": "user", "content": "Which tent?", "date": "2025-03-01"}, {"text": "An essay on bells"}]}


def test_users_and_their_history_become_personas_and_memories(tmp_path, writer):
    done = brought(tmp_path, [U1, U2], SAFE)
    assert done.exit_code == 0, done.output
    root = tmp_path / "ours"
    assert "Read 2 users and 2 pieces of their history; wrote 3 files to persona/ and memory/" in done.output
    assert "Without a history: 1 users ('u2')" in done.output
    assert f"Next: personafeedback build texts {root} personas\n" in done.output
    assert build_step("status", root).output.splitlines()[-1] == f"Next: personafeedback build texts {root} personas"
    folder = Folder(root)
    assert folder.settings.personas == 0
    assert [folder.persona(user).profile for user in ("u1", "u2")] == [
        persona("one", Name="Wen"),
        persona("two", Name="Bo"),
    ]
    assert folder.persona("u1").memory == ("[2025-03-01] user: Which tent?", "An essay on bells")
    assert (root / "memory" / "u1.jsonl").read_text("utf-8") == (tmp_path / "chats" / "u1.jsonl").read_text("utf-8")
    personas(folder)
    assert (writer.take(), [person.name for person in folder.read(Person)]) == ([], ["Wen", "Bo"])
    again = brought(tmp_path, [{**U1, "profile": {"Name": "New"}}], SAFE)
    assert f"Already there, unchanged: {root / 'persona' / 'u1.json'}" in again.output
    assert folder.persona("u1").profile["Name"] == "Wen"


def test_personal_data_are_named_by_line(tmp_path):
    users = [{"user_id": "u1", "profile": {"Name": "Wen", "Contact": ["write to wen@example.org"]}}]
    history = {
        "u1": [
            {"text": "fine"},
            {"role": "user", "content": "call me at +49 171 2345678 or ask @wen_li", "uuid": "7"},
        ]
    }
    done = brought(tmp_path, users, history)
    assert done.exit_code == 1
    assert not (tmp_path / "ours").exists()
    told = " ".join(done.output.split())
    assert f"{tmp_path / 'users.jsonl'}, line 1: an e-mail address in Contact at character 10; " in told
    assert f"{tmp_path / 'chats' / 'u1.jsonl'}, line 2: a phone number in content at character 12" in told
    users[0]["profile"]["Contact"] = ["write to @wen_li"]  # what is no way to reach somebody by mail or phone stays
    history["u1"][1]["content"] = "ask @bo_li"
    assert brought(tmp_path, users, history).exit_code == 0
    memory = (tmp_path / "ours" / "memory" / "u1.jsonl").read_text("utf-8")
    assert memory == '{"text": "fine"}\n{"role": "user", "content": "ask @bo_li"}\n'


@pytest.mark.parametrize(
    ("users", "history", "said"),
    [
        ([U1, U1], {}, "users.jsonl, line 2: found the user_id 'u1' again, expected each user once"),
        ([{"user_id": "u1"}], {}, "line 1: found the profile {}, expected a text or an object"),
        ([{"user_id": "../u1", "profile": "x"}], {}, "expected the name of a file"),
        ([U1], {"u9": [{"text": "a"}]}, "found the history of 'u9', expected a user_id of"),
        ([U1], {"u1": [{"role": "system", "content": "a"}]}, "u1.jsonl, line 1: found role = 'system', expected user or assistant"),
        ([U1], {"u1": [{"text": "a"}, {"note": "a"}]}, "u1.jsonl, line 2: found no 'text' (keys: 'note')"),
        ([U1], {"u1": [{"text": "a", "date": 3}]}, "u1.jsonl, line 1: found date = 3, expected a string"),
        ([U1], {"u1": [{"role": "user", "content": " "}]}, "u1.jsonl, line 1: found content = ' ', expected a non-empty string"),
    ],
)  # fmt: skip
def test_what_a_team_brings_and_is_broken_is_named(tmp_path, users, history, said):
    done = brought(tmp_path, users, history)
    assert done.exit_code == 1
    assert said in " ".join(done.output.split())
    assert not (tmp_path / "ours").exists()


def test_personal_data_in_a_memory_that_was_put_there_by_hand_are_named(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=1)
    (user,) = names(folder.settings)
    path = lines(
        folder.root / "memory" / f"{user}.jsonl", *({"text": f"ask ann{number}@example.org"} for number in range(7))
    )
    ghost = lines(folder.root / "memory" / "ghost.jsonl", {"text": "An essay on bells"})
    said = personas(folder)
    assert f"{ghost} is not read: people.csv has no 'ghost'. Rename it." in said
    (line,) = [line for line in said if "Personal data" in line]
    assert (
        f"! Personal data that prompts and the release would have: {path}, line 1: an e-mail address in text at character 5; "
        in line
    )
    assert line.endswith("and 2 more. Remove them.")


def test_persons_who_are_too_much_alike_for_a_control_are_named_before_questions_are_paid(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=0)
    for user, name in (("u1", "Wen"), ("u2", "Bo")):
        lines(
            folder.root / "persona" / f"{user}.json",
            {"Name": name, "Job": "ski coach in Jilin", "Likes": "snow and tea"},
        )
    warned = "! The control setting=other_persona will not run on this set: found nobody whose persona user_id 'u1'"
    assert any(line.startswith(warned) for line in personas(folder))
    lines(folder.root / "persona" / "u2.json", {"Name": "Bo", "Job": "baker", "Likes": "bread"})
    assert not any("other_persona" in line for line in personas(folder))


def test_a_history_is_of_users(tmp_path):
    done = personafeedback("build", "init", tmp_path / "ours", "--history", tmp_path)
    assert "--history is for the users of --users, and there are none." in done.output
