"""The options of a run, each declared once: its default, its values, its help, and how a name or a report shows it.

They are the same in both harnesses: `--metadata '{...}'` in lm-eval, `-T` in Inspect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields
from difflib import get_close_matches
from typing import Any, TypeVar

from ..common.errors import OptionError, choose

Self = TypeVar("Self", bound="Options")


def option(
    default: Any,
    help: str,
    *,
    values: Callable[[], tuple[str, ...]] | None = None,
    said: Callable[[Any], list[str]] | None = None,
    parse: Callable[[Any], Any] | None = None,
    always: bool = False,
    relevant: Callable[[Mapping[str, Any]], bool] | None = None,
    place: bool = False,
) -> Any:
    """A field of `Options`."""
    metadata = {
        "help": help,  # one line, for the tasks' docstrings and docs/options.md
        "values": values,
        "said": said,  # how a name shows a value that is not the default; None if no name does
        "parse": parse,
        "always": always,  # whether the first line of a run and the signature have it even if it is the default
        "relevant": relevant,  # (the other options) -> whether it has any effect; then a signature has it
        "place": place,  # whether it names a place on this machine: a signature says what was found there instead
    }
    return field(default=default, metadata=metadata)


class Options:
    """The options of a run. Base class of each benchmark's own, which is a frozen dataclass."""

    method: str  # how the model's choice is read, see `Benchmark.methods`
    data: str | None  # None for the benchmark's default
    counts: str  # `any` accepts what is present

    def __post_init__(self) -> None:
        for one in _options(self):
            if one.metadata["values"]:
                choose(one.name, getattr(self, one.name), one.metadata["values"]())
        if self.data is not None and not isinstance(self.data, str):
            raise OptionError(f"data must be a folder, 'sample' or a Hub dataset id, got {self.data!r}.")

    @classmethod
    def read(cls: type[Self], mapping: Mapping[str, Any]) -> Self:
        """Read our keys from a mapping that may have other people's, too; a misspelt one of ours is an OptionError."""
        for key in mapping:
            if meant := _meant(key, cls.names()):
                raise OptionError(
                    f"{key}={mapping[key]!r} is not an option. Use {meant}, or rename the key if it is for something "
                    "else."
                )
        found = {one.name: mapping[one.name] for one in _options(cls) if mapping.get(one.name) is not None}
        for one in _options(cls):
            if one.metadata["parse"] and one.name in found:
                found[one.name] = one.metadata["parse"](found[one.name])
        return cls(**found)

    @classmethod
    def strict(cls: type[Self], mapping: Mapping[str, Any]) -> Self:
        """Read our keys from a mapping that may contain no other."""
        unknown = [key for key in mapping if key not in cls.names()]
        if unknown:
            meant = _meant(unknown[0], cls.names())
            raise OptionError(
                f"{unknown[0]}={mapping[unknown[0]]!r} is not an option. {f'Did you mean {meant}? ' if meant else ''}"
                f"Use: {', '.join(sorted(cls.names()))}."
            )
        return cls.read(mapping)

    @classmethod
    def without_effect(cls, mapping: Mapping[str, Any]) -> set[str]:
        """The options that change nothing beside the others of a mapping, in which defaults may be missing."""
        every = {**{one.name: one.default for one in _options(cls)}, **mapping}
        return {one.name for one in _options(cls) if one.metadata["relevant"] and not one.metadata["relevant"](every)}

    @classmethod
    def changed(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that shape a question and are not the default, without the method, which has its own place."""
        found = {}
        for one in _options(cls):
            if not one.metadata["said"] or one.name not in options:
                continue
            value, relevant = options[one.name], one.metadata["relevant"]
            if _plain(value) != _plain(one.default) and (relevant is None or relevant(options)):
                found[one.name] = value
        return found

    @classmethod
    def remarks(cls, options: Mapping[str, Any]) -> list[str]:
        """`changed` in words."""
        changed, remarks = cls.changed(options), list[str]()
        for one in _options(cls):
            if one.name in changed:
                remarks += one.metadata["said"](changed[one.name])
        return remarks

    @classmethod
    def values_of(cls, name: str) -> tuple[str, ...]:
        """The closed set of values that an option can have."""
        (values,) = (one.metadata["values"]() for one in _options(cls) if one.name == name)
        return tuple(values)

    @classmethod
    def always(cls) -> list[str]:
        """The options that a signature and the line at the start of a run name in any case."""
        return [one.name for one in _options(cls) if one.metadata["always"]]

    @classmethod
    def details(cls, options: Mapping[str, Any]) -> list[str]:
        """What a signature says beside the options of `always`: what was changed, and what affects this run."""
        changed, details = cls.changed(options), list[str]()
        for one in _options(cls):
            said, relevant = one.metadata["said"], one.metadata["relevant"]
            affects = one.name in changed or (relevant is not None and relevant(options))
            if said and not one.metadata["always"] and affects:
                details += said(options[one.name])
        return details

    @classmethod
    def names(cls) -> list[str]:
        """The names of all options."""
        return [one.name for one in _options(cls)]

    @classmethod
    def signed_names(cls) -> tuple[str, ...]:
        """The names of what `signed` gives."""
        return tuple(
            one.name for one in _options(cls) if one.name not in ("data", "counts") and not one.metadata["place"]
        )

    @classmethod
    def signed_types(cls) -> dict[str, Any]:
        """Name -> type of what `signed` gives."""
        types = {one.name: list[str] if isinstance(one.default, tuple) else type(one.default) for one in _options(cls)}
        return {name: types[name] for name in cls.signed_names()}

    def signed(self) -> dict[str, Any]:
        """The options as a signature stores them, ready for JSON."""
        return {name: _plain(getattr(self, name)) for name in self.signed_names()}


_CLOSE = 0.8
"""`difflib.SequenceMatcher.ratio` above which a key is a misspelt one: `seting` has 0.92, `date` 0.75 to `data`."""


def _meant(key: object, names: list[str]) -> str | None:
    # None for a key of somebody else.
    if not isinstance(key, str) or key in names:
        return None
    return next(iter(get_close_matches(key.lower().replace("-", "_"), names, n=1, cutoff=_CLOSE)), None)


def _options(owner: Any) -> tuple[Field[Any], ...]:
    return tuple(one for one in fields(owner) if "help" in one.metadata)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
