"""The command that writes cases for other tools: export."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..common.files import write
from ..personafeedback import export
from ..personafeedback.cases import COUNTS, load_cases, load_present
from ..personafeedback.cells import CATEGORIES, DIFFICULTIES
from ..personafeedback.conversations import SETTINGS
from ..personafeedback.prompts import Template
from .output import say


@click.command("export")
@click.option("--format", type=click.Choice(["rewardbench"]), required=True, expose_value=False, help="Output format.")
@click.option("--out", metavar="FILE", required=True, type=click.Path(dir_okay=False, path_type=Path), help="JSONL.")
@click.option(
    "--setting",
    type=click.Choice(SETTINGS),
    default=SETTINGS[0],
    show_default=True,
    help="What the model is told about the user.",
)
@click.option("--data", help="As in `personafeedback audit`.")
@click.option("--counts", type=click.Choice(COUNTS), default=COUNTS[0], show_default=True, help="As in `audit`.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only this category; all of its cells must be present.")
@click.option("--difficulty", type=click.Choice(DIFFICULTIES), help="Only this difficulty.")
def export_command(
    out: Path, setting: str, data: str | None, counts: str, category: str | None, difficulty: str | None
) -> None:
    """Write cases as JSONL for reward models that ship their own code.

    Every row says that it is test data. RewardBench needs datasets 4 or later: earlier versions silently corrupt
    message lists. RewardBench also truncates conversations to 512 tokens by default.

    \b
        personafeedback export --format rewardbench --out cases.jsonl
        rewardbench --model MODEL --dataset cases.jsonl --load_json --max_length 8192
    """
    load = (
        load_present(data, difficulty, counts) if category is None else load_cases(data, category, difficulty, counts)
    )
    rows = export.rewardbench(load, Template(setting=setting, method="reward"))
    write(out, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    say(f"wrote {out}: {len(load):,} cases, data {load.revision}")
