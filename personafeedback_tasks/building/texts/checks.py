"""Why a text that a model wrote is refused: left-over tags, refusals, ends that are cut off, another language.

Checks of the form only. What a text says is for people to judge.
"""

from __future__ import annotations

from ...personafeedback.artifacts import ARTIFACTS
from .languages import is_written_in
from .refusals import refuses

EMPTY, CUT, REFUSAL, LANGUAGE = "empty", "cut_off", "refusal", "other_language"

MEANINGS = {
    EMPTY: "the model wrote nothing",
    CUT: "the text ends at the limit of its length",
    REFUSAL: "a short text that begins by saying that it cannot help; known in English and Chinese only",
    LANGUAGE: "it is in another language than the build's",
    **{name: meaning[0].lower() + meaning[1:].rstrip(".") for name, (meaning, _) in ARTIFACTS.items()},
}
"""Reason -> what was found."""


def fault(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a text: a key of MEANINGS; empty if there is none.

    Args:
        language: that it should be in, see `languages.is_written_in`.
        cut: it ended at the limit of its length.
    """
    if not text.strip():
        return EMPTY
    if cut:
        return CUT
    for name, (_, has_artifact) in ARTIFACTS.items():
        if has_artifact(text):
            return name
    if refuses(text):
        return REFUSAL
    return "" if is_written_in(language, text) else LANGUAGE
