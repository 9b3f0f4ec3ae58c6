"""The commands between texts and labels: build packs, build votes."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.folder import Folder
from ..building.votes.pack_files import FORMATS, write_packs
from ..building.votes.taking import take_votes
from ..common.errors import OptionError
from .build_options import folder_argument, model_arguments
from .output import say


@click.command()
@folder_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="html",
    show_default=True,
    help="A page for any browser, a table, or tasks for one of these tools.",
)
def packs(folder: Path, form: str) -> None:
    """Write what each annotator gets: every pair in an order and with sides of their own.

    Send packs/annotator-1.html to the first person, and so on. The page works without a network, keeps the votes in the browser, and
    downloads them as a file to send back. Some items are there for attention: one response is to another question.

    build.yaml says how many `annotators` there are. Run this again for more of them, or after there are more pairs: packs only grow, and votes
    on earlier ones stay valid. A pair whose texts were edited is written anew, and votes on the old texts no longer count.

    \b
        personafeedback build packs DIR
        personafeedback build packs DIR --format label-studio
    """
    write_packs(Folder.of_build(folder), form, say)


@click.command()
@folder_argument
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--drop", multiple=True, metavar="ANNOTATOR", help="Leave the votes of this annotator out from now on. Repeatable."
)
@click.option(
    "--votes-by",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Have a model vote in place of people, as Inspect names it. Repeatable. The set is then marked `model votes` everywhere.",
)
@click.option(
    "-M", "model_args", multiple=True, metavar="KEY=VALUE", help="An argument of these models, as in Inspect."
)
def votes(
    folder: Path, files: tuple[Path, ...], drop: tuple[str, ...], models: tuple[str, ...], model_args: tuple[str, ...]
) -> None:
    """Take the votes of annotators in, or look at those that are there.

    FILE is what an annotator sent: the download of a page, a filled-in CSV, a JSON export of Label Studio, or Potato's
    user_state.json. Files may come in parts and again: no vote is lost or counted twice.

    A model that votes is asked about every pair in both orders; where it does not pick the same response twice, it has no vote.

    \b
        personafeedback build votes DIR annotator-1.votes.csv annotator-2.votes.csv
        personafeedback build votes DIR --drop annotator-2
        personafeedback build votes DIR --votes-by openai/gpt-4o --votes-by anthropic/claude-sonnet-4-5
    """
    build = Folder.of_build(folder)
    if model_args and not models:
        raise OptionError("-M is for the models of --votes-by, and there are none.")
    take_votes(build, files, drop, models, model_arguments(model_args), say)
