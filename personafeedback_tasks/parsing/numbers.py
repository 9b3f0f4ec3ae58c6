"""Read a judge's reply to "which of these numbers?": the numbers, NONE, or a named reason why there is no list."""

# A line that names its list (`Answer: 2, 5`) counts most: of several, all must agree. Without one, a reply whose every
# line begins with one number is a list of these; else one line alone may consist of a list. What is open to two
# readings is unreadable, and so is a range, a fraction, a list of what to leave out, or a reply that was cut off: its
# list may go on.

from __future__ import annotations

import re

from .answers import REASONS
from .verdicts import expression, reader, unmarked

NONE = "NONE"

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
    return " ?\n" if explains or any(map(expression("judged").search, lines)) else f" {', '.join(numbers)}\n"


def _canonical(match: re.Match[str]) -> str:
    # NONE, or the numbers in rising order; "" if what is said around them leaves them out.
    start, end = match.span("list" if match["list"] else "none")
    if expression("left_out").search(re.split(r"\d", match.string[:start])[-1] + match.string[end:]):
        return ""
    numbers = {int(number) for number in re.findall(r"\d+", match["list"] or "")}
    return " ".join(map(str, sorted(numbers))) or NONE


read_numbers = reader(_listed, ("list_named", "list_leads", "list_follows"), _canonical, explicit=0)
"""The numbers, each once and with a space between them: `2 5`; whether what they number exists is not known here."""


def among(answer: str, count: int) -> set[int] | None:
    """The numbers of an answer, from 1 to `count`; None where none were read or one is out of range."""
    numbers = set() if answer in (NONE, *REASONS) else set(map(int, answer.split()))
    return numbers if answer not in REASONS and numbers <= set(range(1, count + 1)) else None
