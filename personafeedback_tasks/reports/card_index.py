"""The `model-index` of a card's metadata: our results are added or replaced, those of others stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Metadata = Mapping[str, Any]

Matches = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""(a result of a `model-index`, one of its metrics) -> whether it is meant."""


def signature_in(metric: Mapping[str, Any]) -> str:
    """The signature of a metric of ours; empty for those of others."""
    args = metric.get("args")
    signature = args.get("signature") if isinstance(args, Mapping) else None
    return signature if isinstance(signature, str) and signature.startswith("personafeedback-tasks ") else ""


def models_of(metadata: Metadata) -> list[dict[str, Any]]:
    return list(metadata.get("model-index") or [])


def has_only_ours(metadata: Metadata) -> bool:
    """Whether a `model-index` has no result of others."""
    return all(
        signature_in(metric)
        for model in models_of(metadata)
        for result in model["results"]
        for metric in result["metrics"]
    )


def without(model: Mapping[str, Any], matches: Matches) -> tuple[dict[str, Any], int | None]:
    """A model without the metrics that match, and the place of the first of them among its results; None if there is none."""
    kept: list[Any] = []
    place = None
    for result in model["results"]:
        metrics = [metric for metric in result["metrics"] if not matches(result, metric)]
        if len(metrics) == len(result["metrics"]):
            kept.append(result)
            continue
        place = len(kept) if place is None else place
        if metrics:  # ModelCard.save joins entries about the same data
            kept.append({**result, "metrics": metrics})
    return {**model, "results": kept}, place


def with_results(
    metadata: Metadata, index: list[dict[str, Any]], earlier: Matches, is_ours: Callable[[str], bool]
) -> dict[str, Any]:
    """The metadata with the results of `index` in place of earlier ones, else behind the others of their model.

    Args:
        index: a `model-index` with our results.
        earlier: which results they replace.
        is_ours: whether a name in the `model-index` is that of their model; the first such model gets them.
    """
    models = models_of(metadata) or [{**index[0], "results": []}]
    target = next((i for i, model in enumerate(models) if is_ours(str(model["name"]))), 0)
    changed = []
    for i, model in enumerate(models):
        kept, place = without(model, earlier)
        if i == target:
            place = len(kept["results"]) if place is None else place
            kept["results"][place:place] = index[0]["results"]
        changed.append(kept)
    return {**metadata, "model-index": changed}
