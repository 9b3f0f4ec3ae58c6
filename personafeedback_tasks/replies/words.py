"""Read a judge's reply to a question with two words for an answer, such as yes or no: its label, or a named reason why there is none.

A line that says nothing else, or one that names its answer, counts most: of several, all must agree. Without one, each clause
that begins with one of the words and ends there counts, and again all must agree. What is open to two readings is unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .answers import why_not
from .plain import plain, spoken

YES, NO = "YES", "NO"
ACCEPT, PROBLEMATIC = "ACCEPT", "PROBLEMATIC"


def word_reader(first: str, second: str, forms: str = "") -> Callable[[str, bool], str]:
    """The reader of replies that say one of two words.

    Args:
        first, second: the words, which are the labels.
        forms: further endings of the first word, as a regular expression: `ed|able`.
    """
    one, other = rf"{first}(?:{forms})?" if forms else first, second
    either = f"{one}|{other}"
    ends = (
        r"(?![ ]*,[ ]but\b)(?=[^\w\n?]{0,3}(?:[.,;:!\u2013\u2014]|-[ -]|$))"  # of the clause: not "no longer", "yes if"
    )
    between = r"\W{0,3}(?:\s*(?:or|and|/|\||vs\.?)\s*)\W{0,3}"
    both = re.compile(rf"\b(?:{one})\b{between}\b{other}\b|\b{other}\b{between}\b(?:{one})\b", re.I)  # in one breath
    names = re.compile(
        rf"^[^\w\n?]*(?P<alone>{either})[^\w\n?]*$"
        r"|\b(?:answer|verdict|decision|conclusion|note)(?:[ ]is|[ ]would[ ]be)?[ ]?[:=]?[^\w\n?]{0,4}"
        rf"(?P<named>{either}){ends}",
        re.I | re.M,
    )
    begins = re.compile(rf"(?:^|[.?!;:,][ ]+)[^\w\n.!?;:,]*(?P<said>{either}){ends}", re.I | re.M)

    def label(word: str) -> str:
        return second if word.upper() == second else first

    def read(reply: str, truncated: bool = False) -> str:
        text = spoken(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        said = both.sub("…", plain(text))  # the question repeated, or no answer
        named = {label(found["alone"] or found["named"]) for found in names.finditer(said)}
        labels = named or (set() if truncated else {label(found["said"]) for found in begins.finditer(said)})
        if len(labels) == 1:
            return labels.pop()
        return "truncated" if truncated else why_not(said)

    read.__doc__ = f"""{first}, {second}, or the element of `answers.REASONS` that says why the reply is neither.

    Args:
        reply: everything that the judge said.
        truncated: it was cut off by its token limit. Then only a line of its own, or an answer that is named, counts.
    """
    return read


read_yes_no = word_reader(YES, NO)
read_accept = word_reader(ACCEPT, PROBLEMATIC, "ed|able")
