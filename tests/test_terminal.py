"""Tables and lines as the commands print them: on a terminal of any width, in a pipe and in a file."""

from __future__ import annotations

import re

import pytest

from personafeedback_tasks.reports.terminal import line, show, table

HEADER = ["cases", "general hard", "total"]
ROWS = [("acc, chosen is longer", "76.5", 1_234), ("[bold]not markup[/bold] :tea:", "–", "a\nb")]
NOTE = "A long note: " + "one more word, " * 40 + "end."


def printed(capsys) -> str:
    show([line(NOTE), line("Title", style="bold"), table(HEADER, ROWS, bold=[0])])
    return capsys.readouterr().out


def test_in_a_pipe_every_row_and_line_is_one_line_without_colours(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    lines = printed(capsys).splitlines()
    assert lines[:2] == [NOTE, "Title"]
    found = [row.split() for row in lines[2:] if row]
    assert found[:2] == [["general"], ["cases", "hard", "total"]]
    assert set("".join(found[2])) == {"─"}
    assert found[3:] == [
        [*["acc,", "chosen", "is", "longer", "76.5", "1234"]],
        ["[bold]not", "markup[/bold]", ":tea:", "–", "a\\nb"],
    ]
    assert all(row == row.rstrip() for row in lines)


@pytest.mark.parametrize("columns", ["1", "20", "80", "500"])
def test_on_a_terminal_of_any_width_nothing_is_cut(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = printed(capsys)
    assert "\x1b[1m" in shown  # it takes this for a terminal
    assert "…" not in shown
    plain = re.sub(r"\x1b\[\d*m", "", shown)
    for word in ("acc, chosen is longer", "76.5", "1234", "–", "a\\nb", *["[bold]not", "markup[/bold]", ":tea:"]):
        assert word in plain  # a long label may be wrapped
    assert "".join(NOTE.split()) in "".join(shown.split())
