"""Read a judge's reply to "which of these numbers?": the numbers, NONE, or a named reason why there is no list."""

# A line that names its list (`Answer: 2, 5`) counts most: of several, all must agree. Without one, a reply whose every
# line begins with one number is a list of these; else one line alone may consist of a list. What is open to two
# readings is unreadable, and so is a range, a fraction, a list of what to leave out, or a reply that was cut off: its
# list may go on.

from __future__ import annotations

import re

from .answers import REASONS
from .verdicts import LEAD, named, reader, unmarked

NONE = "NONE"

_NUMBER = r"#?\d{1,4}(?!\w|,\d{3}(?!\d)|[ ]\(\d)"
_LIST = rf"{_NUMBER}(?:(?:[\s,;、&\"'()\[\]]{{1,5}}(?:(?:and|und)[ ])?){_NUMBER})*"
_NOTHING = (
    r"none(?:[ ](?:of[ ](?:them|these|those|the[ ]\w+)(?:[ ](?:is|are)[ ](?:relevant|needed|useful)|[ ]matters?)?|(?:is|are)[ ]relevant))?"
    r"|no[ ]numbers?|nothing|(?:an[ ])?empty(?:[ ]list)?|\[[ ]?\]|\{[ ]?\}|无|没有"
)
_EITHER = (
    rf"[\s\[({{\"']{{0,4}}(?:(?P<list>{_LIST})|(?P<none>{_NOTHING}))[\s\])}}\"'.!。]{{0,4}}(?:\([^()\d]{{1,80}}\)\.?)?$"
)
_PATTERNS = [
    named("relevant(?:[ ]ones)?|selected|selection") + _EITHER,
    rf"^(?:{named('numbers?|list|items|facts|things|attributes|pieces|编号|内容')}|{LEAD}){_EITHER}",
    rf"(?<!relevant)[:.–—][ ]?(?:(?:no|only),?[ ]){{0,2}}{_EITHER}",
]
_LEFT_OUT = re.compile(
    r"\b(?:drop|exclu|remov|ignor|skip|irrelevan|apart|perhaps|maybe|least|unlikely|(?:out|not?)\b)|n't\b", re.I
)
_VERDICT = re.compile(
    r"\d[.):\]\s–—-]*(?:yes|no|(?:not[ ]|ir)?relevant|true|false|maybe)(?:[ ](?:because|since)\b|[ ]?[.,;:!(–—-]|$)"
    r"|[:(–—-][ ]?(?:yes|no|(?:not[ ]|ir)?relevant|true|false|maybe)[\s.)]*$|\d[ ]?[:(–—-][ ]?\d",
    re.I,
)
"""A line that judges one number (`2. NO`, `2. Has a knee: relevant`, `2: 0.9`) lists it whatever it says of it."""
_ITEM = r"[(\[#]?(\d{1,4})(?:[.):\]]+(?=[ ][^(\[]|$)|[ ]?[:–—-](?=[ ])|$).*"
_ITEMS = re.compile(rf"\A(?:{_ITEM}(?:\n|\Z))+\Z|(?<=:)\n(?:{_ITEM}(?:\n|\Z))+", re.M)


def _listed(text: str) -> str:
    # A text as it is read: one number a line, in the whole reply or after a colon, is a list in one line.
    return _ITEMS.sub(_in_one_line, "\n".join(line for line in map(str.strip, unmarked(text).splitlines()) if line))


def _in_one_line(items: re.Match[str]) -> str:
    # The numbers of lines; none if one of them is judged, or if they are sentences from 1 on, which may explain.
    lines = items[0].split("\n")
    numbers = re.findall(rf"^{_ITEM}", items[0], re.M)
    explains = numbers == [str(at) for at, line in enumerate(lines, start=1) if re.search(r"[^\W\d]\.$", line)]
    return " ?\n" if explains or any(map(_VERDICT.search, lines)) else f" {', '.join(numbers)}\n"


def _canonical(match: re.Match[str]) -> str:
    # NONE, or the numbers in rising order; "" if what is said around them leaves them out.
    start, end = match.span("list" if match["list"] else "none")
    if _LEFT_OUT.search(re.split(r"\d", match.string[:start])[-1] + match.string[end:]):
        return ""
    numbers = {int(number) for number in re.findall(r"\d+", match["list"] or "")}
    return " ".join(map(str, sorted(numbers))) or NONE


read_numbers = reader(_listed, _PATTERNS, _canonical, explicit=0)
"""The numbers, each once and with a space between them: `2 5`; whether what they number exists is not known here."""


def among(answer: str, count: int) -> set[int] | None:
    """The numbers of an answer, from 1 to `count`; None where none were read or one is out of range."""
    numbers = set() if answer in (NONE, *REASONS) else set(map(int, answer.split()))
    return numbers if answer not in REASONS and numbers <= set(range(1, count + 1)) else None
