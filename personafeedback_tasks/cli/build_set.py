"""The commands of a build that ask no model for texts: release, training, import."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.build import Build
from ..building.imported import import_pairs
from .annotate import judged_in
from .build_texts import build_argument, folder_argument
from .options import FOLDER
from .output import say


@click.command()
@build_argument
def release(folder: Build) -> None:
    """Turn votes into labels and tiers, and make the data set: DIR/release, in the layout of PersonaFeedback, with a
    set.json and a data card.

    \b
    easy     built to be (the full persona against none), and the votes confirm it
    medium   more than `medium` of build.toml (8/9) of all such people agree, as estimated from the votes on all pairs
    hard     fewer agree, but chance alone would reach such a majority in at most 5 % of pairs (8 of 9 votes)

    All other pairs go to below.jsonl with a reason; so does a pair with the same texts as an earlier one. The
    agreement of the annotators, and the risk that another nine like these would decide otherwise, are printed as a
    check and decide nothing. So is how often a shortcut is right on Hard: the longer response, the one with more of
    the persona's terms, or the one that says the user's name.

    Everything in this package then works on the set: the tasks of both harnesses, reports, cards, duels. Nothing is
    uploaded. Files that you add to DIR/release stay when you run this again; README.md is written anew.
    """
    from ..building.release import release as write_release

    write_release(folder, say)


@click.command()
@build_argument
@click.option(
    "--benchmark",
    metavar="DATA",
    help="Benchmark that no text may come from: PersonaFeedback, as a folder or a Hub id. Default: "
    "PERSONAFEEDBACK_DATA, else the Hub. `none` compares with this build's own test pairs alone.",
)
@click.option(
    "--ratings",
    metavar="STUDY",
    type=FOLDER,
    help="Pairs also of replies that people rated, a folder of `annotate`. DIR may then have no persons.",
)
def training(folder: Build, benchmark: str | None, ratings: Path | None) -> None:
    """Make pairs to train a reward model on, of the persons of the split train.

    In each pair both responses are by one model: the one that was told the persona, before the one that was not. With
    --ratings, people rated one reply above the other. Writes DIR/training/train.jsonl in the conversational format of
    TRL, with the persona in a system turn.

    A pair with a response that a model will be tested on, or a near copy of one, is left out.

    \b
        personafeedback build training DIR
        personafeedback build training DIR --ratings STUDY
    """
    from ..building.training import make_training

    make_training(folder, judged_in(ratings) if ratings else (), benchmark, say)


@click.command("import")
@folder_argument
@click.option(
    "--from",
    "source",
    metavar="FILE",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A .csv or .jsonl file with persona, question, chosen and rejected; maybe user_id and category "
    "(general or specific).",
)
@click.option(
    "--test", metavar="SHARE", help="Share of the users for testing, such as 1/2: 0 to train only.  [default: 1]"
)
def import_command(folder: Path, source: Path, test: str | None) -> None:
    """Start a build with pairs that have labels, so that they can be released at once, or voted on again.

    A persona is an object or a text; rows with the same one are of the same user, unless they have a user_id. All
    pairs count as hard.

    \b
        personafeedback build import DIR --from pairs.csv
        personafeedback build release DIR
    """
    import_pairs(folder, source, test, say)
