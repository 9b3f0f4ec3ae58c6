"""The folder of a trained filter: its training and scores on held-out users, and what a chain asks of it.

Its files are JSON, no pickle, so that it is safe to load. Texts of the training data get the prediction of the fold
without their user; others are asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ... import __version__
from ...common.errors import DataError
from ...common.files import Content
from ...common.outputs import json_lines, json_text
from ...common.records import decoded, load_json, one_of
from ...common.records import rows as lines
from ...core.cases import digest_of
from ...core.result import Result
from ...parsing.verdicts import NO, YES
from ...stats.clusters import Clusters
from ...stats.estimates import Estimate, estimate_of, percent
from ..data import Rows
from ..relevance import RELEVANCE
from ..rows import Relevance
from .model import Array, Model, embedder, held_out, train

ABOUT, PREDICTIONS = "filter.json", "predictions.jsonl"

WHAT_TO_DO = "Train it again: `personafeedback recenter train`"

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

PACKAGES = ("numpy", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers")
"""Whose versions may change a digit."""

COLUMNS = {"f1": "F1 (%)", "kappa": "kappa", "over_selection": "over-selection"}
"""Measure -> its column in the table of scores."""

Scores = Mapping[str, Mapping[str, Estimate]]
"""`filter` or a baseline -> measure -> its value, with standard errors over users and prompts."""


def texts(row: Relevance) -> tuple[str, ...]:
    """The texts that decide what a filter predicts."""
    return row.attribute, row.prompt


# --- training ---------------------------------------------------------------------------------------------------------


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
        "metrics": scores,
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
    table = [["", *COLUMNS.values()]]  # each score with its standard error
    for name, measures in scores.items():
        f1, *others = (measures[measure] for measure in COLUMNS)
        cells = [f"{one.value:.3f} ± {one.stderr:.3f}" for one in others]
        table.append([name, percent(f1.value, stderr=f1.stderr), *cells])
    return {ABOUT: json_text(about), PREDICTIONS: json_lines(predictions)}, table


def _scores(rows: Sequence[Relevance], answers: Sequence[str]) -> Scores:
    # how much another training set would change the filter is not in the errors
    clusters = Clusters.of([row.user_id for row in rows], [row.prompt for row in rows])
    every = {"filter": answers, **{name: [*said] * len(rows) for name, said in RELEVANCE.constant().items()}}
    found: dict[str, dict[str, Estimate]] = {}
    for name, of in every.items():
        outcomes = [
            Result(targets=tuple(RELEVANCE.targets(row)), answers=(answer,), cell=row.cell)
            for row, answer in zip(rows, of, strict=True)
        ]
        found[name] = {
            measure: estimate_of(score, outcomes, clusters, RELEVANCE.report.line(measure).ends)
            for measure, score in RELEVANCE.corpus.items()
        }
    return found


# --- asking -----------------------------------------------------------------------------------------------------------


class _Embeddings(Struct):
    model: str
    digest: str


class _About(Struct):
    embeddings: _Embeddings
    threshold: float
    bias: float
    weights: Annotated[list[float], Meta(min_length=1)]


class _Predicted(Struct):
    text: str
    answer: Annotated[str, one_of(YES, NO)]


@dataclass(frozen=True)
class Filter:
    """A filter that can be asked. The embedding model is loaded when the first row needs it."""

    folder: Path
    embeddings: _Embeddings
    model: Model
    held_out: dict[str, bool]  # digest of the texts of a training row -> whether the fold without its user drops it

    @property
    def signature(self) -> str:
        """SHA-256 (12 hex digits) of its weights and its threshold, after its name."""
        model = self.model
        return f"relevance-filter {digest_of([*map(float, model.weights), model.bias, model.threshold])}"

    def drops(self, row: Relevance) -> bool:
        """Whether a chain leaves the attribute out as irrelevant. DataError if the embedding model is another one."""
        import numpy as np

        text = digest_of(texts(row))
        if text in self.held_out:
            return self.held_out[text]
        vectors = np.hstack([self._vector(text) for text in texts(row)])
        return bool(self.model.probabilities(vectors)[0] < self.model.threshold)

    @cached_property
    def _vector(self) -> Callable[[str], Array]:
        # a prompt recurs with each attribute, so texts are embedded once
        loaded = embedder(self.embeddings.model)
        if loaded.digest != self.embeddings.digest:
            raise DataError(
                f"{self.embeddings.model}: found an embedding model with the digest {loaded.digest}, expected the one "
                f"that the filter in {self.folder} was trained with, {self.embeddings.digest}. Put it back, or retrain."
            )
        return lru_cache(maxsize=4096)(lambda text: loaded.embed([text]))


def read(path: str | Path) -> Filter:
    """The filter in a folder. DataError if it is broken."""
    import numpy as np

    folder = Path(path).expanduser()
    if not (folder / ABOUT).is_file():
        raise DataError(
            f"{folder}: found no {ABOUT}, expected the folder of a trained filter. {WHAT_TO_DO}, or fix the path."
        )
    about = decoded(folder / ABOUT, load_json(folder / ABOUT, "JSON"), _About, f"{WHAT_TO_DO}.")
    held_out: dict[str, bool] = {}
    for number, row in lines(folder / PREDICTIONS):
        line = decoded(f"{folder / PREDICTIONS}, line {number}", row, _Predicted, f"{WHAT_TO_DO}.")
        held_out.setdefault(line.text, line.answer == NO)  # of equal texts the first row counts
    model = Model(np.array(about.weights), about.bias, about.threshold)
    return Filter(folder, about.embeddings, model, held_out)
