"""A reply is read in linear time, whatever a model that loops may write: tried on repeated text, and by the patterns' form."""

from __future__ import annotations

import random
import runpy
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

from support.samples import a_part

from personafeedback_tasks.replies import declarations, plain, vocabulary
from personafeedback_tasks.replies.answers import LETTERS, REASONS, read_last_line, read_reply

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "linear_reading.py"))

ONE_OF_EACH = [
    *(min(words, key=len) for words in vocabulary.VOCABULARY.values()),
    *"AB.,:?()\n-",
    " ",
    '"',
    "'",
    "“",
    "「",
    "`",
    "```",
    "*",
    "_",
    "~~",
    ">",
    "<x>",
    "</x>",
    "<think>",
    "[[",
    "]]",
    "{",
    "}",
    '{"a":',
    "\\boxed{",
    "$",
    "1.",
    "1:1a",
    "Jazz",
    "我",
    "的",
    "# ",
    "- ",
    "|",
    "<|im_end|>",
    "\u200b",
]
"""A word of every class, every mark that the reader knows, and words that it does not know."""


def seconds(reply: str, read: Callable[[str], str] = read_reply) -> float:
    start = time.process_time()
    assert read(reply) in LETTERS + REASONS
    return time.process_time() - start


def in_time(unit: str, times: int, read: Callable[[str], str] = read_reply) -> bool:
    """Whether a unit that is repeated is read within a second or, on a slow machine, in a time that grows with the length.

    A repetition eight times as long takes 8 times the time where it is linear, and 64 times where it is quadratic.
    """
    if (took := seconds(unit * times + "B", read)) < 1:
        return True
    return took < 24 * min(seconds(unit * (times // 8) + "B", read) for _ in range(3))


@pytest.mark.release
@pytest.mark.tried("replies that repeat a unit of two tokens 40 and 4,000 times: read in time", len(ONE_OF_EACH) + 1)
@pytest.mark.parametrize("first", ONE_OF_EACH)
def test_every_two_tokens_over_and_over(first: str) -> None:
    for second in ONE_OF_EACH[ONE_OF_EACH.index(first) :]:  # repeated, "a b" and "b a" are the same text
        assert in_time(first + second, 40, read_last_line), (first, second)
        assert in_time(first + second, 4000), (first, second)


@pytest.mark.release
@pytest.mark.tried("replies that repeat a unit of three or four tokens: read in time", 2_000)
@pytest.mark.parametrize("joint", ["", " "])
def test_many_units_of_three_and_four_tokens_over_and_over(joint: str) -> None:
    draw = random.Random(0)
    for length in (3, 4) * 500:
        unit = joint.join(draw.choices(ONE_OF_EACH, k=length)) + joint
        assert in_time(unit, 40, read_last_line), unit
        assert in_time(unit, 4000 if length == 4 else 400), unit


UNITS = [*BENCHMARK["alphabet"](), *BENCHMARK["drawn"](300, seed=1)]
LOOPS = ["<!--", "->but B A=", "<!-", "B A", "~~", "[[", "if I ", "the A of "]


@pytest.mark.parametrize("unit", LOOPS)
def test_a_loop_of_a_hundred_thousand_characters_is_read_within_0_3_seconds(unit: str) -> None:
    """On a slow machine: within the time of four plain texts of that length."""
    length = BENCHMARK["LENGTH"]
    took = min(seconds((unit * length)[:length]) for _ in range(2))
    assert took < 0.3 or took < 4 * seconds(("I like tea. " * length)[:length])


@pytest.mark.release
@pytest.mark.tried("replies of 100,000 characters that repeat tokens of the patterns: read in time", len(UNITS))
def test_units_of_the_characters_that_the_patterns_name() -> None:
    """Each token of the alphabet alone, and units of several: no mark of a pattern is forgotten."""
    length = BENCHMARK["LENGTH"]
    assert {"<!--", "~", "[[", "A "} <= {*UNITS}
    for unit in UNITS:
        text = (unit * length)[:length]
        assert (
            seconds(text) < 0.3 or min(seconds(text) for _ in range(3)) < 0.3 or in_time(unit, length // len(unit))
        ), unit


@pytest.mark.tried("replies of a megabyte: read in time", 2)
@pytest.mark.parametrize(
    "unit",
    [
        *a_part(ONE_OF_EACH, 5),
        "我的",
        "\u0323\u0300",  # accents that Unicode sorts
        "A\n",
        "I choose A. ",
        "A is better, but B. ",
        '"A" ',
        "“A”",
        "(A) ",
        "<A>",
        '"answer": "B" ',
    ],
)
def test_a_megabyte(unit: str) -> None:
    for read in (read_reply, read_last_line):
        assert in_time(unit, 1_000_000 // len(unit), read)


OPENED_BY_A_MARK = {
    plain._PAIR.pattern: "a part of a string follows a backslash, which no part holds",
    plain._QUOTED[-1][1].pattern: "a part of a quotation follows an apostrophe, which no part holds",
    plain._BULLET.pattern: "each kind of bullet begins with a character of its own",
    plain.BEGINNING.pattern: "a token begins with <, which nothing else there holds",
    declarations._RUNS.pattern: "what repeats is the very character before it",
    vocabulary._TOKEN.pattern: "a part of a word follows a hyphen or an apostrophe, which no part holds",
}
"""The patterns in which a repetition holds more than one set of characters, and why each text is still split in one way only."""


def test_repetitions_are_of_one_set_of_characters() -> None:
    from re import _parser as parser  # type: ignore[attr-defined]

    def nested(parsed: object) -> bool:
        for operation, argument in parsed:  # type: ignore[attr-defined]
            name = str(operation)
            if name in ("MAX_REPEAT", "MIN_REPEAT"):
                _, most, item = argument
                single = len(item) == 1 and str(item[0][0]) in ("IN", "LITERAL", "NOT_LITERAL", "ANY")
                if (str(most) == "MAXREPEAT" and not single) or nested(item):
                    return True
            parts = {"SUBPATTERN": [-1], "BRANCH": [1], "ASSERT": [1], "ASSERT_NOT": [1]}.get(name, [])
            for part in (argument[place] for place in parts):
                if any(map(nested, part)) if name == "BRANCH" else nested(part):
                    return True
        return False

    patterns = BENCHMARK["patterns"](declarations, plain, vocabulary)
    assert len(patterns) > 60
    found = {pattern.pattern for pattern in patterns if nested(parser.parse(pattern.pattern, pattern.flags))}
    assert found == OPENED_BY_A_MARK.keys()
