"""Models of one family, by their names: a judge may favor the texts of its relatives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..runs.caveat import WEAKENS, Caveat

_FIRST = re.compile(r"[a-z]+")

_FAMILIES = {
    "gpt": r"gpt(?!-?(?:j|neo))|chatgpt|o[1-9](?![a-z])|codex|davinci",
    "mistral": r"mistral|mixtral|ministral|codestral|magistral|devstral|mathstral|pixtral|voxtral",
    "qwen": r"qwen|qwq|qvq|codeqwen",
    "glm": r"glm|chatglm|codegeex",
    "llama": r"llama|codellama|code-llama",
    "gemma": r"gemma|codegemma|medgemma|paligemma|shieldgemma|txgemma",
    "command": r"command|c4ai-command|aya|c4ai-aya",
}
"""Family -> how names of its models begin, where that is more than one word."""

_OTHER_MAKERS = re.compile(r"gpt-?(?:j|neo)")
"""Models that share the first word of a family and no more."""

NO_NAMES = re.compile(
    r"(?:checkpoints?|ckpt|models?|final|last|best|merged|output|outputs|epoch|step|snapshots?|main|hf|[0-9a-f]{40})(?![a-z])"
)
"""Folders of training runs and of a hub's cache: the name is in the folder above."""

_VENDORS = re.compile(r"\A(?:(?:ft:)|(?:[a-z-]+\.)+(?=[a-z])|meta-(?=llama))+")
"""What may stand before a model's own name, after the last slash: `ft:gpt-4o`, `us.anthropic.claude-3`, `Meta-Llama-3`."""


def family(model: str) -> str:
    """The first word of a model's own name, in lower case, or what its maker's models with other names have in common: `gpt` of
    `openai/gpt-4o` and of `openai/o3`; empty if it has none.

    Args:
        model: as a harness names it. What stands before the last slash is a provider, an owner or a folder.
    """
    for part in reversed(re.split(r"[/\\]+", model.rstrip("/\\").lower())):
        own = _VENDORS.sub("", part)
        if NO_NAMES.match(own):
            continue
        if other := _OTHER_MAKERS.match(own):
            return other[0].replace("-", "")
        known = (name for name, begins in _FAMILIES.items() if re.match(begins, own))
        found = _FIRST.match(own)
        return next(known, found[0] if found else "")
    return ""


def favored(judge: str, writers: Iterable[str]) -> Iterator[Caveat]:
    """A caveat for each writer's model that a judge is related to."""
    for writer in dict.fromkeys(writers):
        if name := related(judge, writer):
            values = {"judge": judge, "writer": writer}
            yield (
                Caveat("same_model", WEAKENS, values)
                if name == SAME
                else Caveat("same_family", WEAKENS, {**values, "family": name})
            )


SAME = "the same model"


def related(judge: str, writer: str) -> str:
    """What a judge is to a writer: SAME, the name of the family that both are of, or empty."""
    if judge == writer:
        return SAME
    name = family(judge)
    return name if name == family(writer) else ""
