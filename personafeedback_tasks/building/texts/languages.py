"""The language of a build: its name, how long a text is, and whether a text is in it (by script, and where scripts are shared, by py3langid)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from ...common.errors import require
from ...common.text import IDEOGRAPHS

_NAMED = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, bs Bosnian, ca Catalan, cs Czech, cy Welsh,
da Danish, de German, el Greek, en English, eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish,
gl Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, hy Armenian, id Indonesian, is Icelandic, it Italian, ja Japanese,
ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, ky Kyrgyz, lo Lao, lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam,
mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, ne Nepali, nl Dutch, no Norwegian, nb Norwegian, pa Punjabi, pl Polish,
pt Portuguese, ro Romanian, ru Russian, si Sinhala, sk Slovak, sl Slovenian, so Somali, sq Albanian, sr Serbian, sv Swedish, sw Swahili,
ta Tamil, te Telugu, th Thai, tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, zh 中文, zu Zulu
"""

_NAMES = dict(pair.split() for pair in _NAMED.split(","))
"""Code -> the name of a language in the language of the prompts that a build in it starts from: Chinese for Chinese, else English."""

CHARACTERS = {"zh": 1.65, "ja": 2.0}
"""Language whose texts are measured in characters -> how many of them say as much as an English word."""

_WORD = re.compile(rf"[{IDEOGRAPHS}\u3040-\u30ff]|(?:(?![{IDEOGRAPHS}\u3040-\u30ff])[^\W\d_]|['’\u0300-\u036f])+")


def name_of(language: str) -> str:
    """A language as a prompt calls it."""
    return _NAMES.get(language, f"the language with the code {language}")


def words(text: str) -> int:
    """The length of a text: a Chinese or Japanese character counts as one word."""
    return len(_WORD.findall(text))


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
    if 2 * sum(scripts[script] for script in _SCRIPTS.get(language, ("LATIN",))) < sum(scripts.values()):
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
