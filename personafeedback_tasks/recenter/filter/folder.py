"""The folder of a trained filter: JSON and text, no pickle, so that somebody else's is safe to load.

filter.json         what it was trained with, and its threshold
weights.json        one number per column of the features
predictions.jsonl   of each training row, what the models predict that were trained without it
metrics.json        what these predictions score
README.md           the model card
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...common.errors import DataError
from ...common.files import Content, write_all
from ...common.strict_json import json_text, loads, reason, rows, short
from ...common.strict_json import read as read_bytes
from ...engine.cases import digest_of
from ..rows import Relevance
from .evaluation import HeldOut
from .features import blocks
from .model import TrainedFilter, Weights

FORMAT = 1
"""Of these files; a folder of another one is refused."""

ABOUT, WEIGHTS, PREDICTIONS, METRICS, CARD = (
    "filter.json",
    "weights.json",
    "predictions.jsonl",
    "metrics.json",
    "README.md",
)
FILES = (ABOUT, WEIGHTS, PREDICTIONS, METRICS, CARD)

JUDGED_BY = "by_user"
"""The evaluation whose predictions a judge gives for rows of the training data."""

WHAT_TO_DO = "Train it again: `personafeedback relevance train`"


@dataclass(frozen=True)
class Filter:
    """A filter as it is read from its folder.

    Attributes:
        embeddings: the name or folder of its embedding model.
        digest: of that model.
        with_answers: whether it weighs a language model's recorded answers.
        held_out: (row id, `text_digest`) of each training row -> its prediction by a model that has not seen its user.
        held_out_of_texts: the same by `text_digest` alone, of the first row with these texts: data may have other ids.
        rows: the ids of the training rows.
    """

    folder: Path
    embeddings: str
    digest: str
    with_answers: bool
    model: TrainedFilter
    held_out: Mapping[tuple[str, str], HeldOut]

    @cached_property
    def held_out_of_texts(self) -> dict[str, HeldOut]:
        found: dict[str, HeldOut] = {}
        for (_, text), made in self.held_out.items():
            found.setdefault(text, made)
        return found

    @cached_property
    def rows(self) -> frozenset[str]:
        return frozenset(row for row, _ in self.held_out)


def text_digest(attribute: str, prompt: str) -> str:
    """SHA-256 (12 hex digits) of a pair's texts."""
    return digest_of((attribute, prompt))


def refuse_others(folder: Path) -> None:
    """
    Raises:
        DataError: there is something in that folder, and no filter: a README.md there may be anything.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / ABOUT).is_file():
        raise DataError(
            f"{folder}: found files but no {ABOUT}, expected a new or empty folder, or one with a filter to replace. Use another folder."
        )


def replace(folder: Path, files: Mapping[str, Content]) -> None:
    """Write all files of a filter, or none.

    Raises:
        FileError: one of them cannot be written.
    """
    write_all({folder / name: content for name, content in files.items()})


def weights_text(model: TrainedFilter, of: Mapping[str, slice]) -> str:
    columns = {name: [float(weight) for weight in model.weights.weights[at]] for name, at in of.items()}
    return json_text({"bias": model.weights.bias, "weights": columns})


def predictions(
    found: Sequence[Relevance], labels: Sequence[bool], evaluations: Mapping[str, Sequence[HeldOut]]
) -> Iterator[str]:
    """The lines of that file: id, user and label of a row, a digest of its texts, and each evaluation's prediction."""
    for index, (row, label) in enumerate(zip(found, labels, strict=True)):
        of = {name: {**asdict(made[index]), "answer": made[index].answer} for name, made in evaluations.items()}
        about = {"id": row.id, "user_id": row.user_id, "text": text_digest(row.attribute, row.prompt), "label": label}
        yield json.dumps({**about, **of}, ensure_ascii=False) + "\n"


def read(folder: Path) -> Filter:
    """
    Raises:
        DataError: there is no filter, or it is broken, or of another version.
    """
    folder = folder.expanduser()
    if not (folder / ABOUT).is_file():
        raise DataError(
            f"{folder}: found no {ABOUT}, expected the folder of a trained filter. {WHAT_TO_DO}, or fix the path."
        )
    about = _Object(folder / ABOUT)
    if (version := about.get("format", int)) != FORMAT:
        raise about.broken(f"format = {version}", f"{FORMAT}")
    embeddings = about.within("embeddings")
    with_answers = about.get("answers", (dict, type(None))) is not None
    of = blocks(embeddings.get("dimensions", int), with_answers)
    model = TrainedFilter(_weights(folder, of), about.number("threshold"), about.number("strength"))
    name, digest = embeddings.get("model", str), embeddings.get("digest", str)
    return Filter(folder, name, digest, with_answers, model, dict(_held_out(folder)))


def _weights(folder: Path, of: Mapping[str, slice]) -> Weights:
    import numpy as np

    found = _Object(folder / WEIGHTS)
    columns, parts = found.within("weights"), []
    for name, at in of.items():
        values = columns.get(name, list)
        if len(values) != at.stop - at.start or not all(map(_is_number, values)):
            raise columns.broken(f"{name} = {short(values)}", f"{at.stop - at.start} numbers")
        parts.append(np.array(values, dtype=float))
    return Weights(np.concatenate(parts), found.number("bias"))


def _held_out(folder: Path) -> Iterator[tuple[tuple[str, str], HeldOut]]:
    path = folder / PREDICTIONS
    for line, row in rows(path):
        where = f"{path}, line {line}"
        made = row.get(JUDGED_BY)
        of = made if isinstance(made, dict) else {}
        numbers = [of.get(key) for key in ("fold", "probability", "threshold")]
        if not all(map(_is_number, numbers)) or not all(isinstance(row.get(key), str) for key in ("id", "text")):
            expected = f"id, text and {JUDGED_BY} with fold, probability and threshold"
            raise DataError(f"{where}: found {short(row)}, expected {expected}. {WHAT_TO_DO}.")
        yield (row["id"], row["text"]), HeldOut(*numbers)  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class _Object:
    """A JSON object of a file, read strictly."""

    def __init__(self, path: Path, inside: str = "", found: object = None) -> None:
        self._where = f"{path}{inside}"
        self._path = path
        if found is None:
            try:
                found = loads(read_bytes(path))
            except ValueError as error:
                if isinstance(error, DataError):
                    raise
                raise self.broken(reason(error), "JSON") from error
        if not isinstance(found, dict):
            raise self.broken(short(found), "a JSON object")
        self._found: dict[str, Any] = found

    def broken(self, found: object, expected: str) -> DataError:
        return DataError(f"{self._where}: found {found}, expected {expected}. {WHAT_TO_DO}.")

    def get(self, key: str, kind: Any) -> Any:
        value = self._found.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.broken(f"{key} = {short(value)}", f"a value for {key!r}")
        return value

    def number(self, key: str) -> float:
        value = self._found.get(key)
        if not _is_number(value):
            raise self.broken(f"{key} = {short(value)}", "a number")
        return float(value)  # type: ignore[arg-type]

    def within(self, key: str) -> _Object:
        return _Object(self._path, f", {key}", self.get(key, dict))
