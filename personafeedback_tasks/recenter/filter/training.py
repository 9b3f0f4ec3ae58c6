"""Rows -> the files of a trained filter, and its scores on users, and on users and prompts, that were held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from ... import __version__
from ...common.clusters import Shared
from ...common.embeddings import EXTRA, embedder
from ...common.errors import require
from ...common.files import Content
from ...common.jackknife import estimate_of
from ...common.records import json_text, jsonable
from ...common.statistics import Estimate, estimate
from ...core.result import Result
from ..data import Rows
from ..relevance import RELEVANCE
from ..rows import Relevance
from . import card, folder
from .folder import texts
from .model import EVALUATIONS, Features, Fold, Groups, Prediction, check, features_of, groups_of, train

PACKAGES = ("numpy", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers")
"""Whose versions may change a digit."""

Progress = Callable[[str], None]


def check_installed() -> None:
    for module in ("rich", "sentence_transformers", "sklearn"):
        require(module, extra=EXTRA)


def held_out(features: Features, groups: Groups, folds: Sequence[Fold]) -> list[Prediction]:
    """One prediction per row, by the model of the fold that tests it, with that fold's own penalty and threshold."""
    made: dict[int, Prediction] = {}
    for number, fold in enumerate(folds, start=1):
        model = train(features[fold.train], groups.of(fold.train))
        for index, probability in zip(fold.test, model.probabilities(features[fold.test]), strict=True):
            made[int(index)] = Prediction(number, float(probability), model.threshold)
    return [made[index] for index in range(len(groups.labels))]


def scores(rows: Sequence[Relevance], answers: Sequence[str]) -> dict[str, Estimate]:
    """Accuracy and the corpus scores of `recenter_relevance`, with standard errors over users and prompts.

    How much another training set would change the filter is not in them.
    """
    users, prompts = [row.user_id for row in rows], Shared([row.prompt for row in rows])
    outcomes = [
        Result(targets=tuple(RELEVANCE.targets(row)), answers=(answer,), cell=row.cell)
        for row, answer in zip(rows, answers, strict=True)
    ]
    right = [float(outcome.targets == outcome.answers) for outcome in outcomes]
    corpus = {
        name: estimate_of(measure, outcomes, users, RELEVANCE.report.line(name).ends, prompts)
        for name, measure in RELEVANCE.corpus.items()
    }
    return {"acc": estimate(right, users, also=prompts), **corpus}


def train_on(rows: Rows[Relevance], model: str, progress: Progress) -> tuple[dict[str, Content], dict[str, Any]]:
    """Train and evaluate a filter on rows that have a majority: (file -> content, the metrics of metrics.json).

    Raises:
        DataError: too few rows.
        OptionError: the embedding model cannot be loaded.
    """
    groups = groups_of(rows.cases)
    check(groups, rows.source)
    progress(f"loading {model}")
    loaded = embedder(model)
    vectors = loaded.embed([text for row in rows for text in texts(row)], progress)
    features = features_of(vectors[::2], vectors[1::2])
    evaluated, folds = {}, {}
    for name, split in EVALUATIONS.items():
        progress(f"evaluating {name.replace('_', ' ')}")
        folds[name] = split(groups)
        evaluated[name] = held_out(features, groups, folds[name])
    progress("training on all rows")
    final = train(features, groups)
    progress("computing standard errors")
    metrics = _metrics(rows.cases, evaluated)
    about = {
        "format": folder.FORMAT,
        "task": RELEVANCE.name,
        "package": __version__,
        "versions": {name: version(name) for name in PACKAGES},
        "embeddings": {
            "model": loaded.name,
            "digest": loaded.digest,
            "dimensions": vectors.shape[1],
            "longest": loaded.longest,
        },
        "threshold": final.threshold,
        "strength": final.strength,
        "seed": None,  # nothing is random
        "folds": {name: len(of) for name, of in folds.items()},
        "data": {
            "source": rows.source if rows.demonstration else "folder",
            "digest": rows.digest,
            "rows": len(rows),
            "relevant": int(groups.labels.sum()),
            "users": len(set(groups.users)),
            "prompts": len(set(groups.prompts)),
            "even_votes": len(rows.unscored),
        },
    }
    files: dict[str, Content] = {
        folder.ABOUT: json_text(about),
        folder.WEIGHTS: json_text({"bias": final.bias, "weights": final.weights.tolist()}),
        folder.PREDICTIONS: folder.predictions(rows.cases, evaluated),
        folder.METRICS: json_text(metrics),
        folder.CARD: card.text(about, metrics),
    }
    return files, metrics


def _metrics(rows: Sequence[Relevance], evaluated: Mapping[str, Sequence[Prediction]]) -> dict[str, Any]:
    answers = {name: [made.answer for made in of] for name, of in evaluated.items()}
    answers |= {name: [answer] * len(rows) for name, answer in card.CONSTANT.items()}
    return {
        name: jsonable({score: asdict(value) for score, value in scores(rows, of).items()})
        for name, of in answers.items()
    }
