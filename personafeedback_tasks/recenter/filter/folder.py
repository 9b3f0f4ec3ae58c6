"""The folder of a trained filter: JSON and text, no pickle, so that somebody else's is safe to load.

filter.json         what it was trained with, and its threshold
weights.json        one number per column of the features
predictions.jsonl   of each training row, what the models predict that were trained without it
metrics.json        what these predictions score
README.md           the model card
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ...common.errors import DataError
from ...common.records import decoded, json_text, load_json, rows
from ...engine.replay import Judge
from ..relevance import texts_of
from ..rows import Relevance
from .evaluation import Prediction
from .features import columns_of
from .model import TrainedFilter, Weights
from .trained import Filter, text_digest, texts

FORMAT = 1
"""Of these files; a folder of another one is refused."""

ABOUT, WEIGHTS, PREDICTIONS, METRICS, CARD = FILES = (
    "filter.json", "weights.json", "predictions.jsonl", "metrics.json", "README.md",
)  # fmt: skip

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


class _Embeddings(Struct):
    model: str
    digest: str
    dimensions: int


class _About(Struct):
    """What is read of filter.json."""

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    embeddings: _Embeddings
    threshold: float
    strength: float


class _Weights(Struct):
    bias: float
    weights: Mapping[str, Sequence[float]]


class _Predicted(Struct):
    """What is read of a line of predictions.jsonl: the evaluation whose predictions a judge gives for rows of the training data."""

    id: str
    text: str
    user_id: str
    by_user: Prediction


def relevance_filter(path: str, embeddings: str | None = None) -> Judge:
    """A trained filter as a judge: `--model personafeedback/relevance-filter -M path=DIR` in Inspect. See `read`."""
    judge = read(path, embeddings)
    return lambda prompt, about: judge.reply(str(about.get("case_id", "")), texts_of(prompt))


def read(path: str | Path, embeddings: str | None = None) -> Filter:
    """
    Args:
        embeddings: the embedding model, where it is not at the place that the folder names: a name on the Hub, or a folder.

    Raises:
        DataError: there is no filter, or it is broken, or of another version.
    """
    folder = Path(path).expanduser()
    if not (folder / ABOUT).is_file():
        raise DataError(
            f"{folder}: found no {ABOUT}, expected the folder of a trained filter. {WHAT_TO_DO}, or fix the path."
        )
    about = decoded(folder / ABOUT, load_json(folder / ABOUT, "JSON"), _About, f"{WHAT_TO_DO}.")
    weights = _weights(folder / WEIGHTS, columns_of(about.embeddings.dimensions))
    model = TrainedFilter(weights, about.threshold, about.strength)
    predicted = [
        decoded(f"{folder / PREDICTIONS}, line {number}", row, _Predicted, f"{WHAT_TO_DO}.")
        for number, row in rows(folder / PREDICTIONS)
    ]
    held_out = {(one.id, one.text): one.by_user for one in predicted}
    users = frozenset(one.user_id for one in predicted)
    named = str(embeddings or about.embeddings.model)
    return Filter(folder, named, about.embeddings.digest, model, held_out, users)


def _weights(path: Path, columns: Mapping[str, slice]) -> Weights:
    import numpy as np

    found = decoded(path, load_json(path, "JSON"), _Weights, f"{WHAT_TO_DO}.")
    parts = []
    for name, at in columns.items():
        values = found.weights.get(name, ())
        if len(values) != at.stop - at.start:
            raise DataError(
                f"{path}: found {len(values)} weights of {name}, expected {at.stop - at.start}. {WHAT_TO_DO}."
            )
        parts.append(np.array(values, dtype=float))
    return Weights(np.concatenate(parts), found.bias)
