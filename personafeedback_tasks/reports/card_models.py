"""Which models a card is of, by the names in its metadata and in our signatures, and what it has of others than a run's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..analysis.families import NO_NAMES
from ..common import foreign
from ..runs.run import Run
from ..runs.signature_line import model_in, model_of
from .card_file import Section
from .card_index import Metadata, models_of, signature_in, without

_OF_TRAINING = re.compile(rf"(?:{NO_NAMES.pattern})[-_.]?\d*")
_CHECKPOINT = re.compile(r"checkpoint-\d+")


def same_model(run: Run, name: str) -> bool:
    """Whether a name plainly is that of a run's model: both end in the same owner and model, or one of them is the other's end.

    Harnesses put a provider before it (`openai-api/local/Qwen/Qwen2.5-7B-Instruct`), cards often leave the owner out, and folders of
    training runs are below the model's own. Case, `-`, `_` and spaces do not count.
    """
    if name in (_published(run), foreign.yaml(model_of(run))):
        return True
    theirs = _parts(name)
    for own in _names(run):
        shared = 0
        for one, other in zip(reversed(own), reversed(theirs), strict=False):
            if one != other:
                break
            shared += 1
        if shared and (shared >= 2 or shared in (len(own), len(theirs))):
            return True
    return False


def of_others(metadata: Metadata, sections: Sequence[Section], run: Run) -> dict[str, str]:
    """Name of another model -> what a card has of it, in words."""
    found: dict[str, str] = {}
    models = models_of(metadata)
    if not _has_own(models, run):
        named = metadata.get("model_name")
        found |= {str(named): "`model_name`"} if named and not same_model(run, str(named)) else {}
        found |= {str(model["name"]): f"`model-index` (results: {len(model['results']):,})" for model in models}
    for model in models:
        for result in model["results"]:
            strangers = {model_in(signature_in(metric)) for metric in result["metrics"] if _is_anothers(metric, run)}
            found |= {name: "results in `model-index`" for name in strangers if name not in found}
    for section in sections:
        if section.model and not same_model(run, section.model):
            has = f"{found[section.model]} and " if section.model in found else ""
            found[section.model] = f"{has}section `{section.key}`"
    return found


def without_others(metadata: Metadata, run: Run) -> dict[str, Any]:
    """The metadata without what they have of other models."""

    def is_anothers(result: Mapping[str, Any], metric: Mapping[str, Any]) -> bool:
        return _is_anothers(metric, run)

    models, kept = models_of(metadata), dict(metadata)
    if not _has_own(models, run):
        models = []
        if "model_name" in kept and not same_model(run, str(kept["model_name"])):
            kept["model_name"] = model_of(run)
    return {**kept, "model-index": [without(model, is_anothers)[0] for model in models]}


def _has_own(models: Sequence[Mapping[str, Any]], run: Run) -> bool:
    return any(same_model(run, str(model["name"])) for model in models)


def _is_anothers(metric: Mapping[str, Any], run: Run) -> bool:
    signature = signature_in(metric)
    return bool(signature) and not same_model(run, model_in(signature))


def _names(run: Run) -> Iterator[list[str]]:
    """The names of a run's model, in parts."""
    name = model_of(run)
    parts = _parts(name)
    yield _parts(_published(run))
    yield parts
    if run.harness.startswith("inspect"):  # the first part is its provider
        yield parts[1:]
    folders = [str(run.needed["model_path"])] if run.needed.get("model_path") else []
    if name != run.model or _CHECKPOINT.fullmatch(parts[-1] if parts else ""):
        folders.append(run.model)
    for folder in folders:
        yield _parts(_own_name(folder))


def _published(run: Run) -> str:
    """The name in our signatures in a card, where one that has their separator is cut."""
    return model_in(foreign.yaml(" | ".join(["of", *filter(None, [model_of(run)]), run.harness])))


def _own_name(folder: str) -> str:
    """The name of a model in a local folder: folders of its training run and of a hub's cache are below one with its name."""
    parts = [part for part in re.split(r"[/\\]+", folder) if part]
    while len(parts) > 1 and _OF_TRAINING.fullmatch(parts[-1].lower()):
        parts.pop()
    return re.sub("--|__", "/", parts[-1].removeprefix("models--")) if parts else ""


def _parts(name: str) -> list[str]:
    """Provider, owner and model, as far as they are there, without what names of one model differ in."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return [re.sub(r"[^\w.]+|_+", "-", part) for part in re.split(r"[/\\]+", plain) if part.strip()]
