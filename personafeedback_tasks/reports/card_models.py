"""The models of a card, by the names in its metadata and in our signatures: which is a run's, and the results of each in `model-index`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ..common import foreign
from ..runs.run import Run
from ..runs.signature_line import model_in, model_of
from .card_file import Section

Metadata = Mapping[str, Any]

Matches = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""(a result of a `model-index`, one of its metrics) -> whether it is meant."""

_OF_TRAINING = re.compile(
    r"(?:(?:checkpoints?|ckpt|models?|final|last|best|merged|output|outputs|epoch|step|snapshots?|main|hf|[0-9a-f]{40})(?![a-z]))[-_.]?\d*"
)
"""Folders of training runs and of a hub's cache: the name is in the folder above."""

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
        pairs = zip(reversed(own), reversed(theirs), strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if shared and (shared >= 2 or shared in (len(own), len(theirs))):
            return True
    return False


def of_others(metadata: Metadata, sections: Sequence[Section], run: Run) -> dict[str, str]:
    """Name of another model -> what a card has of it, in words."""
    contents: dict[str, str] = {}
    models = _models(metadata)
    if not _has_own(models, run):
        named = metadata.get("model_name")
        contents |= {str(named): "`model_name`"} if named and not same_model(run, str(named)) else {}
        contents |= {str(model["name"]): f"`model-index` (results: {len(model['results']):,})" for model in models}
    for metric in _metrics(models):
        if _is_anothers(metric, run):
            contents.setdefault(model_in(signature_in(metric)), "results in `model-index`")
    for section in sections:
        if section.model and not same_model(run, section.model):
            has = f"{contents[section.model]} and " if section.model in contents else ""
            contents[section.model] = f"{has}section `{section.key}`"
    return contents


def with_results(metadata: Metadata, index: Sequence[Metadata], run: Run, is_earlier: Matches) -> dict[str, Any]:
    """The metadata with the results of a run in place of earlier ones, else behind the others of its model; without those of other models."""
    models, changed = _models(metadata), dict(metadata)
    if not _has_own(models, run):
        models = []
        if "model_name" in changed and not same_model(run, str(changed["model_name"])):
            changed["model_name"] = model_of(run)
    models = models or [{"name": changed.get("model_name") or index[0]["name"], "results": []}]
    target = next((i for i, model in enumerate(models) if same_model(run, str(model["name"]))), 0)
    changed["model-index"] = []
    for i, model in enumerate(models):
        results: list[Any] = []
        place = None
        for result in model["results"]:
            kept = [
                metric for metric in result["metrics"] if not (is_earlier(result, metric) or _is_anothers(metric, run))
            ]
            if place is None and any(is_earlier(result, metric) for metric in result["metrics"]):
                place = len(results)
            if len(kept) == len(result["metrics"]):
                results.append(result)
            elif kept:  # ModelCard.save joins entries about the same data
                results.append({**result, "metrics": kept})
        if i == target:
            place = len(results) if place is None else place
            results[place:place] = index[0]["results"]
        changed["model-index"].append({**model, "results": results})
    return changed


def has_only_ours(metadata: Metadata) -> bool:
    """Whether a `model-index` has no result of others."""
    return all(map(signature_in, _metrics(_models(metadata))))


def signature_in(metric: Mapping[str, Any]) -> str:
    """The signature of a metric of ours; empty for those of others."""
    args = metric.get("args")
    signature = args.get("signature") if isinstance(args, Mapping) else None
    return signature if isinstance(signature, str) and signature.startswith("personafeedback-tasks ") else ""


def _models(metadata: Metadata) -> list[dict[str, Any]]:
    return list(metadata.get("model-index") or [])


def _metrics(models: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (metric for model in models for result in model["results"] for metric in result["metrics"])


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
    folders = []
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
