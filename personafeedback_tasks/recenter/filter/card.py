"""The model card of a trained filter: Markdown with the front matter that the Hugging Face Hub reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ...common.statistics import percent
from .splits import BY_BOTH, BY_USER
from .stage import FilterStage

DEMONSTRATION = (
    "Trained on invented rows that come with the package: for demonstration only, not evidence about anything."
)

_CARD = """\
# {title} filter

{stage.asks} A logistic regression over frozen sentence embeddings, trained with `{stage.command}`.{demonstration}

## Training

| | |
| :-- | :-- |
| data | {source} (digest `{data[digest]}`): {data[rows]:,} rows of {data[users]:,} users{prompts}; people find {of_found:,} {stage.found} |
| left out | {data[even_votes]:,} rows with even votes |
| embeddings | {model} (digest `{embeddings[digest]}`, {embeddings[dimensions]:,} dimensions){longest} |
| features | {stage.weighs} |
| penalty | L2, C = {about[strength]:g}: smallest log loss on held-out users |
| threshold | {about[threshold]:.4f}: highest F1 on held-out users |
| random numbers | none |
| versions | {versions} |

## Evaluation

Against what most people say, with standard errors from a jackknife over users{and_prompts}:

{table}

People find {human_rate} % of the rows {stage.found}.{over_selection}

{evaluations}

Each of these models chose its own penalty and threshold, on its training rows alone. `predictions.jsonl` has every prediction.

## What this does not show

- How well it does for people, texts or attributes unlike those of the data.
- That better replies come of it: replies were not judged.
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
    "Rows of the training data get the prediction *by user*, so that the score is not one on what the filter has been trained on. It can "
    "stand beside a language model's score on the same data. All other rows get the answer of the filter of all rows."
)
_ABOUT_FOLDER = (
    "The folder holds JSON and text, no pickle. It has no texts of the data, but ids, labels and digests of the texts."
)


_OVER = " *Over-selection* is how many times as often the filter does."

_EVALUATED = {
    BY_USER: "- *By user*: each row is predicted by one of {} models, which was trained on other users.",
    BY_BOTH: "- *By user and prompt*: by one of {} models, which has seen neither the user nor the prompt, and was trained on fewer rows.",
}
"""Evaluation -> what it is, by how many models."""

_SAME_PROMPTS = " Other users had the same prompts."


def text(stage: FilterStage, about: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]) -> str:
    data, embeddings = about["data"], about["embeddings"]
    demonstration = data["source"] != "folder"
    front = {
        "library_name": "personafeedback-tasks",
        "pipeline_tag": "text-classification",
        "tags": ["personalization", stage.name, "logistic-regression"],
        **({} if _is_folder(embeddings["model"]) else {"base_model": embeddings["model"]}),
    }
    filled = _CARD.format(
        stage=stage,
        about=about,
        data=data,
        embeddings=embeddings,
        title=stage.name.capitalize(),
        prompts=f" and {data['prompts']:,} prompts" if stage.prompt else "",
        and_prompts=" and prompts" if stage.prompt else "",
        of_found=data[stage.found],
        over_selection=_OVER if "over_selection" in stage.score_names else "",
        evaluations="\n".join(
            _EVALUATED[name].format(count) + (_SAME_PROMPTS if stage.prompt and name == BY_USER else "")
            for name, count in about["folds"].items()
        ),
        source=f"the bundled `{data['source']}`" if demonstration else "a folder of rows",
        demonstration=f"\n\n**{DEMONSTRATION}**" if demonstration else "",
        model=_model(embeddings["model"]),
        longest=f"; texts beyond {embeddings['longest']:,} tokens are cut" if embeddings["longest"] else "",
        versions=", ".join(f"{name} {number}" for name, number in {"personafeedback-tasks": about["package"], **about["versions"]}.items()),
        table=table(stage, metrics),
        human_rate=percent(metrics["by_user"]["human_rate"]["value"]),
        command=command(stage, data["source"] if demonstration else "FOLDER"),
        notes="\n".join(f"- {note}" for note in _notes(stage, embeddings["model"], demonstration)),
    )  # fmt: skip
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n\n{filled}"


def command(stage: FilterStage, data: str) -> str:
    """How Inspect runs the filter whose folder one is in."""
    return (
        f"RECENTER_DATA={data} inspect eval personafeedback_tasks/{stage.benchmark.name} "
        f"--model personafeedback/{stage.judge} -M path=."
    )


def rows_of(stage: FilterStage, metrics: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The rows of the table: a name, and each score with its standard error; a dash for what is undefined."""
    return [
        [_named(stage, name), *(_score(of[score], column) for score, column in stage.score_names.items())]
        for name, of in metrics.items()
    ]


def _named(stage: FilterStage, name: str) -> str:
    """An evaluation, or a baseline."""
    said = stage.constant.get(name)
    return f"filter, {name.replace('_', ' ')}" if said is None else f"always {said}"


def table(stage: FilterStage, metrics: Mapping[str, Mapping[str, Any]]) -> str:
    header = ["", *stage.score_names.values()]
    lines = [header, [":--", *["--:"] * len(stage.score_names)], *rows_of(stage, metrics)]
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


def _notes(stage: FilterStage, model: str, demonstration: bool) -> list[str]:
    notes = []
    if not demonstration:
        notes.append(f"`FOLDER` has {stage.name}.jsonl.")
    if _is_folder(model):
        notes.append("If the embedding model is not where it was in training, add `-M embeddings=` and its folder.")
    return [*notes, _ABOUT_PREDICTIONS, _ABOUT_FOLDER]
