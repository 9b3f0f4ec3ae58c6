"""A small folder in the layout of the authors' annotation repository."""

from __future__ import annotations

from pathlib import Path

from support.lines import write_lines

PROFILES, AGAIN = (
    f"task6/eval_results_task5_gt_attributes_{model}.jsonl" for model in ("claude-sonnet-4-6", "gpt-5.4")
)
"""The same ground truth, beside the responses of two models."""

PILOT = "task3_relevance_clf.jsonl"
ITEMS = "extracted/task6_items.jsonl"


def profile(user, prompt, text, labels, model="gpt-5.4"):
    attributes = [
        {"attribute": of, "original_attributes": [of], "reason": "?", "original_reasons": ["?"], "confidence": 0.9,
         "original_confidences": [0.9], "ground_truth": label}
        for of, label in labels.items()
    ]  # fmt: skip
    return {
        "user_id": user, "prompt_id": f"{user}_{prompt}", "prompt_text": text, "profile_attributes": attributes, "items": [],
        "mode": "gt_attributes", "model": model, "response": f"{model} says.",
    }  # fmt: skip


def counted(sample, prompt, text, attribute, yes, n):
    """A row of the pilot."""
    return {
        "prompt_index": prompt, "sample_index": sample, "attribute": attribute, "prompt_text": text, "label": int(2 * yes > n),
        "split": "train", "n_annotators": n, "human_yes_rate": yes / n,
    }  # fmt: skip


def write(folder: Path, files: dict[str, list[dict]]) -> Path:
    for name, found in files.items():
        write_lines(folder / name, found)
    return folder
