"""Whether a text mentions a user's name."""

from __future__ import annotations

import re
from functools import lru_cache

from ..common.text import IDEOGRAPHS, LATIN_LETTERS

_CHINESE_NAME = re.compile(f"[{IDEOGRAPHS}]{{2,}}")  # any text has a single character
_LATIN_NAME = re.compile(rf"[{LATIN_LETTERS}][{LATIN_LETTERS}'’. -]*")
_LONGEST_NAME = 100
"""Characters; those of the release have at most 8. A longer one would be too slow to search for."""
_TITLES = {"mr", "mrs", "ms", "miss", "dr", "prof"}


def says(name: str, text: str) -> bool:
    """Whether a text mentions a name.

    A Chinese name counts anywhere, a Latin one as whole words in its own upper and lower case (Will is no
    "will"), complete or by its first word. `李明 (Dr. Ming Li)` matches 李明, Ming Li and Ming. A name of more
    than 100 characters is not searched for.
    """
    return len(name) <= _LONGEST_NAME and _name(name).search(text) is not None


@lru_cache(maxsize=4096)
def _name(name: str) -> re.Pattern[str]:
    latin = []
    for part in _LATIN_NAME.findall(name):
        words = [word for word in part.split() if word.rstrip(".").lower() not in _TITLES]
        latin += [" ".join(words), *words[:1]]
    # No \b: Chinese characters are word characters too, and a Latin name may be between them without a space.
    patterns = [rf"(?<![{LATIN_LETTERS}]){re.escape(alias)}(?![{LATIN_LETTERS}])" for alias in latin if alias]
    return re.compile("|".join([*_CHINESE_NAME.findall(name), *patterns]) or r"(?!)")  # nothing matches the empty name
