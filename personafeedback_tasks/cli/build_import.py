"""The command that brings pairs that exist into a build: build import."""

from __future__ import annotations

from pathlib import Path

import click

from ..building import settings
from ..building.folder import Folder, command
from ..building.imported.pairs import FIELDS, REASONS, RECIPES, Recipe, import_rows, mapping, save
from ..building.imported.sources import read_rows
from ..building.rows import Vote
from ..building.settings import Settings
from ..building.starting import as_yaml
from ..common.errors import DataError, OptionError
from ..common.files import locked, write
from ..personafeedback.cells import DIFFICULTIES
from .build_folder import folder_argument, then
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
    folder: Path, source: str, keys: str | None, recipe: str | None, split: str, difficulty: str, name: str | None, licence: str | None,
    language: str | None,
) -> None:  # fmt: skip
    """Bring pairs with labels into a build, so that they can be released at once, or voted on again.

    A persona may be an object, a text or a list; who has the same one is the same user, unless --map names a user_id. Several keys with +
    between, as in rejected=worse+worst, make a pair with each.

    \b
        personafeedback build import DIR --from pairs.csv --map persona=profile,question=ask,chosen=good,rejected=bad
        personafeedback build import DIR --from OWNER/NAME --split test --recipe personalized-rewardbench
        personafeedback build import DIR --from PrefEval --recipe prefeval
        personafeedback build release DIR
    """
    if (keys is None) == (recipe is None):
        raise OptionError("Pass either --map, or the --recipe of a known set.")
    known = Recipe(mapping(keys)) if keys is not None else RECIPES[str(recipe)]
    source = known.find(source)
    path = folder / settings.FILE
    if path.exists():
        told = Settings.load(path)
    else:
        settings.check_lines(name, licence)
        settings.check_language(language)
        told = Settings(
            name=name or Settings.name, licence=licence or known.licence, language=language or Settings.language
        )
    made = import_rows(read_rows(source, split), known.keys, difficulty, told.seed)
    if not made.pairs:
        raise DataError(
            f"{source}: found no pair to take in {made.rows:,} rows, expected some. Refused: {dict(made.why) or 'none'}."
        )
    if not path.exists():
        write(path, as_yaml(told))
    build = Folder(folder)
    with locked(build.root):
        new = save(build, made)
    say(f"read {made.rows:,} rows of {source}")
    say(
        f"took {len(made.pairs):,} pairs of {len(made.people):,} users and {len(made.questions):,} questions, all {difficulty}"
    )
    if new < len(made.pairs):
        say(f"{len(made.pairs) - new:,} of them were there before, and keep the label that they have")
    for reason, count in made.why.items():
        say(f"refused {count:,}, {reason}: {REASONS[reason]}; see refused.jsonl")
    if recipe:
        say(f"The recipe {recipe} {known.evidence}.")
    if build.has(Vote):
        then("tiers", build)
        return
    say(f"Their labels are those of the source. To have them voted on: {command('packs', build.root)}")
    then("release", build)
