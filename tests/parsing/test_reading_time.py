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

from personafeedback_tasks.parsing import vocabulary
from personafeedback_tasks.parsing.answers import read_last_line, read_reply
from personafeedback_tasks.parsing.numbers import read_numbers
from personafeedback_tasks.parsing.verdicts import read_accept, read_rating, read_yes_no

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "linear_reading.py"))

MARKS = "``` ~~ <x> </x> <think> [[ ]] \\boxed{ 1. 1:1a Jazz <|im_end|>"
ONE_OF_EACH = [
    *(min(words, key=len) for words in vocabulary.VOCABULARY.values()),
    *"AB.,:?()\n- \"'“「`*_>{}$|我的\u200b",
    *MARKS.split(),
]
"""A word of every class, every mark that the reader knows, and words that it does not know."""


def seconds(reply: str, read: Callable[[str], str] = read_reply) -> float:
    start = time.process_time()
    assert read(reply)
    return time.process_time() - start


def in_time(unit: str, times: int, read: Callable[[str], str] = read_reply, opening: str = "") -> bool:
    """Whether a unit that is repeated is read within a second or, on a slow machine, in a time that grows with the length.

    A repetition eight times as long takes 8 times the time where it is linear, and 64 times where it is quadratic.
    """
    if (took := seconds(f"{opening}{unit * times}B", read)) < (1 if len(unit) * times > 100_000 else 0.3):
        return True
    return took < 24 * min(seconds(f"{opening}{unit * (times // 8)}B", read) for _ in range(3))


PIECES = [
    *" \n.,;:!?()[]{}\"'`*_#/|-–—>=&$\\%？。、", "yes", "no", "accept", "12", "4", "rating", "Answer: 1", "none of the ", "or ", "so ",
    "items", "⟦", "</x>", "\\boxed{", "1. ", "1, ", "- ", "unless ", "if ", "actually ", "drop ", "I'd give it a ", " is", "是",
]  # fmt: skip


@pytest.mark.parametrize("read", [read_yes_no, read_accept, read_rating, read_numbers])
def test_the_readers_of_words_and_numbers(read: Callable[[str], str]) -> None:
    rng = random.Random(0)
    units = [*PIECES, *("".join(rng.choices(PIECES, k=rng.choice((2, 2, 3, 4)))) for _ in range(15))]
    for unit in units:
        opening = rng.choice(("", "Answer: ", "1", "yes"))
        assert in_time(unit, 16_000 // len(unit), read, opening), unit


UNITS = [*BENCHMARK["alphabet"](), *BENCHMARK["drawn"](300, seed=1)]
LOOPS = ["<!--", "->but B A=", "<!-", "B A", "~~", "[[", "if I ", "the A of "]


@pytest.mark.parametrize("unit", LOOPS)
def test_a_loop_of_a_hundred_thousand_characters_is_read_within_0_3_seconds(unit: str) -> None:
    """On a slow machine: within the time of four plain texts of that length."""
    length = BENCHMARK["LENGTH"]
    took = seconds((unit * length)[:length])
    assert took < 0.3 or took < 4 * seconds(("I like tea. " * length)[:length])


@pytest.mark.release
def test_units_of_the_characters_that_the_patterns_name() -> None:
    """Each token of the alphabet alone, and units of several: no mark of a pattern is forgotten."""
    length = BENCHMARK["LENGTH"]
    assert {"<!--", "~", "[[", "A "} <= {*UNITS}
    for unit in UNITS:
        text = (unit * length)[:length]
        assert (
            seconds(text) < 0.3 or min(seconds(text) for _ in range(3)) < 0.3 or in_time(unit, length // len(unit))
        ), unit


ACCENTS = "\u0323\u0300"  # which Unicode sorts


@pytest.mark.parametrize(
    "unit", [*a_part(ONE_OF_EACH, 10), ACCENTS, "I choose A. ", "A is better, but B. ", "“A”", '"answer": "B" ']
)
def test_a_megabyte(unit: str) -> None:
    for read in (read_reply, read_last_line):
        assert in_time(unit, 1_000_000 // len(unit), read)
