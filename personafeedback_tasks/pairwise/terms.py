"""Text -> its terms, which baselines count and which tell near twins among the personas; and whether it says a name."""

from __future__ import annotations

import re
from functools import lru_cache

from ..common.text import IDEOGRAPHS, LATIN_LETTERS, neighbours

_WORD, _IDEOGRAPHS = re.compile(f"[{LATIN_LETTERS}]+"), re.compile(f"[{IDEOGRAPHS}]+")


def overlap_terms(text: str) -> frozenset[str]:
    """The distinct lower-cased Latin words of a text, and the pairs of neighboring Chinese characters."""
    lower = text.lower()
    return frozenset(_WORD.findall(lower)).union(*map(neighbours, _IDEOGRAPHS.findall(lower)))


# --- a user's name ----------------------------------------------------------------------------------------------------

_CHINESE_NAME = re.compile(f"[{IDEOGRAPHS}]{{2,}}")  # any text has a single character
_LATIN_NAME = re.compile(rf"[{LATIN_LETTERS}][{LATIN_LETTERS}'’. -]*")
_LONGEST_NAME = 100
"""Characters; those of the release have at most 8. A longer one would be too slow to search for."""
_TITLES = {"mr", "mrs", "ms", "miss", "dr", "prof"}


@lru_cache(maxsize=16_384)  # the cases of a question share responses
def says(name: str, text: str) -> bool:
    """Whether a text mentions a name: a Chinese one anywhere, a Latin one as whole words or by its first word."""
    # A Latin one counts in its own upper and lower case (Will is no "will"). `李明 (Dr. Ming Li)` matches 李明, Ming Li and
    # Ming. A name of more than 100 characters is not searched for.
    if len(name) > _LONGEST_NAME:
        return False
    aliases, pattern = _name(name)
    # Most texts have none of them, which takes a tenth of a search for the pattern to see.
    return any(alias in text for alias in aliases) and pattern.search(text) is not None


@lru_cache(maxsize=4096)
def _name(name: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    # (what a text that mentions the name must contain one of, what it must match)
    latin = []
    for part in _LATIN_NAME.findall(name):
        words = [word for word in part.split() if word.rstrip(".").lower() not in _TITLES]
        latin += [" ".join(words), *words[:1]]
    # No \b: Chinese characters are word characters too, and a Latin name may be between them without a space.
    chinese, latin = _CHINESE_NAME.findall(name), [alias for alias in latin if alias]
    patterns = [rf"(?<![{LATIN_LETTERS}]){re.escape(alias)}(?![{LATIN_LETTERS}])" for alias in latin]
    return (*chinese, *latin), re.compile("|".join([*chinese, *patterns]))
