"""Files that go out to annotators and come back: the page's own words, and votes whatever a file's name and tool."""

from __future__ import annotations

import json
import re

import pytest

from personafeedback_tasks.annotation.ingest import read_votes
from personafeedback_tasks.annotation.items import Item
from personafeedback_tasks.annotation.pack_files import Pack, as_html, page_words
from personafeedback_tasks.building.votes import GUIDELINES


def test_a_page_is_in_one_language_also_for_a_screen_reader():
    english, chinese = page_words("en"), page_words("zh")
    assert english.keys() == chinese.keys()
    assert english["reasons"].keys() == chinese["reasons"].keys()
    assert page_words("fr") == english != chinese
    item = Item(id="i1", texts={"question": "What should I cook?"}, options={"a": "Noodles.", "b": "Rice."})
    for language, words in (("en", english), ("zh", chinese)):
        pack = Pack(annotator="annotator-1", items=(item,), guideline=GUIDELINES[language])
        (progress,) = re.findall(r'<progress [^>]*aria-label="([^"]*)"', as_html(pack)["annotator-1.html"])
        assert progress == words["items"]


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
