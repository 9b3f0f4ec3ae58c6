"""The file of a model card: its metadata and its text, in which only this package's own parts change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResult
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.repocard_data import eval_results_to_model_index
from huggingface_hub.utils import yaml_dump

from ..common import foreign
from ..common.errors import PersonaFeedbackError
from ..common.files import write


class CardError(PersonaFeedbackError):
    """A run that should not be published, or a card that it cannot go into."""


class CardFile:
    """A model card as it was read; a new one where there is no file.

    Raises:
        CardError: it cannot be read, or it is the card of another model.
    """

    def __init__(self, path: Path, model: str) -> None:
        """
        Args:
            model: the name of the model that the card must be of.
        """
        self.path, self.model, self.old = path, foreign.line(model), _read(path)
        content = self.old.replace("\r\n", "\n")
        block = REGEX_YAML_BLOCK.search(content)
        self.body = content[block.end() :] if block else content or f"# {foreign.markdown(model)}\n"
        with self._readable():
            above = (
                content.count("\n", 0, block.start(2)) if block else 0
            )  # so that an error names the line of the file
            self.metadata = (yaml.load("\n" * above + f"{block[2]}\n", _Loader) if block else None) or {}
            unnamed = {"name": self.metadata.get("model_name", self.model), "results": []}
            self.models = self.metadata.get("model-index") or [unnamed]
            names = [str(one["name"]) for one in self.models]
        if not any(same_model(self.model, name) for name in names):
            raise CardError(
                f"{path}: found the card of {' and '.join(names)}, expected that of {self.model}, the model of this "
                "run. Pass that model's card as --model-card. If both names are of one model, give the run the card's "
                "name with --name."
            )

    def update(self, results: Sequence[EvalResult], section: str, asked: str, dataset: str) -> bool:
        """Write results and a section in place of those of the same data, asked the same; False if nothing changes."""
        with self._readable():
            (model, *_) = (one for one in self.models if same_model(self.model, str(one["name"])))
            kept = []
            for result in model["results"]:
                # ModelCard.save joins the results on the same data: others' are kept
                metrics = [
                    metric
                    for metric in result["metrics"]
                    if not _is_ours(metric, asked) or result["dataset"]["type"] != dataset
                ]
                if metrics or not result["metrics"]:
                    kept.append({**result, "metrics": metrics})
            (new,) = eval_results_to_model_index(self.model, list(results))
            model["results"] = [*kept, *new["results"]]
            front = yaml_dump({**self.metadata, "model-index": self.models}, sort_keys=False)
        text = f"---\n{front}---\n{self._with_section(asked, section)}"
        text = text.replace("\n", "\r\n" if "\r\n" in self.old else "\n")
        if text != self.old:
            write(self.path, text)
        return text != self.old

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, yaml.YAMLError) as error:
            raise CardError(
                f"{self.path}: found metadata that cannot be read ({' '.join(str(error).split())}), expected those of "
                "a valid card between the two lines ---. Fix them, then run this again."
            ) from error

    def _with_section(self, key: str, text: str) -> str:
        # the markers are lines of their own: no text of others in a card is one
        begin, end = (f"<!-- personafeedback: {side} {key} -->" for side in ("begin", "end"))
        section = f"{begin}\n\n{text}\n\n{end}"
        lines = self.body.split("\n")
        starts, ends = lines.count(begin), lines.count(end)
        if starts == ends == 0:
            return f"{self.body.rstrip()}\n\n{section}\n"
        if starts == ends == 1 and lines.index(begin) < lines.index(end):
            return "\n".join([*lines[: lines.index(begin)], section, *lines[lines.index(end) + 1 :]])
        raise CardError(
            f"{self.path}: found {starts} `{begin}` and {ends} `{end}`, expected one of each, in this order: the text "
            "between them is replaced. Restore them, or delete them all for a new section at the end."
        )


def same_model(one: str, other: str) -> bool:
    """Whether two names are of one model: the same owner and model behind any provider, or one without an owner."""
    parts, theirs = (re.sub(r"[\s_]", "-", name.casefold()).split("/") for name in (one, other))
    shared = min(len(parts), len(theirs), 2)
    return parts[-shared:] == theirs[-shared:]


def _is_ours(metric: Mapping[str, Any], asked: str) -> bool:
    args = metric.get("args")
    if not isinstance(args, Mapping) or not str(args.get("signature")).startswith("personafeedback-tasks "):
        return False
    return args.get("asked") == asked


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: found a file that cannot be read ({error}), expected text in UTF-8.") from error


class _Loader(yaml.SafeLoader):
    """Refuses a key that a mapping has twice: PyYAML would keep the last value only."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            # compared as they are read, `yes` and `true` are one key; `<<` and `=` are only read within their mapping
            read = key.value if key.tag.endswith((":merge", ":value")) else self.construct_object(key)
            if read in seen:
                line = key.start_mark.line + 1
                raise yaml.YAMLError(f"line {line} has the key {key.value!r} again, keep one of them")
            seen.add(read)
        return node
