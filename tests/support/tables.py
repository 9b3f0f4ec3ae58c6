"""The tables that commands print and write, read back."""

from __future__ import annotations

import re

RULE = re.compile(r"\A[─-][─ -]*\Z")


def in_markdown(text: str) -> dict[str, dict[str, dict[str, str]]]:
    """Heading -> column -> label of a row -> text. What stands beside a score has its name before its own: `acc 95 % interval`."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for part in re.split(r"^#+ ", text, flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        tables = [table for table in body.split("\n\n") if table.strip().startswith("|")]
        for table in tables:
            header, _, *rows = [_cells(line) for line in table.strip().splitlines()]
            score = ""
            for place, name in enumerate(header[1:], 1):
                joined = name == "95 % interval" or (name == "cases" and place > 1)
                score = score if joined else name
                column = f"{score} {name}" if joined else name
                found.setdefault(heading, {})[column] = {row[0]: row[place] for row in rows}
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("**", "").replace("\\", "") for cell in line.strip().strip("|").split(" | ")]


def printed_rows(text: str, heading: str) -> dict[str, list[str]]:
    """Label -> words of its row, in the (first) table that is printed under a heading. Its numbers begin with the first one."""
    block = re.split(rf"^{re.escape(heading)}\n", text, flags=re.M)[1].split("\n\n")[0].splitlines()
    (rule,) = [number for number, line in enumerate(block) if RULE.match(line)]
    rows = [re.match(r"(.*?) +((?:[+-]?\d|–).*)", line) for line in block[rule + 1 :]]
    return {row[1]: row[2].split() for row in rows}
