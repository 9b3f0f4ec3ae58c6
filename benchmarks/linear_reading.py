"""Read texts that repeat a unit, and print the slowest: no reply may hang a run.

    python benchmarks/linear_reading.py

The patterns of `declarations` match classes of words, so its tokens are one word of each class; those of `markup` match
marks. Each unit is repeated 40 times, which a pattern that backtracks exponentially would not finish, and each unit of
up to two tokens also 4,000 times. This takes several minutes on one core.

Then units of up to six tokens are drawn from an alphabet that is taken from the compiled patterns themselves: every
character and every run of characters that one of them names, and a word of each class. They are repeated to 100,000
characters.
"""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Callable, Iterator
from re import _parser as parser  # type: ignore[attr-defined]

from personafeedback_tasks.parsing import answers, declarations, markup, vocabulary
from personafeedback_tasks.parsing.answers import read_reply

CLASSES = sorted({*vocabulary._CLASS.values(), "x", "O"})
MARKS = [*" \"'“「`*_~<>[]{}$#-|:.\\/()=,\n", "```", "</x>", "<x>", "<think>", '"a":', "\\boxed{", "1.", "A", "a"]


LENGTH = 100_000
"""Characters of a reply that must be read within 0.3 s."""


def patterns(*modules: object) -> list[re.Pattern[str]]:
    """Every compiled pattern of these modules, those in their tables included."""

    def inside(value: object) -> list[re.Pattern[str]]:
        if isinstance(value, re.Pattern):
            return [value]
        return [found for item in value for found in inside(item)] if isinstance(value, (list, tuple)) else []

    return [found for module in modules for value in vars(module).values() for found in inside(value)]


def literals(parsed: object) -> Iterator[str]:
    """Each character and each run of characters that a parsed pattern names."""
    run = ""
    for operation, argument in [*parsed, ("END", None)]:  # type: ignore[misc]
        name = str(operation)
        if name == "LITERAL":
            run += chr(argument)
            continue
        yield from {run, *run} - {""}
        run = ""
        if name == "IN":
            yield from (chr(value) for kind, value in argument if str(kind) == "LITERAL")
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from literals(branch)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "SUBPATTERN", "ASSERT", "ASSERT_NOT"):
            yield from literals(argument[-1])


def alphabet() -> list[str]:
    """The tokens of the patterns that read text, and a word of each class for those that read classes."""
    named = {
        token
        for pattern in patterns(answers, markup)
        for token in literals(parser.parse(pattern.pattern, pattern.flags))
    }
    return sorted(named | {f"{min(words, key=len)} " for words in vocabulary.VOCABULARY.values()} | {"A ", "B", "\n"})


def drawn(count: int, seed: int) -> Iterator[str]:
    """Units of up to six tokens of the alphabet."""
    draw, tokens = random.Random(seed), alphabet()
    for _ in range(count):
        yield "".join(draw.choices(tokens, k=draw.randint(1, 6)))


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
    print(f"{len(alphabet())} tokens of the patterns")
    took = {}
    for unit in drawn(5_000, seed=0):
        start = time.perf_counter()
        read_reply((unit * LENGTH)[:LENGTH])
        took[unit] = time.perf_counter() - start
    worst = max(took, key=lambda unit: took[unit])
    print(f"{len(took):,} units, {LENGTH:,} characters: {1000 * took[worst]:.1f} ms at most, {worst!r}")
