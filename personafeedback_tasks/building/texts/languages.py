"""Whether a text is in the language of a build: by its script, and where scripts are shared, by py3langid."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

from ...common.errors import require

_SCRIPTS = {
    **dict.fromkeys(("zh",), ("CJK",)),
    **dict.fromkeys(("ja",), ("CJK", "HIRAGANA", "KATAKANA")),
    **dict.fromkeys(("ko",), ("HANGUL", "CJK")),
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "ky", "tg"), ("CYRILLIC",)),
    **dict.fromkeys(("sr", "kk", "mn", "uz", "az"), ("CYRILLIC", "LATIN")),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug", "sd"), ("ARABIC",)),
    **dict.fromkeys(("he", "yi"), ("HEBREW",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("DEVANAGARI",)),
    **{
        "el": ("GREEK",), "th": ("THAI",), "bn": ("BENGALI",), "as": ("BENGALI",), "ta": ("TAMIL",), "te": ("TELUGU",),
        "ml": ("MALAYALAM",), "kn": ("KANNADA",), "gu": ("GUJARATI",), "pa": ("GURMUKHI", "ARABIC"), "or": ("ORIYA",),
        "si": ("SINHALA",), "my": ("MYANMAR",), "km": ("KHMER",), "lo": ("LAO",), "bo": ("TIBETAN",), "ka": ("GEORGIAN",),
        "hy": ("ARMENIAN",), "am": ("ETHIOPIC",), "ti": ("ETHIOPIC",), "dv": ("THAANA",),
    },
}  # fmt: skip
"""Language -> the scripts that it is written in, as Unicode names letters; Latin for the others."""


_WORDS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
"""Scripts of which a character says about as much as a word."""

WORD = 5
"""Letters of a word."""

LEAST_LETTERS = 40
"""Of a text whose language is told by more than its script."""

MARGIN = 0.5
"""Log-likelihood for each letter by which another language is the better guess. Clear cases have 1 to 3; related languages, such as
Danish and Norwegian, and texts that mix two have less, and pass.
"""


def is_written_in(language: str, text: str) -> bool:
    """Whether a text is in a language, as far as it can be told; a text without letters is in any.

    At least half of it must be in the language's script. A Chinese answer may quote English: its characters weigh as much as words.
    Of a text of LEAST_LETTERS, no other language may be the better guess by MARGIN. Languages that py3langid has not are told by their
    script alone.

    Args:
        language: an ISO 639-1 code.

    Raises:
        ModuleNotFoundError: py3langid is not installed.
    """
    scripts: Counter[str] = Counter()
    for char in text:
        if char.isalpha():
            script = _script(char)
            scripts[script] += WORD if script in _WORDS else 1
    if 2 * sum(scripts[one] for one in _SCRIPTS.get(language, ("LATIN",))) < sum(scripts.values()):
        return False
    letters = sum(map(str.isalpha, text))
    return letters < LEAST_LETTERS or _margin(language, text) / letters < MARGIN


def _margin(language: str, text: str) -> float:
    """Log-likelihood of the best guess, minus that of a language: 0 for the best guess itself, or if the language is not known."""
    require("py3langid", extra="build")
    import py3langid

    guesses = py3langid.rank(text)
    scores = dict(guesses)
    return float(guesses[0][1] - scores.get(language, guesses[0][1]))


@lru_cache(maxsize=8192)
def _script(char: str) -> str:
    """The first word of a letter's name: LATIN, CYRILLIC, CJK; of full-width letters it is the second one."""
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "unnamed")
    return name.split(" ", 1)[0].split("-", 1)[0]
