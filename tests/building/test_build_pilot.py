"""The pilot of a build: the texts of a few persons, its page, and what the whole build will cost."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

pytest.importorskip("inspect_ai")

from support.browser import Page, chromium
from support.building import a_build, persona, write
from support.commands import build_step, personafeedback
from support.killed import kill
from support.texts_server import texts_server

from personafeedback_tasks.building.pilot import page
from personafeedback_tasks.building.rows import Answer, Pair, Person, Refused

BIG, SMALL = "openai/gpt-4o", "openai/gpt-4o-mini"
AXE = Path(__file__).parent.parent / "support" / "axe" / "axe.min.js"
HOSTILE = "**<img src=x onerror='window.evil = 1'>** </script><script>window.evil = 1</script>"


def told_of(prompt, model=""):
    """As `write`, but the small model refuses to answer a question alone, and one text is hostile."""
    text = write(prompt, model)
    if (
        model == "gpt-4o-mini"
        and "profile" not in prompt.lower()
        and "<answer>" not in prompt
        and "<question>" in prompt
        and "<discreet>" not in prompt
    ):
        return "I'm sorry, but I can't help with that."
    return text


def data_of(folder):
    html = (folder.root / "pilot.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL).group(1))


def table(document, title):
    found = next(one for one in document["tables"] if one["title"].startswith(title))
    return {row[0]: row[1:] for row in found["rows"]}, found["note"]


@pytest.fixture(scope="module")
def piloted(tmp_path_factory):
    """A build of six persons of which two have been piloted, through a real server; and what was said."""
    folder = a_build(tmp_path_factory.mktemp("pilot") / "build", personas=6, specific=2, votes_per_pair=7)
    with texts_server(told_of, by_model=True) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        options = (
            "--people",
            2,
            "--model",
            BIG,
            "--model",
            SMALL,
            "-M",
            f"base_url={server.url}",
        )
        done = personafeedback("build", "pilot", folder.root, *options)
        asked = len(server.seen)
    assert done.exit_code == 0, done.output
    return folder, done.output, asked


@pytest.mark.slow
def test_the_whole_chain_is_on_one_page_with_its_measured_losses(piloted):
    folder, said, asked = piloted
    document = data_of(folder)
    assert [one["id"] for one in document["people"]] == [one.user_id for one in folder.people()]
    assert len(document["people"]) == 2
    shown = [question for one in document["people"] for question in one["questions"]]
    assert {one["question"] for one in shown} == {one.question for one in folder.questions()}
    texts = {one.text for one in folder.read(Answer)}
    assert {answer["text"] for one in shown for answer in one["answers"]} == texts
    assert all(answer["words"] == len(answer["text"].split()) for one in shown for answer in one["answers"])
    refused = [(one["reason"], one["text"]) for one in document["refused"]]
    assert refused == [(one.reason, one.text) for one in folder.read(Refused)]
    assert len(refused) > 0
    assert {reason for reason, _ in refused} == {"refusal"}
    assert "a short text that begins by saying that it cannot help" in document["refused"][0]["meaning"]
    assert f"{len(refused)} refusal" in said

    spent, note = table(document, "Spent so far")
    assert spent["total"][1:] == [
        f"{asked:,}",
        f"{90 * asked:,}",
        f"{10 * asked:,}",
    ]  # the server counts 90 and 10 tokens
    assert spent["personas"][:2] == [BIG, "2"]
    assert f"2 persons have {len(folder.read(Answer))} answers; build.yaml wants 6 personas" in note
    assert f"Next: personafeedback build texts {folder.root} personas --model {BIG} -M base_url=http" in said
    assert said.count("Next: ") == 1


@pytest.mark.slow
def test_length_and_overlap_are_measured(piloted):
    folder, _, _ = piloted
    document = data_of(folder)
    rows, _ = table(document, "Answers: length")
    answers = folder.read(Answer)
    for strategy in ("full", "masked", "question"):
        lengths = [len(one.text.split()) for one in answers if one.strategy == strategy]
        assert rows[strategy][:2] == [str(len(lengths)), f"{sum(lengths) / len(lengths):.0f}"]
    by_id = {one.id: one for one in answers}
    easy = [
        (by_id[one.easy], by_id[one.first if one.second == one.easy else one.second])
        for one in folder.read(Pair)
        if one.easy
    ]
    longer = sum((len(a.text) > len(b.text)) + 0.5 * (len(a.text) == len(b.text)) for a, b in easy) / len(easy)
    assert table(document, "Pairs:")[0]["easy"][:2] == [str(len(easy)), f"{100 * longer:.0f}"]


@pytest.mark.slow
def test_the_page_shows_who_is_dropped_and_how_to_drop(piloted):
    folder, _, _ = piloted
    users = [one.user_id for one in folder.people()[:2]]
    before = folder.path(Person).read_bytes()
    folder.write(
        Person,
        [
            replace(one, keep="no", reason="implausible") if one.user_id == users[0] else one
            for one in folder.read(Person)
        ],
    )
    path = folder.root / "again.html"
    path.write_text(page(folder, users), "utf-8")
    folder.path(Person).write_bytes(before)
    with chromium() as driver:
        driver.get(path.as_uri())
        shown = Page(driver)
        assert shown.texts(".person.dropped > .line b") == ["Dropped: implausible"]
        assert len(shown.texts(".person")) == 2
        assert "keep = no" in shown.texts("header p")[0]
        driver.execute_script(AXE.read_text(encoding="utf-8"))
        found = driver.execute_async_script("axe.run().then(arguments[0])")
        assert [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")] == []
        assert shown.errors() == []


@pytest.mark.release
def test_a_pilot_that_is_killed_is_completed_and_nothing_is_asked_twice(tmp_path):
    folder = a_build(tmp_path / "build", personas=6, specific=2)
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    with texts_server(write) as server:
        options = ["--people", "2", "--model", BIG, "-M", f"base_url={server.url}"]
        command = [sys.executable, "-m", "personafeedback_tasks", "build", "pilot", str(folder.root), *options]
        in_flight = 0
        for answered in (1, 5, 15):  # in each of the three steps
            server.answer_only(answered)
            process = subprocess.Popen(command, env=environment, start_new_session=True)
            try:
                in_flight += server.wait_until_all_wait(process)
            finally:
                kill(process)
            assert not (folder.root / "pilot.html").exists()
            server.answer_only(float("inf"))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(folder.read(Answer)) == 4 * 5
    assert len(set(server.seen)) == 2 + 2 * 4 + 4 * 5  # a persona, a question with its check, its five answers
    assert len(server.seen) == 2 + 2 * 4 + 4 * 5 + in_flight


def test_others_take_the_place_of_dropped_persons_and_the_steps_go_on_from_there(tmp_path, writer):
    folder = a_build(tmp_path / "build", personas=4, specific=1)

    def pilot(*options):
        done = personafeedback("build", "pilot", folder.root, *options)
        assert done.exit_code == 0, done.output
        assert done.output.splitlines()[-1] == nexts
        return {one["id"] for one in data_of(folder)["people"]}

    nexts = f"Next: personafeedback build texts {folder.root} personas --model {BIG}"  # without the arguments of the other model
    both = ("--people", 2, "--model", BIG, "--model", SMALL, "-M", f"{SMALL}:seed=4")
    first = pilot(*both)
    writer.take()
    assert pilot(*both) == first
    assert writer.take() == []
    assert pilot("--people", 1) < first
    people = folder.read(Person)
    folder.write(Person, [replace(people[0], keep="no", reason="implausible"), *people[1:]])
    for name in ("personas", "questions", "answers"):
        models = ("--model", BIG, "--model", SMALL)[: None if name == "answers" else 2]
        assert build_step(name, folder.root, *models).exit_code == 0
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
