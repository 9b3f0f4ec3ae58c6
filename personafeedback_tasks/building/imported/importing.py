"""`build import`: existing pairs into a new build, or beside those of an old one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...annotation.rows import Vote
from ...common.errors import DataError, OptionError
from ...common.files import write
from ...common.records import loads, read, short
from ...common.row_files import R, Row
from ..folder import Folder
from ..rows import TEST, Pair, Person, Question, Refused, Tiered
from ..settings import FILE, Settings
from ..steps import PACKS, RELEASE, TRAINING, Say
from ..texts.personas import json_of, new_people
from .pairs import REASONS, ImportedPairs, import_rows
from .sources import read_rows

FIELDS = ("persona", "question", "chosen", "rejected")
"""Fields that --map must name; rejected may name several keys, joined by +: a pair is made with each."""

OPTIONAL = ("user_id", "category")


@dataclass(frozen=True)
class Recipe:
    """Import options for a public set.

    Attributes:
        keys: its --map.
        folder: of the rows, in a copy of its repository.
        tried: repository and commit on which the recipe was tried.
    """

    keys: Mapping[str, str]
    folder: str
    license: str
    tried: str

    def find(self, source: str) -> str:
        """The rows in a copy of the repository, or in a part of it; the source itself if it has no such folder."""
        parts = Path(self.folder).parts
        inner = (Path(source).expanduser().joinpath(*parts[start:]) for start in range(len(parts)))
        return next((str(folder) for folder in inner if folder.is_dir()), source)


RECIPES = {
    "prefeval": Recipe(
        {
            "persona": "preference",
            "question": "question",
            "chosen": "classification_task_options.0",
            "rejected": "classification_task_options.1+classification_task_options.2+classification_task_options.3",
        },
        folder="benchmark_dataset/mcq_options",
        license="CC-BY-NC-4.0",
        tried="amazon-science/PrefEval at commit 5079505",
    ),
}

_ANEW = "Import into a new folder, or remove the old one first."


def import_pairs(
    root: Path,
    source: str,
    *,
    keys: str | None,
    recipe: str | None,
    split: str,
    difficulty: str,
    test: str | None,
    say: Say,
) -> None:
    """Bring the pairs of a source into the build in a folder, which is started if it is new.

    Args:
        source: a path, or a Hub id.
        keys: as --map has them; None with the name of a recipe.
        difficulty: of all pairs.
        test: share of the users for testing in a new build; None for all of them.

    Raises:
        DataError: the source is broken or has no pairs, or they contradict the build.
        OptionError: both keys and a recipe are given, or neither, or one is invalid.
    """
    if (keys is None) == (recipe is None):
        raise OptionError("Pass either --map, or the --recipe of a known set.")
    used = RECIPES[recipe] if recipe else None
    fields = used.keys if used else mapping(keys or "")
    source, path = used.find(source) if used else source, root / FILE
    if path.exists():
        settings = Settings.load(path)
    else:
        settings = Settings.of_options(test=test, license=used.license if used else None)
        settings = replace(settings, personas=0, specific=0)  # a build of imported pairs writes nothing by itself
    made = import_rows(read_rows(source, split), fields, difficulty, settings.seed)
    refused = Counter(pair.reason for pair in made.refused)
    pairs, asked = made.rows[Pair], made.rows[Question]
    if not pairs:
        raise DataError(
            f"{source}: found no pair to take in {made.count:,} rows, expected some. Refused: {dict(refused) or 'none'}."
        )
    if not path.exists():
        write(path, settings.as_yaml())
    folder = Folder(root)
    with folder.locked():
        new = save(folder, made)
    say(f"read {made.count:,} rows of {source}")
    say(f"took {len(pairs):,} pairs of {len(made.personas):,} users and {len(asked):,} questions, all {difficulty}")
    if new < len(pairs):
        say(f"{len(pairs) - new:,} of them were there before, and keep the label that they have")
    for reason, count in refused.items():
        say(f"refused {count:,}, {reason}: {REASONS[reason]}; see refused.jsonl")
    if used:
        say(f"The recipe {recipe} was tried on {used.tried}.")
    if not folder.people(TEST):
        say(f"All persons are for training. Next: {TRAINING.command(root)}")
        return
    if not folder.has(Vote):
        say(f"Their labels are those of the source. To have them voted on: {PACKS.line(root)}")
    say(f"Next: {RELEASE.line(root)}")


def save(folder: Folder, made: ImportedPairs) -> int:
    """Add imported rows to a build, and return the number of new pairs. Existing rows stay, so that repeating an import changes nothing.

    Raises:
        DataError: a user has another persona there, or a pair without votes another label.
    """
    before = folder.by_id(Tiered)
    profiles: dict[Path, str] = {}
    for user, profile in made.personas.items():
        path = folder.persona_path(user)
        if not path.exists():
            profiles[path] = json_of(profile)
        elif loads(read(path).decode("utf-8")) != profile:
            raise DataError(
                f"{path}: found another persona than the source has of {short(user)}, expected the same. {_ANEW}"
            )
    for name, label in made.rows[Tiered].items():
        if name in before and before[name].votes == label.votes and before[name] != label:
            raise DataError(
                f"{folder.path(Tiered)}: found another label or tier of the pair {name} than the source has now, expected the same. {_ANEW}"
            )
    pairs = folder.by_id(Pair)
    people = folder.read(Person)
    known = {person.user_id for person in people}
    unknown = {user: profile for user, profile in made.personas.items() if user not in known}
    rows: dict[type[Row], list[Any]] = {kind: [*of_kind.values()] for kind, of_kind in made.rows.items()}
    rows[Tiered] = new = [label for label in rows[Tiered] if label.pair_id not in pairs]
    rows = {Person: new_people(folder.settings, people, unknown), Refused: made.refused, **rows}
    folder.write_together({kind: _joined(folder, kind, of_kind) for kind, of_kind in rows.items()}, dict(profiles))
    return len(new)


def _joined(folder: Folder, kind: type[R], new: Iterable[R]) -> Iterable[R]:
    # Existing rows win.
    key = kind.key or ("id", "step", "text")
    joined = {tuple(getattr(row, name) for name in key): row for row in folder.read(kind)}
    for row in new:
        joined.setdefault(tuple(getattr(row, name) for name in key), row)
    return joined.values()


def mapping(text: str) -> dict[str, str]:
    """`persona=profile,question=q,...` -> field -> key of a row; `a.b.0` goes into objects and lists. Raises OptionError."""
    keys: dict[str, str] = {}
    for part in text.split(","):
        name, equals, key = (word.strip() for word in part.partition("="))
        if not equals or not key or name not in (*FIELDS, *OPTIONAL) or name in keys:
            raise OptionError(
                f"--map must be FIELD=KEY with commas between, of {', '.join((*FIELDS, *OPTIONAL))}, each once, got {short(part)}."
            )
        keys[name] = key
    missing = [name for name in FIELDS if name not in keys]
    if missing:
        raise OptionError(
            f"--map lacks {', '.join(missing)}. Example: --map {','.join(f'{name}={name}' for name in FIELDS)}"
        )
    return keys
