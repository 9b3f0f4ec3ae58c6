"""The model card of a trained filter: Markdown with the front matter that the Hugging Face Hub reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ...common.statistics import percent

SCORES = {
    "f1": "F1, %", "kappa": "kappa", "over_selection": "over-selection", "precision": "precision, %", "recall": "recall, %",
    "selection_rate": "selected, %", "acc": "accuracy, %",
}  # fmt: skip
"""Score -> its column."""

NAMES = {
    "by_user": "filter, by user", "by_user_and_prompt": "filter, by user and prompt", "always_yes": "always YES",
    "always_no": "always NO",
}  # fmt: skip
"""Evaluation or baseline -> its row."""

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

_CARD = """\
# Relevance filter

Says of an attribute of a user and a new prompt whether the attribute should change the reply in any way: YES or NO. A logistic
regression over frozen sentence embeddings, trained with `personafeedback relevance train`.{demonstration}

## Training

| | |
| :-- | :-- |
| data | {data} (digest `{digest}`): {rows:,} pairs of {users:,} users and {prompts:,} prompts; people find {relevant:,} relevant |
| left out | {even_votes:,} pairs with even votes |
| embeddings | {embeddings} (digest `{model_digest}`, {dimensions:,} dimensions){longest} |
| features | the attribute's embedding, its elementwise product with the prompt's, their cosine{answers} |
| penalty | L2, C = {strength:g}: smallest log loss on held-out users |
| threshold | {threshold:.4f}: highest F1 on held-out users |
| random numbers | none |
| versions | {versions} |

## Evaluation

Against what most people say, with standard errors from a jackknife over users and prompts:

{table}

People select {human_rate} % of the pairs. *Over-selection* is how many times as often the filter selects.

- *By user*: each pair is predicted by one of {by_user} models, which was trained on other users. Other users had the same prompts.
- *By user and prompt*: by one of {by_user_and_prompt} models, which has seen neither the user nor the prompt, and was trained on fewer pairs.

Each of these models chose its own penalty and threshold, on its training rows alone. `predictions.jsonl` has every prediction.

## What this does not show

- How well it does for people, prompts or attributes unlike those of the data.
- That selecting better makes better replies: replies were not judged.
- How the filter of all rows does, which is the one in `weights.json`. It has more rows than the ones evaluated above.
- Anything beyond the standard errors: with few users these are uncertain themselves.

## Use

In this folder, with `pip install 'personafeedback-tasks[inspect,filter]'`:

```bash
{command}
```

{notes}
"""

_ABOUT_PREDICTIONS = (
    "Pairs of the training data get the prediction *by user*, so that the score is not one on what the filter has been trained on. It can "
    "stand beside a language model's score on the same data. All other pairs get the answer of the filter of all rows."
)
_ABOUT_FOLDER = (
    "The folder holds JSON and text, no pickle. It has no texts of the data, but ids, labels and digests of the texts."
)


def text(about: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """ """
    data, embeddings, answers = about["data"], about["embeddings"], about["answers"]
    demonstration = data["source"] != "folder"
    front = {
        "library_name": "personafeedback-tasks",
        "pipeline_tag": "text-classification",
        "tags": ["personalization", "relevance", "logistic-regression"],
        **({} if _is_folder(embeddings["model"]) else {"base_model": embeddings["model"]}),
    }
    filled = _CARD.format(
        **{key: value for key, value in data.items() if key != "source"},
        data=f"the bundled `{data['source']}`" if demonstration else "a folder of rows",
        demonstration=f"\n\n**{DEMONSTRATION}**" if demonstration else "",
        embeddings=_model(embeddings["model"]),
        model_digest=embeddings["digest"],
        dimensions=embeddings["dimensions"],
        longest=f"; texts beyond {embeddings['longest']:,} tokens are cut" if embeddings["longest"] else "",
        answers=f"; the answer of a language model, recorded in {_code(answers['file'])} (digest `{answers['digest']}`)" if answers else "",
        strength=about["strength"],
        threshold=about["threshold"],
        versions=", ".join(f"{name} {number}" for name, number in {"personafeedback-tasks": about["package"], **about["versions"]}.items()),
        table=table(metrics),
        human_rate=percent(metrics["by_user"]["human_rate"]["value"]),
        **about["folds"],
        command=command(data["source"] if demonstration else "FOLDER", bool(answers)),
        notes="\n".join(f"- {note}" for note in _notes(embeddings["model"], demonstration, bool(answers))),
    )  # fmt: skip
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n\n{filled}"


def command(data: str, answers: bool) -> str:
    """How Inspect runs the filter whose folder one is in."""
    with_answers = " -M answers=FILE" if answers else ""
    return (
        f"RECENTER_DATA={data} inspect eval personafeedback_tasks/recenter_relevance "
        f"--model personafeedback/relevance-filter -M path=.{with_answers}"
    )


def rows_of(metrics: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The rows of the table: a name, and each score with its standard error; a dash for what is undefined."""
    return [
        [label, *(_score(metrics[name][score], column) for score, column in SCORES.items())]
        for name, label in NAMES.items()
    ]


def table(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    header = ["", *SCORES.values()]
    lines = [header, [":--", *["--:"] * len(SCORES)], *rows_of(metrics)]
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


def _notes(model: str, demonstration: bool, answers: bool) -> list[str]:
    notes = []
    if not demonstration:
        notes.append("`FOLDER` has a relevance.jsonl.")
    if answers:
        notes.append(
            "`FILE` has the language model's recorded replies, one line with `id` and `reply` for each row of the data. This filter weighs them: "
            "it cannot answer without them, and its score is not that of the embeddings alone."
        )
    if _is_folder(model):
        notes.append("If the embedding model is not where it was in training, add `-M embeddings=` and its folder.")
    return [*notes, _ABOUT_PREDICTIONS, _ABOUT_FOLDER]
