"""The command that brings people's judgments of another benchmark into our format: import-annotations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from ..common.errors import DataError
from ..common.files import write_all
from ..recenter import upstream
from ..recenter.data import file_name
from ..recenter.rows import STAGES
from .output import say

SHOWN = 10
"""Rows with personal data that are named one by one."""


@click.command("import-annotations")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out", metavar="DIR", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder."
)
def import_annotations(folder: Path, out: Path) -> None:
    """Convert the authors' annotations (arXiv 2606.06614) into our rows.

    FOLDER is a copy of the annotation repository of "Re-Centering Humans in LLM Personalization"
    (github.com/orange0629/personalize-annotation), or its folder data. It has no license, so nothing of it comes with this
    package. Tried on commit 9d65d9e. DIR gets relevance.jsonl with people's majority labels, replies/ with the recorded replies of
    models, pilot/relevance.jsonl with the pilot's counts, and response.jsonl without votes. If FOLDER lacks the file that one of
    them is made from, the command names it and makes the others. User ids become short ones, the same on every run. Rows without a
    label, and rows with personal data, are left out and counted. Rows that do not line up between files are an error.

    \b
        personafeedback import-annotations FOLDER --out DIR
        RECENTER_DATA=DIR
    """
    made = upstream.convert(folder)
    _refuse_leftovers(out, made)
    write_all({out / name: upstream.json_lines(rows) for name, rows in made.files.items()})
    for name, rows in made.files.items():
        say(f"wrote {out / name}: {_described(rows)}")
    for name in made.absent:
        say(f"absent: {name}, so there is no {out / upstream.SOURCES[name]}")
    for why, count in made.left_out.items():
        say(f"left out: {count:,} {why}")
    for where in made.personal[:SHOWN]:
        say(f"  {where}")
    if len(made.personal) > SHOWN:
        say(f"  and {len(made.personal) - SHOWN:,} more")


def _refuse_leftovers(out: Path, made: upstream.ImportedAnnotations) -> None:
    """Data of an earlier import must not stay beside those of this one."""
    names = [file_name(stage) for stage in STAGES]
    there = [out / name for name in (*names, *(f"pilot/{name}" for name in names))] + sorted(
        out.glob("replies/*.jsonl")
    )
    for path in there:
        if path.is_file() and path.relative_to(out).as_posix() not in made.files:
            raise DataError(
                f"{path}: found a file that this import does not write, expected none. Use a new folder, or remove it."
            )


def _described(found: list[dict[str, object]]) -> str:
    parts = [_counted(len(found), "row")]
    if "user_id" in found[0]:
        parts.append(_counted(len({row["user_id"] for row in found}), "user"))
    if "label" in found[0]:
        parts.append(f"{sum(row['label'] is True for row in found):,} relevant")
    if "answer" in found[0]:
        answers = Counter(row["answer"] for row in found)
        parts.append(f"answers: {answers[True]:,} yes, {answers[False]:,} no, {answers[None]:,} unreadable")
    return ", ".join(parts)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
