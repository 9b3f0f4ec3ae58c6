"""Read a reply that chooses one of several letters: the letter, or a named reason why there is none."""

# Of two letters a rejected one declares the other, and their reader knows much more English and Chinese (`answers`).
# With more, a line that says nothing but a letter, or one that names its answer (`Answer: C`), counts most: of several,
# all must agree. Without one, a sentence that begins by choosing a letter (`I would pick C.`) or calls one the best
# counts, and no later one may name another. What is open to two readings is unreadable. All letters are read alike, and
# a small one only where an answer is named or alone.

from __future__ import annotations

import re
from collections.abc import Callable

from . import answers
from .answers import LETTERS, ends_list, last_lines, why_not
from .markup import NEXT_TURN, after_thinking
from .verdicts import LEAD, named, reader, unmarked

Reader = Callable[[str, bool], str]
"""(reply, whether its token limit cut it off) -> a letter, or an element of `answers.REASONS`."""

_TEX = re.compile(r"\$+|\\text[a-z]{0,3}[ ]?\{([^{}\n]{0,40})\}")
_NOUN = r"(?:the[ ])?(?:(?:option|response|answer|choice|candidate|letter|number)[ ]?(?:letter[ ])?)?"
_OPENS = r"[\s\[({<\"'“‘]{0,4}"
_CLOSES = r"[\])}>\"'”’]{0,4}"
_ENDS = rf"{_CLOSES}(?=[^\w\n]{{0,3}}$|[.,;:!(。–—][\s\"')]|[ ][-–—(]|[ ](?:because|since|as[ ]it|as[ ]this)\b)(?![ ]*,[ ]but\b)"
_CHOOSES = r"I(?:'d|'ll|[ ]would|[ ]will)?[ ](?:definitely[ ])?(?:choose|pick|select|prefer|recommend|go[ ]with|opt[ ]for|vote[ ]for)[ ]"
_BEST = (
    r"[ ](?:is|would[ ]be)[ ](?:(?:clearly|definitely|by[ ]far|overall|the)[ ]){0,3}(?:best|right|correct|most[ ](?:suitable|appropriate|fitting))"
    r"(?:[ ](?:option|response|answer|choice|fit|match|one))?(?:[ ](?:for|suited[ ]to)[ ](?:this[ ]user|the[ ]user|this[ ]person|me|you|them))?"
)


def readers(letters: tuple[str, ...]) -> tuple[Reader, Reader]:
    """(the reader of replies, the reader of replies that reason first and end with one line) for these letters."""
    if letters == LETTERS:
        return answers.read_reply, answers.read_last_line
    named, chosen, leading, contradicting = _patterns(letters)
    of_text = _reader(letters, [named, chosen, leading, contradicting])
    of_line = _reader(letters, [named, chosen, contradicting])  # "D: too expensive" may be the last line of a list

    def read(reply: str, truncated: bool = False) -> str:
        letter = of_text(reply, truncated)
        if not truncated or re.search(
            rf"(?:^|[:{{⟦])[^\w\n]*{_NOUN}{letter}\b", after_thinking(reply) or "", re.M | re.I
        ):
            return letter
        return letter if letter == "no_response" else "truncated"  # "so the answer is C" may be a thought on the way

    def read_last_line(reply: str, truncated: bool = False) -> str:
        text = None if truncated else after_thinking(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        above, last = last_lines(text)
        return why_not(last) if ends_list(above, last, letters) else of_line(last, False)

    return read, read_last_line


def _patterns(letters: tuple[str, ...]) -> list[str]:
    # What says a letter: named or alone, chosen or called the best, first in a sentence; and what may only contradict.
    either = f"[{letters[0]}-{letters[-1]}]"
    letter = rf"(?P<letter>{either})(?![\w'’])"
    capital = rf"{_NOUN}{_OPENS}(?-i:{letter})"
    names = named(
        "letter|option|ans|final|(?:best|better)[ ](?:option|response|choice|answer)|(?:chosen|selected|preferred|correct)[ ](?:option|response|answer)"
    )
    best = rf"(?={_BEST}(?:[^\w\n]{{0,3}}$|[.,;:!][ ]|[ ](?:because|since)\b))"
    return [
        rf"(?:^[^\w?]*(?={_NOUN}{_OPENS}{either}{_CLOSES}[^\w?]*$)|{names}[^\w?]{{0,4}}(?={_NOUN}{_OPENS}{either}{_ENDS})){_NOUN}{_OPENS}{letter}",
        rf"(?:(?:{LEAD}|,[ ]){_CHOOSES}(?={capital.replace('?P<letter>', '')}(?:{_ENDS}|[ ]over\b))"
        rf"|{LEAD}(?:I[ ](?:think|believe)[ ](?:that[ ])?)?(?={capital.replace('?P<letter>', '')}{best})){capital}",
        rf"{LEAD}{capital}(?:{_ENDS}|[)\]][ ](?=\w))",
        rf"(?:(?:[:;,(]|\botherwise)[ ]{capital}{_ENDS}|{capital.replace('?P<letter>', '?P<better>')}[ ](?:is|fits|suits)[ ](?:\w+[ ]){{0,2}}(?:better|best)\b)",
    ]


def _reader(letters: tuple[str, ...], patterns: list[str]) -> Reader:
    either = f"[{letters[0]}-{letters[-1]}]"
    together = re.compile(rf"\b{either}\W{{0,4}}(?:(?:or|and|vs|to)\b\W{{0,4}}|[/|,&]\W{{0,3}}){either}\b")

    def clean(text: str) -> str:
        turn = NEXT_TURN.search(text)
        return together.sub("…", unmarked(_TEX.sub(r"\1", text[: turn.start()] if turn else text)))

    def label(match: re.Match[str]) -> str:
        return next(letter for letter in match.groupdict().values() if letter).upper()

    return reader(clean, patterns, label)
