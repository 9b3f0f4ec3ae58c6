"""People judge the rows of the three stages: what they see, and what comes back for every task."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from support.annotators import MISSED, People, filled, is_uncomfortable, matters, missed, rating, table, verdict
from support.commands import personafeedback, ran, tree
from support.killed import after_each_file
from support.recenter import in_inspect, same

from personafeedback_tasks.annotation.rows import PackItem
from personafeedback_tasks.annotation.study import Study
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.recenter import data
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.rows import STAGES, Extraction, Relevance, Response
from personafeedback_tasks.recenter.study import without_votes

ANNOTATORS = (1, 2, 3)
SAMPLE = Path(data.__file__).with_name("sample")
ROWS = {stage: list(load(stage, "sample")) for stage in STAGES}
BELONGS = {(row.transcript, row.attribute) for row in ROWS[Extraction]}
BELONGS |= {(row.prompt, reply) for row in ROWS[Response] for reply in (row.generic, row.personalized)}
PERSONALIZED = {row.personalized for row in ROWS[Response]}
PEOPLE = People(
    belongs=lambda row, text: (row.get("conversation") or row["prompt"], text) in BELONGS,
    is_personalized=lambda row, text: text in PERSONALIZED,
)


def pack(folder, *more, data=("sample",)):
    return ran("annotate", "pack", *data, "--out", folder, "--format", "csv", *more).stdout


def votes(folder, *files):
    return ran("annotate", "votes", folder, *files).stdout


def part(folder, users):
    """A folder with the rows of the first users of the sample."""
    folder.mkdir()
    for stage in STAGES:
        lines = (SAMPLE / stage.file).read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if int(json.loads(line)["user_id"].removeprefix("demo-u")) <= users]
        (folder / stage.file).write_text("".join(kept), "utf-8")
    return folder


def path_of(folder, stage, annotator):
    return folder / "packs" / stage / f"annotator-{annotator}.{stage}.csv"


def answered(folder, annotators):
    """The tables of attentive people for all stages."""
    return [
        filled(path_of(folder, stage.stage, who), lambda row, who=who: PEOPLE.answer(who, row))
        for stage in STAGES
        for who in annotators
    ]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """(the folder, what was printed of the votes) of a study of the whole sample by three attentive people."""
    folder = tmp_path_factory.mktemp("judged") / "study"
    pack(folder, "--annotators", len(ANNOTATORS))
    return folder, votes(folder, *answered(folder, ANNOTATORS))


def test_each_row_comes_back_with_what_each_person_said_of_it(judged):
    folder, _ = judged
    said = {
        Extraction: lambda who, row: verdict(who, row.transcript, row.attribute),
        Relevance: lambda who, row: matters(who, row.prompt, row.attribute),
        Response: lambda who, row: rating(who, row.prompt, row.personalized),
    }
    for stage, rows in ROWS.items():
        came = {row.id: row for row in load(stage, folder)}
        assert came.keys() == {row.id for row in rows}
        for row in rows:
            back = came[row.id]
            assert without_votes(back) == without_votes(row)
            assert Counter(back.votes) == Counter(said[stage](who, row) for who in ANNOTATORS), row.id
            if stage is Response:  # all three mark the same replies
                marked = is_uncomfortable(row.personalized)
                assert back.faults.asked == 3
                assert back.faults.personalized == {"uncomfortable": 3 * marked, "over-personalized": 0}
                assert back.found == {"generic": (), "personalized": ("uncomfortable",) * marked}


def test_the_attentive_are_not_accused_and_their_items_are_counted(judged):
    lines = judged[1].splitlines()
    assert not [line for line in lines if line.startswith("!")]
    conversations = {(row.user_id, row.conversation) for row in ROWS[Extraction]}
    profiles = {(row.user_id, row.prompt) for row in ROWS[Relevance]}
    questions = len(ROWS[Extraction]) + len(conversations) + len(profiles) + len(ROWS[Response])
    assert f"votes to an item: {questions} items have 3" in lines
    for annotator in ANNOTATORS:
        (line,) = [line for line in lines if line.startswith(f"annotator-{annotator}:")]
        assert f"{questions} of {questions} votes" in line
        assert "attention 6 of 6" in line


def test_votes_that_another_command_takes_in_meanwhile_are_in_the_rows(tmp_path, monkeypatch):
    folder, take = tmp_path / "study", Study.take_votes
    pack(folder, "--annotators", 2)
    first, second = answered(folder, (1,)), answered(folder, (2,))

    def interrupted(study, files, *more):
        counted = take(study, files, *more)
        if [*files] == first:
            votes(folder, *second)
        return counted

    monkeypatch.setattr(Study, "take_votes", interrupted)
    votes(folder, *first)
    assert {len(row.votes) for stage in STAGES for row in load(stage, folder)} == {2}


def test_whoever_answers_all_alike_fails_the_attention_items_and_can_be_dropped(tmp_path):
    study = tmp_path / "study"
    pack(study, "--annotators", 2)
    (right,) = (file for file in answered(study, [1]) if "extraction" in file.name)
    alike = {
        "extraction": lambda row: "nothing" if row["attributes"] else "accepted",
        "relevance": lambda row: "none",
        "response": lambda row: "3",
    }
    wrong = [filled(path_of(study, stage, 2), lambda row, of=of: (of(row), "")) for stage, of in alike.items()]
    said = votes(study, right, *wrong)
    assert "! annotator-2 failed 6 of 6 attention items" in said
    assert f"personafeedback annotate votes {study} --drop annotator-2" in said
    votes(study, "--drop", "annotator-2")
    assert {len(row.votes) for row in load(Extraction, study)} == {1}
    assert not (study / "relevance.jsonl").read_text("utf-8")
    refused = personafeedback("annotate", "votes", tmp_path)
    assert f"{tmp_path}: found no build.toml and no asked/, expected a build" in " ".join(refused.stderr.split())
    votes(study, "--drop", "annotator-1")
    assert not (study / "extraction.jsonl").read_text("utf-8"), "no vote counts any more"


def test_packs_say_nothing_of_sides_ids_and_checks_and_each_has_an_order_of_its_own(judged):
    packs = [table(path_of(judged[0], "relevance", annotator)) for annotator in ANNOTATORS]
    assert len({tuple(row["answers"] for row in rows) for rows in packs}) == len(ANNOTATORS)
    everything = "".join(path.read_text("utf-8") for path in (judged[0] / "packs").rglob("*.csv"))
    for secret in ("personalized", "generic", "attention", "demo-u", "demo-p"):
        assert secret not in everything


@pytest.mark.slow
def test_the_tasks_and_reports_take_what_came_back(judged, tmp_path):
    rows = load(Response, judged[0])
    found, log = in_inspect(find("recenter_response"), "recenter_response/always_3", tmp_path, data=str(judged[0]))
    assert same(found["no_better_people"], sum(row.judgment <= 3 for row in rows) / len(rows))
    done = ran("report", log, "--full")
    assert f"{len(rows)} rows of 6 users with several votes" in " ".join(done.output.split())
    assert "personalized is uncomfortable" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("step", ["pack", "votes"])
def test_killed_between_any_two_files_a_study_loses_and_doubles_no_vote(step, tmp_path, monkeypatch):
    made, more = tmp_path / "made", part(tmp_path / "more", 6)
    pack(made, "--annotators", 2, data=[part(tmp_path / "part", 3)])
    files = answered(made, [1, 2])
    if step == "pack":  # more of each, after votes
        votes(made, *files)
    words = {"pack": (more, "--out", ".", "--annotators", 3, "--format", "csv"), "votes": (".", *files)}[step]

    def done_in(folder):
        shutil.copytree(made, folder)
        monkeypatch.chdir(folder)
        return personafeedback("annotate", step, *words)

    assert done_in(tmp_path / "whole").exit_code == 0
    whole = {name: text for name, (_, text) in tree(tmp_path / "whole").items()}
    kills = 0
    for kills in after_each_file(monkeypatch, lambda files: done_in(tmp_path / f"killed{files}")):
        assert personafeedback("annotate", step, *words).exit_code == 0
        assert {name: text for name, (_, text) in tree(Path.cwd()).items()} == whole, f"killed after {kills} files"
    assert kills >= 3


def test_a_row_with_other_texts_and_other_folders_are_refused_and_nothing_is_written(tmp_path):
    data, study = tmp_path / "data", tmp_path / "study"
    data.mkdir()
    row = {"id": "r1", "user_id": "u1", "prompt": "What now?", "attribute": "Sails", "votes": []}
    (data / "relevance.jsonl").write_text(json.dumps(row), "utf-8")
    pack(study, data=[data])
    before = tree(study)
    (data / "relevance.jsonl").write_text(json.dumps({**row, "attribute": "Rows"}), "utf-8")
    for words, says in (
        (("pack", data, "--out", study), "found 'r1' with other texts than the new row of that id, expected the same"),
        (("pack", "sample", "--out", data), "expected a new one or one of this command"),
        (("votes", data), "the --out of `personafeedback annotate pack`"),
    ):
        done = personafeedback("annotate", *words)
        assert done.exit_code == 1
        assert says in done.output
    assert tree(study) == before
    assert [path.name for path in data.iterdir()] == ["relevance.jsonl"]


def test_a_wrong_answer_is_named_and_what_is_missing_can_be_added_to(tmp_path):
    """Without its note, `missing` would count as if nothing was missing."""
    study = tmp_path / "study"
    pack(study, "--annotators", 1, data=[part(tmp_path / "part", 2)])

    def sent(stage, vote, missing="", note=""):
        path = path_of(study, stage, 1)
        return filled(path, lambda row: (missing, note) if row.get("attributes") else (vote, ""))

    for stage, *answers, found in (
        ("extraction", "A", "the vote 'A', expected accepted, uncertain, rejected or `cannot judge`, or nothing"),
        ("relevance", "1 99", "the vote '1 99', expected 1, "),
        ("response", "6", "the vote '6', expected 1, 2, 3, 4, 5 or `cannot judge`, or nothing"),
        ("extraction", "", "missing", " ", "the vote 'missing' without a note, expected a note on what is missing"),
    ):
        file = sent(stage, *answers)
        done = personafeedback("annotate", "votes", study, file)
        assert done.exit_code == 1
        assert f"{file}, line " in done.output
        assert f"found {found}" in done.output
        assert not (study / "missing.jsonl").exists()
    for note, named in (("Has a son", ["Has a son"]), ("Has a son; Likes wood", ["Has a son", "Likes wood"])):
        votes(study, sent("extraction", "accepted", "missing", note))
        for line in (study / "missing.jsonl").read_text("utf-8").splitlines():
            assert json.loads(line)["missing"] == [named]


def test_label_studio_has_every_answer_and_gives_ticks_and_notes_back(tmp_path):
    study = tmp_path / "study"
    pack(study, "--annotators", 1, "--format", "label-studio", data=[part(tmp_path / "part", 4)])
    sent = []
    for folder in (study / "packs" / stage.stage for stage in STAGES):
        config = ET.fromstring((folder / "label-studio.xml").read_text("utf-8"))
        choices = [choice.get("value") for choice in config.iter("Choice")]
        exported = []
        (tasks,) = folder.glob("annotator-1.*.label-studio.json")
        for task in json.loads(tasks.read_text("utf-8")):
            vote, note, _ = PEOPLE.answer(1, task["data"])
            assert set(vote.split(", ")) <= set(choices)
            result = [{"from_name": "vote", "value": {"choices": vote.split(", ")}}]
            result += [{"from_name": "note", "value": {"text": note.split("; ")}}] if note else []
            exported.append({"data": task["data"], "annotations": [{"result": result, "completed_by": 7}]})
        sent.append(study / f"{folder.name}.json")
        sent[-1].write_text(json.dumps(exported), "utf-8")
    assert "attention 6 of 6" in votes(study, *sent)
    for row in load(Relevance, study):
        assert row.votes == (matters(1, row.prompt, row.attribute),)
    lines = [json.loads(line) for line in (study / "missing.jsonl").read_text("utf-8").splitlines()]
    for line in lines:
        transcript = "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in line["conversation"])
        assert line["missing"] == [missed(1, transcript)]
    assert any(line["missing"] == [MISSED] for line in lines)


# --- what models made -------------------------------------------------------------------------------------------------


def noting(*attributes):
    """Replies of a model that notes the same in each conversation."""
    noted = [{"attribute": one, "reason": "", "quote": "It is so."} for one in attributes]
    return lambda case, call: json.dumps(noted)


@pytest.mark.slow
def test_people_judge_what_several_models_made_and_alike_once(tmp_path):
    extract, respond = find("recenter_extract"), find("recenter_respond")
    in_inspect(extract, noting("Sails", "Has a dog", "Mail to ann@example.org"), tmp_path / "logs", method="extract")
    in_inspect(extract, noting("sails ", "Plays chess"), tmp_path / "others", method="extract")
    in_inspect(
        respond, lambda case, call: "" if case.endswith("7") else f"{call} {case}", tmp_path / "logs", method="respond"
    )
    in_inspect(find("recenter_extraction"), "recenter_extraction/always_accept", tmp_path / "logs")
    said = pack(tmp_path / "study", data=[tmp_path / "logs", tmp_path / "others"])
    asked = {stage: list(load(stage, tmp_path / "study" / "asked")) for stage in (Extraction, Response)}
    of_conversation = defaultdict(set)
    for row in asked[Extraction]:
        of_conversation[row.conversation].add(row.attribute.strip().casefold())
        assert row.reason == "It is so."
    assert len(of_conversation) == 24
    assert set(map(frozenset, of_conversation.values())) == {frozenset({"sails", "has a dog", "plays chess"})}
    for row in asked[Response]:
        assert (row.personalized.split()[0], row.generic.split()[0]) == ("personalized", "generic")
    assert "annotator-1.response" in said
    assert "left out: 24 with a mail address or phone number" in said
    assert "without both replies" in said
    before = Build(tmp_path / "study").read(PackItem)
    pack(tmp_path / "study", data=[tmp_path / "logs"])  # again: nobody is asked twice
    assert Build(tmp_path / "study").read(PackItem) == before


@pytest.mark.slow
def test_people_are_asked_what_is_missing_where_a_model_noted_nothing(tmp_path):
    """Two conversations in three have no attribute. What people miss there counts as true and not extracted."""
    extract, study = find("recenter_extract"), tmp_path / "study"
    bare = [row for number, row in enumerate(extract.load(extract.options(data="sample"), {})) if number % 3]
    nothing = {row.id for row in bare}
    _, log = in_inspect(
        extract, lambda case, call: "[]" if case in nothing else noting(f"Sails {case}")(case, call),
        tmp_path / "logs", method="extract",
    )  # fmt: skip
    said = pack(study, "--annotators", 1, "--votes", 1, data=[log])
    assert " 0 of them for attention" not in said  # although all attributes have the same reason: none
    path = path_of(study, "extraction", 1)
    asked = {row["conversation"] for row in table(path) if row["attributes"] == "Nothing was noted."}
    assert asked == {row.transcript for row in bare}
    votes(study, filled(path, lambda row: ("missing", MISSED[0]) if row["attributes"] else ("accepted", "")))
    lacking = (study / "missing.jsonl").read_text("utf-8").splitlines()
    assert (len(lacking), len(bare)) == (24, 16)
    done = ran("chain", log, "--people", study, "--json", "-")
    found = json.loads(done.stdout)["models"][0]["steps"]["found"]
    assert (found["n"], found["value"]) == (24 + 8, pytest.approx(8 / 32))
    before = Build(study).read(PackItem)
    pack(study, data=[log])
    assert Build(study).read(PackItem) == before
