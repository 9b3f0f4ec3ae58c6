"""The model card of a trained filter: Markdown with the front matter that the Hugging Face Hub reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ...common.statistics import percent
from ..data import file_name
from ..relevance import RELEVANCE, SCORES
from ..rows import Relevance
from .folder import JUDGE

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

SCORE_NAMES = {
    "f1": "F1, %", "kappa": "kappa", "over_selection": "over-selection", "precision": "precision, %", "recall": "recall, %",
    "selection_rate": "selected, %", "acc": "accuracy, %",
}  # fmt: skip
"""Metric -> its column. The first ones are printed."""

CONSTANT = {f"always_{label.lower()}": label for label in SCORES.labels}
"""Baselines: name -> what they say of every row."""

_CARD = Path(__file__).with_name("card.md")
"""The card without its front matter, with fields to fill in."""


def text(about: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]) -> str:
    data, embeddings = about["data"], about["embeddings"]
    demonstration = data["source"] != "folder"
    front = {
        "library_name": "personafeedback-tasks",
        "pipeline_tag": "text-classification",
        "tags": ["personalization", Relevance.stage, "logistic-regression"],
        **({} if _is_folder(embeddings["model"]) else {"base_model": embeddings["model"]}),
    }
    filled = _CARD.read_text(encoding="utf-8").format(
        about=about,
        data=data,
        embeddings=embeddings,
        source=f"the bundled `{data['source']}`" if demonstration else "a folder of rows",
        demonstration=f"\n\n**{DEMONSTRATION}**" if demonstration else "",
        model=_model(embeddings["model"]),
        longest=f"; texts beyond {embeddings['longest']:,} tokens are cut" if embeddings["longest"] else "",
        versions=", ".join(f"{name} {number}" for name, number in {"personafeedback-tasks": about["package"], **about["versions"]}.items()),
        table=table(metrics),
        human_rate=percent(metrics["by_user"]["human_rate"]["value"]),
        command=f"RECENTER_DATA={data['source'] if demonstration else 'FOLDER'} inspect eval personafeedback_tasks/{RELEVANCE.name} "
        f"--model personafeedback/{JUDGE} -M path=.",
        notes="".join(f"- {note}\n" for note in _notes(embeddings["model"], demonstration)),
    )  # fmt: skip
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n\n{filled}"


def rows_of(metrics: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The rows of the table: a name, and each score with its standard error; a dash for what is undefined."""
    names = {
        name: f"always {CONSTANT[name]}" if name in CONSTANT else f"filter, {name.replace('_', ' ')}"
        for name in metrics
    }
    return [
        [names[name], *(_score(of[score], column) for score, column in SCORE_NAMES.items())]
        for name, of in metrics.items()
    ]


def table(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    header = ["", *SCORE_NAMES.values()]
    lines = [header, [":--", *["--:"] * len(SCORE_NAMES)], *rows_of(metrics)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _score(estimate: Mapping[str, Any], column: str) -> str:
    value, stderr = estimate["value"], estimate["stderr"]
    if value is None:
        return "–"
    if column.endswith("%"):
        return percent(value, stderr=math.nan if stderr is None else stderr)
    return f"{value:.3f}" + ("" if stderr is None else f" ± {stderr:.3f}")


def _is_folder(model: str) -> bool:
    return Path(model).is_absolute()


def _model(name: str) -> str:
    """Of a folder only its own name: its path is nobody else's business."""
    return f"the model in a folder {_code(Path(name).name)}" if _is_folder(name) else _code(name)


def _code(name: str) -> str:
    return f"`{''.join(char if char.isprintable() and char not in '`|' else ' ' for char in name)}`"


def _notes(model: str, demonstration: bool) -> list[str]:
    notes = []
    if not demonstration:
        notes.append(f"`FOLDER` has {file_name(Relevance)}.")
    if _is_folder(model):
        notes.append("If the embedding model is not where it was in training, add `-M embeddings=` and its folder.")
    return notes
