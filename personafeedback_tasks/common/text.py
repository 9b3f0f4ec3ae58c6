"""What every reader of texts shares: the letters of our languages, and Unicode's compatibility form in linear time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from operator import add
from pathlib import Path
from typing import Literal

IDEOGRAPHS = r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f"
"""Chinese characters, as the inside of a character class: `f"[{IDEOGRAPHS}]"`."""

LATIN_LETTERS = r"A-Za-z\u00c0-\u024f"
"""Letters of Latin script with and without accents, likewise."""

_JOINER = "\u034f"  # the mark that Unicode puts between two runs of accents (UAX 15, stream-safe text)
_ACCENTS = re.compile(r"[^\w\s\x00-\x7f]{30}")
"""As many as Unicode lets a letter have; to sort a longer run takes the square of its length."""


_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_LATIN_WORD = re.compile(f"[{LATIN_LETTERS}]+")


def language_of(text: str) -> str:
    """`zh` when Chinese characters outnumber Latin words, else `en`."""
    return "zh" if len(_IDEOGRAPH.findall(text)) > len(_LATIN_WORD.findall(text)) else "en"


def neighbours(run: str) -> Iterator[str]:
    """The pairs of neighboring characters: in place of words where a script does not separate them."""
    return map(add, run, run[1:])


def same_text(text: str) -> str:
    """Equal for texts that differ in case and white space alone."""
    return " ".join(text.split()).casefold()


def nfkc(text: str) -> str:
    """The compatibility form (NFKC): full-width letters are letters, accents are joined."""
    # With a mark (U+034F, which shows nothing) after every 30 accents of a longer run.
    return _normal("NFKC", text)


def nfc(text: str) -> str:
    """The composed form (NFC): the same letters are the same text. With marks as in `nfkc`."""
    return _normal("NFC", text)


def _normal(form: Literal["NFC", "NFKC"], text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize(form, _ACCENTS.sub(rf"\g<0>{_JOINER}", text))


def word_lists(path: Path) -> dict[str, list[str]]:
    """Name -> words, of a file whose lines have a name and words of it, or begin with `#`."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, *words = line.split()
            found.setdefault(name, []).extend(words)
    return found


def in_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line for each row, cells below each other; columns whose last cell is a number are aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = [cell.replace(",", "").isdigit() for cell in rows[-1]]
    for row in rows:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        yield "  ".join(cells).rstrip()
