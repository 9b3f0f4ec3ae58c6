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
from dataclasses import asdict
from pathlib import Path

from ...common.errors import DataError
from ...common.records import json_text, load_json, rows, short
from ..fields import Fields
from ..relevance import RELEVANCE
from ..rows import Relevance
from .evaluation import Prediction
from .features import columns_of
from .model import TrainedFilter, Weights
from .splits import BY_USER
from .trained import Filter, text_digest, texts

FORMAT = 1
"""Of these files; a folder of another one is refused."""

ABOUT, WEIGHTS, PREDICTIONS, METRICS, CARD = FILES = (
    "filter.json", "weights.json", "predictions.jsonl", "metrics.json", "README.md",
)  # fmt: skip

JUDGED_BY = BY_USER
"""The evaluation whose predictions a judge gives for rows of the training data."""

WHAT_TO_DO = "Train it again: `personafeedback recenter train`"


def refuse_others(folder: Path) -> None:
    """
    Raises:
        DataError: there is something in that folder, and no filter: a README.md there may be anything.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / ABOUT).is_file():
        raise DataError(
            f"{folder}: found files but no {ABOUT}, expected a new or empty folder, or one with a filter to replace. Use another folder."
        )


def weights_text(model: TrainedFilter, columns: Mapping[str, slice]) -> str:
    weights = {name: [float(weight) for weight in model.weights.weights[at]] for name, at in columns.items()}
    return json_text({"bias": model.weights.bias, "weights": weights})


def predictions(rows: Sequence[Relevance], evaluations: Mapping[str, Sequence[Prediction]]) -> Iterator[str]:
    """The lines of that file: id, user and label of a row, a digest of its texts, and each evaluation's prediction."""
    for index, row in enumerate(rows):
        text = text_digest(texts(row))
        about = {"id": row.id, "user_id": row.user_id, "text": text, "label": bool(row.judgment)}
        made = {name: {**asdict(of[index]), "answer": of[index].answer} for name, of in evaluations.items()}
        yield json.dumps({**about, **made}, ensure_ascii=False) + "\n"


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
    about = _object(folder / ABOUT)
    about.checked("format", lambda value: value == FORMAT, f"{FORMAT}")
    about.word("task", (RELEVANCE.name,))
    embeddings = about.object("embeddings")
    dimensions = int(embeddings.number("dimensions"))
    weights = _weights(_object(folder / WEIGHTS), columns_of(dimensions))
    model = TrainedFilter(weights, about.number("threshold"), about.number("strength"))
    predicted = list(_held_out(folder / PREDICTIONS))
    held_out = {(row, text): made for row, text, _, made in predicted}
    users = frozenset(user for _, _, user, _ in predicted)
    return Filter(folder, embeddings.text("model"), embeddings.text("digest"), model, held_out, users)


def _weights(fields: _FilterFields, columns: Mapping[str, slice]) -> Weights:
    import numpy as np

    weights, parts = fields.object("weights"), []
    for name, at in columns.items():
        values = weights.checked(name, lambda value: isinstance(value, list), "a list of numbers")
        if len(values) != at.stop - at.start or not all(map(_is_number, values)):
            raise weights.broken(f"{name} = {short(values)}", f"{at.stop - at.start} numbers")
        parts.append(np.array(values, dtype=float))
    return Weights(np.concatenate(parts), fields.number("bias"))


def _held_out(path: Path) -> Iterator[tuple[str, str, str, Prediction]]:
    """(id, text digest, user, prediction) of each training row."""
    for number, row in rows(path):
        line = _FilterFields(row, f"{path}, line {number}")
        made = line.object(JUDGED_BY)
        prediction = Prediction(int(made.number("fold")), made.number("probability"), made.number("threshold"))
        yield line.text("id"), line.text("text"), line.text("user_id"), prediction


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


class _FilterFields(Fields):
    """An object of a file of the folder."""

    def broken(self, found: object, expected: str) -> DataError:
        return DataError(f"{self.where}: found {found}, expected {expected}. {WHAT_TO_DO}.")

    def number(self, key: str) -> float:
        return float(self.checked(key, _is_number, "a number"))

    def object(self, key: str) -> _FilterFields:
        row = self.checked(key, lambda value: isinstance(value, dict), "a JSON object")
        return _FilterFields(row, f"{self.where}, {key}")


def _object(path: Path) -> _FilterFields:
    fields = _FilterFields({}, str(path))
    fields.row = load_json(path, "JSON")
    if not isinstance(fields.row, dict):
        raise fields.broken(short(fields.row), "a JSON object")
    return fields
