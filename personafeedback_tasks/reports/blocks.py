"""What an output is made of, block by block: each knows how it looks on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import RenderableType

from ..common import foreign
from ..runs.caveat import Caveat
from . import terminal as console
from .sentences import sentence


class Block(Protocol):
    """A part of an output."""

    def terminal(self) -> list[RenderableType]:
        """Lines and tables for `terminal.show`."""

    def markdown(self, level: int) -> list[str]:
        """Paragraphs of Markdown.

        Args:
            level: of the headings of tables; a title is one above.
        """


@dataclass(frozen=True)
class Title:
    """The name of what follows."""

    text: str

    def terminal(self) -> list[RenderableType]:
        return [console.line(self.text, style="bold")]

    def markdown(self, level: int) -> list[str]:
        return [f"{'#' * (level - 1)} {foreign.markdown(self.text)}"]


@dataclass(frozen=True)
class Warnings:
    """Caveats, and other lines that go above the numbers."""

    caveats: Sequence[Caveat]
    others: Sequence[str] = ()

    @property
    def lines(self) -> list[str]:
        return [*map(sentence, self.caveats), *self.others]

    def terminal(self) -> list[RenderableType]:
        return [console.line(f"! {text}") for text in self.lines]

    def markdown(self, level: int) -> list[str]:
        return ["\n".join(f"> {foreign.markdown(text)}  " for text in self.lines)]


@dataclass(frozen=True)
class Notes:
    """Sentences on numbers above or below them.

    Attributes:
        texts: the sentences.
        lead: what they are about, in a line of its own.
    """

    texts: Sequence[str]
    lead: str = ""

    def terminal(self) -> list[RenderableType]:
        if not self.texts:
            return []
        lead = [console.line(self.lead)] if self.lead else []
        return [*lead, *(console.line(f"  {text}" if self.lead else text) for text in self.texts), console.line("")]

    def markdown(self, level: int) -> list[str]:
        if not self.texts:
            return []
        lead = [foreign.markdown(self.lead)] if self.lead else []
        return [*lead, "\n".join(f"- {foreign.markdown(text)}" for text in self.texts)]


@dataclass(frozen=True)
class Paragraph:
    """A sentence of its own. On a terminal an empty one parts what is above from what is below."""

    text: str = ""

    def terminal(self) -> list[RenderableType]:
        return [console.line(self.text)]

    def markdown(self, level: int) -> list[str]:
        return [foreign.markdown(self.text)]


@dataclass(frozen=True)
class Quotations:
    """Replies of a model, as they are.

    Attributes:
        lead: what they are.
    """

    lead: str
    texts: Sequence[str]

    def terminal(self) -> list[RenderableType]:
        return [console.line(self.lead), *(console.line(f"  {text}") for text in self.texts)]

    def markdown(self, level: int) -> list[str]:
        return [foreign.fenced("\n".join([self.lead, *(f"  {text}" for text in self.texts)]))]


@dataclass(frozen=True)
class Legend:
    """The meaning of the columns, in words of our own."""

    text: str

    def terminal(self) -> list[RenderableType]:
        return [console.line(self.text, style="dim")]

    def markdown(self, level: int) -> list[str]:
        return [self.text]


@dataclass(frozen=True)
class Signatures:
    """What numbers depend on.

    Attributes:
        of: name of a run -> its line.
        printed: whether a terminal has them, too.
    """

    of: Mapping[str, str]
    printed: bool = True

    def terminal(self) -> list[RenderableType]:
        return [console.line(f"{name}: {text}", style="dim") for name, text in self.of.items()] if self.printed else []

    def markdown(self, level: int) -> list[str]:
        return ["\n".join(f"{name}: {foreign.code(text)}  " for name, text in self.of.items())]


def terminal(blocks: Iterable[Block]) -> list[RenderableType]:
    """What `terminal.show` prints."""
    return [part for block in blocks for part in block.terminal()]


def markdown(blocks: Iterable[Block], level: int = 3) -> str:
    """A section of a Markdown file.

    Args:
        level: of the headings of tables.
    """
    parts = [part for block in blocks for part in block.markdown(level)]
    return "\n\n".join(part for part in parts if part) + "\n"
