"""The text of a model card: its front matter and its sections, changed in place. All else stays byte for byte."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import ModelCard
from huggingface_hub.repocard import REGEX_YAML_BLOCK

from ..common.errors import PersonaFeedbackError

Matches = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""(a result of a `model-index`, one of its metrics) -> whether it is to be replaced."""


class CardError(PersonaFeedbackError):
    """A run that should not be published, or a card that cannot be changed without a loss."""


def metadata_of(path: Path, content: str) -> dict[str, Any]:
    """The front matter, as huggingface_hub reads it too.

    Raises:
        CardError: it does not.
    """
    block = REGEX_YAML_BLOCK.search(content)
    try:
        ModelCard(content)
        return (
            dict(yaml.safe_load(f"{block[2]}\n") or {}) if block else {}
        )  # the line break belongs to a last block text
    except (ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError, RecursionError) as error:
        raise CardError(
            f"{path}: found metadata that huggingface_hub cannot read ({' '.join(str(error).split())}), expected a valid card between the "
            "two lines ---. Correct it, then run this again."
        ) from error


def with_section(path: Path, body: str, text: str, key: str, newline: str) -> str:
    """The body with the section between its two markers: in place of an earlier one, else at the end."""
    begin, end = f"<!-- personafeedback: begin {key} -->", f"<!-- personafeedback: end {key} -->"
    text = "\n".join([begin, "", text, "", end]).replace("\n", newline)
    counts = body.count(begin), body.count(end)
    if counts == (0, 0):
        gap = "" if body.endswith(newline * 2) else newline if body.endswith(newline) or not body else newline * 2
        return f"{body}{gap}{text}{newline}"
    first, last = body.find(begin), body.find(end)
    if counts != (1, 1) or last < first:
        raise CardError(
            f"{path}: found {counts[0]} `{begin}` and {counts[1]} `{end}`, expected one of each, in this order: what stands "
            "between them is replaced. Restore them, or delete them all for a new section at the end."
        )
    return body[:first] + text + body[last + len(end) :]


def with_results(
    path: Path, front: str, data: dict[str, Any], index: list[dict[str, Any]], replaced: Matches, newline: str
) -> str:
    """The front matter, which ends in a newline, with our results in its `model-index` in place of earlier ones.

    Two ways are tried: to touch nothing but our own lines, and, for a `model-index` that is not written one item per
    line, to write that key anew. What each gives is read back, and must mean what the old text and our results mean.
    """
    there = data.get("model-index")
    wanted = {**data, "model-index": _merged(there, index, replaced) if there else index}
    for edit in (_spliced, _rewritten):
        try:
            text = edit(front, wanted, index, replaced, newline)
            if text is not None and repr(yaml.safe_load(text)) == repr(wanted):  # unlike ==, takes nan for nan
                return text
        except (yaml.YAMLError, ValueError, LookupError):
            continue
    raise CardError(
        f"{path}: found metadata in which `model-index` cannot be changed without changing something else, expected one key "
        "per line between the two lines ---. Write it so, then run this again."
    )


def _merged(there: list[dict[str, Any]], index: list[dict[str, Any]], replaced: Matches) -> list[dict[str, Any]]:
    """A `model-index` with our results in place of earlier ones; else at the end of the model's of our name, or of the first."""
    target, place = _target(there, index, replaced)
    merged = []
    for number, model in enumerate(there):
        kept = []
        for position, result in enumerate(model["results"]):
            if (number, position) == (target, place):
                kept += index[0]["results"]
            metrics = [metric for metric in result["metrics"] if not replaced(result, metric)]
            if metrics or not result["metrics"]:
                kept.append({**result, "metrics": metrics})
        if number == target and place == len(model["results"]):
            kept += index[0]["results"]
        merged.append({**model, "results": kept})
    return merged


def _target(there: list[dict[str, Any]], index: list[dict[str, Any]], replaced: Matches) -> tuple[int, int]:
    """(which model, before which of its results) ours belong."""
    for number, model in enumerate(there):
        for position, result in enumerate(model["results"]):
            if any(replaced(result, metric) for metric in result["metrics"]):
                return number, position
    named = [number for number, model in enumerate(there) if model["name"] == index[0]["name"]]
    number = named[0] if named else 0
    return number, len(there[number]["results"])


