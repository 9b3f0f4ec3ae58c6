"""What annotators send back is the same votes, whatever its name; other files are one clear error."""

from __future__ import annotations

import pytest

from personafeedback_tasks.annotation.ingest import SentVote, read_votes
from personafeedback_tasks.common.errors import DataError


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_says_what_and_when_and_an_item_without_a_vote_is_skipped(mark, tmp_path):
    path = tmp_path / "renamed.data"
    path.write_text(f"{mark}item,vote,note,at\ni1,A,odd,2026-01-02\ni2,1 3,,\ni3,,,\n", encoding="utf-8")
    assert read_votes(path) == [
        SentVote(where=f"{path}, line 2", item="i1", answer="A", note="odd", at="2026-01-02"),
        SentVote(where=f"{path}, line 3", item="i2", answer="1 3"),
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("item,vote\ni1,A\ni1,B\n", "found a second vote on the item 'i1', expected one of each person"),
        ('[{"id": 1, "vote": "A"}]', "expected one 'item'. Add it, or pass a CSV with a header"),
        ("item,choice\ni1,A\n", "expected one 'vote'"),
    ],
)
def test_what_is_no_such_file_is_one_clear_error(written, said, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_votes(path)
