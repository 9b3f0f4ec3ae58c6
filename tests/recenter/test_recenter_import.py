"""`recenter import`: a small folder in the authors' layout becomes rows, or an error that names the row."""

from __future__ import annotations

import hashlib
import os

import pytest
from support.authors import AGAIN, ITEMS, PILOT, PROFILES, counted, profile, write
from support.commands import ran

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.importers import convert
from personafeedback_tasks.recenter.rows import Relevance, Response

AUTHORS = os.environ.get("RECENTER_AUTHORS")

LABELS = [
    ("wild-user-a", 3, "What can I bake?", {"Owns an oven": True, "Plays chess": False, "Is left-handed": None}),
    ("wild-user-b", 3, "What can I bake?", {"Has a cat": False, "Eats no wheat": True}),
    ("wild-user-a", 5, "Name a hobby.", {"Owns an oven": None, "Plays chess": True, "Is left-handed": False}),
]
"""User, prompt id, prompt, attribute -> ground truth."""


def authors(labels=LABELS) -> dict[str, list[dict]]:
    """File -> lines, all of the authors' layout."""
    files = {name: [profile(*line, model=name) for line in labels] for name in (PROFILES, AGAIN)}
    files[PILOT] = [
        counted(0, 5, "Plan a trip.", "Likes trains", 2, 3),
        counted(3, 5, "Plan a trip.", "Plays chess", 2, 4),
        counted(3, 5, "Plan a trip.", "Has a cat", 0, 3),
    ]
    files[ITEMS] = [
        {
            "model_tag": model, "user_id": "wild-user-a", "prompt_id": "wild-user-a_3", "item_index": 0,
            "prompt_text": "What can I bake?",
            "attributes": [{"attribute": name, "is_relevant": name != "Plays chess"} for name in LABELS[0][3]],
            "response_no_context": "Bread.", "response_personalized": f"Bread, says {model}.",
        }
        for model in ("one", "other")
    ]  # fmt: skip
    return files


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "authors", authors())


def imported(folder, out):
    """What the command prints."""
    return ran("recenter", "import", folder, "--out", out).stdout.splitlines()


# --- what it writes ---------------------------------------------------------------------------------------------------


def test_labels_votes_and_pairs_become_rows_that_load(folder, tmp_path):
    """A label of null is left out; the pilot has a folder of its own, so that no score mixes two studies."""
    imported(folder, tmp_path / "out")
    rows, pairs = (load(stage, tmp_path / "out") for stage in (Relevance, Response))
    expected = {(text, of, label) for _, _, text, labels in LABELS for of, label in labels.items() if label is not None}
    assert {(row.prompt, row.attribute, row.label) for row in rows} == expected
    assert len(rows) == len(expected) == 6
    assert {row.user_id for row in rows} == {
        f"u{hashlib.sha256(f'wild-user-{name}'.encode()).hexdigest()[:12]}" for name in "ab"
    }
    assert "wild-user" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.jsonl"))
    pilot = {row.attribute: row for row in load(Relevance, tmp_path / "out" / "pilot")}
    assert {name: (row.votes.count(True), len(row.votes), row.judgment) for name, row in pilot.items()} == {
        "Likes trains": (2, 3, True), "Plays chess": (2, 4, None), "Has a cat": (0, 3, False),
    }  # fmt: skip
    assert pilot["Plays chess"].user_id == pilot["Has a cat"].user_id != pilot["Likes trains"].user_id
    assert {row.personalized for row in pairs} == {"Bread, says one.", "Bread, says other."}
    assert {(row.attribute, row.generic, row.votes) for row in pairs} == {
        ("Owns an oven\nIs left-handed", "Bread.", ())
    }


def test_it_prints_what_was_written_and_what_was_left_out(folder, tmp_path):
    files = authors()
    files[ITEMS][0]["attributes"] = []
    files[PILOT][0]["attribute"] = "Is ann@example.org"
    for name in (PROFILES, AGAIN):
        files[name][1]["prompt_text"] = "Call me at 555-0147 about baking."
    out = tmp_path / "out"
    assert imported(write(folder, files), out) == [
        f"wrote {out}/relevance.jsonl: 4 rows, 1 users, 2 relevant",
        f"wrote {out}/pilot/relevance.jsonl: 2 rows, 1 users",
        f"wrote {out}/response.jsonl: 1 rows, 1 users",
        "left out: 2 with a ground truth of null",
        f"left out: 2 with a phone number in prompt ({folder}/{PROFILES}, line 2)",
        f"left out: 1 with an e-mail address in attribute ({folder}/{PILOT}, line 1)",
        "left out: 1 response items without a relevant attribute",
    ]


@pytest.mark.skipif(not AUTHORS, reason="RECENTER_AUTHORS names no copy of the authors' repository")
def test_the_authors_files_have_the_rows_that_the_docs_say(tmp_path):
    relevance, pilot, response, *_ = imported(AUTHORS, tmp_path)
    assert relevance.endswith(": 3,969 rows, 47 users, 708 relevant")
    assert pilot.endswith(": 631 rows, 25 users")
    assert response.endswith(": 306 rows, 47 users")


MADE_OF = {"task6": "relevance.jsonl", PILOT: "pilot/relevance.jsonl", "extracted": "response.jsonl"}
"""Where the authors have it -> what becomes of it."""


@pytest.mark.parametrize("lacking", MADE_OF)
def test_every_part_may_be_missing_and_that_is_said(lacking, tmp_path):
    write(tmp_path / "authors", {name: rows for name, rows in authors().items() if name.split("/")[0] != lacking})
    out = tmp_path / "out"
    (absent,) = (line for line in imported(tmp_path / "authors", out) if line.startswith("absent: "))
    assert absent.startswith(f"absent: {lacking}")
    written = {path.relative_to(out).as_posix() for path in out.rglob("*.jsonl")}
    assert written == {*MADE_OF.values()} - {MADE_OF[lacking]}


def test_a_folder_without_any_of_the_files_is_an_error(folder):
    with pytest.raises(DataError, match=r"found no row to import, expected any of task6/.*or its folder data\.$"):
        convert(folder / "task6")


# --- the same labels in several files ---------------------------------------------------------------------------------


def test_the_files_of_two_models_have_each_label_once(folder):
    both = convert(folder).files
    (folder / AGAIN).unlink()
    assert both == convert(folder).files
    files = authors()
    for row in files[AGAIN]:
        row["profile_attributes"].reverse()
    assert convert(write(folder, {AGAIN: files[AGAIN][1:]})).files == both


PILOT_RULE = "expected a share of whole votes, and 1 for more than half of them, else 0"
DAMAGE = [
    (AGAIN, {"prompt_text": "x"}, "the prompt_id 'wild-user-a_3' with another user, prompt or ground truth"),
    (PROFILES, {"profile_attributes": [{"attribute": "x", "ground_truth": True}] * 2}, "an attribute twice"),
    (PILOT, {"human_yes_rate": 0.6667}, f"label = 1 with human_yes_rate = 0.6667 of n_annotators = 3, {PILOT_RULE}"),
    (PILOT, {"label": 0}, f"label = 0 with human_yes_rate = {2 / 3} of n_annotators = 3, {PILOT_RULE}"),
]


@pytest.mark.parametrize(("name", "changes", "sentence"), DAMAGE)
def test_the_sentence_for_each_kind_of_damage(name, changes, sentence, tmp_path):
    files = authors()
    files[name][0] |= changes
    with pytest.raises(DataError) as caught:
        convert(write(tmp_path, files))
    assert str(caught.value).startswith(f"{tmp_path}/{name}, line 1: found {sentence}")
