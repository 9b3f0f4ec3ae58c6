"""Read a judge's reply to "which of these numbers?": the numbers, NONE, or a named reason why there is no list.

A line that names its list (`Answer: 2, 5`) counts most: of several, all must agree. Without one, a reply whose every line begins
with one number is a list of these; else one line alone may consist of a list. What is open to two readings is unreadable, and so
is a range, a fraction or a reply that was cut off: its list may go on.
"""

from __future__ import annotations

import re

from .answers import why_not
from .plain import spoken

NONE = "NONE"

_MARKUP = re.compile(r"[*_`]+|^[ ]*[-•+][ ]+|^[ ]*```\w*$", re.M)
_NUMBER = r"#?\d{1,4}(?!\w)"
_LIST = rf"{_NUMBER}(?:(?:[\s,;&\"'()\[\]]+(?:and[ ])?){_NUMBER})*"
_NOTHING = (
    r"none(?:[ ](?:of[ ](?:them|these|those|the[ ]\w+)(?:[ ](?:is|are)[ ](?:relevant|needed|useful))?|(?:is|are)[ ]relevant))?"
    r"|no[ ]numbers?|nothing|(?:an[ ])?empty(?:[ ]list)?|\[\s*\]|\{\s*\}"
)
_EITHER = rf"(?P<list>{_LIST})|(?P<none>{_NOTHING})"
_OPEN, _CLOSE = r"[\s\[({\"']*", r"[\s\])}\"'.!]*"
_ALONE = re.compile(rf"{_OPEN}(?:{_EITHER}){_CLOSE}", re.I)
_NAMED = re.compile(
    r"(?:^[\s\[({\"']*|[.!?][ ])(?:(?:so|thus|therefore|hence|overall|the|my|final|most|correct|selected|relevant),?[ ])*"
    r"(?:answer|numbers?|relevant(?:[ ]ones)?|list|selection|items|facts|things|attributes)[\"')]{0,2}"
    rf"(?:[ ](?:is|are)\b[ ]?:?|[ ]?[:=]){_OPEN}(?:{_EITHER}){_CLOSE}",
    re.I,
)
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
_VERDICT = re.compile(
    r"\d[.):\]\s–—-]*(?:yes|no|(?:not[ ]|ir)?relevant|true|false|maybe)(?:[ ](?:because|since)\b|[ ]?[.,;:!(–—-]|$)"
    r"|[:(–—-][ ]?(?:yes|no|(?:not[ ]|ir)?relevant|true|false|maybe)[\s.)]*$",
    re.I,
)
"""A line that judges one number (`2. NO`, `2. Has a knee: relevant`) lists it whatever it says of it."""
_ITEM = re.compile(r"[(\[#]?(?P<number>\d{1,4})(?:[.):\]]+(?=[ ]|$)|[ ]?[:–—-](?=[ ])|$).*")


def read_numbers(reply: str, truncated: bool = False) -> str:
    """The numbers in rising order, each once, with a space between them: `2 5`; NONE; or the element of `answers.REASONS` that says why
    there is no list. Whether what they number exists is not known here.

    Args:
        reply: everything that the judge said.
        truncated: it was cut off by its token limit.
    """
    text = spoken(reply)
    if not text:
        return "truncated" if text is None else "no_response"
    if truncated:
        return "truncated"
    said = _MARKUP.sub("", text).replace("⟦", "answer:")  # what was in a tag or a box
    lines = [line for line in (line.strip() for line in said.splitlines()) if line]
    named = {_canonical(found) for found in map(_ending, lines) if found}
    alone = [_canonical(found) for found in map(_ALONE.fullmatch, lines) if found]
    numbered = [(line, _ITEM.fullmatch(line)) for line in lines]
    items = [found["number"] for _, found in numbered if found]
    if _THOUSANDS.search(said) or any(found and _VERDICT.search(line) for line, found in numbered):
        lists: set[str] = set()
    elif named:
        lists = named
    elif lines and len(items) == len(lines):
        lists = {_joined(items)}
    else:
        lists = set(alone) if len(alone) == 1 else set()
    return lists.pop() if len(lists) == 1 else why_not(text)


def _ending(line: str) -> re.Match[str] | None:
    """The list that a line names, if it ends with it."""
    return next((found for found in _NAMED.finditer(line) if found.end() == len(line)), None)


def _canonical(found: re.Match[str]) -> str:
    return NONE if found["none"] else _joined(re.findall(r"\d+", found["list"]))


def _joined(numbers: list[str]) -> str:
    return " ".join(map(str, sorted({int(number) for number in numbers})))
