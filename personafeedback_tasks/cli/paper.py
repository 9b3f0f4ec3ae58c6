"""The command that prints what the paper reports, and how to run its models: paper."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from ..personafeedback.paper.models import MODELS
from ..personafeedback.paper.tables import FILES, recomputed, table, verification
from .options import json_option
from .output import needs_tables, say, write_json

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


@click.command("paper")
@click.option("--table", "number", type=click.Choice(NUMBERS), help="Only this table.  [default: 2, 3, 4, 6 and 7]")
@click.option("--models", "models", is_flag=True, help="The paper's models, with commands that run them.")
@json_option
def paper(number: str | None, models: bool, json_file: Path | None) -> None:
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
        "verification": verification(),
    }


def _print_models() -> None:
    """As a script: prose in comments, every command on one line, however narrow the terminal is."""
    for sentence in ABOUT_MODELS:
        say(f"# {sentence}")
    for model in MODELS:
        say()
        say(f"# {model.name} ({model.group}){'. ' if model.note else ''}{model.note}")
        for command in model.commands():
            say(command)
