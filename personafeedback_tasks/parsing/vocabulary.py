"""The words by which a judge decides: every word of a reply -> one character, its class.

The rule of `answers` speaks of classes alone. A word that is in no class is `x`, and a clause that holds one declares a
letter only where the word cannot limit it: a missing word costs a reading more often than it makes a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path

from ..common.text import nfkc, word_lists

VOCABULARY = word_lists(Path(__file__).with_name("vocabulary.txt"))
"""Class -> its words."""

GONE = "¤"
"""Stands in a plain text where something was that is not the judge's own word; a word that is in no class."""

_CLASS = {nfkc(word): kind for kind, words in VOCABULARY.items() for word in words}
_CLASS |= {"A": "A", "B": "B", "0": "0", "?": "?", ",": ",", ":": ":", "=": ":", "\n": "\n", "(": "(", ")": "(", "⟦": "Q", GONE: "x"}
_CLASS |= dict.fromkeys("✓✔✅☑√", "T") | dict.fromkeys("✗✘❌✖❎×☐", "F") | dict.fromkeys("—–-", "_") | dict.fromkeys(".!;。", ".")
_SIMPLIFIED = str.maketrans(
    "選擇適這應與為對較優勝贏結論總體綜終實際後個錯誤斷決獲確貼滿匹雖儘順從無兩隻覺認還說來項複復會",
    "选择适这应与为对较优胜赢结论总体综终实际后个错误断决获确贴满匹虽尽顺从无两只觉认还说来项复复会",
)
_TRADITIONAL = re.compile(f"[{''.join(map(chr, _SIMPLIFIED))}]")
_LATIN = "A-Za-z\u00aa-\u024f\u0300-\u1fff\u20d0-\u20ff"  # and what else is written with spaces between words


def _any_of(words: Iterable[str]) -> str:
    # A pattern of words, the longest first. Alternatives are tried in turn, so those of one first letter share one.
    by_first: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        by_first.setdefault(word[0], []).append(word[1:])
    return "|".join(f"[{first}{first.upper()}](?i:{'|'.join(rest)})" for first, rest in by_first.items())


_UNSPACED = [word for word in _CLASS if re.match(rf"[^\W\d_{_LATIN}]", word)]
_FIRSTS = "".join({word[0] for word in _UNSPACED})
_PHRASES = [word.replace("_", " ") for word in _CLASS if "_" in word[1:]]
_MARKS = "".join(re.escape(word) for word in _CLASS if len(word) == 1 and not word.isalnum() and word != "\n")
_TOKEN = (
    rf"(?<![\w'])(?:{_any_of(_PHRASES)})(?![\w'])|(?<![\w'])[AB](?='s\b)|(?<=[AB])'s\b|vs\.|e\.g\.|and/or|[AB][+-](?![\w ])|[{_LATIN}]+(?:['-][{_LATIN}]+(?:['-][{_LATIN}]+)*|)"
    rf"|(?=[{_FIRSTS}])(?:{_any_of(_UNSPACED)})|>>|<<|\w|[\n{_MARKS}]"
)


@cache  # compiled at the first reply
def _tokens() -> Callable[[str], list[str]]:
    return re.compile(_TOKEN).findall


def classes(text: str) -> str:
    """One character per word or mark of a text. A letter that is an article is `x`, one after an unknown word `O`."""
    if not text.isascii() and _TRADITIONAL.search(text):
        text = text.translate(_SIMPLIFIED)
    tokens = _tokens()(text)
    line = "".join(map(_class, tokens))
    kinds = list(line)
    line += "\n\n"
    for found in _TO_CHECK.finditer(line):
        at = found.start()
        if line[at] in "4ip":  # "for Lin", "if I were Lin,", "from Lin's perspective": the user's name
            kinds[at + 1] = "U" if re.match("[A-Z].*'s$" if line[at] == "p" else "[A-Z]", tokens[at + 1]) else "x"
        elif line[at] == "x":
            named = re.match("[A-Z].*[^s]$", tokens[at]) and re.fullmatch("would|will|is|.*s", tokens[at + 1])
            kinds[at] = "U" if named else "x"  # "Lin would choose"
        elif line[at - 1 : at] == "x" and tokens[at - 1] != GONE and line[at + 1] not in "&|":
            kinds[at] = "O"  # "plan B", "then B"
        elif tokens[at + 1 : at + 2] < ["\u2000"] and _BEFORE_NOUN.match(line, at + 1):  # "A better choice", and so B
            kinds[at] = "αβ"[line[at] == "B"]
    return "".join(kinds)


@lru_cache(2**16)
def _class(word: str) -> str:
    kind = _CLASS.get(word) or _CLASS.get(word.lower().replace(" ", "_"), "x")
    compared = _COMPARED.fullmatch(word) if kind == "x" else None
    return "g" if compared and _class(compared[1]) in "f5Eg" else kind


_COMPARED = re.compile("(?:better|best)-([a-z]+)", re.I)  # "better-suited", but not "better-written"
_TO_CHECK = re.compile("4(?=x)|i(?=x,)|p(?=xn)|x(?=i?n?c)|(?<![NdQpcf!6])[AB]")
_BEFORE_NOUN = re.compile("[xdUNcEkq12mM3]|[gw][xdNEU12gM]")
