"""The files of a build: what is written is read again, after any spreadsheet; what is broken is named."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict
from support.building import a_build
from support.builds import sent_by
from support.commands import ran

from personafeedback_tasks.annotation import items
from personafeedback_tasks.annotation.pack_files import FORMATS
from personafeedback_tasks.annotation.rows import Vote
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import Question, Refused
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts.personas import names as names_of
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.row_files import columns

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(lambda text: f"x{text}x")
LINES = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)
ROWS = {
    Question: st.builds(
        Question, id=WORDS, user_id=WORDS, question=LINES, category=st.sampled_from(["specific", "general"]), keep=st.sampled_from(["", "no"])
    ),
    Vote: st.builds(Vote, annotator=WORDS, pair_id=WORDS, chosen=WORDS, shown_as=st.sampled_from(["A", "B"]), note=LINES),
    Refused: st.builds(Refused, id=WORDS, step=WORDS, reason=WORDS, text=st.text(st.characters(exclude_categories=["Cs"]))),
}  # fmt: skip
"""A table, lines, and lines with whatever a model wrote."""


@pytest.mark.parametrize("kind", ROWS)
@settings(max_examples=25)
@given(data=st.data())
def test_what_is_written_is_read_again(kind, data, tmp_path_factory):
    key = (lambda row: tuple(getattr(row, name) for name in kind.key)) if kind.key else None
    rows = data.draw(st.lists(ROWS[kind], min_size=1, max_size=4, unique_by=key))
    folder = Build(tmp_path_factory.mktemp("build"))
    folder.write(kind, rows)
    assert folder.read(kind) == rows


@given(
    rows=st.lists(ROWS[Question], min_size=1, max_size=4, unique_by=lambda row: row.id),
    separator=st.sampled_from(",;\t"),
)
@settings(max_examples=25)
def test_a_spreadsheet_may_change_separator_and_order_and_leave_empty_columns(rows, separator, tmp_path_factory):
    folder = Build(tmp_path_factory.mktemp("build"))
    out = io.StringIO()
    writer = csv.DictWriter(out, [*reversed(columns(Question)), ""], delimiter=separator)  # CRLF, as spreadsheets write
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    folder.path(Question).write_text(out.getvalue(), encoding="utf-8", newline="")
    assert [(row.id, row.keep) for row in folder.read(Question)] == [(row.id, row.keep) for row in rows]


def test_every_command_reads_each_file_of_a_build_and_makes_each_item_once(tmp_path, writer, monkeypatch):
    folder = a_build(tmp_path / "build", personas=4, specific=2, annotators=6, test="1/2")
    root, imported, opened, judged = folder.root, tmp_path / "imported", Counter(), Counter()
    of_texts = items.digests
    for user in names_of(folder.settings):
        path = folder.memory_path(user)
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"text": "An essay on bells"}\n', "utf-8")

    def note(event, arguments):
        if event == "open" and "r" in (arguments[1] or "") and str(arguments[0]).startswith(f"{tmp_path}{os.sep}"):
            opened[os.path.relpath(arguments[0], tmp_path)] += 1

    def digests(texts):
        judged[tuple(texts)] += 1
        return of_texts(texts)

    def run(*command):
        opened.clear()
        judged.clear()
        ran(*command)
        mine = {name: times for name, times in opened.items() if "release" not in name}
        assert set(mine.values()) <= {1}, mine
        assert set(judged.values()) <= {1}, judged
        assert judged or command[1] not in ("pack", "votes", "release", "status")
        return mine.keys()

    sys.addaudithook(note)
    monkeypatch.setattr(items, "digests", digests)
    models = ("--model", "openai/gpt-4o", "--model", "openai/gpt-4o-mini")
    run("build", "init", root)
    for _ in range(2):
        run("build", "pilot", root, "--people", 2, *models)
    for _ in range(2):
        run("build", "texts", root, *models)
    run("build", "training", root, "--benchmark", "sample")
    for form in FORMATS:
        run("annotate", "pack", root, "--format", form)
    sent = sent_by(folder, 6, tmp_path)
    assert {path.name for path in sent} <= run("annotate", "votes", root, *sent)
    for command in (["build", "release", root], ["build", "status", root]):
        assert {f"build/{name}" for name in ("people.csv", "answers.jsonl", "votes.jsonl")} <= run(*command)
    (tmp_path / "pairs.csv").write_text("persona,question,chosen,rejected\nA cook,What now?,Soup,Fish\n", "utf-8")
    for _ in range(2):
        run("build", "init", imported, "--from", tmp_path / "pairs.csv")


STARTED = Settings(name="日本: x # y", language="zh", license="no", test=Fraction(1, 3))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('name = "no"\nlanguage = "no"\n', Settings(name="no", language="no")),
        ('\ufefftest = 0.5 # half\n', Settings(test=Fraction(1, 2))),
        ('test = "7/10"\n', Settings(test=Fraction(7, 10))),
        ("annotators = 1_0\nfaults = true", Settings(annotators=10, faults=True)),
        ("test = 0", Settings(test=Fraction(0))),
        ("", Settings()),
        (STARTED.as_toml(), STARTED),
    ],
)  # fmt: skip
def test_a_value_is_what_it_looks_like(text, expected, tmp_path):
    (tmp_path / "build.toml").write_text(text, encoding="utf-8")
    assert Settings.load(tmp_path / "build.toml") == expected


def test_a_file_that_cannot_be_read_is_not_called_invalid(tmp_path):
    with pytest.raises(DataError, match=r"^\S*build\.toml: could not be read"):
        Settings.load(tmp_path / "build.toml")


FORMULAS = ["=cmd|' /C calc'!A0", "+1+cmd|x", "-2+3", "@SUM(A1)", "-", "=", "+49 170 1234"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_and_it_is_read_as_it_was(text, tmp_path):
    folder = Build(tmp_path)
    rows = [Question(id="q", user_id=text, category="specific", question=text, reason=text)]
    folder.write(Question, rows)
    with folder.path(Question).open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert cells.count(f" {text}") == 3
    assert text not in cells
    assert folder.read(Question) == rows
