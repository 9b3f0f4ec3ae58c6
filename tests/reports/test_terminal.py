"""Tables and lines as the commands print them: on a terminal of any width, in a pipe and in a file."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from support.commands import AWAY, personafeedback
from support.samples import a_part

from personafeedback_tasks.cli.main import main
from personafeedback_tasks.reports import table as layout
from personafeedback_tasks.reports.terminal import WIDTH, line, show, table

HEADER = ["cases", "general hard", "total"]
ROWS = [("acc, chosen is longer", "76.5", 1_234), ("[bold]not markup[/bold] :tea:", "–", "a\nb")]
NOTE = "A long note: " + "one more word, " * 40 + "end."


def printed(capsys) -> str:
    show([line(NOTE), line("Title", style="bold"), table(HEADER, ROWS, bold=[0])])
    return capsys.readouterr().out


def test_what_rounds_to_0_has_no_minus():
    assert {layout.number(-1e-9, unit) for unit in ("share", "difference", "signed")} == {"0.0", "+0.0", "+0.000"}


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


CELLS = [f"{category} {level}" for category in ("specific", "general") for level in ("easy", "medium", "hard")]
LABELS = [*CELLS, "specific", "general", "total", "macro"]
HEADINGS = {
    "short": ["acc", "n"],
    "measures": ["acc_both", "consistency", "bias_first", "bias_second", "first_rate"],
    "long baselines": [f"a-baseline-named-after-the-paper-that-has-it_{number}_{'x' * number}" for number in range(12)],
    "words": ["not flagged by the audit", "only A", "users x questions", "persona - no_persona"],
    "wide": ["个性化" * 9, "W" * 50],
}


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("headings", HEADINGS)
def test_a_table_of_six_cells_fits_80_columns_and_nothing_is_lost(headings, terminal, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    names = HEADINGS[headings]
    number = {
        name: [f"{10 * place + row + 100}.{place}" for row in range(len(LABELS))] for place, name in enumerate(names)
    }
    columns = []
    for name in names:
        columns.append(layout.Column(name, tuple(number[name]), strong=True))
        columns.append(
            layout.Column(layout.INTERVAL, tuple(f"+{text} to -{text}" for text in number[name]), joined=True)
        )
    made = layout.Table("Heading", tuple(LABELS), tuple(columns))
    show(made.terminal())
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert max(map(cell_len, shown.splitlines())) <= WIDTH
    for name in names:
        assert all(word in "".join(shown.split()) for word in re.findall(r"\w{1,8}", name)[:3])
        for row, text in enumerate(number[name]):
            (found,) = [line for line in shown.splitlines() if f" {text} " in line]
            assert found.startswith(LABELS[row])
            assert f" {text}  +{text} to -{text}" in found  # the interval stays with its score
    written = "".join(made.markdown())
    assert all(f"| **{text}** | +{text} to -{text} |" in written for texts in number.values() for text in texts)


def test_what_has_no_value_is_not_in_bold():
    made = layout.Table("Heading", ("one", "two"), (layout.Column("acc", ("50.0", layout.NOTHING), strong=True),))
    assert made.markdown()[1].splitlines()[2:] == ["| one | **50.0** |", "| two | – |"]


# --- encodings -------------------------------------------------------------------------------------------------------

C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture(scope="module")
def commands(tmp_path_factory) -> dict[str, tuple[object, ...]]:
    """Every command that prints, with names that ASCII lacks."""
    from support.duel_folders import write_duels
    from support.logs import inspect_log

    folder = tmp_path_factory.mktemp("encodings") / "résumé – 结果"
    log = inspect_log(folder, "mixed", "personafeedback_hard", "sample")
    other = inspect_log(folder / "other", "gold", "personafeedback_hard", "sample")
    duels = write_duels(folder / "duels", lambda case: case.chosen[:9], "acme/模型 – 1", "rejected", difficulty="hard")
    judged_log = inspect_log(folder / "judged", "mixed", "personafeedback_hard", duels)
    return {
        "report": ("report", log, "--out", folder / "out"),
        "rank": ("rank", log, "--data", "sample"),
        "verdict": ("verdict", judged_log, "--calibration", log),
        "compare": ("compare", log, other),
        "card": ("card", log, "--model-card", folder / "README.md"),
        "an option that is not there": ("report", folder / "not – there", "--没有"),
        "--help": ("--help",),
    }


NAMES = ["report", "rank", "verdict", "compare", "card", "an option that is not there", "--help"]


def written(command: tuple[object, ...], encoding: str) -> tuple[int, bytes]:
    """(exit status, what a command in this process wrote to an output that takes an encoding)."""
    done = CliRunner(charset=encoding).invoke(main, list(map(str, command)), env={"COLUMNS": "80"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output_bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_command_fails_at_an_output_that_takes_ascii_or_latin_1_only(name, commands):
    status, whole = written(commands[name], "utf-8")
    for kind in ("ascii", "latin-1"):
        found_status, found = written(commands[name], kind)
        assert found_status == status
        assert not _plain_words(whole) - _plain_words(found)


def _plain_words(printed: bytes) -> Counter[bytes]:
    """The words of ASCII. Where an output lacks line characters, rich draws a table's lines with | instead."""
    return Counter(word for word in printed.replace(b"|", b" ").split() if re.fullmatch(rb"[!-~]+", word))


