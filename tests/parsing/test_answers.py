"""What a judge's reply is read as: row by row, on all labelled replies at hand, and with the letters exchanged."""

from __future__ import annotations

import json
import os
import re
from itertools import product
from pathlib import Path

import pytest

from personafeedback_tasks.parsing import vocabulary
from personafeedback_tasks.parsing.answers import LETTERS, REASONS, excerpt, read_last_line, read_reply
from personafeedback_tasks.personafeedback.prompts import WORDINGS

NONE, CUT, _, _, INVALID, *_ = REASONS

HERE = Path(__file__).parent


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _read(row: dict, reply: str | None = None) -> str:
    read = read_last_line if row["method"] == "cot" else read_reply
    return read(row["reply"] if reply is None else reply)


FORMS = [row for row in _rows(HERE / "forms.jsonl") if row["method"] in ("generate", "cot")]


@pytest.mark.parametrize("group", dict.fromkeys(row["group"] for row in FORMS))
def test_forms_of_an_answer(group: str) -> None:
    rows = [row for row in FORMS if row["group"] == group]
    assert [(row["reply"], _read(row)) for row in rows] == [(row["reply"], row["answer"]) for row in rows]


# --- a reply that its token limit cut off ------------------------------------------------------------------------------
@pytest.mark.parametrize(("reply", "expected"), [
    ("B", "B"), ("Answer: B", "B"), ("B\n\nResponse B speaks of jazz, and the user", "B"), ("\\boxed{B}\n\nIt", "B"),
    ('{"answer": "B", "reason": "it speaks', "B"), ("The better response is B. It", CUT), ("B is better. It", CUT),
    ("So the answer is B", CUT), ("I see.\nThe answer is B.\nIt", CUT), ("Hm.\n**Final answer:** B\n\nIt", "B"), ("Hm.\n答案：B\n因为", "B"), ("B because it", CUT),
    ("So \\boxed{B} because", "B"), ("Response B\nIt is", CUT), ("Answer: B. Wait, maybe", CUT),
    ("1. Helpfulness: Response A is better.\n2. Personalization: The user is an introvert who", CUT),
    ("I'd go with B. The user", CUT), ("The user is an introvert who", CUT), ("", NONE), ("<think>B", CUT),
])  # fmt: skip
def test_a_truncated_reply_is_read_only_where_the_answer_is_named(reply: str, expected: str) -> None:
    assert read_reply(reply, truncated=True) == expected


def test_the_last_line_of_a_truncated_reply_is_never_read() -> None:
    assert {read_last_line(reply, truncated=True) for reply in ("B", "Short is best.\nAnswer: B", "", "Short")} == {CUT}


LISTS = [
    "Response A: 8\nResponse B: 3", "A) 8/10\nB) 3/10", "**A:** 8/10\n**B:** 3/10", "### Response A: 8/10\n### Response B: 3/10", "A - 4 stars\nB - 2 stars", "A = 8\nB = 3",
    "A：8分\nB：3分", "| A | 8 |\n| B | 3 |", "[\n{\"model\": \"A\",\n\"rank\": 1},\n{\"model\": \"B\",\n\"rank\": 2}\n]", "Ranking:\n1. A\n2. B", "1) Response A\n2) Response B",
    "排名：\n1. A\n2. B", "First place: A\nSecond place: B", "#1: A\n#2: B", "Best: A\nSecond best: B", "Answer: A\nB: rejected, it guesses.", "答案：A\nB：太长，不考虑。",
    "- Response A: fits\n- Response B: mentions fish", "Errors:\nA: 3\nB: 1", "扣分：\nA：3\nB：1", "A: 3 errors\nB: 1 error", "Tone: A\nFit: B", "Answer: A\nAnswer: B", "Answer: A\nB", "A\nB",
]  # fmt: skip


@pytest.mark.parametrize("reply", LISTS)
def test_the_last_item_of_a_list_is_no_verdict(reply: str) -> None:
    for text in (reply, reply.translate(str.maketrans("AB", "BA"))):
        assert read_last_line(f"She keeps to what she said.\n\n{text}") == INVALID


# --- all labelled replies ------------------------------------------------------------------------------------------------
SHARED = os.environ.get("PERSONAFEEDBACK_REPLIES", "")
ELSEWHERE = sorted(Path(SHARED).glob("*.jsonl")) if SHARED else []
OF_LETTERS = [path for path in sorted(HERE.glob("*.jsonl")) if not path.stem.startswith(("readers", "forms"))]
OURS = [path.stem for path in OF_LETTERS]
LISTED = [("written5", "cot"), ("written6", "cot")]
"""Sets that were written to end in lists, which no public log of a judge does: these are unreadable."""
SETS = {path.stem: path for path in [*OF_LETTERS, *ELSEWHERE]}


def figures(rows: list[dict]) -> dict[str, int]:
    """How many replies are readable and read, read as the wrong letter, and read though no letter may be read."""
    found = [(row["read"], letter if (letter := _read(row)) in LETTERS else None) for row in rows]
    return {
        "replies": len(rows),
        "readable": sum(label is not None for label, _ in found),
        "read": sum(label == letter for label, letter in found if label),
        "wrong": sum(label != letter for label, letter in found if label and letter),
        "over": sum(letter is not None for label, letter in found if not label),
    }


