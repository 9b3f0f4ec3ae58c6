"""What holds for every reply, not only for those that somebody thought of."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.parsing.answers import LETTERS, REASONS, read_last_line, read_reply

pytestmark = pytest.mark.slow

SETTINGS = settings(max_examples=300)
ORDINALS = ("first", "second", "former", "latter", "第一个", "第二个", "前者", "后者")
WORDS = """A B a b Ａ В Α response answer is better choose I not no, wait, both tie or and the if but
答案 选择 回答 更好 更适合 是 不 我 都 抱歉 无法 ``` [[ ]] \\boxed{ <think> </think> [THINK] <answer> </answer> \\u0041"""
MARKS = ":.,?\n *`\"'“”「」>(){}：，。\u200b\ue000\ue003\ue005\ud800"
PIECES = [*ORDINALS, *WORDS.split(), *MARKS, '{"choice": "', '"}', "I cannot"]
SCRAPS = st.lists(st.sampled_from(PIECES), max_size=25)
REPLIES = st.one_of(st.text(), SCRAPS.map("".join), SCRAPS.map(" ".join))


def _has_mark(text: str) -> bool:
    return re.search(f"[ab]|第[一二]|{'|'.join(ORDINALS)}", unicodedata.normalize("NFKC", text).lower()) is not None


@SETTINGS
@given(REPLIES)
def test_the_result_is_of_the_closed_set(reply: str) -> None:
    assert read_reply(reply) in LETTERS + REASONS


@SETTINGS
@given(SCRAPS.map("".join).filter(lambda text: "THINK" not in text.upper()), st.sampled_from(LETTERS))
def test_whatever_stands_above_the_last_line_it_is_read(above: str, letter: str) -> None:
    assert read_last_line(f"{above}\nAnswer: {letter}") == letter


@SETTINGS
@given(SCRAPS.map(lambda pieces: " ".join(piece for piece in pieces if not _has_mark(piece))) | st.text())
def test_no_letter_without_a_mark(text: str) -> None:
    unmarked = "".join(c for c in text if not _has_mark(c))
    for word in ORDINALS:
        unmarked = unmarked.replace(word, "")
    if not _has_mark(unmarked):
        assert read_reply(unmarked) not in LETTERS


DRESS = [("**", "**"), ("*", "*"), ("__", "__"), ("`", "`"), ("(", ")"), ("[", "]"), ("【", "】"), ("<b>", "</b>")]
DRESS += [(" ", " "), (" ", "."), ("\u200b", "")]


@SETTINGS
@given(
    st.sampled_from("ABabＡＢ"),
    st.lists(st.sampled_from(DRESS), max_size=4, unique=True),
)
def test_dress_does_not_change_a_letter(letter: str, layers: list[tuple[str, str]]) -> None:
    reply = letter
    for left, right in layers:
        reply = left + reply + right
    assert read_reply(reply) == unicodedata.normalize("NFKC", letter).upper(), reply


@SETTINGS
@given(REPLIES, st.text(), REPLIES.filter(lambda text: "THINK" not in text.upper()))
def test_open_thinking_is_truncated_and_closed_thinking_changes_nothing(before: str, thought: str, inside: str) -> None:
    assert read_reply(before + "<think>" + re.sub("[>＞]", "", thought)) == "truncated"
    assert read_reply(f"<think>{inside}</think>B") == read_reply(f"{inside}</think>B") == "B"


@SETTINGS
@given(REPLIES.filter(lambda text: not re.search("[\"＂“”THINKthink{}`‘’']", text)))
def test_quoted_text_does_not_steer(inside: str) -> None:
    """Longer quotations: a bare label in quotation marks is how some models give the answer."""
    assert read_reply(f'They wrote "so: {inside} - so" in the text.') in ("invalid_response_format", "refusal")
