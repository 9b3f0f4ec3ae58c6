"""What annotators send back is the same votes, whatever its name and its tool; other files are one clear error."""

from __future__ import annotations

import json

import pytest

from personafeedback_tasks.annotation.ingest import SentVote, read_votes


def label_studio(vote, cancelled=False, note=""):
    results = [{"from_name": "vote", "value": {"choices": vote}}] if vote else []
    notes = [{"from_name": "note", "value": {"text": [note]}}] if note else []
    return {"result": [*notes, *results], "completed_by": 7, "was_cancelled": cancelled}


TASKS = [
    {"data": {"item": "i1"}, "annotations": [label_studio(["A"], note="odd")]},
    {"data": {"item": "i2"}, "annotations": [label_studio(["1", "3"]), label_studio(["A"], cancelled=True)]},
    {"data": {"item": "i3"}, "annotations": [label_studio([])]},
]
TABLE = "item,vote,note,at\ni1,A,odd,2026-01-02\ni2,1 3,,\ni3,,,\n"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("written", "votes"),
    [
        (json.dumps(TASKS), [("i1", "A", "odd"), ("i2", "1 3", "")]),
        (TABLE, [("i1", "A", "odd"), ("i2", "1 3", "")]),
        ("item,vote\ni1,A\n", [("i1", "A", "")]),
        ("[]", []),
    ],
)
def test_content_decides_the_format_and_an_item_without_a_vote_is_skipped(written, votes, mark, tmp_path):
    path = tmp_path / "renamed.data"
    path.write_text(mark + written, encoding="utf-8")
    assert [(one.item, one.answer, one.note) for one in read_votes(path)] == votes


def test_a_table_says_when(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(TABLE, encoding="utf-8")
    first, second = read_votes(path)
    assert first == SentVote(where=f"{path}, line 2", item="i1", answer="A", note="odd", at="2026-01-02")
    assert second == SentVote(where=f"{path}, line 3", item="i2", answer="1 3")
