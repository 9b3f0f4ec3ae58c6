"""Read a reply that should be a JSON list of objects: the objects, or a named reason why there is none."""

# Read are also what models write in its place: a list in a fence or in prose, one below a key of its own, objects
# without a list around them, commas too many, and texts in place of objects. Not read is what could be two lists, a
# list that is broken or goes on beyond the end of the reply, and an object without its first key.

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from .answers import why_not
from .markup import shown_text

Objects = tuple[tuple[str, ...], ...]
"""The texts of each object, in the order of the keys that were asked for; empty where it has none."""

_COMMAS = re.compile(r",(?=\s*(?:,\s*)*[\]}])")
_STARTS = re.compile(r"\[(?=\s*[\[{\"\]])|\{(?=\s*\")")
_NOTHING = re.compile(r"\W*(?:none|nothing|no attributes?(?: found)?|empty(?: list)?)\W*", re.I)
_DECODER = json.JSONDecoder(strict=False)


def read_objects(reply: str, keys: Sequence[str], truncated: bool = False) -> Objects | str:
    """The objects of a reply, or the element of `answers.REASONS` that says why there are none to read.

    Args:
        keys: of an object, the one that each must have first; others are dropped, and what is missing is empty.
    """
    text = shown_text(reply)
    if truncated or text is None:
        return "truncated"
    if not text:
        return "no_response"
    if _NOTHING.fullmatch(text):
        return ()
    found = _lists(text, keys) or _lists(_COMMAS.sub("", text), keys)
    read = {objects for items in found if (objects := _objects(items, keys)) is not None}
    return read.pop() if len(read) == 1 else why_not(text)


def _lists(text: str, keys: Sequence[str]) -> list[list[Any]]:
    # Every list in a text; objects side by side are one. Empty if one of them is broken.
    lists: list[list[Any]] = []
    loose: list[Any] = []
    at = 0
    while start := _STARTS.search(text, at):
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            return []
        if isinstance(value, dict):
            inside = [item for item in value.values() if isinstance(item, list)]
            has_key = any(name.strip().lower() == keys[0] for name in value)
            if not has_key and len(inside) == 1:
                value = inside[0]
        if isinstance(value, list):
            lists.append(value)
        else:
            loose.append(value)
    return lists + ([loose] if loose else [])


def _objects(items: list[Any], keys: Sequence[str]) -> Objects | None:
    # The texts of the items; None if one of them has no first text.
    found = []
    for item in items:
        named = {keys[0]: item}
        if isinstance(item, dict):
            named = {str(key).strip().lower(): value for key, value in item.items()}
        texts = tuple(value.strip() if isinstance(value := named.get(key), str) else "" for key in keys)
        if not texts[0]:
            return None
        found.append(texts)
    return tuple(found)
