"""Who a set is for: what is drawn for a persona and what its seed states, and whom a prompt shows."""

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
from personafeedback_tasks.building.rows import Person, Refused
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts import prompts
from personafeedback_tasks.building.texts.lives import countries, draw_home, draw_life, stated
from personafeedback_tasks.building.texts.personas import names, waves, write_personas
from personafeedback_tasks.building.texts.seeds import examples
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.inspect_harness import generation

ONE = Models(("openai/gpt-4o",))


def personas(folder, models=ONE):
    said = []
    write_personas(folder, models, said.append)
    return said


def seeds(folder, *profiles):
    text = "".join(json.dumps(profile, ensure_ascii=False) + "\n" for profile in profiles)
    (folder.root / "seeds.jsonl").write_text(text, encoding="utf-8")


# --- what is drawn ----------------------------------------------------------------------------------------------------


def test_nobody_lives_a_life_of_another_age():
    drawn = [draw_life(Settings(), f"u{number}", {}) for number in range(2000)]
    ages = [int(traits["age"]) for traits in drawn]
    assert (min(ages), max(ages)) == (18, 80)
    for traits, age in zip(drawn, ages, strict=True):
        work, stage = traits["work"], traits["life stage"]
        assert age <= 27 or "studies" not in work
        assert age >= 61 or "retired" not in work
        assert age <= 66 or re.search("retired|pension|business of their own", work)
        assert 24 <= age <= 45 or stage != "small children"
        assert age >= 45 or stage != "grown-up children"
        assert age <= 28 or "with parents" not in stage
        assert "family" not in work or re.search("children at school|small children|parent", stage)
    bands = Counter(sum(age > top for top in (24, 34, 44, 54, 64)) for age in ages)
    assert all(0.13 < bands[band] / 2000 < 0.21 for band in range(6))  # a sixth each
    fields = Counter(
        re.sub(".*(?:for|in|to) ", "", re.sub(" beside.*| from another.*", "", one["work"])) for one in drawn
    )
    assert len(fields) == 7
    assert min(fields.values()) > 200


@pytest.mark.parametrize(
    ("seed", "absent", "there"),
    [
        ({"age": 58, "job": "mechanic"}, {"age", "work"}, {"life stage", "personality (MBTI)"}),
        ({"job": "mechanic"}, {"age", "work", "life stage"}, {"personality (MBTI)"}),
        ({"Demographics": {"Age": "61 years"}}, {"age"}, {"work", "life stage"}),
        ({"note": "a 58-year-old who mends clocks"}, {"age"}, {"work"}),
        ({"age": "in her thirties"}, {"age", "work", "life stage"}, set()),
        ({"home": "with three children"}, {"age", "work", "life stage"}, {"personality (MBTI)"}),
        ({"MBTI": "INTJ"}, {"personality (MBTI)"}, {"age", "work", "life stage"}),
        ({"年龄": 58, "职业": "修车"}, {"age", "work"}, {"life stage"}),
        ({"edad": 30}, {"age"}, {"work"}),
        ({"language": "English", "agenda": "full", "age": None}, set(), {"age", "work"}),
    ],
)
def test_what_a_seed_states_is_never_drawn(seed, absent, there):
    for number in range(50):
        drawn = draw_life(Settings(seed=number), "u1", seed)
        assert not absent & drawn.keys()
        assert there <= drawn.keys()
    if isinstance(age := stated(seed).get("age"), int):
        works = {draw_life(Settings(seed=number), "u1", {"age": age})["work"] for number in range(200)}
        assert not any("studies" in work or "retired" in work for work in works)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_name_and_a_country_are_drawn_and_fit(language, tmp_path):
    (tmp_path / "names.csv").write_text(examples(language)["names.csv"], encoding="utf-8")
    table, taken = countries(tmp_path), set()
    of = {country.country: country for country in table}
    for number in range(500):
        home = draw_home(Settings(), f"u{number}", {"gender": "female"} if number % 2 else {"性别": "男"}, table, taken)
        country = of[home["country"]]
        given = country.female if number % 2 else country.male
        join = (lambda one, two: f"{two}{one}") if language == "zh" else (lambda one, two: f"{one} {two}")
        assert home["name"] in {join(first, last) for first in given for last in country.family}
        assert home["name"] not in taken
        taken.add(home["name"])
    counts = Counter(draw_home(Settings(), f"v{number}", {}, table, set())["country"] for number in range(3000))
    for country in table:
        assert counts[country.country] / 3000 == pytest.approx(
            country.share / sum(one.share for one in table), abs=0.03
        )
    for seed in ({"name": "Ada"}, {"city": "Leeds"}, {"Nationality": "Irish"}):
        drawn, initials = [], set()
        for number in range(100):
            drawn.append(draw_home(Settings(), f"u{number}", seed, table, initials))
            initials |= set(drawn[-1].values())
        assert {key for home in drawn for key in home} == {"initials of the name"}
        assert len(initials) == 100


def test_a_table_of_names_that_is_broken_is_named(tmp_path):
    path = tmp_path / "names.csv"
    for line, found in (
        ("Chad,1,,Idriss,Deby", "nothing under female"),
        ("Chad,none,Zara,Idriss,Deby", "share = 'none'"),
    ):
        path.write_text(f"country,share,female,male,family\n{line}\n", encoding="utf-8")
        with pytest.raises(DataError, match=f"names.csv, line 2: found {found}"):
            countries(tmp_path)


# --- what a prompt says -----------------------------------------------------------------------------------------------


