"""Who a set is for: what is drawn for a persona, and a team's own users."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

pytest.importorskip("inspect_ai")

from support.building import a_build, persona, write, write_personas
from support.commands import personafeedback

from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.rows import Person
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts.personas import countries, draw_traits, names
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


def brought(root, profiles, histories):
    """A new build to which a team brings its users."""
    for user, profile in profiles.items():
        lines(root / "persona" / f"{user}.json", profile)
    for user, rows in histories.items():
        lines(root / "memory" / f"{user}.jsonl", *rows)
    done = personafeedback("build", "init", root)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == f"Next: personafeedback build texts {root} personas"
    return Build(root)


def test_users_and_their_history_stay_as_they_were_brought(tmp_path, writer):
    profile = persona("one", Name="Wen")
    chats = [{"role": "user", "content": "Which tent?", "date": "2025-03-01"}, {"text": "An essay on bells"}]
    folder = brought(tmp_path / "ours", {"u1": profile, "u2": persona("two", Name="Bo")}, {"u1": chats, "ghost": chats})
    assert folder.settings.personas == 0
    said = personas(folder)
    assert (writer.take(), [person.name for person in folder.read(Person)]) == ([], ["Wen", "Bo"])
    assert folder.persona("u1").profile == profile
    assert folder.persona("u1").memory == ("[2025-03-01] user: Which tent?", "An essay on bells")
    assert f"{folder.root / 'memory' / 'ghost.jsonl'} is not read: people.csv has no 'ghost'. Rename it." in said


@pytest.mark.parametrize(
    ("profile", "piece", "said"),
    [
        ({"Contact": ["at wen@example.org"]}, {"text": "a"}, "persona/u1.json: an e-mail address in Contact at character 4. "),
        ({"Name": "Wen"}, {"role": "user", "content": "call me at +49 171 2345678"}, "memory/u1.jsonl, line 2: a phone number in content at"),
        ([], {"text": "a"}, "persona/u1.json: found [], expected a non-empty JSON object"),
        ({"Name": "Wen"}, {"role": "system", "content": "a"}, "u1.jsonl, line 2: found role = 'system', expected user or assistant"),
        ({"Name": "Wen"}, {"note": "a"}, "u1.jsonl, line 2: found no 'text' (keys: 'note')"),
        ({"Name": "Wen"}, {"text": "a", "date": 3}, "u1.jsonl, line 2: found date = 3, expected a string"),
        ({"Name": "Wen"}, {"role": "user", "content": " "}, "u1.jsonl, line 2: found content = ' ', expected a non-empty string"),
    ],
)  # fmt: skip
def test_what_is_broken_or_personal_is_named_before_anything_is_asked(tmp_path, writer, profile, piece, said):
    folder = brought(tmp_path / "ours", {"u1": profile}, {"u1": [{"text": "fine"}, piece]})
    with pytest.raises(DataError) as error:
        personas(folder)
    assert said in str(error.value)
    assert (writer.take(), folder.read(Person)) == ([], [])


def test_persons_who_are_too_much_alike_for_a_control_are_named_before_questions_are_paid(tmp_path, writer):
    alike = {"Job": "ski coach in Jilin", "Likes": "snow and tea"}
    folder = brought(tmp_path / "build", {"u1": {"Name": "Wen", **alike}, "u2": {"Name": "Bo", **alike}}, {})
    warned = "! The control setting=other_persona will not run on this set: found nobody whose persona user_id 'u1'"
    assert any(line.startswith(warned) for line in personas(folder))
    lines(folder.root / "persona" / "u2.json", {"Name": "Bo", "Job": "baker", "Likes": "bread"})
    assert not any("other_persona" in line for line in personas(folder))
