"""Read a judge's reply on a scale of whole numbers: its rating, or a named reason why it has none.

A line that names its rating (`Rating: 4`) counts most, then a line that begins with a number of the scale and says what it means
(`4 - somewhat better`), or nothing else. Of several, all must agree. What is open to two readings is unreadable: `4 or 5`, and `4. B is
better`, which may be the fourth point of a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .answers import why_not
from .plain import spoken

_MARKUP = re.compile(r"[*_`]+|^[ ]*[-•+][ ]+", re.M)


def rating_reader(lowest: int, highest: int) -> Callable[[str, bool], str]:
    """The reader of replies that rate on the whole numbers from `lowest` to `highest`, which have one digit each."""
    number = (
        rf"(?P<number>[{lowest}-{highest}])(?:\.0)?(?:[ ]?(?:/|out[ ]of)[ ]?{highest})?"
        r"(?![\w/%]|[.,]\d|[ ]?(?:[-–,&]|or|to|and|vs\.?)[ ]?\d)"
    )
    named = re.compile(
        rf"\b(?:rating|score|answer|verdict|choice|grade)[\"')]{{0,2}}(?:[ ](?:is|of|would[ ]be)\b|[ ]?[:=])[\s\[({{\"']*{number}"
        r"(?=[\s\])}\"']*(?:[.,;:!(–—]|-[ ]|$))",
        re.I | re.M,
    )
    alone = re.compile(rf"[\s\[({{\"'#]*{number}[\s\])}}\"'.!]*(?:$|[:,–—-][ ].*|\(.*)")

    def read(reply: str, truncated: bool = False) -> str:
        text = spoken(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        said = _MARKUP.sub("", text).replace("⟦", "answer:")  # what was in a tag or a box
        ratings = {found["number"] for found in named.finditer(said)}
        if not ratings and not truncated:
            ratings = {found["number"] for line in said.splitlines() if (found := alone.fullmatch(line))}
        if len(ratings) == 1:
            return ratings.pop()
        return "truncated" if truncated else why_not(text)

    read.__doc__ = f"""A number from {lowest} to {highest}, or the element of `answers.REASONS` that says why the reply has none.

    Args:
        reply: everything that the judge said.
        truncated: it was cut off by its token limit. Then only a rating that is named counts.
    """
    return read


read_rating = rating_reader(1, 5)
