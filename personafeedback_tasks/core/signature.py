"""The signature of a run: no number without it. Runs that differ in anything that moves a score never share a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .. import __version__
from .benchmark import Benchmark
from .cases import CaseSet, NamedSet
from .options import Options

KEY = "personafeedback_tasks"
"""Where to find it: in lm-eval's results under `configs.TASK.metadata`, in Inspect's log under `eval.metadata`."""

TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(
        ("package", "benchmark", "task_version", "task", "method", "fingerprint", "source", "counts", "data"), str
    ),
    "demonstration": bool,
    "cells": dict,
}
"""The fields of every signature, whatever the benchmark."""


def signature(benchmark: Benchmark, task: str, cases: CaseSet[Any], options: Options) -> dict[str, Any]:
    """The signature of one task under some options, ready for JSON.

    Returns:
        All options (see `Options.signed`), what `Benchmark.signs` adds, and among others
        set: {name, counts} of `cases.NamedSet`; None for the benchmark's own data.
        data: the digest of all data, whatever cells were asked, see `cases.CaseSet.digest`.
        cells: cell -> {cases, data}, see `CaseSet.signed_cell`; a run with fewer cases is partial.
    """
    return {
        "package": __version__,
        "benchmark": benchmark.name,
        "task_version": benchmark.version,
        "task": benchmark.named(task, cases, options),
        **options.signed(),
        **benchmark.signs(cases, options),
        "fingerprint": benchmark.fingerprint(options),
        "source": cases.source,
        "counts": cases.counts,
        "demonstration": cases.demonstration,
        "set": asdict(cases.named_set) if cases.named_set else None,
        "data": cases.digest,
        "cells": {cell: cases.signed_cell(cell) for cell in cases.cells},
    }


def signed(benchmark: Benchmark, task: str, cases: CaseSet[Any], every: Sequence[Options]) -> dict[str, Any]:
    """What the metadata of a log has: under KEY the signature of a run, or a list of them if it asks several settings."""
    found = [signature(benchmark, task, cases, options) for options in every]
    return {KEY: found if len(found) > 1 else found[0]}


def signatures(metadata: Mapping[str, Any]) -> list[Any]:
    """The signatures in the metadata of a log, unchecked; empty without any."""
    found = metadata.get(KEY)
    return found if isinstance(found, list) else [] if found is None else [found]


def set_of(signature: Mapping[str, Any]) -> NamedSet | None:
    """The set that a signature names; None for the benchmark's own data. ValueError says what was expected."""
    found = signature.get("set")
    if found is None:
        return None
    name, counts = (found.get("name"), found.get("counts")) if isinstance(found, dict) else (None, None)
    if not (isinstance(name, str) and name and isinstance(counts, dict) and {*map(type, counts.values())} == {int}):
        raise ValueError("the name and the counts of a set, or null. Use the log as the harness wrote it")
    return NamedSet(name, counts)
