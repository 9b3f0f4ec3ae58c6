"""What models read, in one file: tests/prompts.txt. A prompt may not change unnoticed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

STORED = Path(__file__).parents[1] / "prompts.txt"
CHANGED = (
    "The prompt changed: scores can move. Raise TASK_VERSION (and the YAML files' version), add a line to CHANGELOG.md, then store "
    "the new one with `pytest -n 0 tests/personafeedback tests/prefeval -k stored --store`"
)


def stored() -> dict[str, str]:
    """Name -> prompt, with the texts of its case in guillemets."""
    parts = re.split(r"^=== (.*) ===\n", STORED.read_text("utf-8") if STORED.is_file() else "", flags=re.M)
    return {name: text.removesuffix("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def check_stored(name: str, prompt: str, texts: Mapping[str, str], store: bool) -> None:
    """Compare a prompt with the stored one; with `store`, write it first.

    Args:
        texts: what of the case is in it -> the text, which stands in the prompt as it is. The file has the names in their place, so that
            each order of the responses gives the same.
    """
    for what, text in sorted(texts.items(), key=lambda one: -len(one[1])):
        prompt = prompt.replace(text, f"«{what}»")
    found = stored()
    if store:
        found[name] = prompt
        STORED.write_text("".join(f"=== {one} ===\n{found[one]}\n" for one in sorted(found)), "utf-8")
    assert found.get(name) == prompt, CHANGED