def test_a_prompt_shows_the_seed_what_was_drawn_and_who_is_there(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=12)
    seeds(folder, {"age": 58, "job": "mechanic"})
    (folder.root / "persona").mkdir()
    own = persona("own", Name="Ottilie Vane", Demographics={"Job": "keeper of a very tall lighthouse"})
    (folder.root / "persona" / "x1.json").write_text(json.dumps(own), encoding="utf-8")
    said = personas(folder)
    assert "Up to 12 personas are of one seed" in " ".join(said)
    prompt_of = {name: prompt for *_, name, prompt in writer.take()}
    users = names(folder.settings)
    first, second, third = waves(users)
    assert (len(first), len(second), len(third)) == (5, 5, 2)
    for place, wave in enumerate((first, second, third)):
        for user in wave:
            prompt = prompt_of[user]
            assert '"job": "mechanic"' in prompt
            assert "- work:" not in prompt
            assert "- age:" not in prompt
            assert re.search(r"(?m)^- name: \S+ \S", prompt)
            assert "- Ottilie Vane; keeper of a very tall lighthouse; " in prompt
            for other in users:
                profile = folder.persona(other).profile
                seen = users.index(other) < 5 * place
                assert (f"- {profile['Name']}; {profile['Demographics']['Career_Information'][:40]}" in prompt) is seen
    drawn = [re.search("(?m)^- name: (.*)$", prompt)[1] for prompt in prompt_of.values()]
    assert len(set(drawn)) == 12


def test_no_two_personas_of_one_seed_are_asked_for_in_the_same_words(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=10)
    seeds(folder, {"age": 34, "job": "nurse", "city": "Leeds", "home": "alone", "mbti": "ISFJ"})
    personas(folder)
    assert len({prompt for *_, prompt in writer.take()}) == 10


def test_neither_the_order_of_replies_nor_a_second_run_changes_a_prompt(tmp_path, writer):
    def prompts_of(root, name):
        folder = a_build(root, personas=14)
        personas(folder)
        return {id_: prompt for *_, id_, prompt in writer.take() if "~" not in id_}  # without replacements

    expected = prompts_of(tmp_path / "one", "one")
    plain = generation.generate

    def reversed_replies(asked, *arguments, **named):
        texts, failures = plain(dict(reversed(asked.items())), *arguments, **named)
        return dict(reversed(texts.items())), failures

    generation.generate, before = reversed_replies, generation.generate
    try:
        assert prompts_of(tmp_path / "two", "two") == expected
    finally:
        generation.generate = before
    # One that failed is asked with the same words later, although more are there by then.
    failing = next(iter(expected))
    writer.replies = {failing: RuntimeError("down")}
    folder = a_build(tmp_path / "three", personas=14)
    personas(folder)
    asked = writer.take()
    writer.replies = {}
    personas(folder)
    assert [(name, prompt) for *_, name, prompt in writer.take()] == [(failing, expected[failing])]
    assert sum("~" not in name for *_, name, _ in asked) == 14


@pytest.mark.parametrize("killed_in", [1, 2, 3])
def test_a_failure_and_then_a_kill_do_not_pay_a_group_twice(tmp_path, writer, killed_in):
    """The first persona fails, the third one repeats the second and is replaced, and a later group is killed: all that came is in the cache."""
    folder = a_build(tmp_path / "build", personas=14)
    failing, second, third, *_ = names(folder.settings)
    profile, other = (write(f"Write the profile of one invented person: {key}") for key in "ab")
    writer.replies = {failing: RuntimeError("down"), second: profile, third: profile, f"{third}~1": other}
    plain, groups = generation.generate, 0

    def killed(asked, *arguments, **named):
        nonlocal groups
        groups += not any("~" in name for name in asked)
        replies = plain(asked, *arguments, **named)
        if groups == killed_in:  # the texts came
            raise KeyboardInterrupt
        return replies

    generation.generate = killed
    try:
        with pytest.raises(KeyboardInterrupt):
            personas(folder)
    finally:
        generation.generate = plain
    before = {(name, prompt) for *_, name, prompt in writer.take()}
    del writer.replies[failing]
    personas(folder)
    again = {(name, prompt) for *_, name, prompt in writer.take()}
    assert {name for name, _ in again - before}.isdisjoint({name for name, _ in before})
    assert len(folder.people()) == 14


def test_traits_and_others_may_be_left_out_and_examples_are_named(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=3)
    path = folder.root / "prompts" / "persona.md"
    path.write_text("Write the profile of one invented person {{seed}} {{structure}}", encoding="utf-8")
    (folder.root / "names.csv").unlink()
    said = personas(folder)
    assert f"! {folder.root / 'seeds.jsonl'} still has 3 examples that `build init` wrote" in " ".join(said)
    assert f"There is no {folder.root / 'names.csv'}: no names and countries are drawn" in " ".join(said)
    assert len(folder.read(Person)) == 3
    assert "- age" not in writer.take()[0][-1]
    path.write_text("Write {{structure}} {{traits}}", encoding="utf-8")
    with pytest.raises(DataError, match=r"found no {{seed}}"):
        prompts.load(folder.root, "persona")
    seeds(other := a_build(tmp_path / "other", personas=3), {"job": "a"}, {"job": "b"}, {"job": "c"})
    assert not [line for line in personas(other) if "examples" in line or "of one seed" in line]


def test_a_model_that_is_down_is_not_asked_wave_after_wave(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=12)
    writer.write = lambda prompt, model: RuntimeError("down")
    with pytest.raises(generation.GenerationError):
        personas(folder)
    assert len(writer.take()) == 5
    assert not folder.read(Refused)
    writer.write = write
    personas(folder)
    assert sum("~" not in name for *_, name, _ in writer.take()) == 12


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
    said = personas(folder)
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
