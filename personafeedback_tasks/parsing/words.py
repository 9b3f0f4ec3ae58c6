"""Read a judge's reply to a question with two words for an answer: its label, or a named reason why there is none."""

# A line that says nothing else, or one that names its answer, counts most: of several, all must agree. Without one,
# each sentence that begins with one of the words counts if that ends its clause, and no later clause may say the other.
# What is open to two readings is unreadable.

from __future__ import annotations

import re
from collections.abc import Callable

from .plain import plain
from .verdicts import LEAD, named, reader

YES, NO = "YES", "NO"
ACCEPT, PROBLEMATIC = "ACCEPT", "PROBLEMATIC"


def word_reader(first: str, second: str, firsts: str, seconds: str) -> Callable[[str, bool], str]:
    """The reader of replies that say one of two words.

    Args:
        firsts, seconds: the words that say the first and the second, as regular expressions: `yes|ja`.
    """
    either = f"(?:{firsts}|{seconds})"
    word = rf"(?:(?P<first>{firsts})|{seconds})"
    ends = r"(?![ ]*,[ ]but\b)(?=[^\w\n?]{0,3}(?:[.,;:!(。\u2013\u2014]|-[ -]|$))"  # of the clause: not "no longer", "yes if"
    both = re.compile(rf"\b{either}\W{{0,4}}(?:(?:or|and|vs)\W{{0,4}}|[/|]\W{{0,3}}){either}\b", re.I)  # in one breath
    names = named("judge?ment|relevance|relevant|response|output|label|classification|note")
    patterns = [
        re.compile(rf"(?:^[^\w?]*(?={either}[^\w?]*$)|{names}[^\w?]{{0,4}}(?={either}{ends})){word}", re.I),
        re.compile(rf"{LEAD}[^\w.!?;:,]{{0,4}}{word}{ends}", re.I),
        re.compile(rf"(?:[:;,(]|\botherwise)[ ]{word}{ends}", re.I),
    ]
    return reader(lambda text: both.sub("…", plain(text)), patterns, lambda match: first if match["first"] else second)


read_yes_no = word_reader(YES, NO, "yes|ja|是的?", "no|nein|否|不是")
read_accept = word_reader(ACCEPT, PROBLEMATIC, "accept(?:ed|able)?|接受", "problematic")
