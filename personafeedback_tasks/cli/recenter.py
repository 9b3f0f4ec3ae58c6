"""The commands of the benchmark `recenter`: recenter import, recenter train."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import require
from ..common.files import write_all
from ..common.outputs import json_lines
from ..common.text import in_columns
from ..recenter.data import load, with_judgment
from ..recenter.filter.model import DEFAULT, EXTRA
from ..recenter.importers import convert
from ..recenter.rows import Relevance
from .options import FOLDER, out_option
from .output import progress, say


@click.group()
def recenter() -> None:
    """Import data of the benchmark recenter, and train a filter on them."""


@recenter.command("import")
@click.argument("source", metavar="FOLDER", type=FOLDER)
@out_option("The folder to write.", required=True)
def import_(source: Path, out: Path) -> None:
    """Convert the authors' annotations into our rows.

    FOLDER is a copy of the annotation repository of "Re-Centering Humans in LLM Personalization" (arXiv 2606.06614,
    github.com/orange0629/personalize-annotation), or its folder data. It has no license, so nothing of it comes with
    this package. Tried on commit 9d65d9e. DIR gets relevance.jsonl with people's majority labels, pilot/relevance.jsonl
    with the pilot's votes, and response.jsonl without votes.

    User ids become short ones, the same on every run. Rows with mail addresses or phone numbers are left out.

    \b
        personafeedback recenter import FOLDER --out DIR
        export RECENTER_DATA=DIR
    """
    made = convert(source)
    write_all({out / name: json_lines(rows) for name, rows in made.files.items()})
    for name, rows in made.files.items():
        relevant = f", {sum(row['label'] is True for row in rows):,} relevant" if "label" in rows[0] else ""
        users = len({row["user_id"] for row in rows})
        say(f"wrote {out / name}: {len(rows):,} rows, {users:,} users{relevant}")
    for name in made.absent:
        say(f"absent: {name}")
    for why, count in made.left_out.items():
        say(f"left out: {count:,} {why}")


@recenter.command()
@click.argument("data")
@out_option("The folder to write.", required=True)
@click.option(
    "--embeddings", metavar="MODEL", default=DEFAULT, show_default=True,
    help="A sentence-transformers model: a name on the Hugging Face Hub, or a folder.",
)  # fmt: skip
def train(data: str, out: Path, embeddings: str) -> None:
    """Train a filter on people's labels, evaluate it on users it has not seen, and write it to a folder.

    It says which attributes of a user matter for a prompt. DATA is a folder with relevance.jsonl, or `sample`. The
    filter is a logistic regression over frozen sentence embeddings. It takes seconds to minutes on a CPU and uses no
    random numbers. DIR gets filter.json with the weights and scores, and every held-out prediction. Needs the extra
    `filter`.

    \b
        personafeedback recenter train sample --out filter
        inspect eval personafeedback_tasks/recenter_chain -T relevance_filter=filter --model openai/gpt-4o
    """
    require("sklearn", extra=EXTRA)
    from ..recenter.filter.folder import DEMONSTRATION, train_on

    rows = with_judgment(load(Relevance, data))
    with progress() as show:
        files, table = train_on(rows, embeddings, show)
    write_all({out / name: content for name, content in files.items()})
    if rows.demonstration:
        say(DEMONSTRATION)
    for line in in_columns(table):
        say(line)
    users = len({row.user_id for row in rows})
    say(f"wrote {out}: {len(rows):,} rows of {users} users; {len(rows.unscored):,} with tied votes left out")
