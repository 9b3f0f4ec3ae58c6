"""The command that prints what the paper reports, and how to run its models: paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from ..personafeedback.paper.models import MODELS, Model
from ..personafeedback.paper.tables import FILES, MACRO, PaperRow, PaperTable, recomputed, table, verification
from .output import json_option, needs_tables, say, write_json

NUMBERS = tuple(number for number in FILES if number != "8")
"""The tables that can be printed; Table 8 is part of `--models`."""
DEFAULT = ("2", "3", "4", "6", "7")

NOT_COMPARABLE = (
    "The numbers of the paper (arXiv 2506.12915), as printed. Do not compare scores of this package with them as if they were of "
    "one experiment: we found neither the authors' prompt nor their order of the options nor their decoding."
)
ABOUT_MODELS = (
    "The models of the paper's Tables 3, 6 and 8, and commands that run them on all six cells.",
    "lm-eval needs `personafeedback register` once. Inspect needs the provider's SDK and key.",
    "Providers retire models; their error says so. Reward models: by their model cards and code; we loaded none.",
)

FORMATS = {"cases": "{:,}", "accuracy, per cent": "{:.1f}", "accuracy, share": "{:.2f}", "per cent": "{:.2f}"}
"""Unit -> a number as the paper prints it."""
SHORT = {"specific": "spec", "general": "gen", "medium": "med"}
"""Table 3 has ten columns."""
IN_TABLE_3 = {MACRO: "Table 3 macro"}
"""A column beside those of Table 7."""


@click.command("paper")
@click.option("--table", "number", type=click.Choice(NUMBERS), help="Only this table.  [default: 2, 3, 4, 6 and 7]")
@click.option("--models", "models", is_flag=True, help="The paper's models, with commands that run them.")
@json_option
def paper(number: str | None, models: bool, json_file: str | None) -> None:
    """Print the numbers of the paper, or commands for its models.

    A printed average that its own cells do not give has both numbers. --json also has our verification of every average.

    \b
        personafeedback paper
        personafeedback paper --table 3 --json table3.json
        personafeedback paper --models | grep 'lm_eval run --model vllm'
    """
    if models:
        if number is not None:
            raise click.UsageError("--models and --table cannot be combined.")
        if write_json(json_file, {"models": [model.as_dict() for model in MODELS]}):
            _print_models()
        return
    needs_tables(json_file)
    if write_json(json_file, _document(FILES if number is None else (number,))):
        _print_tables(DEFAULT if number is None else (number,))


def _document(numbers: Iterable[str]) -> dict[str, Any]:
    chosen = [table(number) for number in numbers]
    return {
        "not_comparable": NOT_COMPARABLE,
        "tables": {of.number: of.document for of in chosen},
        "recomputed": {
            of.number: [
                {"row": row.name, "group": row.group, "averages": averages}
                for row in of.rows
                if (averages := recomputed(of, row))
            ]
            for of in chosen
        },
        "verification": verification(),
    }


def _print_models() -> None:
    """As a script: prose in comments, every command on one line, however narrow the terminal is."""
    for sentence in ABOUT_MODELS:
        say(f"# {sentence}")
    for model in MODELS:
        say()
        say(f"# {_title(model)}")
        for command in model.commands():
            say(command)


def _title(model: Model) -> str:
    return f"{model.name} ({model.group}){'. ' if model.note else ''}{model.note}"


def _print_tables(numbers: tuple[str, ...]) -> None:
    from ..reports.terminal import line, show

    parts: list[Any] = [line(NOT_COMPARABLE)]
    for number in numbers:
        parts += _parts(table(number))
    show(parts)


def _parts(of: PaperTable) -> list[Any]:
    from ..reports.terminal import line
    from ..reports.terminal import table as drawn

    header, rows, bold = _cells(of)
    section = of.section if of.section.startswith("Appendix") else f"Section {of.section}"
    return [
        line(""),
        line(f"Table {of.number} ({section}): {of.caption}", style="bold"),
        drawn(header, rows, bold=bold, tight=len(header) > 8),
        *(line(f"{name}: {', '.join(members)}") for name, members in _scenarios(of)),
        *(line(f"* {sentence}") for sentence in _averages(of)),
        *(line(f"- {note}") for note in of.notes),
    ]


def _cells(of: PaperTable) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
    """(header, rows, which rows are the headings of a block)."""
    beside = IN_TABLE_3 if of.number == "7" else {}
    header = ["", *(_short(key) for key in of.columns), *beside.values()]
    rows: list[tuple[str, ...]] = []
    bold: list[int] = []
    block: str | None = None
    for row in of.rows:
        if _block(of, row) != block:
            block = _block(of, row)
            bold.append(len(rows))
            rows.append((str(block), *("" for _ in header[1:])))
        computed = recomputed(of, row)
        values = [_printed(of, row, key) + "*" * bool(_from_cells(of, row, key)) for key in of.columns]
        rows.append((_label(of, row), *values, *(f"{computed[name]:.1f}" for name in beside)))
    return header, rows, bold


def _short(key: str) -> str:
    return " ".join(SHORT.get(word, word) for word in key.split("_"))


def _block(of: PaperTable, row: PaperRow) -> str | None:
    return row.name if of.number == "6" else row.group


def _label(of: PaperTable, row: PaperRow) -> str:
    return str(row.about["training"] or "as a generative judge") if of.number == "6" else row.name


def _printed(of: PaperTable, row: PaperRow, key: str) -> str:
    return FORMATS[of.units[key]].format(row.cells[key])


def _from_cells(of: PaperTable, row: PaperRow, key: str) -> str | None:
    """The recomputed average, where it differs from the printed one in the printed digits."""
    found = recomputed(of, row).get(key)
    if found is None or (text := FORMATS[of.units[key]].format(found)) == _printed(of, row, key):
        return None
    return text


def _scenarios(of: PaperTable) -> list[tuple[str, list[str]]]:
    """(category, its scenarios) of Table 5; nothing for the others."""
    return [(row.name, row.about["scenarios"]) for row in of.rows if "scenarios" in row.about]


def _averages(of: PaperTable) -> list[str]:
    """What recomputing the averages of a table found; nothing for a table without any."""
    if of.number == "7":
        return ["Table 3, macro: the plain mean of the six cells of the model's row in Table 3."]
    if not any(recomputed(of, row) for row in of.rows):
        return []
    differing = [
        f"{row.name}, {of.columns[key]}: {_printed(of, row, key)} (from cells {found})"
        for row in of.rows
        for key in of.columns
        if (found := _from_cells(of, row, key)) is not None
    ]
    how = "from its cells, each weighted by its number of cases (Table 2)"
    if not differing:
        return [f"Every average follows {how}."]
    stars = f"Every average without a star follows {how}. The others, where a difference of 0.1 can be rounding:"
    return [stars, *differing]
