"""The file of a model card: our sections in its body, of which all other text is unchanged, byte for byte; and its metadata.

huggingface_hub reads and writes the metadata; what it would change of what others wrote is refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import CardData, ModelCard
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.utils import yaml_dump

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


# --- the metadata -----------------------------------------------------------------------------------------------------

Index = list[dict[str, Any]]
"""A `model-index`."""

Change = Callable[[dict[str, Any], Index], dict[str, Any]]
"""(metadata, a `model-index` with our results) -> new metadata; the old ones stay as they are."""

_ERRORS = (ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError, RecursionError)

MOST_NAMED = 5


class _AsOnTheHub(yaml.SafeLoader):
    """YAML 1.2, which the Hub reads. To huggingface_hub, which reads and writes YAML 1.1, a bare `no` is false and `0123` is 83.

    Raises:
        ValueError: a key is given twice, or there is an alias: huggingface_hub would write one of the two values, or the value twice.
    """

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - PyYAML's name and type

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ValueError(f"the alias *{self.peek_event().anchor}, which would be written out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise ValueError(f"the key `{twice[0]}` twice, of which one would be lost")
        return super().construct_mapping(node, deep)


for _kind, _pattern in {
    "null": r"~|null|Null|NULL|",
    "bool": "true|True|TRUE|false|False|FALSE",
    "int": "[-+]?(?:0|[1-9][0-9]*)",
    "float": r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?",
}.items():
    _AsOnTheHub.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), None)


def parts(content: str) -> tuple[str, str, str]:
    """A card with metadata, which are empty if it had none; these metadata; its body."""
    block = REGEX_YAML_BLOCK.search(content)
    if block is None:
        newline = newline_of(content)
        return f"---{newline}{{}}{newline}---{newline}{content}", "{}", content
    return content, f"{block[2]}\n", content[block.end() :]  # the line break belongs to a last block text


def metadata_of(path: Path, content: str) -> dict[str, Any]:
    """The metadata of a card as the Hub reads them.

    Raises:
        CardError: huggingface_hub cannot read them, or not without a loss.
    """
    content, front, _ = parts(content)
    try:
        metadata = _read(front)
        ModelCard(content)
        return metadata
    except _ERRORS as error:
        raise CardError(
            f"{path}: found metadata that huggingface_hub cannot read ({' '.join(str(error).split())}), expected a valid card between the "
            "two lines ---. Fix it, then run this again."
        ) from error


def with_metadata(path: Path, content: str, old: dict[str, Any], index: Index, change: Change) -> str:
    """The card with changed metadata, and the same body. Without a change, its metadata stay as they are written.

    ModelCardData would lose more: it joins the models of a `model-index` into one, and drops `model_name` and the keys of a result that
    it does not know. So `change` edits the plain metadata.

    Raises:
        CardError: saving would change something else, too.
    """
    content, front, body = parts(content)
    wanted = change(old, _read(yaml_dump({"": index}))[""])
    if wanted == old:
        return content
    try:
        card = ModelCard(content)
        card.data = CardData(**change(yaml.safe_load(front) or {}, index))
        saved = str(card)
        _, written, text = parts(saved)
        saved_metadata = _read(written) if text == body else {}
    except _ERRORS as error:
        raise CardError(
            f"{path}: found metadata that huggingface_hub cannot write ({' '.join(str(error).split())}). Simplify them, then run this again."
        ) from error
    if lost := list(_differences(wanted, saved_metadata)):
        more = f"; and {len(lost) - MOST_NAMED:,} more" if len(lost) > MOST_NAMED else ""
        raise CardError(
            f"{path}: found metadata that huggingface_hub would change when it saves the card: {'; '.join(lost[:MOST_NAMED])}{more}. Put text "
            "that YAML could take for something else in quotes, give every key a value, then run this again."
        )
    return saved


def _read(front: str) -> Any:
    return yaml.load(front, Loader=_AsOnTheHub) or {}


def _differences(wanted: object, saved: object, at: str = "") -> Iterator[str]:
    """Where two metadata differ, in words."""
    if isinstance(wanted, Mapping) and isinstance(saved, Mapping):
        for key, value in wanted.items():
            if key in saved:
                yield from _differences(value, saved[key], f"{at}.{key}" if at else str(key))
            else:
                yield f"`{at}.{key}` would be lost" if at else f"`{key}` would be lost"
    elif isinstance(wanted, list) and isinstance(saved, list) and len(wanted) == len(saved):
        for number, pair in enumerate(zip(wanted, saved, strict=True)):
            yield from _differences(*pair, f"{at}[{number}]")
    elif wanted != saved or type(wanted) is not type(saved):
        yield f"`{at}` would be {_short(saved)} instead of {_short(wanted)}"


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:60]
