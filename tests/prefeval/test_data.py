"""The loader of PrefEval: the authors' files as they are, and whatever is broken; and what the pages say of them."""

from __future__ import annotations

import json
import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from personafeedback_tasks.task_configs import generate
from support.documents import DOCS, needs_checkout
from support.environments import CHECKOUT

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.pairwise.benchmark import ChoiceOptions
from personafeedback_tasks.prefeval.data import COMMIT, INSIDE, REPOSITORY, ROWS, SAMPLE_ROWS, load
from personafeedback_tasks.prefeval.record import PREFEVAL

SAMPLE = Path(str(files("personafeedback_tasks.prefeval") / "sample"))
OPTIONS = "classification_task_options"


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample, which is no sample any more."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "mcq"))


def change(folder, topic, edit):
    path = folder / f"{topic}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    edit(rows)
    path.write_text(json.dumps(rows), encoding="utf-8")


def test_each_row_is_a_user_of_its_own_and_another_one_is_the_next_of_its_topic_that_says_something_else(folder):
    cases = load("sample")
    assert {cell: len(of_cell) for cell, of_cell in cases.cells.items()} == SAMPLE_ROWS
    assert len({case.user_id for case in cases}) == len({case.id for case in cases}) == len(cases) == 12
    assert cases.demonstration
    raw = json.loads((SAMPLE / "travel_hotel.json").read_text(encoding="utf-8"))
    row = next(case for case in cases if case.id == "travel_hotel:2")
    assert (row.known, row.question, list(row.responses)) == (raw[1]["preference"], raw[1]["question"], raw[1][OPTIONS])
    assert row.other_known == raw[2]["preference"]
    assert [case.cell for case in cases[:4]] == list(SAMPLE_ROWS), "topics are mixed"
    change(folder, "travel_hotel", lambda rows: rows[1].update(preference=rows[0]["preference"]))
    changed = {case.id: case for case in load(str(folder), "any")}
    first, second, third = (changed[f"travel_hotel:{number}"] for number in (1, 2, 3))
    assert first.other_known == second.other_known == third.known
    assert third.other_known == first.known


def test_a_checkout_and_its_folder_are_the_same_data_and_the_copy_is_left_out_aloud(folder, tmp_path, caplog):
    shutil.copyfile(folder / "travel_hotel.json", folder / "travel_hotel copy.json")
    shutil.copytree(folder, tmp_path / "checkout" / INSIDE)
    alone, whole = load(str(folder), "any"), load(str(tmp_path / "checkout"), "any")
    assert (alone.digest, len(alone)) == (whole.digest, len(whole))
    copy = "'travel_hotel copy.json' is a copy of travel_hotel.json and was left out."
    assert [record.message for record in caplog.records] == [copy] * 2
    assert alone.digest == load("sample").digest, "equal data, equal digest"


def test_all_rows_must_be_there_unless_any_number_will_do(folder):
    sentence = r"found 0 cases of education_learning_styles, expected 31\. Get a complete copy, or pass counts=any"
    with pytest.raises(DataError, match=sentence):
        PREFEVAL.cases(ChoiceOptions(data=str(folder)), {})
    assert len(PREFEVAL.cases(ChoiceOptions(data=str(folder), counts="any"), {})) == 12


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda rows: rows[1].pop("preference"), r"technology\.json, row 2: found .*, expected the texts preference"),
        (lambda rows: rows[1].update({OPTIONS: ["a", "a", "b", "c"]}), f"row 2: found .* different ones in {OPTIONS}"),
        (lambda rows: rows.append("a row"), "row 4: found 'a row', expected the texts"),
        (lambda rows: rows.clear(), r"found \[\], expected a JSON list of objects"),
        (lambda rows: [row.update(preference="x") for row in rows], "row 1: found no other preference in its topic"),
    ],
)  # fmt: skip
def test_a_broken_row_is_named(folder, edit, message):
    change(folder, "shop_technology", edit)
    with pytest.raises(DataError, match=message):
        load(str(folder), "any")


def test_other_files_and_folders_are_refused_with_where_to_get_the_data(folder, tmp_path, monkeypatch):
    (folder / "notes.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match=r"found .notes\.json., expected the files of these topics alone: education_"):
        load(str(folder), "any")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=f"found no file, expected .* at commit {COMMIT}"):
        load(str(tmp_path / "empty"))
    monkeypatch.delenv("PREFEVAL_DATA", raising=False)
    with pytest.raises(
        DataError, match=r"^No data are named, .* PrefEval \(CC BY-NC 4\.0\) is not bundled\. Set PREFEVAL_DATA"
    ):
        load()


@pytest.mark.slow
@pytest.mark.skipif(
    "PREFEVAL_DATA" not in os.environ, reason="PREFEVAL_DATA names no checkout of the authors' repository"
)
def test_the_authors_files_have_a_thousand_rows():
    cases = load()
    assert {cell: len(of_cell) for cell, of_cell in cases.cells.items()} == ROWS
    assert sum(ROWS.values()) == len(cases) == 1000
    assert cases.digest == "2c0205793c27"


@needs_checkout
def test_the_pages_have_the_pinned_commit_and_the_command_that_writes_the_yaml_files(tmp_path):
    page = (DOCS / "prefeval.md").read_text(encoding="utf-8")
    assert f"git clone https://github.com/{REPOSITORY} && git -C PrefEval checkout {COMMIT}" in page
    command = "python -m personafeedback_tasks.task_configs.generate prefeval FOLDER"
    assert command in (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    generate.main(["prefeval", str(tmp_path / "new")])
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written == {path.name: path.read_bytes() for path in (CHECKOUT / "task_configs" / "prefeval").iterdir()}
