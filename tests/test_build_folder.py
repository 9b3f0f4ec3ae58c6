"""The files of a build: what is written is read again, whatever spreadsheet had it in between; what is broken is named."""

from __future__ import annotations

import csv
import io
from dataclasses import fields
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personafeedback_tasks.building import tables
from personafeedback_tasks.building.folder import FILES, Folder
from personafeedback_tasks.building.rows import (
    Answer,
    Dropped,
    Origin,
    Pair,
    Person,
    Question,
    Refused,
    Shown,
    Tiered,
    Vote,
    as_dict,
    parse,
)
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.common.errors import DataError

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(lambda text: f"x{text}x")
LINES = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)
ROWS = {
    Person: st.builds(Person, user_id=WORDS, name=WORDS, split=st.sampled_from(["train", "test"])),
    Question: st.builds(
        Question, id=WORDS, user_id=WORDS, question=LINES, category=st.sampled_from(["specific", "general"]), keep=st.sampled_from(["", "no"])
    ),
    Answer: st.builds(
        Answer, id=WORDS, question_id=WORDS, user_id=WORDS, model=WORDS, text=LINES, strategy=st.sampled_from(["full", "question"])
    ),
    Pair: st.builds(Pair, id=WORDS, question_id=WORDS, user_id=WORDS, first=WORDS, second=WORDS),
    Shown: st.builds(Shown, annotator=WORDS, item=WORDS, pair_id=WORDS, left=WORDS, right=WORDS),
    Vote: st.builds(Vote, annotator=WORDS, pair_id=WORDS, chosen=WORDS, shown_as=st.sampled_from(["A", "B"])),
    Dropped: st.builds(Dropped, annotator=WORDS, reason=WORDS),
    Tiered: st.builds(
        Tiered, pair_id=WORDS, question_id=WORDS, user_id=WORDS, chosen=WORDS, rejected=WORDS, difficulty=st.sampled_from(["", "hard"]),
        votes=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    ),
    Refused: st.builds(Refused, id=WORDS, step=WORDS, reason=WORDS, text=st.text(st.characters(exclude_categories=["Cs"]))),
    Origin: st.builds(Origin, id=WORDS, kind=WORDS, model=WORDS, parents=st.tuples(WORDS, WORDS)),
}  # fmt: skip


def test_every_file_is_tried():
    assert ROWS.keys() == FILES.keys()


@pytest.mark.parametrize("kind", ROWS)
@given(data=st.data())
def test_what_is_written_is_read_again(kind, data, tmp_path_factory):
    unique = next(
        (one.name for one in fields(kind) if one.name in ("id", "user_id")),
        "annotator" if kind is Dropped else "pair_id",
    )
    rows = data.draw(st.lists(ROWS[kind], min_size=1, max_size=4, unique_by=lambda row: getattr(row, unique)))
    folder = Folder(tmp_path_factory.mktemp("build"))
    folder.write(kind, rows)
    assert folder.read(kind) == rows


@given(
    rows=st.lists(ROWS[Question], min_size=1, max_size=4, unique_by=lambda row: row.id),
    separator=st.sampled_from(",;\t"),
    note=WORDS,
)
def test_a_spreadsheet_may_change_separator_order_and_add_columns(rows, separator, note, tmp_path_factory):
    folder = Folder(tmp_path_factory.mktemp("build"))
    names = [*reversed([one.name for one in fields(Question)]), "our notes"]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter=separator)  # CRLF, as spreadsheets write
    writer.writeheader()
    writer.writerows({**as_dict(row), "our notes": note} for row in rows)
    folder.path(Question).write_text(out.getvalue(), encoding="utf-8", newline="")
    assert [row.id for row in folder.read(Question)] == [row.id for row in rows]
    assert [row.keep for row in folder.read(Question)] == [row.keep for row in rows]


