"""The pilot of a build: the texts of a few persons, and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.browser import Page, chromium
from support.building import a_build, persona, write
from support.builds import change
from support.commands import personafeedback, ran

from personafeedback_tasks.building.rows import Answer, Pair, Person, Question

BIG, SMALL = "openai/gpt-4o", "openai/gpt-4o-mini"
AXE = Path(__file__).parent.parent / "support" / "axe" / "axe.min.js"
HOSTILE = "**<img src=x onerror='window.evil = 1'>** </script><script>window.evil = 1</script>"


def data_of(folder):
    html = (folder.root / "pilot.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL).group(1))


@pytest.mark.slow
def test_the_page_of_a_pilot_shows_all_texts(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=6, specific=2)
    refusal = "I'm sorry, but I can't help with that."
    writer.write = lambda prompt, model: refusal if "so that it meets" in prompt else write(prompt, model)
    ran("build", "pilot", folder.root, "--people", 2, "--model", BIG)
    # A persona; a question with its check; its four answers, and one that is refused, and asked for again three times.
    assert len(writer.take()) == 2 + 2 * 4 + 4 * (4 + 1 + 3)
    document = data_of(folder)
    shown = [question for one in document["people"] for question in one["questions"]]
    assert [one["user_id"] for one in document["people"]] == [one.user_id for one in folder.people()]
    assert {one["question"] for one in shown} == {one.question for one in folder.questions()}
    assert {answer["text"] for one in shown for answer in one["answers"]} == {one.text for one in folder.read(Answer)}
    assert [(one["reason"], one["text"]) for one in document["refused"]] == [("no answer tag", refusal)] * 16
    change(folder, Question, keep="no", reason="dull")
    ran("build", "pilot", folder.root, "--people", 2)
    with chromium() as driver:
        driver.get((folder.root / "pilot.html").as_uri())
        drawn = Page(driver)
        assert drawn.texts(".question.dropped > .line b") == ["Dropped: dull"]
        assert len(drawn.texts(".person")) == 2
        assert "keep = no" in drawn.texts("header p")[0]
        driver.execute_script(AXE.read_text(encoding="utf-8"))
        found = driver.execute_async_script("axe.run().then(arguments[0])")
        assert [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")] == []
        assert drawn.errors() == []


def test_others_take_the_place_of_dropped_persons_and_the_steps_go_on_from_there(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=4, specific=1)

    def pilot(*options):
        done = ran("build", "pilot", folder.root, *options)
        return {one["user_id"] for one in data_of(folder)["people"]}, done.output.splitlines()[-1]

    both = ("--people", 2, "--model", BIG, "--model", SMALL)
    first, last = pilot(*both)
    assert last == f"Next: personafeedback build texts {folder.root} personas --model MODEL"
    writer.take()
    assert pilot(*both)[0] == first
    assert writer.take() == []
    assert pilot("--people", 1)[0] < first
    dropped = change(folder, Person, keep="no", reason="implausible")
    ran("build", "texts", folder.root, *both[2:])
    assert len(folder.read(Answer)) == 4 * 10
    before = {one.id for one in folder.read(Pair)}
    shown, last = pilot(*both)
    assert (len(shown), dropped.user_id in shown) == (2, False)
    assert last == f"Next: personafeedback annotate pack {folder.root}"  # all is written
    assert {one.id for one in folder.read(Pair)} == before  # also of those who are not shown


def test_where_nothing_is_written_the_page_shows_why(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=2, specific=1)
    done = personafeedback("build", "pilot", folder.root)
    assert "there are no texts to show yet. Pass --model MODEL" in done.output
    assert not (folder.root / "pilot.html").exists()
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
    done = ran("build", "pilot", folder.root, "--people", 3, "--model", BIG)
    assert {one.user_id for one in folder.questions()} == {"x0", "x1", "x2"}
    assert f"Next: personafeedback build texts {folder.root} questions --model MODEL\n" in done.output
    assert "<img" not in (folder.root / "pilot.html").read_text(encoding="utf-8")
    assert data_of(folder)["people"][0]["name"] == HOSTILE