@pytest.mark.slow
@pytest.mark.parametrize("environment", [C, {"PYTHONIOENCODING": "ascii"}], ids=["C", "ascii"])
@pytest.mark.parametrize("name", a_part(["report", "card", "an option that is not there"], 3, first=2))
def test_no_process_fails_without_utf_8(name, environment, commands, tmp_path):
    """What a real one prints into a file."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", *C)}
    with open(tmp_path / "printed", "wb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "personafeedback_tasks", *map(os.fsencode, map(str, commands[name]))],
            cwd=AWAY, env={**kept, "COLUMNS": "80", **environment}, stdout=file, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    found = (tmp_path / "printed").read_bytes()
    assert b"Traceback" not in found
    assert b"UnicodeEncodeError" not in found
    # Without UTF-8 no file of the sample has a name that can be read.
    status, _ = written(commands[name], "utf-8")
    assert done.returncode == status or (environment is C and b"found no persona for user_id" in found)


@pytest.mark.slow
def test_a_terminal_shows_which_log_is_read_and_a_pipe_does_not(commands):
    pty = pytest.importorskip("pty")
    _, log, *_ = commands["rank"]
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "personafeedback_tasks", "rank", str(log), "--data", "sample"]
    environment = {**os.environ, "COLUMNS": "500", "TERM": "xterm"}
    process = subprocess.Popen(command, cwd=AWAY, env=environment, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end, on Linux
        while part := os.read(ours, 10_000):
            shown += part
    os.close(ours)
    assert process.wait() == 0
    assert f"Reading {log}" in shown.decode()
    assert personafeedback("rank", log, "--data", "sample").stderr == ""


@pytest.mark.slow
def test_a_report_imports_neither_the_page_nor_other_benchmarks(commands):
    _, log, *_ = commands["rank"]
    code = (
        "import sys\nfrom personafeedback_tasks.cli.main import main\n"
        "main(['report', sys.argv[1], '--data', 'sample'], standalone_mode=False)\n"
        "print([name.partition('.')[2] for name in sys.modules if name.startswith('personafeedback_tasks.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(log)], cwd=AWAY, capture_output=True, text=True, check=True)
    imported = ast.literal_eval(done.stderr.splitlines()[-1])
    assert "reports.report_text" in imported
    for other in ("reports.page", "analysis.ranking", "recenter", "memsyco", "prefeval", "writing"):
        assert other not in imported
