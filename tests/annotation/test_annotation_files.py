"""Files that go out to annotators and come back: the page's own words, and votes whatever a file's name and tool."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from personafeedback_tasks.annotation.ingest import SentVote, read_votes
from personafeedback_tasks.annotation.items import Item
from personafeedback_tasks.annotation.pack_files import Pack, as_html, page_words
from personafeedback_tasks.building.votes import GUIDELINES


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_screen_reader_says_is_in_the_language_of_the_page(language):
    item = Item(id="i1", texts={"question": "What should I cook?"}, options={"a": "Noodles.", "b": "Rice."})
    pack = Pack(annotator="annotator-1", items=(item,), guideline=GUIDELINES[language])
    labels = {}

    class Labels(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if "aria-label" in dict(attrs):
                labels[tag] = dict(attrs)["aria-label"]

    Labels().feed(as_html(pack)["annotator-1.html"])
    assert labels["progress"] == page_words(language)["items"]


def test_both_languages_of_the_page_have_the_same_words():
    english, chinese = page_words("en"), page_words("zh")
    assert english.keys() == chinese.keys()
    assert english["reasons"].keys() == chinese["reasons"].keys()
    assert page_words("fr") == english != chinese


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
