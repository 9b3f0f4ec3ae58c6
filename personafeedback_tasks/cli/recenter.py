"""The commands of the benchmark `recenter`: recenter import, recenter train."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from ..common.columns import in_columns
from ..common.embeddings import DEFAULT
from ..common.errors import DataError, OptionError
from ..common.files import write_all
from ..common.records import json_lines
from ..recenter.data import load, with_judgment
from ..recenter.importers import LANGUAGES, SOURCES, Imported, convert, convert_wildchat
from ..recenter.pairings import PROMPTS
from ..recenter.rows import STAGES, Relevance
from .options import RUN, out_option
from .output import progress, say

PERSONAL = 10
"""Rows with personal data that are named one by one."""

SCORES = 3
"""Columns of the filter's card that are printed."""


@click.group()
def recenter() -> None:
    """Data of the benchmark recenter, and a filter trained on them."""


@recenter.command("import")
@click.argument("source", type=RUN)
@out_option("DIR", "The folder to write.", required=True)
@click.option("--language", type=click.Choice(LANGUAGES), help="Of the conversations in a file. Default: English.")
def import_(source: Path, out: Path, language: str | None) -> None:
    """Convert the authors' annotations, or conversations of WildChat, into our rows.

    SOURCE is a folder: a copy of the annotation repository of "Re-Centering Humans in LLM Personalization" (arXiv 2606.06614,
    github.com/orange0629/personalize-annotation), or its folder data. It has no license, so nothing of it comes with this
    package. Tried on commit 9d65d9e. DIR gets relevance.jsonl with people's majority labels, replies/ with the recorded replies of
    models, pilot/relevance.jsonl with the pilot's votes, and response.jsonl without votes. The command names the files that SOURCE
    lacks.

    Or SOURCE is a file of conversations in WildChat's layout, as lines of JSON that the method to_json of datasets writes. Not
    verified: the layout is that of the data cards. DIR gets conversations.jsonl; a prompts.jsonl is for you to write.
    Conversations in another language, marked as toxic, or of users with fewer than 4 are left out and counted.

    User ids become short ones, the same on every run. Rows with personal data are left out and counted.

    \b
        personafeedback recenter import FOLDER --out DIR
        personafeedback recenter import FILE --out DIR
        RECENTER_DATA=DIR
    """
    if source.is_dir():
        if language:
            raise OptionError(f"{source}: --language is for a file of conversations. Leave it out.")
        made = convert(source)
        _refuse_leftovers(out, made)
    else:
        made = convert_wildchat(source, language or "English")
    write_all({out / name: json_lines(rows) for name, rows in made.files.items()})
    for name, rows in made.files.items():
        say(f"wrote {out / name}: {_described(rows)}")
    for name in made.absent:
        say(f"absent: {name}, so there is no {out / SOURCES[name]}")
    for why, count in made.left_out.items():
        say(f"left out: {count:,} {why}")
    for row in made.personal[:PERSONAL]:
        say(f"  {row}")
    if len(made.personal) > PERSONAL:
        say(f"  and {len(made.personal) - PERSONAL:,} more")
    if source.is_file() and not (out / PROMPTS).is_file():
        say(
            f"absent: {out / PROMPTS}, which is for you to write: new prompts for these users, one JSON object with id and prompt per line"
        )


def _refuse_leftovers(out: Path, made: Imported) -> None:
    # data of an earlier import must not stay beside those of this one
    names = [stage.file for stage in STAGES]
    earlier = [out / folder / name for folder in ("", "pilot") for name in names]
    for path in (*earlier, *sorted(out.glob("replies/*.jsonl"))):
        if path.is_file() and path.relative_to(out).as_posix() not in made.files:
            raise DataError(
                f"{path}: found a file that this import does not write, expected none. Use a new folder, or remove it."
            )


def _described(rows: Sequence[dict[str, object]]) -> str:
    parts = [_counted(len(rows), "row")]
    if "user_id" in rows[0]:
        parts.append(_counted(len({row["user_id"] for row in rows}), "user"))
    if "label" in rows[0]:
        parts.append(f"{sum(row['label'] is True for row in rows):,} relevant")
    if "answer" in rows[0]:
        answers = Counter(row["answer"] for row in rows)
        parts.append(f"answers: {answers[True]:,} yes, {answers[False]:,} no, {answers[None]:,} unreadable")
    return ", ".join(parts)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


@recenter.command()
@click.argument("data")
@out_option("DIR", "The folder to write.", required=True)
@click.option(
    "--embeddings", metavar="MODEL", default=DEFAULT, show_default=True,
    help="A sentence-transformers model: a name on the Hugging Face Hub, or a folder.",
)  # fmt: skip
def train(data: str, out: Path, embeddings: str) -> None:
    """Train a filter on people's labels, evaluate it on users it has not seen, and write it to a folder.

    It says which attributes of a user matter for a prompt. DATA is a folder with relevance.jsonl, or `sample`. The filter is a logistic
    regression over frozen sentence embeddings. It takes seconds to minutes on a CPU and uses no random numbers. DIR gets the weights, a
    model card (README.md), metrics.json and every held-out prediction. Needs the extra `filter`.

    \b
        personafeedback recenter train sample --out filter
        RECENTER_DATA=sample inspect eval personafeedback_tasks/recenter_relevance \\
            --model personafeedback/relevance-filter -M path=filter
    """
    from ..recenter.filter import card, folder, training

    training.check_installed()
    folder.refuse_others(out)
    rows = with_judgment(load(Relevance, data))
    with progress() as show:
        files, metrics = training.train_on(rows, embeddings, show)
    write_all({out / name: content for name, content in files.items()})
    if rows.demonstration:
        say(card.DEMONSTRATION)
    table = [["", *card.SCORE_NAMES.values()], *card.rows_of(metrics)]
    for line in in_columns([row[: SCORES + 1] for row in table]):
        say(line)
    say(
        f"wrote {out}: {len(rows):,} rows of {len({row.user_id for row in rows})} users; {len(rows.unscored):,} with even votes left out"
    )
