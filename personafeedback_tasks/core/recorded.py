"""Recorded replies: what a model wrote, call by call, as JSON Lines that can be scored or answered from again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from ..common.errors import DataError, PersonaFeedbackError
from ..common.records import broken, decoded, rows
from .benchmark import Benchmark, benchmarks
from .method import Method, Reply, ReplyMethod, text_in


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file."""

    id: Annotated[str, Meta(pattern=r"\S")]  # of the case
    reply: Any  # all that the model wrote, as a text or as the parts of a message; may be empty or null
    call: Annotated[str, Meta(pattern=r"\S")] = ""  # of the method; may be left out where a case has one call
    epoch: Annotated[int, Meta(ge=1)] = 1  # from 1; left out in the first one
    truncated: bool | None = None  # cut off by a token limit; left out where nobody knows
    filtered: bool = False  # a filter of the provider withheld it
    prompt_cut: bool = False  # the prompt did not fit into the model's window
    prompt: Any = None  # the messages that were sent; not used
    answer: Any = None  # what an importer's source read from it; not used


class Key(NamedTuple):
    """Which call a reply belongs to."""

    case_id: str
    call: str  # "" where a record names none
    epoch: int = 1  # from 1

    def __str__(self) -> str:
        epoch = f", epoch {self.epoch}" if self.epoch > 1 else ""
        return f"{self.case_id} ({self.call}{epoch})" if self.call else f"{self.case_id}{epoch}"


@dataclass(frozen=True)
class Recorded:
    """The replies of a file."""

    path: Path
    replies: Mapping[Key, Reply]
    lines: Mapping[Key, int]  # where each one is, from 1
    only: Collection[str]  # calls that are the only one of their method: a record without `call` is theirs

    @property
    def epochs(self) -> list[int]:
        """The epochs of the file, which every case must then have."""
        return sorted({key.epoch for key in self.replies})

    def get(self, key: Key) -> Reply:
        """The reply to a call; DataError if there is none."""
        found = self.replies.get(self._place(key))
        if found is None:
            raise DataError(
                f"{self.path}: found no reply to {key}{self.unnamed(key)}, expected one to every call of the run. Add "
                "its record, or ask fewer cases (--limit, --sample-id)."
            )
        return found

    def missing(self, asked: Iterable[Key]) -> list[Key]:
        """The calls without a reply."""
        return [key for key in asked if self._place(key) not in self.replies]

    def compared(self, asked: Collection[Key]) -> str:
        """One line on the records that the calls of a run do not need, or do not have; empty if there are none."""
        missing, told = self.missing(asked), [self.unused(asked)]
        if missing:
            told.append(f"{len(missing):,} of {len(asked):,} calls have no record (first: {missing[0]})")
        return f"{self.path}: {'; '.join(filter(None, told))}" if any(told) else ""

    def unused(self, asked: Iterable[Key]) -> str:
        """The records that the calls of a run do not need, in a clause; empty if there are none."""
        places = {*map(self._place, asked)}
        extra = [key for key in self.replies if key not in places]
        if not extra:
            return ""
        first = f"line {self.lines[extra[0]]}: {extra[0]}"
        return f"{len(extra):,} of {len(self.replies):,} records belong to no call of this run (first: {first})"

    def unnamed(self, key: Key) -> str:
        """Why a record that is there does not count, for a message; empty if there is none."""
        line = self.lines.get(key._replace(call=""))
        return f" (line {line} has no `call`, and a case has several)" if line else ""

    def _place(self, key: Key) -> Key:
        unnamed = key._replace(call="")
        return unnamed if key.call in self.only and unnamed in self.replies else key


def calls_of(benchmark: Benchmark, *every: Mapping[str, Any]) -> tuple[str, ...]:
    """The calls of a case: the first call, if it is on, and the method's under each setting (options by name)."""
    first = {name for name in map(benchmark.first, every) if name}
    return (*first, *benchmark.methods[every[0]["method"]].asked([*map(benchmark.setting, every)]))


def keys(case_ids: Iterable[str], calls: Sequence[str], epochs: Sequence[int]) -> list[Key]:
    """Every call of some cases."""
    return [Key(case_id, call, epoch) for case_id, epoch, call in product(case_ids, epochs, calls)]


def require_text(method: Method, error: type[PersonaFeedbackError], where: str) -> ReplyMethod:
    """The method, which must read the text of a reply; else raise that error."""
    if not isinstance(method, ReplyMethod):
        raise error(
            f"{where}: found the method {method.name} ({method.help}), expected one that reads the text of a reply: a "
            "file of replies has nothing else. Take a run or a task of another method."
        )
    return method


def read(path: Path) -> Recorded:
    """Read a file of recorded replies: DataError for a line that is no record, or the second reply to a call."""
    replies: dict[Key, Reply] = {}
    lines: dict[Key, int] = {}
    named: dict[tuple[str, int], tuple[bool, int]] = {}  # case and epoch -> whether its records name their call, a line
    for line, row in rows(path, any_text=True):
        where = f"{path}, line {line}"
        record = decoded(where, row, Row, 'Add "reply" to each line.')
        key = Key(record.id, record.call, record.epoch)
        reply = Reply(text_in(record.reply), record.truncated, record.filtered, prompt_cut=record.prompt_cut)
        if key in replies:
            raise broken(where, f"a second reply to {key} (first: line {lines[key]})", "one record per call")
        by_name, first = named.setdefault((key.case_id, key.epoch), (bool(key.call), line))
        if by_name != bool(key.call):
            with_call, without = (first, line) if by_name else (line, first)
            raise broken(
                where, f"{key.case_id} with `call` (line {with_call}) and without (line {without})", "one or the other"
            )
        replies[key], lines[key] = reply, line
    methods = [method for benchmark in benchmarks().values() for method in benchmark.methods.values()]
    return Recorded(path, replies, lines, {method.calls[0] for method in methods if len(method.calls) == 1})
