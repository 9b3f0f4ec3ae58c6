"""Rows -> the files of a trained filter, see `folder`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import Any

from ... import __version__
from ...common.embeddings import EXTRA, Embedder, embedder
from ...common.errors import require
from ...common.files import Content
from ...common.records import json_text, jsonable
from ..data import Rows
from ..relevance import RELEVANCE
from ..rows import Relevance
from . import card, folder
from .evaluation import Prediction, held_out, scores
from .features import columns_of, features_of
from .model import TrainedFilter, train
from .splits import EVALUATIONS, Fold, Groups, check, groups_of
from .trained import texts

PACKAGES = ("numpy", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers")
"""Whose versions may change a digit."""

Progress = Callable[[str], None]


def check_installed() -> None:
    """
    Raises:
        ModuleNotFoundError: the extra is missing.
    """
    for module in ("rich", "sentence_transformers", "sklearn"):
        require(module, extra=EXTRA)


def train_on(
    rows: Rows[Relevance],
    model: str,
    progress: Progress = lambda text: None,
) -> tuple[dict[str, Content], dict[str, Any]]:
    """Train a filter on rows that have a majority, and evaluate it.

    Returns:
        file -> content; the metrics, as metrics.json has them.

    Raises:
        DataError: too few rows.
        OptionError: the embedding model cannot be loaded.
    """
    groups = groups_of(rows.cases)
    check(groups, rows.source)
    progress(f"loading {model}")
    loaded = embedder(model)
    vectors = loaded.embed([text for row in rows for text in texts(row)], progress)
    of_rows, dimensions = features_of(vectors[::2], vectors[1::2]), vectors.shape[1]
    columns = columns_of(dimensions)
    folds = {name: split(groups) for name, split in EVALUATIONS.items()}
    evaluated = {
        name: held_out(of_rows, groups, split, columns, partial(_evaluating, progress, name))
        for name, split in folds.items()
    }
    progress("training on all rows")
    final = train(of_rows, groups, columns)
    progress("computing standard errors")
    metrics = _metrics(rows.cases, evaluated)
    about = _about(rows, groups, loaded, dimensions, final, folds)
    files: dict[str, Content] = {
        folder.ABOUT: json_text(about),
        folder.WEIGHTS: folder.weights_text(final, columns),
        folder.PREDICTIONS: folder.predictions(rows.cases, evaluated),
        folder.METRICS: json_text(metrics),
        folder.CARD: card.text(about, metrics),
    }
    return files, metrics


def _evaluating(progress: Progress, name: str, text: str) -> None:
    progress(f"evaluating {name.replace('_', ' ')}, {text}")


def _metrics(rows: Sequence[Relevance], evaluated: Mapping[str, Sequence[Prediction]]) -> dict[str, Any]:
    """Evaluation or baseline -> score -> its estimate; nan is null."""
    answers = {name: [made.answer for made in of] for name, of in evaluated.items()}
    answers |= {name: [answer] * len(rows) for name, answer in card.CONSTANT.items()}
    return {
        name: jsonable({score: asdict(value) for score, value in scores(rows, of).items()})
        for name, of in answers.items()
    }


def _about(
    rows: Rows[Relevance],
    groups: Groups,
    loaded: Embedder,
    dimensions: int,
    final: TrainedFilter,
    folds: Mapping[str, Sequence[Fold]],
) -> dict[str, Any]:
    """What filter.json has."""
    model = {"model": loaded.name, "digest": loaded.digest, "dimensions": dimensions, "longest": loaded.longest}
    return {
        "format": folder.FORMAT,
        "task": RELEVANCE.name,
        "package": __version__,
        "versions": {name: version(name) for name in PACKAGES},
        "embeddings": model,
        "threshold": final.threshold,
        "strength": final.strength,
        "seed": None,  # nothing is random
        "folds": {name: len(of) for name, of in folds.items()},
        "data": {
            "source": rows.source if rows.demonstration else "folder",
            "digest": rows.digest,
            "rows": len(rows),
            "relevant": sum(groups.labels),
            "users": len(set(groups.users)),
            "prompts": len(set(groups.prompts)),
            "even_votes": len(rows.unscored),
        },
    }
