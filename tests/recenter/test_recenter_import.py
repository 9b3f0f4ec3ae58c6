"""`recenter import`: a small folder in the authors' layout, written here, becomes rows and recorded replies, or an error that names the row."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path

import pytest
from support.authors import AGAIN, ITEMS, ONE, OTHER, PILOT, PROFILES, counted, profile, replies, said, write
from support.commands import personafeedback, tree
from support.recenter import in_inspect

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.importers import convert
from personafeedback_tasks.recenter.rows import Relevance, Response

LABELS = [
    ("wild-user-a", 3, "What can I bake?", {"Owns an oven": True, "Plays chess": False, "Is left-handed": None}),
    ("wild-user-b", 3, "What can I bake?", {"Has a cat": False, "Eats no wheat": True}),
    ("wild-user-a", 5, "Name a hobby.", {"Owns an oven": None, "Plays chess": True, "Is left-handed": False}),
]
"""User, prompt id, prompt, attribute -> ground truth."""


def authors(labels=LABELS) -> dict[str, list[dict]]:
    """File -> lines, all of the authors' layout."""
    files = {name: [profile(*line, model=name) for line in labels] for name in (PROFILES, AGAIN)}
    for model in (ONE, OTHER):
        files[model] = [replies(user, prompt, of, model) for user, prompt, _, of in labels]
    files[PILOT] = [
        counted(0, 5, "Plan a trip.", "Likes trains", 2, 3),
        counted(3, 5, "Plan a trip.", "Plays chess", 2, 4),
        counted(3, 5, "Plan a trip.", "Has a cat", 0, 3),
    ]
    files[ITEMS] = [
        {
            "model_tag": model, "user_id": "wild-user-a", "prompt_id": "wild-user-a_3", "prompt_text": "What can I bake?", "item_index": 0,
            "attributes": [{"attribute": "Owns an oven", "is_relevant": True}, {"attribute": "Plays chess", "is_relevant": False},
                           {"attribute": "Is left-handed", "is_relevant": True}],
            "response_no_context": "Bread.", "response_personalized": f"Bread, says {model}.",
        }
        for model in ("one", "other")
    ]  # fmt: skip
    return files


def written(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "authors", authors())


# --- what it writes -----------------------------------------------------------------------------------------------------


