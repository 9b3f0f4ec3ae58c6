"""The options of a run, each declared once: its default, its values, its help, and how a name or a report shows it.

They are the same in both harnesses: `--metadata '{...}'` in lm-eval, `-T` in Inspect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ..common.errors import OptionError, choose

Self = TypeVar("Self", bound="Options")


@dataclass(frozen=True)
class Option:
    """The default, help and allowed values of a task option."""

    default: Any
    help: str  # one line, for the tasks' docstrings and docs/options.md
    values: Callable[[], tuple[str, ...]] = tuple  # the closed set of its values; empty where any may be
    said: Callable[[Any], list[str]] | None = (
        None  # how a name shows a value that is not the default; None if none does
    )
    parse: Callable[[Any], Any] | None = None
    always: bool = False  # whether the first line of a run and the signature have it even if it is the default
    relevant: Callable[[Mapping[str, Any]], bool] | None = None  # (the other options) -> whether it has any effect
    place: bool = False  # whether it names a place on this machine: a signature says what was found there instead


def option(default: Any, help: str, **about: Any) -> Any:
    """A field of `Options`; `about` are further fields of `Option`."""
    return field(default=default, metadata={"option": Option(default, help, **about)})


class Options:
    """The options of a run. Base class of each benchmark's own, which is a frozen dataclass."""

    method: str  # how the model's choice is read, see `Benchmark.methods`
    data: str | None  # None for the benchmark's default
    counts: str  # `any` accepts what is present

    def __post_init__(self) -> None:
        for name, one in self.table().items():
            if values := one.values():
                choose(name, getattr(self, name), values)
            if one.place and not isinstance(getattr(self, name), str | None):
                raise OptionError(f"{name} must be a file or a folder, got {getattr(self, name)!r}.")
        if self.data is not None and not isinstance(self.data, str):
            raise OptionError(f"data must be a folder, 'sample' or a Hub dataset id, got {self.data!r}.")

    @classmethod
    @cache
    def table(cls) -> dict[str, Option]:
        """Every option by its name."""
        every: tuple[Any, ...] = fields(cls)  # type: ignore[arg-type]
        return {one.name: one.metadata["option"] for one in every if "option" in one.metadata}

    @classmethod
    def read(cls: type[Self], mapping: Mapping[str, Any]) -> Self:
        """Read our keys from a mapping that may have other people's, too; a misspelt one of ours is an OptionError."""
        for key in mapping:
            if meant := _meant(key, [*cls.table()]):
                raise OptionError(
                    f"{key}={mapping[key]!r} is not an option. Use {meant}, or rename the key if it is for something "
                    "else."
                )
        found = {}
        for name, one in cls.table().items():
            value = mapping.get(name)
            if isinstance(value, Path):  # from Python; a signature and a log have text
                value = str(value)
            if value is not None:
                found[name] = one.parse(value) if one.parse else value
        return cls(**found)

    @classmethod
    def strict(cls: type[Self], mapping: Mapping[str, Any]) -> Self:
        """Read our keys from a mapping that may contain no other."""
        known = [*cls.table()]
        for key in mapping:
            if key not in known:
                meant = _meant(key, known)
                raise OptionError(
                    f"{key}={mapping[key]!r} is not an option. {f'Did you mean {meant}? ' if meant else ''}"
                    f"Use: {', '.join(sorted(known))}."
                )
        return cls.read(mapping)

    @classmethod
    def without_effect(cls, mapping: Mapping[str, Any]) -> set[str]:
        """The options that change nothing beside the others of a mapping, in which defaults may be missing."""
        table = cls.table()
        every = {**{name: one.default for name, one in table.items()}, **mapping}
        return {name for name, one in table.items() if one.relevant and not one.relevant(every)}

    @classmethod
    def remarks(cls, options: Mapping[str, Any]) -> list[str]:
        """The options that shape a question and are not the default, as names show them; the method has its own place."""
        remarks = []
        for name, one in cls.table().items():
            if one.said and _is_changed(name, one, options):
                remarks += one.said(options[name])
        return remarks

    @classmethod
    def details(cls, options: Mapping[str, Any]) -> list[str]:
        """What a signature says beside the options of `always`: what was changed, and what affects this run."""
        details = []
        for name, one in cls.table().items():
            affects = _is_changed(name, one, options) or (one.relevant is not None and one.relevant(options))
            if one.said and not one.always and affects:
                details += one.said(options[name])
        return details

    @classmethod
    def always(cls) -> list[str]:
        """The options that a signature and the line at the start of a run name in any case."""
        return [name for name, one in cls.table().items() if one.always]

    @classmethod
    def signed_types(cls) -> dict[str, Any]:
        """Name -> type of what `signed` gives."""
        types: dict[str, Any] = {}
        for name, one in cls.table().items():
            if name not in ("data", "counts") and not one.place:
                types[name] = list[str] if isinstance(one.default, tuple) else type(one.default)
        return types

    def signed(self) -> dict[str, Any]:
        """The options as a signature stores them, ready for JSON."""
        return {name: _plain(getattr(self, name)) for name in self.signed_types()}


def _is_changed(name: str, one: Option, options: Mapping[str, Any]) -> bool:
    if name not in options or _plain(options[name]) == _plain(one.default):
        return False
    return one.relevant is None or one.relevant(options)


_CLOSE = 0.8
"""`difflib.SequenceMatcher.ratio` above which a key is a misspelt one: `seting` has 0.92, `date` 0.75 to `data`."""


def _meant(key: object, names: list[str]) -> str | None:
    # None for a key of somebody else.
    if not isinstance(key, str) or key in names:
        return None
    return next(iter(get_close_matches(key.lower().replace("-", "_"), names, n=1, cutoff=_CLOSE)), None)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
