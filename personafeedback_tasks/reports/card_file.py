"""The file of a model card: its text, its metadata and its sections. What is not ours is unchanged, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import ModelCard
from huggingface_hub.repocard import REGEX_YAML_BLOCK

from ..common.errors import PersonaFeedbackError


class CardError(PersonaFeedbackError):
    """A run that should not be published, or a card that cannot be changed without a loss."""


def metadata_of(path: Path, content: str) -> dict[str, Any]:
    """The front matter, as huggingface_hub reads it too.

    Raises:
        CardError: it does not.
    """
    block = REGEX_YAML_BLOCK.search(content)
    try:
        ModelCard(content)
        return (
            dict(yaml.safe_load(f"{block[2]}\n") or {}) if block else {}
        )  # the line break belongs to a last block text
    except (ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError, RecursionError) as error:
        raise CardError(
            f"{path}: found metadata that huggingface_hub cannot read ({' '.join(str(error).split())}), expected a valid card between the "
            "two lines ---. Fix it, then run this again."
        ) from error


def section_of(body: str, key: str) -> str:
    """The section between its two markers; empty if there is none."""
    begin, end = _marks(key)
    return body.partition(begin)[2].partition(end)[0]


def _marks(key: str) -> tuple[str, str]:
    return f"<!-- personafeedback: begin {key} -->", f"<!-- personafeedback: end {key} -->"


def with_section(path: Path, body: str, text: str, key: str, newline: str) -> str:
    """The body with the section between its two markers: in place of an earlier one, else at the end."""
    begin, end = _marks(key)
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
    found = set(re.findall(r"\r\n|\r|\n", content))
    return "\r\n" if found == {"\r\n"} else "\n"


def read(path: Path) -> str | None:
    """The text of a file with its line breaks; None if there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: found a file that cannot be read ({error}), expected text in UTF-8.") from error
