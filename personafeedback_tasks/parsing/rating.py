"""Read a judge's reply on a scale of whole numbers: its rating, or a named reason why it has none."""

# A line that names its rating (`Rating: 4`, `I'd give it a 4`) counts most, then a line that begins with a number of
# the scale and says what it means (`4 - somewhat better`), or nothing else. Of several, all must agree. What is open to
# two readings is unreadable: `4 or 5`, `1 (much better)`, and `4. B is better`, which may be the fourth point of a
# list.

from __future__ import annotations

import re

from .verdicts import LEAD, named, reader, unmarked


def _patterns() -> list[re.Pattern[str]]:
    # What says a number from 1 (much worse) to 5.
    meaning = r"\W{1,4}(?:(?:response[ ])?B[ ]is[ ])?(?:(?:much|somewhat|slightly|far)[ ])?"
    number = (
        rf"[\s\[({{\"'#]{{0,4}}(?P<number>(?![1-3]{meaning}better|[3-5]{meaning}worse)[1-5])"
        rf"(?:\.0)?(?:[ ]?(?:/|out[ ]of)[ ]?5|[ ]?分)?"
        r"(?![\w/%]|[.,]\d|(?:[ ]?\([^()]{0,40}\)|\W{1,3}\w{1,9}[ ]worse)?\W{0,6}(?:(?:or|to|and|vs|maybe|but|no|of)\W{1,3}){0,2}\d|[ ]*,[ ]but\b)[\s\])}\"']{0,4}"
    )
    names = named("(?:give[ ]a[ ])?rating|score|grade|overall|number|评分|得分|bewertung")
    patterns = [
        rf"{names}{number}(?:[.,;:!(–—]|-[ ]|$)",
        rf"{LEAD}{number}[.!]*(?:$|[:,–—-][ ](?!yes\b|no[.,;]).*$|\(.*$)",
        rf"[:.,][ ]{number}[.!]*$",
    ]
    return [re.compile(pattern, re.I) for pattern in patterns]


read_rating = reader(unmarked, _patterns(), lambda match: match["number"])
