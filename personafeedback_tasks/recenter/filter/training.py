"""Rows -> the files of a trained filter, and its scores on users that were held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from ... import __version__
from ...common.errors import DataError
from ...common.files import Content
from ...common.outputs import json_lines, json_text, jsonable
from ...core.cases import digest_of
from ...core.result import Result
from ...stats.clusters import Shared
from ...stats.estimates import Estimate, estimate_of, percent
from ..data import Rows
from ..relevance import RELEVANCE
from ..rows import Relevance
from .embeddings import embedder
from .folder import ABOUT, PREDICTIONS, texts
from .model import held_out, train

PACKAGES = ("numpy", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers")
"""Whose versions may change a digit."""

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

COLUMNS = {"f1": "F1, %", "kappa": "kappa", "over_selection": "over-selection"}
"""Measure -> its column in the table of scores."""

Scores = Mapping[str, Mapping[str, Estimate]]
"""`filter` or a baseline -> measure -> its value, with standard errors over users and prompts."""


def train_on(
    rows: Rows[Relevance], model: str, progress: Callable[[str], None]
) -> tuple[dict[str, Content], list[list[str]]]:
    """Train and evaluate a filter on rows that have a majority: (file -> content, the table of scores).

    Raises:
        DataError: too few rows.
        OptionError: the embedding model cannot be loaded.
    """
    import numpy as np

    users = np.array([row.user_id for row in rows])
    labels = np.array([bool(row.judgment) for row in rows])
    progress(f"loading {model}")
    loaded = embedder(model)
    progress("embedding")
    vectors = loaded.embed([text for row in rows for text in texts(row)]).reshape(len(rows), -1)
    try:
        progress("evaluating")
        probabilities, thresholds = held_out(vectors, labels, users)
        progress("training on all rows")
        final = train(vectors, labels, users)
    except ValueError as error:
        raise DataError(
            f"{rows.source}: found {len(rows):,} rows of {len(set(users))} users, too few to train on some users and "
            f"to test on others ({error}). Add rows of more users."
        ) from None
    progress("computing standard errors")
    answers = [RELEVANCE.label(found) for found in probabilities >= thresholds]
    scores = _scores(rows.cases, answers)
    about = {
        "task": RELEVANCE.name,
        "versions": {"personafeedback-tasks": __version__, **{name: version(name) for name in PACKAGES}},
        "embeddings": {"model": loaded.name, "digest": loaded.digest, "longest": loaded.longest},
        "data": {
            "source": rows.source if rows.demonstration else "folder",
            "digest": rows.digest,
            "rows": len(rows),
            "relevant": int(labels.sum()),
            "users": len(set(users)),
            "even_votes": len(rows.unscored),
        },
        "threshold": final.threshold,
        "metrics": jsonable(scores),
        "bias": final.bias,
        "weights": final.weights.tolist(),
    }  # fmt: skip
    predictions = [
        {
            "id": row.id, "user_id": row.user_id, "text": digest_of(texts(row)), "label": bool(row.judgment),
            "probability": float(probability), "threshold": float(threshold), "answer": answer,
        }
        for row, probability, threshold, answer in zip(rows, probabilities, thresholds, answers, strict=True)
    ]  # fmt: skip
    return {ABOUT: json_text(about), PREDICTIONS: json_lines(predictions)}, _table(scores)


def _scores(rows: Sequence[Relevance], answers: Sequence[str]) -> Scores:
    # how much another training set would change the filter is not in the errors
    users, prompts = [row.user_id for row in rows], Shared([row.prompt for row in rows])
    every = {"filter": answers, **{name: [*said] * len(rows) for name, said in RELEVANCE.constant().items()}}
    found: dict[str, dict[str, Estimate]] = {}
    for name, of in every.items():
        outcomes = [
            Result(targets=tuple(RELEVANCE.targets(row)), answers=(answer,), cell=row.cell)
            for row, answer in zip(rows, of, strict=True)
        ]
        found[name] = {
            measure: estimate_of(score, outcomes, users, RELEVANCE.report.line(measure).ends, prompts)
            for measure, score in RELEVANCE.corpus.items()
        }
    return found


def _table(scores: Scores) -> list[list[Any]]:
    # each score with its standard error
    lines = [["", *COLUMNS.values()]]
    for name, measures in scores.items():
        f1, *others = (measures[measure] for measure in COLUMNS)
        cells = [f"{one.value:.3f} ± {one.stderr:.3f}" for one in others]
        lines.append([name, percent(f1.value, stderr=f1.stderr), *cells])
    return lines
