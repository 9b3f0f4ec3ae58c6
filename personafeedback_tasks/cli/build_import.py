"""The command that brings pairs that exist into a build: build import."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.imported.importing import import_pairs
from ..building.imported.mapping import FIELDS, RECIPES
from ..personafeedback.cells import DIFFICULTIES
from .build_options import folder_argument
from .output import say


@click.command("import")
@folder_argument
@click.option(
    "--from",
    "source",
    metavar="FILE_OR_HUB",
    required=True,
    help="A .csv, .json or .jsonl file, a folder of such files or of `datasets`, or a Hub id.",
)
@click.option(
    "--map",
    "keys",
    metavar="FIELD=KEY,...",
    help=f"Which key of a row has {', '.join(FIELDS)}; also user_id and category. Dots go into objects and lists.",
)
@click.option(
    "--recipe",
    type=click.Choice(sorted(RECIPES)),
    help=f"The --map of a known set: {'; '.join(f'{name} {RECIPES[name].evidence}' for name in sorted(RECIPES))}.",
)
@click.option("--split", default="train", show_default=True, help="Of a dataset.")
@click.option("--difficulty", type=click.Choice(DIFFICULTIES), default="hard", show_default=True, help="Of all pairs.")
@click.option("--name", help="Of the set, if DIR is new.")
@click.option("--licence", help="Of the texts, if DIR is new.")
@click.option("--language", metavar="CODE", help="Of the texts, if DIR is new, such as zh.  [default: en]")
def import_command(
    folder: Path,
    source: str,
    keys: str | None,
    recipe: str | None,
    split: str,
    difficulty: str,
    **options: str | None,
) -> None:
    """Bring pairs with labels into a build, so that they can be released at once, or voted on again.

    A persona may be an object, a text or a list; who has the same one is the same user, unless --map names a user_id. Several keys with +
    between, as in rejected=worse+worst, make a pair with each.

    \b
        personafeedback build import DIR --from pairs.csv --map persona=profile,question=ask,chosen=good,rejected=bad
        personafeedback build import DIR --from OWNER/NAME --split test --recipe personalized-rewardbench
        personafeedback build import DIR --from PrefEval --recipe prefeval
        personafeedback build release DIR
    """
    import_pairs(folder, source, keys=keys, recipe=recipe, split=split, difficulty=difficulty, options=options, say=say)
