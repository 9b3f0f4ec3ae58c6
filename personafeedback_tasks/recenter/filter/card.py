"""The model card of a trained filter, from the template `card.md.j2`, and the table of its scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...common.statistics import percent
from ..relevance import RELEVANCE
from ..rows import Relevance

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

SCORE_NAMES = {
    "f1": "F1, %", "kappa": "kappa", "over_selection": "over-selection", "precision": "precision, %", "recall": "recall, %",
    "selection_rate": "selected, %", "acc": "accuracy, %",
}  # fmt: skip
"""Metric -> its column. The first ones are printed."""

CONSTANT = {f"always_{label.lower()}": label for label in RELEVANCE.labels}
"""Baselines: name -> what they say of every row."""


def text(about: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]) -> str:
    from huggingface_hub import ModelCard, ModelCardData

    data, embeddings = about["data"], about["embeddings"]
    model, is_folder = embeddings["model"], Path(embeddings["model"]).is_absolute()
    card_data = ModelCardData(
        library_name="personafeedback-tasks",
        pipeline_tag="text-classification",
        tags=["personalization", Relevance.stage, "logistic-regression"],
        base_model=None if is_folder else model,
    )
    name = Path(model).name if is_folder else model  # no more of a path: it may have a person's name in it
    lines = [["", *SCORE_NAMES.values()], [":--", *["--:"] * len(SCORE_NAMES)], *rows_of(metrics)]
    versions = {"personafeedback-tasks": about["package"], **about["versions"]}
    card = ModelCard.from_template(
        card_data,
        template_path=str(Path(__file__).with_name("card.md.j2")),
        about=about,
        data=data,
        embeddings=embeddings,
        demonstration=DEMONSTRATION if data["source"] == "sample" else "",
        model="".join(char if char.isprintable() and char not in "`|" else " " for char in name),
        is_folder=is_folder,
        versions=", ".join(f"{package} {number}" for package, number in versions.items()),
        table="\n".join(f"| {' | '.join(line)} |" for line in lines),
        human_rate=percent(metrics["by_user"]["human_rate"]["value"]),
    )
    return f"{str(card).rstrip()}\n"


def rows_of(metrics: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The rows of the table: a name, and each score with its standard error; a dash for undefined values."""
    rows = []
    for name, of in metrics.items():
        title = f"always {CONSTANT[name]}" if name in CONSTANT else f"filter, {name.replace('_', ' ')}"
        rows.append([title, *(_score(of[score], column) for score, column in SCORE_NAMES.items())])
    return rows


def _score(estimate: Mapping[str, Any], column: str) -> str:
    value, stderr = estimate["value"], estimate["stderr"]
    if value is None:
        return "–"
    if column.endswith("%"):
        return percent(value, stderr=math.nan if stderr is None else stderr)
    return f"{value:.3f}" + ("" if stderr is None else f" ± {stderr:.3f}")
