"""The command that makes pairs to train a reward model on: build training."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.folder import Folder
from .build_options import folder_argument
from .output import say


@click.command()
@folder_argument
@click.option(
    "--benchmark",
    metavar="DATA",
    help="What no text may be of: PersonaFeedback, as a folder or a Hub id. Default: PERSONAFEEDBACK_DATA, else the Hub. `none` compares "
    "with this build's own release alone.",
)
@click.option(
    "--mix",
    metavar="helpsteer2[=DATA]",
    help="Add pairs of HelpSteer2, as the paper does: from the Hub, or a file or folder.",
)
@click.option(
    "--tokenizer",
    metavar="MODEL",
    help="Of the model to be trained: put the persona where its chat template takes it, and count the pairs that are too long.",
)
@click.option("--max-length", type=click.IntRange(min=1), default=4096, show_default=True, help="Tokens; the paper's.")
def training(folder: Path, benchmark: str | None, mix: str | None, tokenizer: str | None, max_length: int) -> None:
    """Make pairs to train a reward model on, of the persons of the split train.

    In each pair both responses are by one model: the one that was told the whole persona, before the one that was told none of it, or
    a masked one. Writes DIR/training/train.jsonl in the conversational format of TRL, with the persona where method=reward puts it: in a
    system turn; before the question where the chat template of --tokenizer has no system turn, as Gemma's.

    Refused: a training person with the persona of a test person or of a user of the benchmark, and any pair with a text that a model will be
    tested on, near copies included; pairs of HelpSteer2 as well. All of them are then listed in DIR/training-copies.jsonl.

    \b
        personafeedback build training DIR
        personafeedback build training DIR --mix helpsteer2 --tokenizer Qwen/Qwen2.5-7B-Instruct
    """
    from ..building.training.making import TrainingOptions, make_training

    make_training(Folder.of_build(folder), TrainingOptions(benchmark, mix, tokenizer, max_length), say)