def _spliced(
    front: str, wanted: dict[str, Any], index: list[dict[str, Any]], replaced: Matches, newline: str
) -> str | None:
    """The text with only our own lines changed; None if it is not written one item per line."""
    root: Any = yaml.compose(front, Loader=yaml.SafeLoader)
    node = _value(root, "model-index") if root else None
    if node is None:
        column = root.start_mark.column if root else 0
        return front + _indented(dump({"model-index": wanted["model-index"]}), column, newline)
    there = yaml.safe_load(front)["model-index"]
    if not there:
        return None
    target, place = _target(there, index, replaced)
    changes: list[tuple[int, int, str]] = []
    for number, (model, model_node) in enumerate(zip(there, node.value, strict=True)):
        results_node = _value(model_node, "results")
        if number != target and not any(replaced(r, metric) for r in model["results"] for metric in r["metrics"]):
            continue
        spans = _spans(front, results_node)
        for result, result_node, span in zip(model["results"], results_node.value, spans, strict=True):
            ours = [replaced(result, metric) for metric in result["metrics"]]
            if ours and all(ours):
                changes.append((*span, ""))
            elif any(ours):  # ModelCard.save joins what is about the same data
                parts = _spans(front, _value(result_node, "metrics"))
                changes += [(*part, "") for part, mine in zip(parts, ours, strict=True) if mine]
        if number == target:
            at = spans[place][0] if place < len(spans) else spans[-1][1]
            column = results_node.start_mark.column
            changes.append((at, at, _indented(dump(index[0]["results"]), column, newline)))
    for begin, end, text in sorted(changes, reverse=True):
        front = front[:begin] + text + front[end:]
    return front


def _rewritten(
    front: str, wanted: dict[str, Any], index: list[dict[str, Any]], replaced: Matches, newline: str
) -> str | None:
    """The text with the key `model-index` written anew, at its old place."""
    root: Any = yaml.compose(front, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value == "model-index":
            starts = _line_starts(front)
            begin, end = starts[bisect_right(starts, key.start_mark.index) - 1], _line_after(front, _end(value))
            text = _indented(dump({"model-index": wanted["model-index"]}), root.start_mark.column, newline)
            return front[:begin] + text + front[end:]
    return None


def _value(mapping: yaml.Node, name: str) -> Any:
    """The node of a key's value; None if there is no such key."""
    if not isinstance(mapping, yaml.MappingNode):
        return None
    return next((value for key, value in mapping.value if key.value == name), None)


def _spans(text: str, sequence: yaml.Node) -> list[tuple[int, int]]:
    """The lines of each item: where they begin, and where the next line begins.

    Raises:
        ValueError: it is not a sequence of items that begin a line each.
    """
    if not isinstance(sequence, yaml.SequenceNode) or sequence.flow_style or not sequence.value:
        raise ValueError("not one item per line")
    starts, spans = _line_starts(text), []
    dash = " " * sequence.start_mark.column + "-"
    for item in sequence.value:
        line = bisect_right(starts, item.start_mark.index) - 1
        while not text.startswith(dash, starts[line]):  # the dash may stand on a line of its own
            line -= 1
            if line < 0:
                raise ValueError("not one item per line")
        spans.append((starts[line], _line_after(text, _end(item))))
    return spans


def _end(node: yaml.Node) -> int:
    """Where the last thing in a node ends; a block's own end mark lies behind the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_after(text: str, index: int) -> int:
    """Where the next line begins; the line of `index` itself if nothing stands before it there."""
    starts = _line_starts(text)
    line = bisect_right(starts, index) - 1
    if not text[starts[line] : index].strip(" "):
        return starts[line]
    return starts[line + 1] if line + 1 < len(starts) else len(text)


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]


def _indented(text: str, column: int, newline: str) -> str:
    return "".join(" " * column + line + newline for line in text.splitlines())


def dump(value: object) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=math.inf))


def newline_of(content: str) -> str:
    """The line break of what is added: that of the card, unless it mixes several."""
    found = set(re.findall(r"\r\n|\r|\n", content))
    return "\r\n" if found == {"\r\n"} else "\n"


def read(path: Path) -> str | None:
    """The text of a file with its line breaks; None if there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: found a file that cannot be read ({error}), expected text in UTF-8.") from error
