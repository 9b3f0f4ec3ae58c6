"""What annotators send back, whatever its name and its tool, is the same votes; and what is no such file is one clear error."""

from __future__ import annotations

import json

import pytest

from personafeedback_tasks.annotation.vote_files import SentVote, read_votes
from personafeedback_tasks.common.errors import DataError


def label_studio(vote, user=7, cancelled=False, note=""):
    results = [{"from_name": "vote", "value": {"choices": vote}}] if vote else []
    notes = [{"from_name": "note", "value": {"text": [note]}}] if note else []
    return {"result": [*notes, *results], "completed_by": user, "was_cancelled": cancelled}


TASKS = [
    {"data": {"item": "i1"}, "annotations": [label_studio(["A"], note="odd"), label_studio(["B"], {"email": "b@x.org"})]},
    {"data": {"item": "i2"}, "annotations": [label_studio(["1", "3"]), label_studio(["A"], cancelled=True)]},
    {"data": {"item": "i3"}, "annotations": [label_studio([])]},
]  # fmt: skip
TABLE = "item,vote,annotator,note,seconds,at,consent\ni1,A,ann,odd,12,2026-01-02,abc\ni2,1 3,,,,,\ni3,,,,,,\n"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("written", "votes"),
    [
        (json.dumps(TASKS), [("i1", "A", "7", "odd"), ("i1", "B", "b@x.org", ""), ("i2", "1 3", "7", "")]),
        (TABLE, [("i1", "A", "ann", "odd"), ("i2", "1 3", "", "")]),
        ("item,vote\ni1,A\n", [("i1", "A", "", "")]),
        ("[]", []),
    ],
)
def test_content_decides_the_format_and_an_item_without_a_vote_is_skipped(written, votes, mark, tmp_path):
    path = tmp_path / "renamed.data"
    path.write_text(mark + written, encoding="utf-8")
    assert [(one.item, one.answer, one.login, one.note) for one in read_votes(path)] == votes


def test_a_table_says_when_and_how_long_and_under_which_consent(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(TABLE, encoding="utf-8")
    first, second = read_votes(path)
    assert first == SentVote(
        where=f"{path}, line 2", item="i1", answer="A", login="ann", note="odd", seconds=12, at="2026-01-02", consent="abc"
    )  # fmt: skip
    assert second == SentVote(where=f"{path}, line 3", item="i2", answer="1 3")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"a": 1, "b": 2}', "found an object with a, b, expected a CSV with the columns item and vote"),
        ("{}", "found an object with no keys, expected"),
        ("[", "expected a CSV or a JSON export. Export it again"),
        ('[{"id": 1, "vote": "A"}]', "task 1: .*not as JSON-MIN"),
        ('[{"data": {"item": 1}, "annotations": []}]', "task 1: found data.item = 1, expected str"),
        ('[{"data": {"item": "i"}, "annotations": [{}]}]', r"task 1: found no annotations\[0\].result, expected one"),
        ("item,vote,seconds\ni1,A,-1\n", "line 2: found seconds = '-1', expected a whole number, or nothing"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_one_clear_error(written, said, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_votes(path)
