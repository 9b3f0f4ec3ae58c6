"""The command that writes cases for other tools: export."""

from __future__ import annotations

from pathlib import Path

import click

from ..common import foreign
from ..common.files import write
from ..personafeedback import export
from ..personafeedback.cases import CATEGORIES, COUNTS, DIFFICULTIES, load_cases, load_present
from ..personafeedback.conversations import SETTINGS
from ..personafeedback.prompts import Template


@click.command("export")
@click.option("--format", "format_", type=click.Choice(list(export.FORMATS)), required=True, help="Whose format.")
@click.option("--out", metavar="FILE", required=True, type=click.Path(dir_okay=False, path_type=Path), help="JSONL.")
@click.option("--setting", type=click.Choice(SETTINGS), default=SETTINGS[0], show_default=True, help="What is told.")
@click.option("--data", help="As in `personafeedback audit`.")
@click.option("--counts", type=click.Choice(COUNTS), default=COUNTS[0], show_default=True, help="As in `audit`.")
@click.option("--category", type=click.Choice(CATEGORIES), help="One category, whose cells must all be there.")
@click.option("--difficulty", type=click.Choice(DIFFICULTIES), help="One difficulty instead of all three.")
def export_command(
    format_: str, out: Path, setting: str, data: str | None, counts: str, category: str | None, difficulty: str | None
) -> None:
    """Write cases as JSONL for reward models that come with code of their own.

    Every row says that it is test data. RewardBench reads the file right with datasets 4 or later; an earlier one makes
    garbage of message lists without a word. It also cuts conversations at 512 tokens unless told otherwise.

    \b
        personafeedback export --format rewardbench --out cases.jsonl
        rewardbench --model MODEL --dataset cases.jsonl --load_json --max_length 8192
    """
    load = (
        load_present(data, difficulty, counts) if category is None else load_cases(data, category, difficulty, counts)
    )
    write(out, export.lines(format_, load, Template(setting=setting, method="reward")))
    click.echo(foreign.terminal(f"wrote {out}: {len(load):,} cases, data {load.revision}"))
