"""The readers of ratings, numbers and words on labelled replies: none is read otherwise than a careful person reads it."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.parsing.numbers import read_numbers
from personafeedback_tasks.parsing.rating import read_rating
from personafeedback_tasks.parsing.words import read_accept, read_yes_no

READERS = {"yes_no": read_yes_no, "accept": read_accept, "rating": read_rating, "numbers": read_numbers}
FILES = sorted(Path(__file__).parent.glob("readers*.jsonl"))
ROWS = [json.loads(line) for file in FILES for line in file.read_text(encoding="utf-8").splitlines()]
PIECES = [
    *" \n.,;:!?()[]{}\"'`*_#/|-–—>=&$\\%？。、", "yes", "no", "accept", "12", "4", "rating", "Answer: 1", "none of the ", "or ", "so ",
    "items", "⟦", "</x>", "\\boxed{", "1. ", "1, ", "- ", "unless ", "if ", "actually ", "drop ", "I'd give it a ", " is", "是",
]  # fmt: skip


def test_none_of_the_labelled_replies_is_read_as_something_else():
    read = [(row, READERS[row["reader"]](row["reply"])) for row in ROWS]
    assert [(row, found) for row, found in read if found not in REASONS and found != row["read"]] == []


@pytest.mark.parametrize("reader", READERS)
def test_most_of_the_natural_ones_are_read(reader):
    labelled = [row for row in ROWS if row["reader"] == reader and row["group"] == "natural" and row["read"]]
    found = sum(READERS[reader](row["reply"]) == row["read"] for row in labelled)
    assert found >= 0.85 * len(labelled)
    assert len(labelled) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_a_long_reply_is_read_in_a_time_that_grows_with_its_length(reader):
    rng = random.Random(0)
    units = [*PIECES, *("".join(rng.choices(PIECES, k=rng.choice((2, 2, 3, 4)))) for _ in range(15))]
    for unit in units:
        seconds = {}
        for length in (2_000, 16_000):
            text = rng.choice(("", "Answer: ", "1", "yes")) + unit * (length // len(unit)) + "x"
            seconds[length] = min(timed(READERS[reader], text) for _ in range(2))
        assert seconds[16_000] < 0.3 or seconds[16_000] < 24 * seconds[2_000], (
            unit
        )  # 8 times if linear, 64 if quadratic


def timed(read, text):
    start = time.process_time()
    read(text)
    return time.process_time() - start
