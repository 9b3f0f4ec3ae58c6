"""The steps of a build that make texts: what is asked, once each; what is refused, and why; which pairs people get."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.building import a_build, persona, words, write, write_answers, write_personas, write_questions
from support.commands import personafeedback, ran
from support.killed import after_each_file

from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import OWN, Basis, Origin, Person, Question, Refused
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts import prompts
from personafeedback_tasks.building.texts.asking import Models
from personafeedback_tasks.building.texts.personas import new_people
from personafeedback_tasks.building.texts.prompts import chosen
from personafeedback_tasks.building.texts.sources import start
from personafeedback_tasks.building.texts.specific import _features, _unquoted
from personafeedback_tasks.common.similar import Seen, likeness

ONE, TWO = Models(("openai/gpt-4o",)), Models(("openai/gpt-4o", "openai/gpt-4o-mini"))


# --- init and prompts -------------------------------------------------------------------------------------------------


def test_init_writes_every_setting_with_its_meaning_and_overwrites_nothing(tmp_path):
    root = tmp_path / "build"
    done = ran("build", "init", root, "--language", "zh")
    assert f"Next: personafeedback build pilot {root}" in done.output
    lines = (root / "build.toml").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"\w+ = .+  # .{12,}", line) for line in lines)
    assert [line.partition(" = ")[0] for line in lines] == list(Settings.__struct_fields__)
    assert Settings.load(root / "build.toml") == Settings(language="zh")
    (root / "prompts" / "answer.md").write_text("{{persona}} {{question}}", encoding="utf-8")
    for option, value in (("language", "en"), ("test", "1/2")):
        other = personafeedback("build", "init", root, f"--{option}", value)
        assert f"--{option} {value}: found {option} = " in other.output, "what was started is not changed by an option"
    for same in ((), ("--language", "zh")):
        (root / "prompts" / "question.md").unlink()
        again = ran("build", "init", root, *same)
        assert f"Wrote {root / 'prompts' / 'question.md'}" in again.output
        kept_language = (root / "prompts" / "question.md").read_text(encoding="utf-8")
        assert "关于这位用户，一无所知" in kept_language
    assert (root / "prompts" / "answer.md").read_text(encoding="utf-8") == "{{persona}} {{question}}"


@pytest.mark.parametrize("language", prompts.LANGUAGES)
def test_the_bundled_prompts_can_be_filled(tmp_path, language):
    start(Build(tmp_path), language)
    assert prompts.bundled("prompts", language).keys() == prompts.bundled("prompts", "en").keys()
    for name, text in prompts.bundled("prompts", language).items():
        placeholders = {*re.findall(r"{{(\w+)}}", text)}
        assert placeholders == {*re.findall(r"{{(\w+)}}", prompts.bundled("prompts", "en")[name])}
        prompt = prompts.load(tmp_path, name.removesuffix(".md"), language)
        filled = prompt.filled(**{one: f"<{one}> {{{{language}}}}" for one in placeholders})
        assert all(f"<{one}> {{{{language}}}}" in filled for one in placeholders)  # what a text says is no placeholder
        assert prompt.version.startswith(f"{name} ")
    for code, named in (("en", "English"), ("zh", "中文"), ("de", "the language with the code de")):
        filled = prompts.load(tmp_path, "answer", code).filled(persona="", question="", words="")
        assert named in filled
    before = prompts.load(tmp_path, "answer", language).version
    path = tmp_path / "prompts" / "answer.md"
    path.write_text(path.read_text(encoding="utf-8") + "!", encoding="utf-8")
    assert prompts.load(tmp_path, "answer", language).version != before


# --- personas ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_personas_are_written_checked_and_split(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=8, test="1/2")
    own = persona("ours", Name="Ours")
    (folder.root / "persona").mkdir()
    (folder.root / "persona" / "x1.json").write_text(json.dumps(own), encoding="utf-8")
    write_personas(folder, Models(()))
    assert (writer.take(), [one.user_id for one in folder.read(Person)]) == ([], ["x1"])
    bad = iter(
        ["no object at all", json.dumps({**persona("a"), "Preference": {}}), json.dumps({**own, "Name": "Copy"}), "{"]
    )
    writer.write = lambda prompt, model: next(bad, None) or write(prompt)
    write_personas(folder, ONE)
    assert Counter(one.reason for one in folder.read(Refused)) == {
        "near duplicate": 1, "no JSON object": 2, "no Preference.Content_Interests": 1,
    }  # fmt: skip
    assert re.search(r"(?m)^personas +near duplicate +1$", personafeedback("build", "status", folder.root).output)
    people = folder.read(Person)
    assert Counter(one.split for one in people) == {"test": 5, "train": 4}  # the four that were refused were replaced
    version = prompts.load(folder.root, "persona", "en").version
    for one in folder.read(Origin):
        assert (one.model, one.prompt) == ((OWN, "") if one.id == "x1" else ("openai/gpt-4o", version))
    asked = writer.take()
    assert len({name for *_, name, _ in asked if "~" not in name}) == 8
    assert len([name for *_, name, _ in asked if name.endswith("~1")]) == 4
    write_personas(folder, ONE)
    assert (writer.take(), folder.read(Person)) == ([], people)


@given(st.fractions(0, 1, max_denominator=20), st.lists(st.integers(1, 5), max_size=5))
def test_the_split_keeps_its_share_however_persons_come(share, batches):
    people, settings = [], Settings(test=share)
    for number, size in enumerate(batches):
        before = list(people)
        people += new_people(settings, people, {f"u{number}.{one}": {} for one in range(size)})
        assert people[: len(before)] == before
        assert 0 <= sum(one.split == "test" for one in people) - share * len(people) < 1


@given(st.lists(st.text("ab ", min_size=5, max_size=12), max_size=12), st.text("ab ", min_size=5, max_size=12))
def test_near_duplicates_are_those_that_are_exactly_so_alike(texts, new):
    seen = Seen(0.7, [(str(number), text) for number, text in enumerate(texts)])
    alike = {str(number): likeness(text, new) for number, text in enumerate(texts)}
    found = seen.like(new)
    best = max(alike.values(), default=0)
    assert found is None if best < 0.7 else alike[found] == best


# --- questions --------------------------------------------------------------------------------------------------------


def test_a_teams_questions_stay_and_near_duplicates_are_replaced(upto, writer):
    folder = upto("personas", personas=8, specific=2)
    first, second, *_ = (one.user_id for one in folder.people())
    folder.path(Question).write_text(f"user_id;category;question\n{first};general;May I ask you?\n", encoding="utf-8")
    writer.replies = {
        f"{first}:specific:1": "It is the same for everybody, is it not, my friend?",
        f"{second}:specific:0": '"It is the same for everybody, is it not my friend?"',
    }
    assert "Refused 4: 4 near duplicate (refused.jsonl has the texts)" in write_questions(folder, ONE)
    assert {one.id for one in folder.read(Refused)} == {f"{second}:specific:0"}  # once, and three that replaced it
    own, *written = folder.read(Question)
    assert (own.question, own.user_id) == ("May I ask you?", first)
    assert len(written) == 2 * 8 - 1
    assert all(one.scenario for one in written)
    writer.take()
    write_questions(folder, ONE)
    assert (writer.take(), folder.read(Question)) == ([], [own, *written])


def numbers_in(reply):
    return chosen(range(1, 100), reply)


READ = {
    _unquoted: {
        '"Dune" or "Emma": which?': '"Dune" or "Emma": which?',
        'Which one: "Dune" or "Emma"': 'Which one: "Dune" or "Emma"',
        '"Dune" or "Emma"': '"Dune" or "Emma"',
        '"Which book is it?"': "Which book is it?",
        "'What's a good book?'": "What's a good book?",
        "“我该读哪本书？”": "我该读哪本书？",
        "「我该读哪本书？」": "我该读哪本书？",
    },
    numbers_in: {
        "14, 7": [14, 7],
        "The best are 14 and 7.": [14, 7],
        "1. 14\n2. 7": [14, 7],
        "1) **14** - it fits\n\n2) 7: it fits, too": [14, 7],
        "1. 14. What are 5 ways to sleep?\n2. 7. Why?": [14, 7],
        "14. What are 5 ways to sleep?\n7. 12 ways to rise?": [14, 7],
        "14\n7": [14, 7],
        "1. 2. 3.": [1, 2, 3],
        "None.": [],
    },
    _features: {
        "- a\n- b": ("a", "b"),
        "1. a\n2) b\n3、c": ("a", "b", "c"),
        "Features:\n• a - b\n\n以下：\n": ("a - b",),
        "a" * 300: (),
        "\n".join(map(str, range(100, 120))): tuple(map(str, range(100, 108))),
        "": (),
    },
}
"""Questions without the quotes around all of them, choices of numbers, and features as lines without their bullets."""


@pytest.mark.parametrize("read", READ)
def test_a_reply_is_read_however_it_is_laid_out(read):
    assert {reply: read(reply) for reply in READ[read]} == READ[read]


@pytest.mark.slow
def test_killed_between_any_two_files_a_build_becomes_the_same(tmp_path, writer, monkeypatch):
    def build(folder):
        (folder.root / "persona").mkdir(exist_ok=True)
        (folder.root / "persona" / "x1.json").write_text(json.dumps(persona("ours")), encoding="utf-8")
        (folder.root / "memory").mkdir(exist_ok=True)
        (folder.root / "memory" / "x1.jsonl").write_text('{"text": "An essay on bells"}\n', encoding="utf-8")
        writer.replies = {"x1:specific:0": ""}
        for step in (write_personas, write_questions, write_answers):
            step(folder, ONE)

    def files(folder):
        return {
            str(path.relative_to(folder.root)): sorted(path.read_text(encoding="utf-8").splitlines())
            for path in folder.root.rglob("*")
            if path.is_file()
        }

    fresh = a_build(tmp_path / "fresh", personas=2, specific=2).root
    wanted = Build(shutil.copytree(fresh, tmp_path / "wanted"))
    build(wanted)
    expected = files(wanted)
    assert len(expected) > 15
    assert len(wanted.read(Basis)) == 1

    def killed(count):
        build(Build(shutil.copytree(fresh, tmp_path / f"killed{count}")))

    for count in after_each_file(monkeypatch, killed):
        folder = Build(tmp_path / f"killed{count}")
        build(folder)
        assert files(folder) == expected, f"killed after {count} files"
    assert count > 10


# --- plan, status, and the commands -----------------------------------------------------------------------------------


def test_the_next_step_is_the_first_one_that_lacks_something(upto):
    def shown():
        return personafeedback("build", "status", folder.root).output

    folder = upto("answers", personas=3, specific=1)
    settings = folder.root / "build.toml"
    told = settings.read_text(encoding="utf-8")
    assert f"Next: personafeedback annotate pack {folder.root}" in shown()
    settings.write_text(told.replace("specific = 1", "specific = 3"), encoding="utf-8")
    assert "3 (3 specific); 6 lacking: run it again" in shown()
    assert f"Next: personafeedback build texts {folder.root} questions --model MODEL\n" in shown()
    settings.write_text(told.replace("general = 0", "general = 1"), encoding="utf-8")
    assert "3 (3 specific); 3 lacking: run it again" in shown()
    pool = [json.dumps({"question": f"What is {words(str(number), 5)}?"}) for number in range(30)]
    (folder.root / "pool.jsonl").write_text("\n".join(pool) + "\n", encoding="utf-8")
    write_questions(Build(folder.root), ONE)
    assert "6 (3 specific, 3 general)" in shown()
    assert "; 9 lacking: run it again" in shown()
    assert f"Next: personafeedback build texts {folder.root} answers --model MODEL --model OTHER\n" in shown()
    write_answers(Build(folder.root), ONE)
    assert "lacking" not in shown()
