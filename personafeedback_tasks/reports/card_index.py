"""The `model-index` in the front matter of a model card: our results are added, all other lines are unchanged, byte for byte."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .card_file import CardError

Matches = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""(a result of a `model-index`, one of its metrics) -> whether it is to be replaced."""


def with_results(
    path: Path, front: str, data: dict[str, Any], index: list[dict[str, Any]], replaced: Matches, newline: str
) -> str:
    """The front matter, which ends in a newline, with our results in its `model-index` in place of earlier ones.

    Only our own lines change. A round trip through ruamel.yaml keeps comments, but rewrites lists of unequal indentation,
    trailing spaces, wrapped lines and escapes, which real cards have. So the text is edited, then read back: it must contain
    our results, and mean the same otherwise.

    Raises:
        CardError: it does not; then `model-index` is not written one item per line.
    """
    there = data.get("model-index") or [{**index[0], "results": []}]
    try:
        text = _spliced(front, data, index, replaced, newline)
        found = yaml.safe_load(text)
        ours = [result for model in found["model-index"] for result in model["results"] if _is_ours(result, replaced)]
        found["model-index"] = _others(found["model-index"], replaced)
        # repr: unlike ==, it takes nan for nan and sees the order of keys
        if repr((ours, found)) == repr((index[0]["results"], {**data, "model-index": _others(there, replaced)})):
            return text
    except (yaml.YAMLError, ValueError, LookupError, TypeError):
        pass
    raise CardError(
        f"{path}: found a `model-index` that cannot be edited without changing other metadata, expected one key "
        "or list item per line between the two lines ---, without [...], {...} or &anchors around results. Reformat it, then "
        "run this again."
    )


def _is_ours(result: Mapping[str, Any], replaced: Matches) -> bool:
    return any(replaced(result, metric) for metric in result["metrics"])


def _others(models: list[dict[str, Any]], replaced: Matches) -> list[dict[str, Any]]:
    """A `model-index` without our results."""

    def kept(result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "metrics": [metric for metric in result["metrics"] if not replaced(result, metric)]}

    return [
        {**model, "results": [kept(result) for result in model["results"] if kept(result)["metrics"] or not result["metrics"]]}
        for model in models
    ]  # fmt: skip


def _spliced(front: str, data: dict[str, Any], index: list[dict[str, Any]], replaced: Matches, newline: str) -> str:
    """The text with our results where earlier ones were, else at the end of the model's of our name, or of the first."""
    root: Any = yaml.compose(front, Loader=yaml.SafeLoader)
    if "model-index" not in data:
        return front + _lines({"model-index": index}, root.start_mark.column if root else 0, newline)
    if not data["model-index"]:
        return _filled(front, root, "model-index", index, newline)
    ours = index[0]["results"]
    models = list(zip(data["model-index"], _value(root, "model-index").value, strict=True))
    changes: list[tuple[int, int, str]] = []
    for model, node in models:
        results = _value(node, "results")
        for result, item in zip(model["results"], results.value, strict=True):
            metrics = _value(item, "metrics")
            mine = [
                part for metric, part in zip(result["metrics"], metrics.value, strict=True) if replaced(result, metric)
            ]
            if mine and not changes:
                begin, _ = _span(front, results, item)
                changes.append((begin, begin, _lines(ours, results.start_mark.column, newline)))
            if mine and len(mine) == len(metrics.value):
                changes.append((*_span(front, results, item), ""))
            else:  # some are not ours: ModelCard.save joins entries about the same data
                changes += [(*_span(front, metrics, part), "") for part in mine]
    if not changes:
        model, node = next((pair for pair in models if pair[0]["name"] == index[0]["name"]), models[0])
        if not model["results"]:
            return _filled(front, node, "results", ours, newline)
        results = _value(node, "results")
        end = _span(front, results, results.value[-1])[1]
        changes.append((end, end, _lines(ours, results.start_mark.column, newline)))
    for begin, end, text in sorted(changes, reverse=True):
        front = front[:begin] + text + front[end:]
    return front


def _filled(front: str, mapping: yaml.Node, name: str, items: list[dict[str, Any]], newline: str) -> str:
    """The text with items in an empty list, below the line of its key."""
    empty = _value(mapping, name)
    end = front.index("\n", empty.end_mark.index) + 1
    line = front[: empty.start_mark.index].rstrip(" ") + front[empty.end_mark.index : end]
    return line + _lines(items, mapping.start_mark.column, newline) + front[end:]


def _value(mapping: Any, name: str) -> Any:
    """The node of a key's value."""
    return {key.value: value for key, value in mapping.value}[name]


def _span(text: str, sequence: yaml.Node, item: Any) -> tuple[int, int]:
    """Where the lines of an item begin and end. Comments after it are not its own.

    Raises:
        ValueError: it does not begin a line.
    """
    begin = text.rfind("\n", 0, text.rfind("-", 0, item.start_mark.index)) + 1
    if not text.startswith(" " * sequence.start_mark.column + "-", begin):
        raise ValueError("not one item per line")
    while (
        isinstance(item, yaml.CollectionNode) and not item.flow_style and item.value
    ):  # its end mark is behind comments
        item = item.value[-1] if isinstance(item, yaml.SequenceNode) else item.value[-1][1]
    end = int(item.end_mark.index)
    return begin, end if text[end - 1] == "\n" else text.index("\n", end) + 1


def _lines(value: object, column: int, newline: str) -> str:
    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=math.inf))
    return "".join(" " * column + line + newline for line in text.splitlines())
