"""The language of a build: its name, the length of a text, and whether a text is in it (by script and, for shared scripts, by py3langid)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from pathlib import Path

import yaml

from ...common.errors import require
from ...common.text import IDEOGRAPHS

_TABLES = yaml.safe_load(Path(__file__).with_name("languages.yaml").read_text(encoding="utf-8"))

CHARACTERS = {"zh": 1.65, "ja": 2.0}
"""Language whose texts are measured in characters -> how many of them say as much as an English word."""

_WORD = re.compile(rf"[{IDEOGRAPHS}\u3040-\u30ff]|(?:(?![{IDEOGRAPHS}\u3040-\u30ff])[^\W\d_]|['’\u0300-\u036f])+")


def name_of(language: str) -> str:
    """Name of a language in a prompt."""
    return str(_TABLES["names"].get(language, f"the language with the code {language}"))


def words(text: str) -> int:
    """Number of words; a Chinese or Japanese character counts as one."""
    return len(_WORD.findall(text))


_WORDS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
"""Scripts of which a character says about as much as a word."""

WORD = 5
"""Letters of a word."""

LEAST_LETTERS = 40
"""Letters from which a text's language is told by more than its script."""

MARGIN = 0.5
"""Log-likelihood for each letter by which another language is the better guess. Clear cases have 1 to 3; related languages, such as
Danish and Norwegian, and texts that mix two have less, and pass.
"""


def is_written_in(language: str, text: str) -> bool:
    """Whether a text is in a language, as far as it can be told; a text without letters is in any.

    At least half of it must be in the language's script. A Chinese answer may quote English: its characters weigh as much as words.
    For a text of LEAST_LETTERS, no other language may be the better guess by MARGIN. Languages unknown to py3langid are told by script alone.
    """
    scripts: Counter[str] = Counter()
    for char in text:
        if char.isalpha():
            script = _script(char)
            scripts[script] += WORD if script in _WORDS else 1
    if 2 * sum(scripts[script] for script in _TABLES["scripts"].get(language, ("LATIN",))) < sum(scripts.values()):
        return False
    letters = sum(map(str.isalpha, text))
    return letters < LEAST_LETTERS or _margin(language, text) / letters < MARGIN


def _margin(language: str, text: str) -> float:
    # Log-likelihood of the best guess minus that of the language; 0 for the best guess itself, or for an unknown language.
    require("py3langid", extra="build")
    import py3langid

    guesses = py3langid.rank(text)
    scores = dict(guesses)
    return float(guesses[0][1] - scores.get(language, guesses[0][1]))


@lru_cache(maxsize=8192)
def _script(char: str) -> str:
    # First word of a letter's Unicode name: LATIN, CYRILLIC, CJK.
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "unnamed")
    return name.split(" ", 1)[0].split("-", 1)[0]
