"""The fixed texts of the prompts: four wordings of the same question, in both languages, from files of `wordings/`.

A text never changes without a new version: old scores would seem to be of the new prompt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# v1 (default): what annotators were told (arXiv 2506.12915, Appendix D), in our words; the line on order is ours
# v2: the bare question; v3: shorter criteria of our own, from the outside
# v4: the instruction on the annotators' screen (Figure 5), without the criteria; which had three options
LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Wording:
    """The fixed texts of one wording in one language.

    Attributes:
        with_persona: instructions where a whole persona follows.
        with_memory: instructions where pieces of content that interests the user follow (`rag`).
        without_persona: instructions where nothing is told about the user.
        ask: the last words, for a reply that is a letter.
        ask_cot: the last words, for a reply that reasons first (method `cot`).
    """

    with_persona: str
    with_memory: str
    without_persona: str
    ask: str
    ask_cot: str = ""


def wordings(folder: Path) -> dict[str, dict[str, Wording]]:
    """Prompt version -> language -> its texts, from files such as `v1_en.md`."""
    found: dict[str, dict[str, Wording]] = {}
    for path in sorted(folder.glob("*.md")):
        version, language = path.stem.split("_")
        _, *parts = re.split(r"^# (\w+)\n", path.read_text(encoding="utf-8"), flags=re.M)
        texts = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
        found.setdefault(version, {})[language] = Wording(**texts)
    return found


WORDINGS = wordings(Path(__file__).with_name("wordings"))
"""Prompt version -> language -> its texts."""
