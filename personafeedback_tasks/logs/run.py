"""A run: one model with one set of options on one copy of the data."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ..common.foreign import without_passwords
from ..core.benchmark import Benchmark, find
from ..core.cases import NamedSet, digest_of, remark_of
from ..core.method import Method
from ..core.report import Line
from ..core.result import Result, by_case, over_epochs
from ..core.signature import Signature
from ..core.usage import NONE, UNCOUNTED, Usage
from ..core.window import UNKNOWN, PromptCheck
from ..parsing.answers import PROMPT_CUT
from . import fields
from .caveat import Caveat
from .prompts import Asked

NOT_SET = "not set"
"""In place of the value of a condition."""

# logs of a joined run that a sentence names
_NAMED = 3


@dataclass(frozen=True, eq=False)  # each is itself, so that what is found of it can be kept beside it
class Run:
    """One row of a report.

    Attributes:
        date: when it started or was written, ISO 8601, UTC.
        signature: what moves a score, without what differs from cell to cell.
        conditions: what else shapes a call (chat template, few-shot, generation arguments), by name.
        cells: cell -> its number of cases; those that were started.
        results: of each case in each epoch.
        cache: the file that replies may come from; empty without one.
        cached: where that may have replies to other models: request -> reply, both as digests.
        resumed: Inspect's id of the task, which a retried log shares with the log it continues.
        status: of the harness: `success`, or one of `errors.STATUSES`.
        left_out: why samples do not count -> how many.
        shown: the user's name for the model (--name), if any.
        apart: the conditions in which it differs from runs that would have the same name, in words.
        asked: its cases with their prompts; None for replies without a log, and once they are compared.
        unchecked: what could not be compared, or is missing.
        usage: of all the model's calls, also for cases that do not count.
        elsewhere: of samples that are not scored; in a log of several settings the first has it.
        prompts: whether they fitted into the model's window.
    """

    model: str
    harness: str
    date: str
    signature: Signature
    conditions: Mapping[str, Any]
    cells: Mapping[str, int]
    results: Sequence[Result] = field(repr=False)  # thousands
    logs: tuple[Path, ...]
    cache: str = ""
    cached: Mapping[str, str] = field(default_factory=dict, repr=False)
    resumed: str = ""
    status: str = "success"
    left_out: Mapping[str, int] = field(default_factory=dict)
    shown: str = ""
    apart: str = ""
    asked: tuple[Asked, ...] | None = field(default=None, repr=False)
    unchecked: tuple[Caveat, ...] = ()
    usage: Usage = UNCOUNTED
    elsewhere: Usage = NONE
    prompts: PromptCheck = UNKNOWN

    @property
    def replies(self) -> int:
        """Number of replies that were read as labels."""
        return sum(len(result.answers) for result in self.results)

    @cached_property
    def cut_prompts(self) -> int:
        """Prompts known to be cut, which have no answer."""
        told = sum(result.answers.count(PROMPT_CUT) for result in self.results)
        return told + (self.prompts.cut or 0)

    @cached_property
    def by_case(self) -> Mapping[str, Sequence[Result]]:
        """Case id -> its results, one per epoch."""
        return by_case(self.results)

    @cached_property
    def cases(self) -> Mapping[str, Result]:
        """Case id -> the case with its values, over several epochs their means."""
        return {case.case_id: case for case in over_epochs(self.by_case.values())}

    def values(self, metric: str) -> dict[str, float]:
        """Case id -> its value."""
        return {case_id: case.value(metric) for case_id, case in self.cases.items()}

    def part(self, ids: Collection[str]) -> Run:
        """The run with some of its cases alone."""
        return replace(self, results=[result for result in self.results if result.case_id in ids])

    def said(self, **values: Any) -> Run:
        """A copy with other fields that nothing is computed from: `shown`, `apart`, `asked`, `unchecked`."""
        found = copy(self)  # with the cases as they were computed
        vars(found).update(values)
        return found

    def __post_init__(self) -> None:  # here, so that no output can forget it
        for name in ("model", "conditions"):
            object.__setattr__(self, name, without_passwords(getattr(self, name)))
        source = without_passwords(self.signature.source)
        object.__setattr__(self, "signature", self.signature.changed(source=source))
        # harnesses log cases in the order of files or of their ends: the last bit of a sum must not depend on it
        results = sorted(self.results, key=lambda result: (_in_order(result.case_id), result.epoch))
        object.__setattr__(self, "results", tuple(results))

    @cached_property
    def benchmark(self) -> Benchmark:
        return find(self.signature.benchmark)

    @cached_property
    def method(self) -> Method:
        return self.benchmark.methods[self.signature.method]

    @cached_property
    def primary(self) -> str:
        """The measure that is its score."""
        return self.benchmark.primary(self.method)

    @property
    def score_name(self) -> str:
        """Its score for people: `Accuracy`, or `Accuracy (acc_sym)` where the method has a score of its own."""
        report = self.benchmark.report
        return report.score if self.primary == report.primary else f"{report.score} ({self.primary})"

    @property
    def headline(self) -> list[Line]:
        """The headline of its benchmark, its score first."""
        return sorted(self.benchmark.report.headline, key=lambda line: line.key != self.primary)

    @property
    def named_set(self) -> NamedSet | None:
        """The set of its cases; None for the benchmark's own data."""
        return self.signature.set

    @property
    def title(self) -> str:
        """Name of its data: that of the set, or the benchmark's title."""
        return self.benchmark.titled(self.named_set)

    @property
    def remark(self) -> str:
        """A remark on the data; empty for the benchmark's own."""
        return remark_of(self.signature.demonstration, self.named_set)

    @property
    def setting(self) -> str:
        return self.benchmark.setting(self.signature.options)

    @cached_property
    def answered(self) -> Counter[str]:
        """Cell -> number of answered cases."""
        return Counter(case.cell for case in self.cases.values())

    @property
    def partial(self) -> dict[str, tuple[int, int]]:
        """Cells that were started and not finished: cell -> (answered, cases)."""
        answered = self.answered
        return {cell: (answered[cell], size) for cell, size in self.cells.items() if answered[cell] < size}

    @property
    def finished(self) -> bool:
        return self.status == "success"

    @property
    def unfinished(self) -> str:
        """`partial` in words: `general_hard 60 of 1,010`."""
        return ", ".join(f"{cell} {done:,} of {size:,}" for cell, (done, size) in self.partial.items())

    @property
    def joined(self) -> str:
        """The logs that it was joined from: `a.eval, b.eval, c.eval and 3 more logs`; empty for a log of its own."""
        names = [path.name for path in self.logs if path.suffix != ".jsonl"]  # a results file brings its samples files
        if len(names) < 2:
            return ""
        more = len(names) - _NAMED
        return ", ".join(names[:_NAMED]) + (f" and {more} more logs" if more > 0 else "")

    @property
    def task(self) -> str:
        """The benchmark and the method, as the name of a task: `personafeedback_mc`."""
        return self.benchmark.task("", self.method.suffix)

    @property
    def name(self) -> str:
        """Name of the model in outputs: the user's, else the harness's without providers and folders."""
        return self.shown or short_name(self.model)

    @property
    def identity(self) -> str:
        """Identity of the model: the user's name for it, else that of the harness in full."""
        return self.shown or self.model

    @property
    def program(self) -> str:
        """The harness without its version."""
        return self.harness.partition(" ")[0]

    @property
    def label(self) -> str:
        """The heading of a row: the model, and what a reader must not overlook."""
        remarks = [*self.remarks, *filter(None, (self.remark, self.apart))]
        remarks += ["partial"] if self.partial else []
        return f"{self.name} ({', '.join(remarks)})" if remarks else self.name

    @property
    def remarks(self) -> list[str]:
        """The options that differ from their defaults, and the method."""
        method = self.method
        remarks = self.benchmark.options.remarks(self.signature.options)
        return remarks if method is next(iter(self.benchmark.methods.values())) else [*remarks, method.name]

    def other_conditions(self, other: Run) -> dict[str, tuple[str, str]]:
        """Condition -> (its value here, in another run), where they differ; across harnesses, of what both have."""
        writes = bool(self.method.new_tokens and other.method.new_tokens)
        if self.program == other.program:
            here, there = ({name: text(value) for name, value in run.conditions.items()} for run in (self, other))
            names = here.keys() | there.keys()
        else:
            here, there = (run.common_conditions(writes) for run in (self, other))
            names = here.keys() & there.keys()
        values = {name: (here.get(name, NOT_SET), there.get(name, NOT_SET)) for name in sorted(names)}
        return {name: (mine, its) for name, (mine, its) in values.items() if mine != its}

    def common_conditions(self, writes: bool) -> dict[str, str]:
        """The conditions that runs of other harnesses have too, each under one name."""
        found = fields.common(self.program, self.conditions, writes)
        return {name: NOT_SET if value is None else text(value) for name, value in found.items()}

    @property
    def same(self) -> dict[str, Any]:
        """Values that logs of one row must share, by name: the benchmark first, since it decides which options there
        are."""
        signature = self.signature
        return {
            **signature.defining,
            "source": signature.source,
            "counts": signature.counts,
            "demonstration": signature.demonstration,
            "set": signature.set,
            "data": signature.data,
            "model": self.model,
            "harness": self.harness,
            "conditions": ", ".join(f"{name}={text(value)}" for name, value in self.conditions.items()),
        }


