"""Why a text that a model wrote is refused: left-over tags, refusals, ends that are cut off, another language.

Checks of the form only. What a text says is for people to judge.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

from ..personafeedback.artifacts import ARTIFACTS
from ..replies.answers import why_not

EMPTY, CUT, REFUSAL, LANGUAGE = "empty", "cut_off", "refusal", "other_language"

MEANINGS = {
    EMPTY: "the model wrote nothing",
    CUT: "the text ends at the limit of its length",
    REFUSAL: "the model says that it cannot help",
    LANGUAGE: "most letters are of another script than the build's language has",
    **{name: meaning[0].lower() + meaning[1:].rstrip(".") for name, (meaning, _) in ARTIFACTS.items()},
}
"""Reason -> what was found."""

SHORT = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""

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


def fault(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a text: a key of MEANINGS; empty if there is none.

    Args:
        language: that it should be in. Only the script is looked at: German passes for English.
        cut: it ended at the limit of its length.
    """
    if not text.strip():
        return EMPTY
    if cut:
        return CUT
    for name, (_, found) in ARTIFACTS.items():
        if found(text):
            return name
    if len(text) <= SHORT and why_not(text) == "refusal":
        return REFUSAL
    return "" if is_written_in(language, text) else LANGUAGE


def is_written_in(language: str, text: str) -> bool:
    """Whether at least half of a text is in the language's script; a text without letters is in any language.

    A Chinese answer may quote English: its characters weigh as much as words.
    """
    scripts: Counter[str] = Counter()
    for char in text:
        if char.isalpha():
            script = _script(char)
            scripts[script] += WORD if script in _WORDS else 1
    return 2 * sum(scripts[one] for one in _SCRIPTS.get(language, ("LATIN",))) >= sum(scripts.values())


@lru_cache(maxsize=8192)
def _script(char: str) -> str:
    """The first word of a letter's name: LATIN, CYRILLIC, CJK; of full-width letters it is the second one."""
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "unnamed")
    return name.split(" ", 1)[0].split("-", 1)[0]
