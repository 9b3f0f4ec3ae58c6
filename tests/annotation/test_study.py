"""Items of every shape in one study: which votes count, and what an item that is gone or alone is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.commands import personafeedback

from personafeedback_tasks.annotation.assignment import ATTENTION, Assignment
from personafeedback_tasks.annotation.items import Guideline, Item
from personafeedback_tasks.annotation.rows import PackItem, Vote
from personafeedback_tasks.annotation.study import Study, StudyFolder
from personafeedback_tasks.common.errors import DataError

ANNOTATORS = 8
SHAPES = {
    "list": {"several": True, "answers": {str(number): f"line {number}" for number in range(1, 7)}},
    "one": {"answers": {"yes": "Yes", "no": "No"}},
    "two": {
        "options": {"first": "tea", "second": "gin"}, "answers": {"1": "A is better", "2": "B is better"},
        "mirrored": {"1": "2", "2": "1"},
    },
}  # fmt: skip
ITEMS = [Item(id=kind, user_id="u", kind=kind, texts={"text": kind}, **shape) for kind, shape in SHAPES.items()]
GUIDELINE = Guideline(title="Which?", rules=(), headings={"text": "T"})


def study(folder, items=ITEMS):
    asked = Assignment(items=items, guidelines=dict.fromkeys(SHAPES, GUIDELINE), seed=0, votes=ANNOTATORS)
    return Study(folder=folder, asked=asked, annotators=ANNOTATORS, packs="pack", votes="votes")


@pytest.fixture
def folder(tmp_path):
    """Packs of all items, made in two steps: whose kind is new is at the end."""
    folder, said = StudyFolder(tmp_path / "study"), []
    study(folder, ITEMS[:2]).write_packs("csv", said.append)
    before = folder.read(PackItem)
    study(folder).write_packs("csv", said.append)
    assert folder.read(PackItem)[: len(before)] == before
    assert said.count("annotator-1.two: 1 items, 0 of them for attention") == 1  # there is no other user
    return folder


def taken(folder, path, answers, items=ITEMS):
    """What counts after everybody has sent an answer to each item of theirs: by its kind, or by its option on the left."""
    lines = []
    for place in folder.read(PackItem):
        answer = answers.get(place.left) or answers[place.pair_id.removeprefix(ATTENTION)]
        lines.append(f"{place.item},{answer}\n")
    path.write_text("".join(["item,vote\n", *lines]), encoding="utf-8")
    return study(folder, items).take_votes([path], (), lambda line: None)


def test_an_answer_means_the_same_on_either_side_and_in_any_order(folder, tmp_path):
    sides = {(place.pair_id, *place.options) for place in folder.read(PackItem) if not place.attention}
    assert sides == {("list", "", ""), ("one", "", ""), ("two", "first", "second"), ("two", "second", "first")}
    tables = [(folder.root / f"packs/list/annotator-{number}.list.csv").read_text("utf-8") for number in range(1, 9)]
    assert len({text.partition("1: line 1")[0].count("line") for text in tables}) > 1
    gin = {"first": "2", "second": "1", "list": "3 1", "one": "YES"}
    counted = taken(folder, tmp_path / "sent.csv", gin)
    assert {(item.id, vote.chosen) for item, vote in counted} == {("two", "2"), ("list", "1 3"), ("one", "yes")}
    assert len(counted) == len(ITEMS) * ANNOTATORS
    assert {vote.shown_as for vote in folder.read(Vote) if vote.pair_id == "two"} == {"1", "2"}


def test_who_cannot_judge_is_not_counted_nor_an_answer_to_another_text(folder, tmp_path):
    changed = [*ITEMS[:2], replace(ITEMS[2], texts={"text": "Eat?"})]
    counted = taken(folder, tmp_path / "sent.csv", {"two": "1", "list": "none", "one": "cannot judge"}, changed)
    assert {item.id for item, _ in counted} == {"list"}
    assert len(folder.read(Vote)) == len(folder.read(PackItem))


def test_an_item_that_is_gone_is_named_but_two_options_are_still_known(folder, tmp_path):
    with pytest.raises(DataError, match="which is about one, expected an item whose row still exists"):
        taken(folder, tmp_path / "sent.csv", {"two": "1", "list": "1", "one": "yes"}, [ITEMS[0], ITEMS[2]])
    assert not folder.read(Vote)
    taken(folder, tmp_path / "sent.csv", {"first": "A", "second": "B", "list": "none", "one": "no"}, ITEMS[:2])
    assert {vote.chosen for vote in folder.read(Vote) if vote.pair_id == "two"} == {"first"}


@pytest.mark.parametrize("name", ["annotators", "votes"])
def test_a_study_without_annotators_or_votes_is_refused(folder, name):
    (folder.root / "study.json").write_text(f'{{"{name}": 0}}', "utf-8")
    with pytest.raises(DataError, match=rf"study\.json: found {name} = 0, expected int >= 1"):
        _ = folder.settings


def test_a_draw_from_a_folder_that_is_not_there_says_so(tmp_path):
    done = personafeedback("annotate", "pack", tmp_path / "gone", "--out", tmp_path / "study", "--draw", 5)
    assert done.exit_code == 1
    assert "gone: could not be read" in done.output
    done = personafeedback("annotate", "pack", "sample", "--out", tmp_path / "study", "--draw", 5)
    assert "found --draw with data that are no duels" in done.output
    assert not (tmp_path / "study").exists()