def short_name(model: str) -> str:
    """A model's name without providers, `openai-api/SERVER/` or `hf/`, and of a local folder its own name.

    Two parts stay, which are mostly a developer and a model: `openai/gpt-4o`, `Qwen/Qwen3-8B`.
    """
    if is_path(model):
        return re.split(r"[/\\]+", model.rstrip("/\\"))[-1]
    parts = model.split("/")
    if parts[0] == "openai-api" and len(parts) > 2:
        return "/".join(parts[2:])
    return "/".join(parts[-2:])


def is_path(model: str) -> bool:
    """Whether a model's name is a folder's path, or ends in one: `hf//home/me/model`."""
    return model.startswith(("/", ".", "~")) or "//" in model or "\\" in model


@lru_cache(maxsize=65_536)  # each copy of a run sorts its cases again
def _in_order(case_id: str) -> list[tuple[int, str]]:
    # numbers in an id count as numbers: hard:9 comes before hard:10
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", case_id)]


LONGEST_VALUE = 500
"""Characters of a value that a signature has in full."""


def text(value: object) -> str:
    """A value as one line of a signature: of a long one its beginning and a digest, which no other value has."""
    if isinstance(value, list):
        return " and ".join(map(text, value))
    whole = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(whole) <= LONGEST_VALUE:
        return whole
    return f"{whole[:80]}... ({len(whole):,} characters, sha256 {digest_of([whole])})"
