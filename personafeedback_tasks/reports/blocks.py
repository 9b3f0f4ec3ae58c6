"""The blocks of an output, in their order: each has its lines on a terminal and its paragraphs in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from ..analysis.sentences import sentence
from ..common import foreign
from ..logs.caveat import Caveat
from .table import Table
from .terminal import line


@dataclass(frozen=True)
class Words:
    """A block of text."""

    lines: Sequence[Text]
    paragraphs: Sequence[str]

    def terminal(self) -> Sequence[RenderableType]:
        return self.lines

    def markdown(self) -> Sequence[str]:
        return self.paragraphs


Block = Words | Table


def heading(text: str) -> Words:
    return Words([line(text, style="bold")], [f"## {foreign.markdown(text)}"])


def warnings(caveats: Sequence[Caveat], others: Sequence[str] = ()) -> Words:
    """Caveats, and other sentences that go above the numbers."""
    texts = [*map(sentence, caveats), *others]
    return Words([line(f"! {text}") for text in texts], ["\n".join(f"> {foreign.markdown(text)}  " for text in texts)])


def lines(texts: Sequence[str], style: str = "") -> Words:
    """Lines that a terminal shows below each other, without the empty ones."""
    shown = [text for text in texts if text]
    return Words([line(text, style) for text in shown], ["  \n".join(map(foreign.markdown, shown))])


def bullets(texts: Sequence[str], lead: str = "") -> Words:
    """Sentences on numbers above or below them; nothing for none.

    Args:
        lead: their subject, in a line of its own.
    """
    if not texts:
        return Words([], [])
    leads, indent = ([lead], "  ") if lead else ([], "")
    return Words(
        [*map(line, leads), *(line(f"{indent}{text}") for text in texts), line("")],
        [*map(foreign.markdown, leads), "\n".join(f"- {foreign.markdown(text)}" for text in texts)],
    )


def paragraph(text: str = "", dim: bool = False) -> Words:
    """Sentences of their own; an empty one is an empty line on a terminal, which shows them less bright where `dim`."""
    return Words([line(text, style="dim" if dim else "")], [foreign.markdown(text)])


def quoted(lead: str, texts: Sequence[str]) -> Words:
    """Replies of a model, as they are, below a line on their meaning."""
    quotes = [lead, *(f"  {text}" for text in texts)]
    return Words(list(map(line, quotes)), [foreign.fenced("\n".join(quotes))])


def signatures(of_runs: Mapping[str, str], printed: bool = True) -> Words:
    """The signature line of each run: everything that its numbers depend on."""
    shown = [line(f"{name}: {text}", style="dim") for name, text in of_runs.items()] if printed else []
    return Words(shown, ["\n".join(f"{name}: {foreign.code(text)}  " for name, text in of_runs.items())])


def apart(parts: Iterable[Sequence[Block]]) -> list[Block]:
    """Several outputs, an empty line between them."""
    return [block for part in parts for block in (paragraph(), *part)][1:]


def terminal(blocks: Iterable[Block]) -> list[RenderableType]:
    """The parts for `terminal.show`."""
    return [part for block in blocks for part in block.terminal()]


def markdown(blocks: Iterable[Block]) -> str:
    """A section of a Markdown file, with headings of the second and third level."""
    paragraphs = [text for block in blocks for text in block.markdown()]
    return "\n\n".join(filter(None, paragraphs)) + "\n"