def _kind(row: dict) -> str:
    """Natural replies in English and Chinese, where most must be read, apart from those in other languages."""
    if row["group"] in ("adversarial", "cot") or row["method"] == "cot":
        return "cot" if row["method"] == "cot" else "adversarial"
    return "natural" if row.get("language", "en")[:2] in ("en", "zh") else "other"


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", ["natural", "other", "cot", "adversarial"])
def test_labelled_replies(name: str, kind: str) -> None:
    """The promise; CONTRIBUTING.md has the figures of the replies that were read before anybody looked at them."""
    rows = [row for row in _rows(SETS[name]) if _kind(row) == kind]
    if not rows:
        pytest.skip(f"{name} has no {kind} replies")
    found = figures(rows)
    print(name, kind, found)
    if kind == "adversarial":
        assert found["wrong"] <= 0.01 * len(rows)
        assert found["over"] <= 0.02 * len(rows)
    elif kind == "other":
        assert (found["wrong"], found["over"]) == (0, 0)
    else:
        assert found["wrong"] == 0
        assert found["over"] <= 0.01 * len(rows) + (kind == "cot")
        if (name, kind) not in LISTED:
            assert found["read"] >= 0.92 * found["readable"]


@pytest.mark.skipif(not ELSEWHERE, reason="PERSONAFEEDBACK_REPLIES names no folder of labelled replies")
def test_labelled_replies_kept_elsewhere_are_never_read_wrong() -> None:
    """The promise on all of them together. An answer above the last line of a cot reply may differ."""
    rows = [row for path in ELSEWHERE for row in _rows(path)]
    found = {kind: figures([row for row in rows if _kind(row) == kind]) for kind in ("natural", "other", "cot", "adversarial")}
    print(found)
    assert [(counts["wrong"], counts["over"]) for counts in found.values()] == 4 * [(0, 0)]
    for kind in ("natural", "cot"):
        assert found[kind]["read"] >= 0.95 * found[kind]["readable"], kind


# --- neither letter is favoured -------------------------------------------------------------------------------------------
CAPITAL = re.compile(r"(?:(?<![A-Za-z0-9])|(?<=assistantfinal))(?<!\\u00)[ABＡＢ](?![A-Za-z0-9\u0300-\u036f])")
EXCHANGED = dict(zip("ABＡＢ", "BAＢＡ", strict=True))
OTHER = {"A": "B", "B": "A"}


@pytest.mark.parametrize("name", SETS)
def test_a_reply_about_the_other_letter_is_read_as_the_other_letter(name: str) -> None:
    """Left out: replies whose letter is a small one or an ordinal, which stays as it is."""
    for row in _rows(SETS[name]):
        exchanged = CAPITAL.sub(lambda letter: EXCHANGED[letter[0]], row["reply"])
        if exchanged != row["reply"] and not re.search(r": [ab]$|first|second|former|latter", row["reply"]):
            read = _read(row)
            assert _read(row, exchanged) == OTHER.get(read, read), row["reply"]


def test_a_label_in_angle_brackets_is_one_for_either_letter() -> None:
    assert [read_reply(reply) for reply in ("<A>", "<B>", "<b>A</b>", "<b>B</b>", "<B>A</B>", "<A>B</A>")] == [*"ABABAB"]


# --- the vocabulary --------------------------------------------------------------------------------------------------------
def test_a_word_is_in_one_class() -> None:
    words = [word for words in vocabulary.VOCABULARY.values() for word in words]
    assert sorted({word for word in words if words.count(word) > 1}) == []


NOUNS = {"en": ("response", "draft"), "zh": ("回答", "草稿")}
"""What the wordings call what is compared."""


@pytest.mark.parametrize("version", WORDINGS)
@pytest.mark.parametrize("language", NOUNS)
def test_the_nouns_of_every_wording_name_a_response(version: str, language: str) -> None:
    wording = WORDINGS[version][language]
    asked = f"{wording.with_persona} {wording.ask}".lower()
    used = [noun for noun in NOUNS[language] if noun in asked]
    assert used
    for noun, letter in product(used, LETTERS):
        answer = "Answer: " if language == "en" else "答案："
        joint = "" if language == "zh" else " "
        for reply in (f"{noun} {letter}", f"{noun.title()} {letter}", f"{answer}{noun} {letter}", f"{noun}{joint}{letter}"):
            assert read_reply(reply) == letter, reply
            assert read_last_line(f"x\n{reply}") == letter, reply


def test_an_excerpt_is_one_line_with_the_beginning_and_the_end() -> None:
    assert (excerpt(" A\n\n or\tB "), excerpt("x" * 160)) == ("A or B", "x" * 160)
    assert re.fullmatch("Begin x+ … x+ end", found := excerpt("Begin " + "x" * 10_000 + " end"))
    assert len(found) == 160
