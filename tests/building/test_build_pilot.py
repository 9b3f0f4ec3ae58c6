"""The pilot of a build: the texts of a few persons, and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

pytest.importorskip("inspect_ai")

from support.browser import Page
from support.building import a_build, persona, write
from support.commands import build_step, personafeedback
from support.texts_server import texts_server

from personafeedback_tasks.building.pilot import page
from personafeedback_tasks.building.rows import Answer, Pair, Person

BIG, SMALL = "openai/gpt-4o", "openai/gpt-4o-mini"
AXE = Path(__file__).parent.parent / "support" / "axe" / "axe.min.js"
HOSTILE = "**<img src=x onerror='window.evil = 1'>** </script><script>window.evil = 1</script>"


def data_of(folder):
    html = (folder.root / "pilot.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL).group(1))


@pytest.mark.slow
def test_the_page_of_a_pilot_shows_all_texts(driver, tmp_path, monkeypatch):
    folder = a_build(tmp_path / "build", personas=6, specific=2)
    refusal = "I'm sorry, but I can't help with that."

    def told(prompt):
        return refusal if "Rewrite the answer so that it meets" in prompt else write(prompt)

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with texts_server(told) as server:
        done = personafeedback(
            "build", "pilot", folder.root, "--people", 2, "--model", BIG, "-M", f"base_url={server.url}"
        )
    assert done.exit_code == 0, done.output
    assert len(folder.read(Answer)) == 4 * 4
    # A persona; a question with its check; its four answers, and one that is refused, and asked for again three times.
    texts = 2 + 2 * 4 + 4 * (4 + 1)
    assert (len(set(server.seen)), len(server.seen)) == (texts, texts + 4 * 3)
    document = data_of(folder)
    shown = [question for one in document["people"] for question in one["questions"]]
    assert [one["id"] for one in document["people"]] == [one.user_id for one in folder.people()]
    assert {one["question"] for one in shown} == {one.question for one in folder.questions()}
    assert {answer["text"] for one in shown for answer in one["answers"]} == {one.text for one in folder.read(Answer)}
    assert [(one["reason"], one["text"]) for one in document["refused"]] == [("no answer tag", refusal)] * 16
    assert f"Next: personafeedback build texts {folder.root} personas --model {BIG}\n" in done.output
    one, other = folder.people()
    folder.write(Person, [replace(one, keep="no", reason="implausible"), other])
    path = folder.root / "again.html"
    path.write_text(page(folder, [one.user_id, other.user_id]), "utf-8")
    drawn = Page(driver)
    drawn.errors()  # of the tests before
    driver.get(path.as_uri())
    assert drawn.texts(".person.dropped > .line b") == ["Dropped: implausible"]
    assert len(drawn.texts(".person")) == 2
    assert "keep = no" in drawn.texts("header p")[0]
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    found = driver.execute_async_script("axe.run().then(arguments[0])")
    assert [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")] == []
    assert drawn.errors() == []


def test_others_take_the_place_of_dropped_persons_and_the_steps_go_on_from_there(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=4, specific=1)

    def pilot(*options):
        done = personafeedback("build", "pilot", folder.root, *options)
        assert done.exit_code == 0, done.output
        assert done.output.splitlines()[-1] == nexts
        return {one["id"] for one in data_of(folder)["people"]}

    nexts = f"Next: personafeedback build texts {folder.root} personas --model {BIG}"  # which takes one
    both = ("--people", 2, "--model", BIG, "--model", SMALL, "-M", f"{SMALL}:seed=4")
    first = pilot(*both)
    writer.take()
    assert pilot(*both) == first
    assert writer.take() == []
    assert pilot("--people", 1) < first
    people = folder.read(Person)
    folder.write(Person, [replace(people[0], keep="no", reason="implausible"), *people[1:]])
    for name in ("personas", "questions", "answers"):
        assert build_step(name, folder.root, "--model", BIG, "--model", SMALL).exit_code == 0
    assert len(folder.read(Answer)) == 4 * 10
    before = {one.id for one in folder.read(Pair)}
    nexts = f"Next: personafeedback annotate pack {folder.root}"  # all is written
    assert len(pilot(*both)) == 2  # another person, and the pairs of those who are not shown stay
    assert {one.id for one in folder.read(Pair)} == before


def test_without_texts_and_without_a_model_there_is_no_page(tmp_path):
    folder = a_build(tmp_path / "build")
    done = personafeedback("build", "pilot", folder.root)
    assert done.exit_code == 1
    assert "there are no texts to show yet. Pass --model MODEL" in done.output
    assert not (folder.root / "pilot.html").exists()


def test_where_nothing_passes_the_page_shows_why(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    writer.write = lambda prompt, model: "No." if "Write the profile" in prompt else write(prompt, model)
    done = personafeedback("build", "pilot", folder.root, "--model", BIG)
    assert done.exit_code == 1
    assert "found no person to keep (refused: " in done.output
    document = data_of(folder)
    assert (document["people"], {one["text"] for one in document["refused"]}) == ([], {"No."})


def test_own_users_are_piloted_too_and_texts_stay_texts(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=0, specific=1)
    (folder.root / "persona").mkdir()
    for number in range(9):
        (folder.root / "persona" / f"x{number}.json").write_text(
            json.dumps(persona(f"own {number}", Name=HOSTILE)), encoding="utf-8"
        )
    done = personafeedback("build", "pilot", folder.root, "--people", 3, "--model", BIG)
    assert done.exit_code == 0, done.output
    assert {one.user_id for one in folder.questions()} == {"x0", "x1", "x2"}
    assert f"Next: personafeedback build texts {folder.root} questions --model {BIG}\n" in done.output
    assert "<img" not in (folder.root / "pilot.html").read_text(encoding="utf-8")
    assert data_of(folder)["people"][0]["name"] == HOSTILE
