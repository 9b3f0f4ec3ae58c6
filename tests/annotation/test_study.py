"""Packs of items of every shape: two options on sides of each annotator's own, a list, or one text."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from personafeedback_tasks.annotation.assignment import ATTENTION, Assignment
from personafeedback_tasks.annotation.items import Guideline, Item
from personafeedback_tasks.annotation.rows import PackItem, Vote
from personafeedback_tasks.annotation.study import Study, StudyFolder
from personafeedback_tasks.common.errors import DataError

ANNOTATORS = 8
DRINKS = {"first": "tea", "second": "gin"}
BETTER = {"1": "A is better", "2": "B is better"}
QUESTIONS = [
    *(
        Item(
            id=f"two:{number}", user_id=f"u{number}", kind="two", block=f"two:{number}", texts={"prompt": f"Drink {number}?"}, answers=BETTER,
            options={**DRINKS, "first": f"tea {number}"}, mirrored={"1": "2", "2": "1"},
        )
        for number in range(3)
    ),
    Item(
        id="list", user_id="u0", kind="list", block="list", texts={"prompt": "Where?"}, several=True,
        answers={str(number): f"line {number}" for number in range(1, 7)},
    ),
    Item(id="one", user_id="u0", kind="one", block="one", texts={"text": "A note."}, answers={"yes": "Yes", "no": "No"}),
]  # fmt: skip
GUIDELINES = {
    kind: Guideline(title="Which?", rules=(), headings={"prompt": "P", "text": "T"}) for kind in ("two", "list", "one")
}
ASKED = Assignment(items=QUESTIONS, guidelines=GUIDELINES, seed=0, votes=ANNOTATORS)


def study(folder, asked=ASKED):
    return Study(
        folder=folder, asked=asked, annotators=ANNOTATORS, packs="pack", votes="votes"
    )  # fmt: skip


def kind_of(item):
    return item.pair_id.removeprefix(ATTENTION).partition(":")[0]


def table(folder, annotator, kind):
    with (folder.root / "packs" / kind / f"{annotator}.{kind}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def packed(tmp_path):
    folder = StudyFolder(tmp_path / "study")
    study(folder).write_packs("csv", lambda line: None)
    return folder


def taken(folder, path, answer, asked=ASKED, say=lambda line: None):
    """What counts after everybody has sent the answer to each item of theirs."""
    items = folder.read(PackItem)
    rows = {
        row["item"]: row for one in {(item.annotator, kind_of(item)) for item in items} for row in table(folder, *one)
    }
    lines = [f"{item.item},{answer(item, rows[item.item])}\n" for item in items]
    path.write_text("".join(["item,vote\n", *lines]), encoding="utf-8")
    return study(folder, asked).take_votes([path], (), say)


def test_options_have_sides_of_each_annotators_own_and_nothing_else_has_sides(packed):
    sides = {kind: [] for kind in GUIDELINES}
    for item in packed.read(PackItem):
        if item.attention:
            continue
        kind = kind_of(item)
        sides[kind].append((item.left, item.right))
        if kind == "two":
            (row,) = (row for row in table(packed, item.annotator, kind) if row["item"] == item.item)
            assert (row["A"], row["B"]) == tuple(
                QUESTIONS[int(item.pair_id[-1])].options[name] for name in item.options
            )
    assert set(sides["two"]) == {tuple(DRINKS), tuple(DRINKS)[::-1]}
    assert sides["list"] == sides["one"] == [("", "")] * ANNOTATORS
    orders = {table(packed, f"annotator-{number}", "list")[0]["answers"] for number in range(1, ANNOTATORS + 1)}
    assert len(orders) > 1


def test_an_answer_means_the_same_on_either_side(packed, tmp_path):
    def answer(item, row):
        return {"list": "3 1", "one": "YES"}.get(kind_of(item)) or ("1" if row["A"] == "gin" else "2")

    counted = taken(packed, tmp_path / "sent.csv", answer)
    assert {(question.id, vote.chosen) for question, vote in counted} == {
        *((f"two:{number}", "2") for number in range(3)), ("list", "1 3"), ("one", "yes"),
    }  # fmt: skip
    assert len(counted) == len(QUESTIONS) * ANNOTATORS
    assert {vote.shown_as for vote in packed.read(Vote) if vote.pair_id.startswith("two")} == {"1", "2"}


def test_who_cannot_judge_is_not_counted_nor_an_answer_to_another_text(packed, tmp_path):
    path = tmp_path / "sent.csv"
    answer = {"two": "1", "list": "none", "one": "cannot judge"}
    changed = [replace(QUESTIONS[0], texts={"prompt": "Eat?"}), *QUESTIONS[1:]]
    counted = taken(packed, path, lambda item, row: answer[kind_of(item)], replace(ASKED, items=changed))
    assert {question.id for question, _ in counted} == {"two:1", "two:2", "list"}
    assert len(packed.read(Vote)) == len(packed.read(PackItem))


def test_an_item_about_a_question_that_is_gone_is_named(packed, tmp_path):
    without = replace(ASKED, items=QUESTIONS[:-1])
    with pytest.raises(DataError, match="which is about one, expected an item whose row still exists"):
        taken(packed, tmp_path / "sent.csv", lambda item, row: "yes" if item.pair_id == "one" else "1", without)
    assert not packed.read(Vote)


def test_an_attention_item_is_asked_beside_the_others_and_counts_for_nothing(tmp_path):
    """Its right answer is on a side of its own; who gives the other one is named."""
    folder = StudyFolder(tmp_path / "study")
    asked = replace(ASKED, items=QUESTIONS[:3])
    study(folder, asked).write_packs("csv", lambda line: None)
    checks = [item for item in folder.read(PackItem) if item.attention]
    assert len(checks) == 2 * ANNOTATORS
    assert {item.attention for item in checks} == {"2"}
    assert {(item.left, item.right) for item in checks} == {("first", "other"), ("other", "first")}

    def careless(item, row):
        is_first = row["A"] == f"tea {item.pair_id[-1]}"
        return "1" if is_first != (bool(item.attention) and item.annotator == "annotator-1") else "2"

    said: list[str] = []
    counted = taken(folder, tmp_path / "sent.csv", careless, asked, said.append)
    assert {question.id for question, _ in counted} == {"two:0", "two:1", "two:2"}
    assert [line.split()[1] for line in said if line.startswith("! ") and "attention" in line] == ["annotator-1"]


def test_packs_only_grow_and_a_kind_of_one_user_has_no_attention_items(tmp_path):
    folder = StudyFolder(tmp_path / "study")
    study(folder, replace(ASKED, items=QUESTIONS[:-1])).write_packs("csv", lambda line: None)
    before = folder.read(PackItem)
    said: list[str] = []
    study(folder).write_packs("csv", said.append)
    after = folder.read(PackItem)
    assert after[: len(before)] == before
    assert [item.pair_id for item in after[len(before) :]] == ["one"] * ANNOTATORS
    assert "annotator-1.one: 1 items, 0 of them for attention" in said
