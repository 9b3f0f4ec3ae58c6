"""Read every text that repeats a unit of up to four tokens, and print the slowest: no reply may hang a run.

    python benchmarks/linear_reading.py

The patterns of `declarations` match classes of words, so its tokens are one word of each class; those of `plain` match
marks. Each unit is repeated 40 times, which a pattern that backtracks exponentially would not finish, and each unit of
up to two tokens also 4,000 times. This takes several minutes on one core.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator

from personafeedback_tasks.replies import declarations, vocabulary
from personafeedback_tasks.replies.answers import read_reply

CLASSES = sorted({*vocabulary._CLASS.values(), "x", "O"})
MARKS = [*" \"'“「`*_~<>[]{}$#-|:.\\/()=,\n", "```", "</x>", "<x>", "<think>", '"a":', "\\boxed{", "1.", "A", "a"]


def units(tokens: list[str], length: int) -> Iterator[str]:
    """Each unit, but only one of its rotations: repeated, they are nearly the same text."""
    for unit in itertools.product(tokens, repeat=length):
        if unit == min(unit[at:] + unit[:at] for at in range(length)):
            yield "".join(unit)


def read_classes(line: str) -> None:
    reading = declarations._Reading()
    for sentence in re.findall(r"[^.?\n]*[.?\n]?", declarations._phrased(line)):
        reading.sentence(sentence)
    reading.result()


def slowest(tokens: list[str], read: Callable[[str], object]) -> None:
    for length, times in ((1, 4000), (2, 4000), (1, 40), (2, 40), (3, 40), (4, 40)):
        worst, at, count = 0.0, "", 0
        for unit in units(tokens, length):
            text = unit * times + "B"
            start = time.perf_counter()
            read(text)
            taken = time.perf_counter() - start
            count += 1
            if taken > worst:
                worst, at = taken, unit
        print(f"{count:,} units of {length} tokens, {times:,} times: {1000 * worst:.1f} ms at most, {at!r}", flush=True)


if __name__ == "__main__":
    print(f"{len(CLASSES)} classes of words")
    slowest(CLASSES, read_classes)
    print(f"{len(MARKS)} marks")
    slowest(MARKS, read_reply)
