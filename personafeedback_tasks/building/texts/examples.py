"""examples.jsonl: questions written by people, of which each prompt for a question shows one that was drawn."""

from __future__ import annotations

from pathlib import Path

from ...common.strict_json import broken, rows, short
from ..settings import Settings
from .drawn import generator
from .seeds import EXAMPLES, given


def question_examples(root: Path) -> list[str]:
    """The examples of a build, as a prompt shows them. Raises DataError: there are none, or a line lacks its question."""
    path = given(root, EXAMPLES, 'one {"features": ["..."], "scenario": "...", "question": "..."} per line')
    found = []
    for number, row in rows(path):
        where, features = f"{path}, line {number}", row.get("features", [])
        if not isinstance(features, list) or not all(isinstance(feature, str) for feature in features):
            raise broken(where, f"features = {short(features)}", "a list of strings")
        for key in ("scenario", "question"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise broken(where, f"{key} = {short(row.get(key))}", "a non-empty string")
        user = "".join(f"\n- {feature}" for feature in features)
        told = f"<user>{user}\n</user>\n" if features else ""
        found.append(f"{told}<situation>{row['scenario']}</situation>\n<question>{row['question']}</question>")
    return found


def draw_example(settings: Settings, examples: list[str], slot: str) -> str:
    """The example in the prompt for one question."""
    return generator(settings, "example", slot).choice(examples)
