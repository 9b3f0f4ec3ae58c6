"""Read the list at the end of a reply as one statement: lines about one letter each, with places, scores, or words.

The last of such lines is one item among others and no verdict of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from .plain import plain
from .vocabulary import VOCABULARY, classes

_LINES, _CHARACTERS = 40, 400
"""Of a list, and of a line of it. What is longer is a loop, or no list."""

_NOUN = rf"(?:(?:{'|'.join(re.escape(word) for kind in 'NM8' for word in VOCABULARY[kind])}|p|id|name)(?: for| of)?[ _:(]{{0,3}}){{0,2}}"
_PLACE = (
    r"(?P<rank>(?:rank|place|platz|第|#|no\.)[ :]{0,3})?(?:(?P<number>[1-9])(?![\d%])|(?P<first>best|first|一)|(?P<second>second(?: best)?|二))"
    r"(?P<ordinal>st|nd|rd|th|名|位|위)?(?: place| rank| choice)?[ :.),|–—-]{1,3}"
)
_OBJECT, _MARKS = re.compile(r"\{[^{}]*\}"), re.compile(r"[*_>`\"~{}\[\]]|#(?!\d)")
_GIVEN = rf"([^:]{{1,40}}):\W*{_NOUN}((?-i:[%s]))\W*"
_FIELDS = re.compile(r"\(out of \d+\)|[,;|()]|[.–—-] ")
_SCORE = re.compile(r"[ :=]*((?:[^\W\d][^\d:=]{0,40})?)[ :=]*(\d+(?:\.\d+)?) ?((?:/|out of) ?\d+|%|[^\W\d]*)[ :.!]*")
# Classes of the words that say what is counted.
_MORE_IS_BETTER, _MORE_IS_WORSE = re.compile("[78nNMEsdigGmp4UPJ&|αβAB=D0:,(_]*"), re.compile("[9lw]")


class _Item(NamedTuple):
    letter: str
    place: int  # 1 is the best, 0 if none is given
    ranked: bool  # the place is more than the number of a line
    score: tuple[str, float, str] | None  # its name, value and scale; None if there is none, or more than one


def read_list(text: str, letters: Sequence[str], named: Callable[[str], str], said: Callable[[str], str]) -> str | None:
    """The letter that the list at the end of a text puts first, "" if that is open; None if no list ends the text.

    Args:
        named: the letter that a line names as the answer, or "". An answer that is named above the list counts.
        said: the letter that several lines come to, or "".
    """
    lines = _lines(text)
    listed: list[str] = []
    items: list[_Item] = []
    heading = ""
    while lines and not heading and (of_line := _items(lines[-1], "".join(letters))):
        if {item.letter for item in items} & {item.letter for item in of_line[1]}:
            break  # "A is kind." above "A: 8"
        heading = of_line[0]
        items[:0] = of_line[1]
        listed.insert(0, lines.pop())
    if not items:
        return "" if _contradict(lines[-2:], "".join(letters)) else None
    if not heading and lines and not named(lines[-1]):
        sentence = lines[-1][-1] in ".!?。"
        heading = lines[-1] if not sentence or _MORE_IS_WORSE.search(classes(plain(lines[-1]))) else ""
        lines = lines if sentence else lines[:-1]
    answer = named(lines[-1]) if lines else ""
    if len({item.letter for item in items}) + bool(answer) < 2:
        return None
    above = _items(lines[-1], "".join(letters)) if lines else None
    if above and any(item.score for item in above[1]) and "s" not in classes(plain(heading)):
        return ""  # these are scores by one criterion of several
    first = _first(items, heading)
    if first:
        return first if answer in ("", first) else ""
    scored = any(item.score for item in items)
    return answer if scored else said("\n".join(lines[-1:] * bool(answer) + listed))


def _contradict(lines: list[str], letters: str) -> bool:
    # Two lines give different letters to one kind of question: `Answer: A`, `Answer: B`, or `Tone: A`, `Fit: B`.
    given = [match for line in lines if (match := re.fullmatch(_GIVEN % letters, line, re.I))]
    if len(given) < 2 or given[0][2] == given[1][2]:
        return False
    first, last = (match[1].lower() for match in given)
    return first == last or not re.search("[dsw]", classes(last))


def _lines(text: str) -> list[str]:
    # The last lines of a text, an object in one line, without what has no word.
    text = _OBJECT.sub(lambda found: " ".join(found[0].split()) + "\n", "\n".join(text.split("\n")[-_LINES:]))
    return [line for line in text.split("\n")[-_LINES:] if re.search(r"[^\W_]", line) and not line.startswith("```")]


@cache
def _patterns(letters: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    # What an item is, where another one begins in its line, and any letter.
    letter = rf"(?-i:[{letters}])(?!['’]?[A-Za-z0-9])"
    item = rf"[^\w⟦#]{{0,4}}(?:{_PLACE})?{_NOUN}(?P<letter>{letter})(?P<rest>.*)"
    begins = rf"(?:[,;/|→]| and| vs\.?) ?(?={_NOUN}{letter})| (?=\d[.)] ?{_NOUN}{letter}|{_NOUN}{letter} ?[:=])"
    return re.compile(item, re.I), re.compile(begins, re.I), re.compile(rf"(?<![A-Za-z0-9]){letter}")


def _items(line: str, letters: str) -> tuple[str, list[_Item]] | None:
    # What heads the items of a line, and they themselves; None if a line is anything else.
    item, begins, label = _patterns(letters)
    if len(line) > _CHARACTERS or re.search(r"⟦|boxed|\[\[", line):
        return None
    pieces, heading = [""], ""
    for piece in begins.split(_MARKS.sub("", line).strip(" -•+·|")):
        pieces[-1:] = [pieces[-1], piece] if label.search(pieces[-1]) else [f"{pieces[-1]} {piece}".strip()]
    if not item.match(pieces[0]):
        heading, _, pieces[0] = pieces[0].partition(":")
    found = [match for piece in pieces if (match := item.fullmatch(piece)) and not label.search(match["rest"])]
    about = classes(plain(heading))
    listed = not heading or re.search("[78]", about) or (len(found) > 1 and not re.search("[ds]", about))
    if len(found) < len(pieces) or not listed:
        return None
    return heading, [_item(match) for match in found]


def _item(match: re.Match[str]) -> _Item:
    scores = [_SCORE.fullmatch(field) for field in _FIELDS.split(match["rest"]) if re.search(r"\d", field)]
    score = scores[0] if len(scores) == 1 else None
    place = int(match["number"] or (1 if match["first"] else 2 if match["second"] else 0))
    ranked = not match["number"] or bool(match["rank"] or match["ordinal"])
    return _Item(match["letter"], place, ranked, (score[1], float(score[2]), score[3]) if score else None)


def _first(items: list[_Item], heading: str) -> str:
    # The letter that places, or else scores of one kind, put first; "" if none does, or if more of them may be worse.
    about = classes(plain(heading)).replace("gjw", "7")  # "from best to worst"
    letters, places = [item.letter for item in items], [item.place for item in items]
    in_order = list(range(1, len(items) + 1))
    scores = [item.score for item in items if item.score]
    if not len(items) == len(set(letters)) > 1 or _MORE_IS_WORSE.search(about):
        return ""
    if sorted(places) == in_order and ("7" in about or all(item.ranked for item in items)):
        return letters[places.index(1)]
    if len(scores) < len(items) or len({(name, scale) for name, _, scale in scores}) > 1:
        return ""
    kinds = about + classes(plain(re.sub(r"\d", "", f"{scores[0][0]} {scores[0][2]}")))
    values = [value for _, value, _ in scores]
    if "7" in kinds:  # they are places
        values = [-value for value in values if sorted(values) == in_order]
    elif sorted(values) == in_order and "8" not in kinds and not scores[0][2]:
        return ""  # "A: 1, B: 2" may be places or points
    best = max(values, default=0)
    return letters[values.index(best)] if values.count(best) == 1 and _MORE_IS_BETTER.fullmatch(kinds) else ""
