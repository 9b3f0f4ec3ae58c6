"""A small folder in the layout of the authors' annotation repository."""

from __future__ import annotations

import json
from pathlib import Path

PROFILES = "task6/eval_results_task5_gt_attributes_small.jsonl"
ONE, OTHER = "relevance_task5/one.jsonl", "relevance_task5/other.jsonl"


def said(attribute: str, model: str) -> bool | None:
    """What a model's reply was read as: anything that differs by model, None among it."""
    return {0: True, 1: False, 2: None}[(len(attribute) + len(model)) % 3]


def profile(user, prompt, text, labels):
    attributes = [
        {"attribute": of, "reason": "?", "confidence": 0.9, "ground_truth": label} for of, label in labels.items()
    ]
    return {"user_id": user, "prompt_id": prompt, "prompt_text": text, "profile_attributes": attributes}


def replies(number, user, labels, model):
    items = [
        {
            "attribute": of,
            "relevant": said(of, model),
            "raw_answer": f"{said(of, model)}",
            "full_output": f"{model} on {of}",
        }
        for of in labels
    ]
    return {"sample_index": number // 2, "prompt_index": number, "user_id": user, "items": items}


def write(folder: Path, files: dict[str, list[dict]]) -> Path:
    for name, found in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return folder
