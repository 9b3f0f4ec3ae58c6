"""The file of a model card: its bytes, its line breaks, and our sections in its body. All other text of the body is unchanged, byte for byte."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..common.errors import PersonaFeedbackError
from ..runs.signature_line import model_in

_SECTION = re.compile(
    r"<!-- personafeedback: begin (?P<key>.*) -->(?P<text>[\s\S]*?)<!-- personafeedback: end (?P=key) -->\r?\n?"
)
_SIGNATURE = re.compile(r"^Signature: `(?P<line>.*)`", re.MULTILINE)


class CardError(PersonaFeedbackError):
    """A run that should not be published, or a card that cannot be changed without a loss."""


@dataclass(frozen=True)
class Section:
    """One of our sections.

    Attributes:
        model: the model in its signature; empty if it has none.
        whole: the section with its markers and the line break after it.
    """

    key: str
    text: str
    model: str
    whole: str


def sections_of(body: str) -> list[Section]:
    """Our sections in a card's body."""
    sections = []
    for match in _SECTION.finditer(body):
        signature = _SIGNATURE.search(match["text"])
        sections.append(
            Section(match["key"], match["text"], model_in(signature["line"]) if signature else "", match[0])
        )
    return sections


def with_section(path: Path, body: str, text: str, key: str, newline: str) -> str:
    """The body with the section between its two markers: in place of an earlier one, else at the end."""
    begin, end = f"<!-- personafeedback: begin {key} -->", f"<!-- personafeedback: end {key} -->"
    text = "\n".join([begin, "", text, "", end]).replace("\n", newline)
    counts = body.count(begin), body.count(end)
    if counts == (0, 0):
        gap = "" if body.endswith(newline * 2) else newline if body.endswith(newline) or not body else newline * 2
        return f"{body}{gap}{text}{newline}"
    first, last = body.find(begin), body.find(end)
    if counts != (1, 1) or last < first:
        raise CardError(
            f"{path}: found {counts[0]} `{begin}` and {counts[1]} `{end}`, expected one of each, in this order: the text "
            "between them is replaced. Restore them, or delete them all for a new section at the end."
        )
    return body[:first] + text + body[last + len(end) :]


def newline_of(content: str) -> str:
    """The line break of added text: that of the card, unless it mixes several."""
    breaks = set(re.findall(r"\r\n|\r|\n", content))
    return "\r\n" if breaks == {"\r\n"} else "\n"


def read(path: Path) -> str | None:
    """The text of a file with its line breaks; None if there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: found a file that cannot be read ({error}), expected text in UTF-8.") from error
