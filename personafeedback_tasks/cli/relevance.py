"""The commands about relevance: relevance train."""

from __future__ import annotations

from pathlib import Path

import click

from ..recenter.data import load, with_judgment
from ..recenter.embeddings import DEFAULT
from ..recenter.rows import Relevance
from .output import progress, say

RANDOM = "random"
LEAKS = (
    "a random split of pairs leaks: the same user's attributes and the same prompts are on both sides, and the score says nothing about new "
    "users (on the authors' data it lifts a plain TF-IDF model's F1 from .48 to .59). Use grouped, which reports both honest splits."
)
SHOWN = 3
"""Scores of the card's table that are printed."""


def _not_random(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value == RANDOM:
        raise click.BadParameter(LEAKS)
    return value


@click.group()
def relevance() -> None:
    """A trained filter: which attributes of a user matter for a prompt?"""


@relevance.command()
@click.argument("data")
@click.option(
    "--out", metavar="DIR", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write."
)
@click.option(
    "--embeddings", metavar="MODEL", default=DEFAULT, show_default=True,
    help="A sentence-transformers model: a name on the Hugging Face Hub, or a folder.",
)  # fmt: skip
@click.option(
    "--answers", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A language model's recorded replies as one more feature: JSONL with id and reply, as import-annotations writes to replies/.",
)  # fmt: skip
@click.option(
    "--split", type=click.Choice(["grouped", RANDOM]), default="grouped", show_default=True, callback=_not_random,
    help="How rows are held out. grouped reports two scores: by user, and by user and prompt. random is refused: it leaks.",
)  # fmt: skip
def train(data: str, out: Path, embeddings: str, answers: Path | None, split: str) -> None:
    """Train a filter on people's labels, evaluate it on users it has not seen, and write it to a folder.

    DATA is a folder with relevance.jsonl, or `sample`. The filter is a logistic regression over frozen sentence embeddings. It takes
    seconds to minutes on a CPU and uses no random numbers. DIR gets the weights, a model card (README.md), metrics.json and every
    held-out prediction. Needs the extra `filter`.

    \b
        personafeedback relevance train sample --out filter
        RECENTER_DATA=sample inspect eval personafeedback_tasks/recenter_relevance \\
            --model personafeedback/relevance-filter -M path=filter
    """
    from ..recenter.filter import card, folder, training
    from ..recenter.filter.answers import RecordedAnswers

    training.check_installed()
    folder.refuse_others(out)
    rows = with_judgment(load(Relevance, data))
    with progress() as show:
        files, metrics = training.train_on(
            rows, embeddings, None if answers is None else RecordedAnswers(answers), show
        )
    folder.replace(out, files)
    if rows.demonstration:
        say(card.DEMONSTRATION)
    for line in _columns(card.rows_of(metrics), list(card.SCORES.values())):
        say(line)
    say(
        f"wrote {out}: {len(rows):,} rows of {len({row.user_id for row in rows})} users; {len(rows.unscored):,} with even votes left out"
    )


def _columns(rows: list[list[str]], scores: list[str]) -> list[str]:
    """The first scores of each row, aligned."""
    shown = [row[: SHOWN + 1] for row in [["", *scores], *rows]]
    widths = [max(len(row[column]) for row in shown) for column in range(SHOWN + 1)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
