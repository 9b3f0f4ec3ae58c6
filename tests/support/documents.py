"""What README, CONTRIBUTING and the pages in docs/ show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.environments import CHECKOUT

README, CONTRIBUTING, CARD = (
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    CHECKOUT / "benchmarks/longest/CARD.md",
)
DOCS = CHECKOUT / "docs"

needs_checkout = pytest.mark.skipif(not README.is_file(), reason="needs the checkout")


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def block(path: Path, marker: str) -> str:
    """The fenced block after a marker."""
    return re.search(r"```\w*\n(.*?)```", text(path).partition(f"<!-- {marker} -->")[2], re.S)[1]


def table(path: Path, header: str) -> list[list[str]]:
    """The cells of each row below a header."""
    return tables(path, header)[0]


def tables(path: Path, header: str) -> list[list[list[str]]]:
    """The same of every table with that header."""
    found = [part.partition("\n\n")[0].splitlines()[2:] for part in text(path).split(f"\n{header}")[1:]]
    assert found, header
    assert all(found), header
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in rows] for rows in found]


def section(path: Path, heading: str) -> str:
    """What stands below a heading of the second level."""
    return text(path).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
