"""The signature of a run: no number without it. Runs that differ in anything that moves a score never share a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import msgspec

from .. import __version__
from ..common.errors import PersonaFeedbackError
from ..common.records import short
from .benchmark import Benchmark, find
from .cases import CaseSet, NamedSet
from .options import Options

KEY = "personafeedback_tasks"
"""Where to find it: in lm-eval's results under `configs.TASK.metadata`, in Inspect's log under `eval.metadata`."""

_TYPES: dict[str, Any] = {
    **dict.fromkeys(("package", "benchmark", "task_version", "task", "fingerprint", "source", "counts", "data"), str),
    "demonstration": bool,
    "set": NamedSet | None,
    "cells": dict[str, dict[str, int | str]],
}


class SignatureError(PersonaFeedbackError):
    """A signature is none that this version writes. Its text goes on after `FILE: found `."""


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What moves the scores of a task beside the model, its harness and what that was told."""

    package: str  # version of this package
    benchmark: str
    task_version: str  # rises whenever a score can move
    task: str  # its name, with what is not the default
    options: Mapping[str, Any]  # see `Options.signed`
    signs: Mapping[str, Any]  # what the benchmark signs beside its options, see `Benchmark.signs`
    fingerprint: str  # changes with every fixed text of the prompts
    source: str  # of the data: `sample`, `OWNER/NAME@COMMIT`, or a folder's path
    counts: str  # `any` if nobody checked how many cases there are
    demonstration: bool  # whether the data are a bundled sample
    set: NamedSet | None  # the user's own set that the data are; None for the benchmark's own
    data: str  # digest of all data, whatever cells were asked
    cells: Mapping[
        str, Mapping[str, Any]
    ]  # cell -> its number of `cases`, of which a partial run has fewer; their digest
    place: str | list[str] = ""  # where a reward model got the persona; not in the log's signature, which is older

    @classmethod
    def of(cls, benchmark: Benchmark, task: str, cases: CaseSet[Any], options: Options) -> Signature:
        """The signature of one task under some options."""
        return cls(
            package=__version__,
            benchmark=benchmark.name,
            task_version=benchmark.version,
            task=benchmark.named(task, cases, options),
            options=options.signed(),
            signs=benchmark.signs(cases, options),
            fingerprint=benchmark.fingerprint(options),
            source=cases.source,
            counts=cases.counts,
            demonstration=cases.demonstration,
            set=cases.named_set,
            data=cases.digest,
            cells={cell: {"cases": len(of_cell), "data": cases.digests[cell]} for cell, of_cell in cases.cells.items()},
        )

    @property
    def method(self) -> str:
        return str(self.options["method"])

    @property
    def defining(self) -> dict[str, Any]:
        """The values that shape a prompt, or how its reply is read, by name."""
        return {
            "benchmark": self.benchmark,
            "task_version": self.task_version,
            **self.options,
            "fingerprint": self.fingerprint,
            **self.signs,
        }

    def changed(self, **values: Any) -> Signature:
        """A copy with other values of fields or options."""
        own = {one.name for one in fields(self)}
        options = {name: value for name, value in values.items() if name not in own}
        found: Signature = replace(
            self,
            **{"options": {**self.options, **options}, **{name: values[name] for name in values.keys() & own}},
        )
        return found

    def to_json(self) -> dict[str, Any]:
        """Its values by name, options and what the benchmark signs among them."""
        found = {name: value for name, value in vars(self).items() if name not in ("options", "signs", "place")}
        return {**found, **self.options, **self.signs, "set": asdict(self.set) if self.set else None}

    @classmethod
    def from_json(cls, found: object) -> Signature:
        """The way back from `to_json`.

        Raises:
            SignatureError: a value is missing or has another type, or is of a later version of this package.
        """
        if not isinstance(found, dict):
            raise SignatureError(f"{short(found)} as its signature, expected the values of one. {_AS_WRITTEN}")
        if not isinstance(found.get("benchmark"), str):
            raise _refused("benchmark", found)
        try:
            benchmark = find(found["benchmark"])
        except PersonaFeedbackError as error:
            raise SignatureError(f"a run of {found['benchmark']}. {error}") from error
        values = {}
        for name, kind in {**_TYPES, **benchmark.options.signed_types()}.items():
            try:
                values[name] = msgspec.convert(found.get(name), kind)
            except msgspec.ValidationError as error:
                raise _refused(name, found) from error
        _refuse_version(benchmark, found["task_version"])
        if found["method"] not in benchmark.methods:
            known = ", ".join(benchmark.methods)
            raise SignatureError(
                f"the method {found['method']!r} in its signature, expected one of {known}. {_UPGRADE}"
            )
        return cls(
            **{name: values.pop(name) for name in _TYPES},
            options=values,
            signs={name: found[name] for name in benchmark.signed if name in found},
        )


def signed(signatures: Sequence[Signature]) -> dict[str, Any]:
    """The metadata of a log: under KEY the signature of a run, or a list of them if it asks several settings."""
    found = [signature.to_json() for signature in signatures]
    return {KEY: found if len(found) > 1 else found[0]}


def signatures(metadata: object) -> list[Signature]:
    """The signatures in the metadata of a log; empty without any. Raises SignatureError."""
    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if found is None:
        return []
    return [Signature.from_json(one) for one in (found if isinstance(found, list) else [found])]


_AS_WRITTEN = "Use the log as the harness wrote it."
_UPGRADE = "Upgrade personafeedback-tasks, or use the log as the harness wrote it."


def _refused(name: str, found: Mapping[str, Any]) -> SignatureError:
    value = short(found[name]) if name in found else "no value"
    return SignatureError(
        f"{value} as {name} in its signature, expected what this version of personafeedback-tasks writes there. "
        f"{_UPGRADE}"
    )


def _refuse_version(benchmark: Benchmark, version: str) -> None:
    # A newer version may read replies in another way. An older one is no problem: its replies are read again.
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        raise SignatureError(
            f"the task version {version!r} in its signature, expected numbers as in {benchmark.version}. {_AS_WRITTEN}"
        )
    if [*map(int, version.split("."))] > [*map(int, benchmark.version.split("."))]:
        raise SignatureError(
            f"task version {version} of {benchmark.name}, expected at most {benchmark.version}, which is installed. "
            f"{_UPGRADE}"
        )
