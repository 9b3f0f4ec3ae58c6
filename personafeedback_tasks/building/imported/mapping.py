"""Which key of a source's row has what: --map, and the recipes of known sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...common.errors import OptionError
from ...common.records import short

FIELDS = ("persona", "question", "chosen", "rejected")
"""What --map must name; rejected may name several keys, with + between: a pair is made with each."""

OPTIONAL = ("user_id", "category")


@dataclass(frozen=True)
class Recipe:
    """How to import a public set.

    Attributes:
        keys: its --map.
        folder: where a copy of its repository has the rows.
        licence: of its texts.
        tried: the repository and commit on whose files the recipe was tried.
    """

    keys: Mapping[str, str]
    folder: str
    licence: str
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
        licence="CC-BY-NC-4.0",
        tried="amazon-science/PrefEval at commit 5079505",
    ),
}


def mapping(text: str) -> dict[str, str]:
    """`persona=profile,question=q,...` -> field -> key of a row; `a.b.0` goes into objects and lists.

    Raises:
        OptionError: a field is missing, unknown or named twice.
    """
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
