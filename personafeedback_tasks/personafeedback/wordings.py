"""The fixed texts of the prompts: four wordings of the same question, each in both languages.

- `v1`, the default, says what the annotators were told (arXiv 2506.12915, Appendix D), in our words: judge in the user's
  place, by helpfulness (precise to this question, neither generic nor a strained collage of facts) and by personalization
  (attentive to several parts of the profile, with those that fit worked in). That the order of the responses means
  nothing is ours.
- `v2` asks the bare question.
- `v3` judges from the outside, by shorter criteria of our own: answers well, fits the user, nothing forced in.
- `v4` is the instruction on the annotators' screen (Figure 5), without the criteria: choose the more personalized response.
  The screen shows three options and says "the most".

The annotators always had the profile: what `v1` says for `rag` and `no_persona` is the same about what is known there.

Each is a file of `wordings/`, where a text stands below its name.

How far a model's score moves between them is its prompt sensitivity (`personafeedback report` prints the range).
A text here never changes without a new version: old scores would seem to be of the new prompt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Wording:
    """The fixed texts of one wording in one language. The reply is read by module `answers`.

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
