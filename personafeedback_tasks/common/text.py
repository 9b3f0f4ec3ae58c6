"""Unicode's compatibility form (NFKC) of a text, in linear time: full-width letters are letters, accents are joined."""

from __future__ import annotations

import re
import unicodedata

_JOINER = "\u034f"  # the mark that Unicode puts between two runs of accents (UAX 15, stream-safe text)
_ACCENTS = re.compile(r"[^\w\s\x00-\x7f]{30}")
"""As many as Unicode lets a letter have; to sort a longer run takes the square of its length."""


def nfkc(text: str) -> str:
    """The form, with a mark (U+034F, which shows nothing) after every 30 accents of a longer run."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _ACCENTS.sub(rf"\g<0>{_JOINER}", text))
