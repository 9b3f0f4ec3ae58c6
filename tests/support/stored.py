"""Prompts that were stored: what a model reads may not change unnoticed."""

from __future__ import annotations

from pathlib import Path

CHANGED = (
    "The prompt changed: scores can move. Raise TASK_VERSION (and the YAML files' version), "
    "add a line to CHANGELOG.md, then store the new rendering with "
    "`pytest tests/personafeedback/test_prompts.py --store-prompts`"
)


def check_stored(path: Path, prompt: str, store: bool) -> None:
    """Compare a prompt with the stored one, byte by byte; with `store`, write it first."""
    if store:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(prompt.encode())
    assert path.is_file(), f"{path.name} is not stored. {CHANGED}"
    assert prompt.encode() == path.read_bytes(), CHANGED