def test_labels_become_rows_that_load_and_null_is_left_out(folder, tmp_path):
    done = personafeedback("recenter", "import", folder, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    rows = load(Relevance, tmp_path / "out")
    expected = {(text, of, label) for _, _, text, labels in LABELS for of, label in labels.items() if label is not None}
    assert {(row.prompt, row.attribute, row.label) for row in rows} == expected
    assert len(rows) == len(expected) == 6
    users = {row.user_id for row in rows}
    assert len(users) == 2
    assert users == {f"u{hashlib.sha256(f'wild-user-{name}'.encode()).hexdigest()[:12]}" for name in "ab"}
    assert "wild-user" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.jsonl"))


def test_replies_have_the_ids_of_the_rows_that_they_are_about(folder, tmp_path):
    personafeedback("recenter", "import", folder, "--out", tmp_path / "out")
    rows = {row.id: row for row in load(Relevance, tmp_path / "out")}
    for model in (ONE, OTHER):
        found = written(tmp_path / "out" / "replies" / Path(model).name)
        assert [reply["id"] for reply in found] == [row["id"] for row in written(tmp_path / "out" / "relevance.jsonl")]
        for reply in found:
            of = rows[reply["id"]].attribute
            assert (reply["reply"], reply["answer"]) == (f"{model} on {of}", said(of, model))


def test_the_pilot_has_counts_and_a_folder_of_its_own(folder, tmp_path):
    personafeedback("recenter", "import", folder, "--out", tmp_path / "out")
    pilot = {row.attribute: row for row in load(Relevance, tmp_path / "out" / "pilot")}
    assert {name: (row.votes.count(True), len(row.votes), row.judgment) for name, row in pilot.items()} == {
        "Likes trains": (2, 3, True), "Plays chess": (2, 4, None), "Has a cat": (0, 3, False),
    }  # fmt: skip
    assert pilot["Plays chess"].user_id == pilot["Has a cat"].user_id != pilot["Likes trains"].user_id


def test_response_items_become_rows_without_votes(folder, tmp_path):
    personafeedback("recenter", "import", folder, "--out", tmp_path / "out")
    rows = load(Response, tmp_path / "out")
    assert {row.personalized for row in rows} == {"Bread, says one.", "Bread, says other."}
    for row in rows:
        assert (row.attribute, row.generic, row.votes) == ("Owns an oven\nIs left-handed", "Bread.", ())


def test_it_prints_what_was_written_and_what_was_left_out(folder, tmp_path):
    files = authors()
    files[ITEMS][0]["attributes"] = []
    files[PILOT][0]["attribute"] = "Is ann@example.org"
    done = personafeedback("recenter", "import", write(folder, files), "--out", tmp_path / "out")
    out = tmp_path / "out"
    assert done.stdout.splitlines() == [
        f"wrote {out}/relevance.jsonl: 6 rows, 2 users, 3 relevant",
        f"wrote {out}/replies/one.jsonl: 6 rows, answers: 3 yes, 2 no, 1 unreadable",
        f"wrote {out}/replies/other.jsonl: 6 rows, answers: 2 yes, 1 no, 3 unreadable",
        f"wrote {out}/pilot/relevance.jsonl: 2 rows, 1 user",
        f"wrote {out}/response.jsonl: 1 row, 1 user",
        "left out: 2 with a ground truth of null",
        "left out: 4 replies to rows that were left out",
        "left out: 1 with personal data",
        "left out: 1 response items without a relevant attribute",
        f"  {folder}/{PILOT}, line 1: an e-mail address in attribute",
    ]


MADE_OF = {
    "task6": "relevance.jsonl",
    "relevance_task5": "replies/",
    PILOT: "pilot/relevance.jsonl",
    "extracted": "response.jsonl",
}
"""Where the authors have it -> what becomes of it."""


@pytest.mark.parametrize("parts", [parts for n in (1, 2, 3, 4) for parts in combinations(MADE_OF, n)])
def test_every_part_may_be_missing_and_that_is_said(parts, tmp_path):
    write(tmp_path / "authors", {name: rows for name, rows in authors().items() if name.split("/")[0] in parts})
    out = tmp_path / "out"
    done = personafeedback("recenter", "import", tmp_path / "authors", "--out", out)
    if parts == ("relevance_task5",):
        assert "found no row to import" in done.stderr
        return
    assert done.exit_code == 0, done.output
    wanted = {MADE_OF[part] for part in parts if part != "relevance_task5" or "task6" in parts}
    made = {path.relative_to(out).as_posix() for path in out.rglob("*.jsonl")}
    assert {"replies/" if name.startswith("replies/") else name for name in made} == wanted
    absent = [line for line in done.stdout.splitlines() if line.startswith("absent: ")]
    assert [line.split(", so there is no ")[1] for line in absent] == [
        str(out / made) for part, made in MADE_OF.items() if part not in parts
    ]
    needless = "left out: 2 files of replies, which need task6/eval_results_task5_gt_attributes_*.jsonl"
    assert (needless in done.stdout) == ("relevance_task5" in parts and "task6" not in parts)


def test_options_of_a_file_of_conversations_are_refused_with_a_folder(folder, tmp_path):
    done = personafeedback("recenter", "import", folder, "--out", tmp_path / "out", "--language", "Chinese")
    assert done.exit_code == 1
    assert "--language is for a file of conversations" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_without_any_of_the_files_is_an_error(folder):
    with pytest.raises(DataError, match=r"found no row to import, expected any of task6/.*or its folder data\.$"):
        convert(folder / "task6")


@pytest.mark.slow
def test_the_chain_goes_through_what_has_labels(folder, tmp_path):
    """Of relevance alone: what is selected is judged, the replies are not, and nothing is extracted."""
    data = tmp_path / "made"
    assert personafeedback("recenter", "import", folder, "--out", data).exit_code == 0
    logs, of = tmp_path / "logs", {"data": str(data)}
    chosen, log = in_inspect(find("recenter_select"), "recenter_select/always_all", logs, method="select", **of)
    assert (chosen["selected"], chosen["shown"]) == (1, 2)
    written, _ = in_inspect(
        find("recenter_respond"), lambda name, call: f"A {call} reply.", logs, method="respond", selected=str(log), **of
    )
    assert (written["written"], written["length_generic"]) == (1, len("A generic reply."))
    done = personafeedback("chain", logs, "--people", data, "--out", tmp_path / "chain")
    assert done.exit_code == 0, done.output
    assert "People judged 6 of the 6 attributes to select from." in done.output
    assert "People judged none of the 3 pairs of replies" in done.output
    steps = [model["steps"] for model in json.loads((tmp_path / "chain" / "chain.json").read_text("utf-8"))["models"]]
    assert [{name: value["value"] for name, value in of_model.items()} for of_model in steps] == [
        {"selected": 1.0, "irrelevant": 0.5}, {}
    ]  # fmt: skip


# --- the same labels in several files -----------------------------------------------------------------------------------


def test_the_files_of_two_models_have_each_label_once(folder, tmp_path):
    both = convert(folder).files
    (folder / AGAIN).unlink()
    assert both == convert(folder).files
    files = authors()
    for row in files[AGAIN]:
        row["profile_attributes"].reverse()
    assert convert(write(folder, {AGAIN: files[AGAIN][1:]})).files == both


# --- files that disagree ------------------------------------------------------------------------------------------------


CASES = {
    "another user": (ONE, lambda rows: rows[1].update(user_id="x"), "line 2: found prompt 3 of user 'x', expected one of task6/eval_results_task5_gt_attributes_*.jsonl"),
    "another attribute": (ONE, lambda rows: rows[1]["items"][1].update(attribute="x"), "line 2: found the attribute 'x', expected one of {PROFILES}, line 2"),
    "another prompt": (AGAIN, lambda rows: rows[1].update(prompt_text="x"), "line 2: found the prompt_id 'wild-user-b_3' with another user, prompt or ground truth, expected those of {PROFILES}, line 2"),
    "an item twice": (ITEMS, lambda rows: rows.append(rows[-1]), "line 3: found the model_tag and item_index of {ITEMS}, line 2 again, expected each pair of them once"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_rows_that_do_not_line_up_are_an_error_that_names_the_row(case, tmp_path):
    name, change, sentence = CASES[case]
    files = authors()
    change(files[name])
    with pytest.raises(DataError) as caught:
        convert(write(tmp_path, files))
    expected = sentence.format(
        **{key: f"{tmp_path}/{value}" for key, value in globals().items() if key.isupper() and isinstance(value, str)}
    )
    found = str(caught.value)
    assert found.startswith(f"{tmp_path}/{name}")
    assert found.endswith(f"{expected}. Fix this record or download the data again."), found


DAMAGE = [
    (PROFILES, {"user_id": None}, "line 1: found user_id = None, expected int | str"),
    (PROFILES, {"profile_attributes": [{"attribute": "x", "ground_truth": 1}]}, "line 1: found profile_attributes[0].ground_truth = 1, expected bool | null"),
    (PROFILES, {"profile_attributes": [{"attribute": "x", "ground_truth": True}] * 2}, "line 1: found an attribute twice, expected each attribute of a user once"),
    (PILOT, {"human_yes_rate": 0.6667}, "line 1: found human_yes_rate = 0.6667 of n_annotators = 3, expected a share of whole votes"),
    (PILOT, {"n_annotators": 3 * 10**9}, "line 1: found n_annotators = 3000000000, expected int <= 1000"),
    (PILOT, {"label": 0}, "line 1: found label = 0 with 2 of 3 votes, expected 1 for more than half of them, else 0"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "sentence"), DAMAGE)
def test_the_sentence_for_each_kind_of_damage(name, changes, sentence, tmp_path):
    files = authors()
    files[name][0] |= changes
    with pytest.raises(DataError) as caught:
        convert(write(tmp_path, {name: files[name]}))
    assert str(caught.value) == f"{tmp_path}/{name}, {sentence}. Fix this record or download the data again."


# --- ids and folders ----------------------------------------------------------------------------------------------------


def test_rows_with_personal_data_are_left_out_with_their_replies(folder, tmp_path):
    files = authors()
    for name in (PROFILES, AGAIN):
        files[name][1]["prompt_text"] = "Mail ann@example.org what I can bake."
    done = personafeedback("recenter", "import", write(folder, files), "--out", tmp_path / "out")
    assert "left out: 2 with personal data" in done.stdout
    assert f"  {folder}/{PROFILES}, line 2, attribute 1: an e-mail address in prompt" in done.stdout
    kept = {row.id for row in load(Relevance, tmp_path / "out")}
    assert len(kept) == 4
    assert {reply["id"] for reply in written(tmp_path / "out" / "replies" / "one.jsonl")} == kept


@pytest.mark.parametrize("left", ["extraction.jsonl", "pilot/response.jsonl", "replies/third.jsonl"])
def test_files_of_another_import_do_not_stay_beside_this_one(left, folder, tmp_path):
    path = tmp_path / "out" / left
    path.parent.mkdir(parents=True)
    path.write_text("{}", encoding="utf-8")
    before = tree(tmp_path / "out")
    done = personafeedback("recenter", "import", folder, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert f"{path}: found a file that this import does not write, expected none." in done.stderr
    assert tree(tmp_path / "out") == before
