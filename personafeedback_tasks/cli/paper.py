"""The command that prints what the paper reports, and how to run its models: paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ..personafeedback.paper.models import MODELS, RETIRED_AS_OF, SETTINGS, Model
from ..personafeedback.paper.tables import FILES, document, recomputed, table
from .options import json_option
from .output import needs_tables, say, write_json

DEFAULT = ("2", "3", "4", "6", "7")

NOT_COMPARABLE = (
    "The numbers of the paper (arXiv 2506.12915), as printed. Do not compare scores of this package with them as if they were of "
    "one experiment: we found neither the authors' prompt nor their order of the options nor their decoding."
)
ABOUT_MODELS = (
    "The models of the paper, and commands that run them on all six cells.",
    "lm-eval needs `personafeedback register` once. Inspect needs the provider's SDK and key.",
    f"Models are marked as retired by what we knew in {RETIRED_AS_OF}. Reward models: by their model cards and code; we loaded none.",
)
SECTIONS = {
    "3": "Table 3, with Table 8's open models: each with the persona",
    "6": "Table 6: the small models before training, and their reward models; `ours` is a build with training persons (docs/training.md)",
    "7": "Table 7: with the persona, with what a search of the user's memory finds (needs the extra `retrieval`), and with neither, in one run",
}


@click.command("paper")
@click.option(
    "--table", "number", type=click.Choice(tuple(FILES)), help="Only this table.  [default: 2, 3, 4, 6 and 7]"
)
@click.option(
    "--models",
    "models",
    is_flag=True,
    help="The paper's models, with commands that run them; with --table 3, 6 or 7 those of that table.",
)
@json_option
def paper(number: str | None, models: bool, json_file: Path | None) -> None:
    """Print the numbers of the paper, or commands for its models.

    Where an average does not follow from its cells, both numbers are printed. --json also has our verification of every average.

    \b
        personafeedback paper
        personafeedback paper --table 3 --json table3.json
        personafeedback paper --models --table 3 | grep 'lm_eval run --model vllm'
    """
    if models:
        if number not in (None, *SECTIONS):
            raise click.UsageError(f"--models goes with --table {', '.join(SECTIONS)} alone, got {number}.")
        if write_json(json_file, {"models": [model.as_dict() for model in MODELS]}):
            _print_models(SECTIONS if number is None else [number])
        return
    needs_tables(json_file)
    if write_json(json_file, _document(FILES if number is None else (number,))):
        from ..reports.terminal import show
        from .paper_text import parts

        show(parts(DEFAULT if number is None else (number,), NOT_COMPARABLE))


def _document(numbers: Iterable[str]) -> dict[str, Any]:
    tables = [table(number) for number in numbers]
    return {
        "not_comparable": NOT_COMPARABLE,
        "tables": {printed.number: printed.document for printed in tables},
        "recomputed": {
            printed.number: [
                {"row": row.name, "group": row.group, "averages": averages}
                for row in printed.rows
                if (averages := recomputed(printed, row))
            ]
            for printed in tables
        },
        "verification": document("verification"),
    }


def _print_models(numbers: Iterable[str]) -> None:
    """As a script: prose in comments, every command on one line, however narrow the terminal is."""
    for sentence in ABOUT_MODELS:
        say(f"# {sentence}")
    for number in numbers:
        say()
        say(f"# {SECTIONS[number]}")
        for title, commands in _commands(number):
            say()
            say(f"# {title}")
            for command in commands:
                say(command)


def _commands(number: str) -> Iterator[tuple[str, list[str]]]:
    """(what a row of a table is, its commands)."""
    for model in MODELS:
        if number == "7":
            if model.in_table_7:
                yield _title(model), model.commands(SETTINGS)
        elif bool(model.trainings) == (number == "6"):
            yield _title(model), model.commands()
            for name, commands in model.trainings.items():
                (row,) = (row for row in table("6").rows if (row.name, row.about["training"]) == (model.name, name))
                yield f"{model.name}, {name}: {row.cells['total_avg']:.1f} in the paper", commands


def _title(model: Model) -> str:
    return " ".join([f"{model.name} ({model.group}){'.' if model.note else ''}", *([model.note] if model.note else [])])
