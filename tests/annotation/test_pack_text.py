"""The text of an annotator's page, without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

pytest.importorskip("jinja2")

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
