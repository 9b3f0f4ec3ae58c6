"""The commands from votes to a data set: build tiers, build release."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.folder import Folder
from ..building.release.shortcuts import NAMES
from .build_options import folder_argument
from .output import say, show_table


@click.command()
@folder_argument
def tiers(folder: Path) -> None:
    """Make labels and tiers of the votes.

    \b
    easy     built to be (the full persona against none), and the votes confirm it
    medium   the share of agreeing votes is at least `medium` of build.yaml, 8/9 if nobody says otherwise
    hard     it is at least `hard`, 6/9

    The rest goes to below.jsonl with its reason, also a pair whose texts are those of an earlier one. The agreement of the annotators is
    printed beside: it is a check, and no rule.

    \b
        personafeedback build tiers DIR
    """
    from ..building.release.labeling import make_tiers

    make_tiers(Folder.of_build(folder), say, show_table)


@click.command()
@folder_argument
@click.option(
    "--accept",
    multiple=True,
    metavar="NAME",
    type=click.Choice(NAMES),
    help="Release in spite of this finding: longest, overlap or name above 60 % on Hard, or a contradiction. Repeatable. The card says so.",
)
def release(folder: Path, accept: tuple[str, ...]) -> None:
    """Make the data set: DIR/release, in the layout of PersonaFeedback, with a set.json and a data card.

    Everything in this package then works on it: the tasks of both harnesses, reports, cards, duels. Nothing is uploaded.
    Files that you add to DIR/release stay when you run this again; README.md is written anew.

    Before that, the shortcuts are measured. If the longer response, the one with more of the persona's terms, or the one that says the
    user's name is right in more than 60 % of the Hard cases, or a pair has both labels, nothing is released unless --accept names it.

    \b
        personafeedback build release DIR
        personafeedback build release DIR --accept longest
    """
    from ..building.release import releasing

    releasing.release(Folder.of_build(folder), accept, say, show_table)
