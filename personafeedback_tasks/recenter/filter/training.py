"""Rows -> the files of a trained filter, and its scores on users, and on users and prompts, that were held out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ... import __version__
from ...common.clusters import Shared
from ...common.embeddings import embedder
from ...common.errors import DataError
from ...common.files import Content
from ...common.jackknife import estimate_of
from ...common.outputs import json_text, jsonable
from ...common.statistics import Estimate, percent
from ...common.text import same_text
from ...core.cases import digest_of
from ...core.result import Result
from ..data import Rows
from ..relevance import RELEVANCE
from ..rows import Relevance
from .folder import ABOUT, CARD, PREDICTIONS, texts
from .model import Prediction, evaluations, features_of, held_out, train

PACKAGES = ("numpy", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers")
"""Whose versions may change a digit."""

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

COLUMNS = {"f1": "F1, %", "kappa": "kappa", "over_selection": "over-selection"}
"""Measure -> its column in the table of scores."""

Progress = Callable[[str], None]
Scores = Mapping[str, Mapping[str, Estimate]]
"""Name of an evaluation or a baseline -> measure -> its value, with standard errors over users and prompts."""


def train_on(rows: Rows[Relevance], model: str, progress: Progress) -> tuple[dict[str, Content], list[list[str]]]:
    """Train and evaluate a filter on rows that have a majority: (file -> content, the table of scores).

    Raises:
        DataError: too few rows.
        OptionError: the embedding model cannot be loaded.
    """
    import numpy as np

    users = np.array([row.user_id for row in rows])
    prompts = np.array([same_text(row.prompt) for row in rows])
    labels = np.array([bool(row.judgment) for row in rows])
    progress(f"loading {model}")
    loaded = embedder(model)
    vectors = loaded.embed([text for row in rows for text in texts(row)], progress)
    features = features_of(vectors[::2], vectors[1::2])
    evaluated: dict[str, list[Prediction]] = {}
    try:
        for name, folds in evaluations(users, prompts).items():
            progress(f"evaluating {name.replace('_', ' ')}")
            evaluated[name] = held_out(features, labels, users, folds)
        progress("training on all rows")
        final = train(features, labels, users)
    except ValueError as error:
        raise DataError(
            f"{rows.source}: found {len(rows):,} rows of {len(set(users))} users and {len(set(prompts))} prompts, too few to train on some "
            f"users and prompts and to test on others ({error}). Add rows of more users."
        ) from None
    progress("computing standard errors")
    scores = _scores(rows.cases, evaluated)
    about = {
        "task": RELEVANCE.name,
        "versions": {"personafeedback-tasks": __version__, **{name: version(name) for name in PACKAGES}},
        "embeddings": {"model": loaded.name, "digest": loaded.digest, "dimensions": vectors.shape[1], "longest": loaded.longest},
        "data": {
            "source": rows.source if rows.demonstration else "folder",
            "digest": rows.digest,
            "rows": len(rows),
            "relevant": int(labels.sum()),
            "users": len(set(users)),
            "prompts": len(set(prompts)),
            "even_votes": len(rows.unscored),
        },
        "threshold": final.threshold,
        "strength": final.strength,
        "metrics": jsonable(scores),
    }  # fmt: skip
    table = _table(scores)
    files: dict[str, Content] = {
        ABOUT: json_text({**about, "bias": final.bias, "weights": final.weights.tolist()}),
        PREDICTIONS: _predictions(rows.cases, evaluated),
        CARD: _card(about, table),
    }
    return files, table


def _scores(rows: Sequence[Relevance], evaluated: Mapping[str, Sequence[Prediction]]) -> Scores:
    # how much another training set would change the filter is not in the errors
    users, prompts = [row.user_id for row in rows], Shared([row.prompt for row in rows])
    answers = {name: [made.answer for made in of] for name, of in evaluated.items()}
    answers |= {name: [*said] * len(rows) for name, said in RELEVANCE.constant().items()}
    found: dict[str, dict[str, Estimate]] = {}
    for name, of in answers.items():
        outcomes = [
            Result(targets=tuple(RELEVANCE.targets(row)), answers=(answer,), cell=row.cell)
            for row, answer in zip(rows, of, strict=True)
        ]
        found[name] = {
            measure: estimate_of(score, outcomes, users, RELEVANCE.report.line(measure).ends, prompts)
            for measure, score in RELEVANCE.corpus.items()
        }
    return found


def _table(scores: Scores) -> list[list[str]]:
    # each score with its standard error
    lines = [["", *COLUMNS.values()]]
    for name, measures in scores.items():
        title = f"filter, {name.replace('_', ' ')}" if name.startswith("by_") else name
        values = [measures[measure] for measure in COLUMNS]
        cells = [
            percent(one.value, stderr=one.stderr) if column.endswith("%") else f"{one.value:.3f} ± {one.stderr:.3f}"
            for one, column in zip(values, COLUMNS.values(), strict=True)
        ]
        lines.append([title, *cells])
    return lines


def _predictions(rows: Sequence[Relevance], evaluated: Mapping[str, Sequence[Prediction]]) -> Iterator[str]:
    # id, user, label and text digest of a row, and each evaluation's prediction
    for index, row in enumerate(rows):
        about = {"id": row.id, "user_id": row.user_id, "text": digest_of(texts(row)), "label": bool(row.judgment)}
        made = {name: {**asdict(of[index]), "answer": of[index].answer} for name, of in evaluated.items()}
        yield json.dumps({**about, **made}, ensure_ascii=False) + "\n"


def _card(about: Mapping[str, Any], table: Sequence[Sequence[str]]) -> str:
    from huggingface_hub import ModelCard, ModelCardData

    model = about["embeddings"]["model"]
    is_folder = Path(model).is_absolute()
    head, *lines = table
    card = ModelCard.from_template(
        ModelCardData(
            library_name="personafeedback-tasks",
            pipeline_tag="text-classification",
            tags=["personalization", "relevance", "logistic-regression"],
            base_model=None if is_folder else model,
        ),
        template_path=str(Path(__file__).with_name("card.md.j2")),
        about=about,
        demonstration=DEMONSTRATION if about["data"]["source"] == "sample" else "",
        model=Path(model).name if is_folder else model,  # no more of a path: it may have a person's name in it
        table="\n".join(f"| {' | '.join(line)} |" for line in (head, [":--", *["--:"] * (len(head) - 1)], *lines)),
    )
    return f"{str(card).rstrip()}\n"