@pytest.mark.parametrize(
    ("name", "content", "found", "expected"),
    [
        ("people.csv", "name,split\nAda,test\n", "line 1: found the columns 'name', 'split'", "one 'user_id'"),
        ("people.csv", "user_id,split\nu1,dev\n", "line 2: found split = 'dev'", "train or test"),
        ("people.csv", "user_id,keep\nu1,maybe\n", "line 2: found keep = 'maybe'", "yes, no or nothing. Fix it."),
        ("people.csv", "user_id,name\nu1,Ada,Bell\n", "line 2: found 3 values", "expected 2"),
        ("people.csv", "user_id\nu1\nu1\n", "line 3: found the user_id 'u1'", "each once"),
        ("people.csv", 'user_id\n"u1', "line 2: found", "expected a CSV"),
    ],
)  # fmt: skip
def test_a_broken_table_is_named(tmp_path, name, content, found, expected):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as error:
        Folder(tmp_path).read(Person)
    assert name in str(error.value)
    assert found in str(error.value)
    assert expected in str(error.value)


def test_a_table_in_another_encoding_is_named(tmp_path):
    (tmp_path / "people.csv").write_bytes("user_id\nAnaïs\n".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        Folder(tmp_path).read(Person)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"annotator": "a", "pair_id": "p", "chosen": "x", "shown_as": "C"}, "shown_as = 'C'"),
        ({"annotator": "a", "pair_id": "p", "chosen": "x"}, "no 'shown_as'"),
        ({"annotator": "a", "pair_id": "p", "chosen": " ", "shown_as": "A"}, "chosen = ' '"),
        ({"annotator": 3, "pair_id": "p", "chosen": "x", "shown_as": "A"}, "annotator = 3"),
        ({"annotator": "a", "pair_id": "p", "chosen": "x", "shown_as": "A", "seconds": 4}, "the unknown key 'seconds'"),
        ({"annotator": "a", "pair_id": "p", "chosen": "x", "shown_as": ["A"]}, "shown_as = ['A']"),
    ],
)
def test_a_broken_row_is_named(row, found):
    with pytest.raises(DataError) as error:
        parse(Vote, row, "votes.jsonl, line 7")
    assert "votes.jsonl, line 7: found" in str(error.value)
    assert found in str(error.value)


def test_a_step_that_was_left_out_is_named(tmp_path):
    with pytest.raises(DataError, match="personafeedback build answers"):
        Folder(tmp_path).need(Answer, "answers")


def test_who_was_dropped_has_no_questions(tmp_path):
    folder = Folder(tmp_path)
    folder.write(
        Person,
        [
            Person(user_id="u1"),
            Person(user_id="u2", keep="no", reason="stereotype"),
            Person(user_id="u3", split="train"),
        ],
    )
    folder.write(Question, [Question(id=f"{user}:{n}", user_id=user, category="specific", question="?", keep=keep)
                            for user in ("u1", "u2", "u3") for n, keep in enumerate(("", "yes", "no"))])  # fmt: skip
    assert [one.id for one in folder.questions()] == ["u1:0", "u1:1", "u3:0", "u3:1"]
    assert [one.id for one in folder.questions("train")] == ["u3:0", "u3:1"]


def test_settings_are_exact(tmp_path):
    path = tmp_path / "build.yaml"
    path.write_text("name: Our users\nmedium: 8/9\nhard: 0.7\nseed: 3\nlanguage: de\n", encoding="utf-8")
    found = Settings.load(path)
    assert (found.medium, found.hard, found.seed, found.language) == (Fraction(8, 9), Fraction(7, 10), 3, "de")
    path.write_text("", encoding="utf-8")
    assert Settings.load(path) == Settings()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("annotator: 9", "the key 'annotator'"),
        ("annotators: 0", "a whole number from 1"),
        ("hard: 1/2", "a share above 1/2"),
        ("medium: 9", "a share above 1/2"),
        ("masked: -1", "from 0 to 1"),
        ("seed: true", "a whole number from 0"),
        ('name: "two\\nlines"', "one line"),
        ("- a", "one mapping"),
        ("a: [", "no YAML"),
    ],
)
def test_a_setting_that_does_not_exist_is_named(tmp_path, line, said):
    path = tmp_path / "build.yaml"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        Settings.load(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_a_table_opens_in_a_spreadsheet():
    assert tables.text(["a"], [{"a": "é"}]).encode("utf-8").startswith(b"\xef\xbb\xbf")
