"""Models of one family, by their names: a judge may favor the texts of its relatives."""

from __future__ import annotations

import re

_FIRST = re.compile(r"[a-z]+")

_VENDORS = re.compile(r"\A(?:(?:ft:)|(?:[a-z-]+\.)+(?=[a-z])|meta-(?=llama))+")
"""What may stand before a model's own name, after the last slash: `ft:gpt-4o`, `us.anthropic.claude-3`, `Meta-Llama-3`."""


def family(model: str) -> str:
    """The first word of a model's own name, in lower case: `gpt` of `openai/gpt-4o`; empty if it has none.

    Args:
        model: as a harness names it. What stands before the last slash is a provider, an owner or a folder.
    """
    own = re.split(r"[/\\]+", model.rstrip("/\\"))[-1].lower()
    found = _FIRST.match(_VENDORS.sub("", own))
    return found[0] if found else ""


def related(judge: str, writer: str) -> str:
    """What a judge is to a writer: `the same model`, `a model of its own family (gpt)`, or empty."""
    if judge == writer:
        return "the same model"
    name = family(judge)
    return f"a model of the judge's own family ({name})" if name and name == family(writer) else ""
