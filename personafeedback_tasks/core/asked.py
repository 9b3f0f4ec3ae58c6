"""A task with its options, cases and signatures, prepared once for both harnesses, `plan` and `score-replies`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..common.errors import OptionError, choose, did_you_mean
from .benchmark import Benchmark, benchmarks
from .cases import CaseSet, refuse_other_counts
from .method import Method
from .options import Options
from .signature import KEY, Signature


@dataclass(frozen=True)
class AskedTask:
    """A task whose data are there and whose prompts can all be built."""

    benchmark: Benchmark
    task: str  # its name, without what is not the default
    every: tuple[Options, ...]  # one under each setting, in the order of the calls
    cases: CaseSet[Any]

    @classmethod
    def load(
        cls, benchmark: Benchmark, task: str, selection: Mapping[str, str], every: tuple[Options, ...]
    ) -> AskedTask:
        """Load the cases of a selection: as many of each cell as the data must have, unless counts=any.

        Raises DataError or OptionError.
        """
        cases = benchmark.load(every[0], selection)
        expected = {} if cases.counts == "any" else benchmark.sizes(cases, every[0])
        if selection:
            expected = {cell: count for cell, count in expected.items() if cell in cases.cells}
        refuse_other_counts(cases.source, cases.cells, expected)
        for options in every:
            benchmark.check(options, cases)
        return cls(benchmark, task, every, cases)

    @property
    def options(self) -> Options:
        """The options under the first setting."""
        return self.every[0]

    @property
    def method(self) -> Method:
        return self.benchmark.methods[self.options.method]

    @property
    def name(self) -> str:
        """The task's name as rows and logs show it, see `Benchmark.named`."""
        return self.benchmark.named(self.task, self.cases, self.options)

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The value under each options of the option that a control changes; empty without a control."""
        return tuple(self.benchmark.setting(vars(options)) for options in self.every)

    @cached_property
    def documents(self) -> dict[str, Any]:
        """Id -> what one sample or document asks: a case, or several. In the order of a run."""
        return {document.id: document for document in self.method.documents(self.cases)}

    @cached_property
    def signatures(self) -> list[Signature]:
        """The signature under each setting."""
        return [Signature.of(self.benchmark, self.task, self.cases, options) for options in self.every]

    def logged(self) -> list[dict[str, Any]]:
        """The record of each document for the log of a harness, see `Benchmark.logged`."""
        return [self.benchmark.logged(self.method, document, self.settings) for document in self.documents.values()]


def asked_for(task: str, told: Mapping[str, Any], once: bool = False) -> AskedTask:
    """A task by its name in either harness, with the options that it is run with.

    Args:
        task: may end with a method's suffix, as in lm-eval.
        once: whether it must be under one setting.

    Raises:
        OptionError: there is no such task or option.
        DataError: the data are broken or too few.
    """
    name, known = task.removeprefix(f"{KEY}/"), benchmarks()  # Inspect wants the package before a task's name
    found = [benchmark for benchmark in known if f"{name}_".startswith(f"{benchmark}_")]
    if not found:
        every = [benchmark.task(selection) for benchmark in known.values() for selection in benchmark.selections]
        raise OptionError(
            f"task must begin with one of {', '.join(sorted(known))}, got {task!r}.{did_you_mean(name, every)}"
        )
    benchmark, values = known[max(found, key=len)], dict(told)
    method = values.pop("method", None)
    if method is not None:
        choose("method", method, benchmark.methods)
    tasks = {benchmark.task(selection): (selection, "") for selection in benchmark.selections}
    plain = [*tasks]
    for one in benchmark.methods.values():
        for selection in benchmark.selections:
            tasks.setdefault(benchmark.task(selection, one.suffix), (selection, one.name))
    if name not in tasks:
        raise OptionError(f"task must be one of {', '.join(plain)}, got {task!r}.{did_you_mean(name, plain)}")
    selection, named = tasks[name]
    if named and method not in (None, named):
        raise OptionError(f"task {task} has the method {named}, got method={method}. Leave one of them out.")
    options = benchmark.options_of({**values, "method": named or method or next(iter(benchmark.methods))})
    if once and len(options) > 1:
        settings = ", ".join(benchmark.setting(vars(one)) for one in options)
        raise OptionError(
            f"Replies and cases need one setting at a time, got {settings}. Run once for each. (Runs of a harness take "
            "the list: `inspect eval ... -T setting=A,B`, or `--metadata` of lm-eval.)"
        )
    return AskedTask.load(benchmark, benchmark.task(selection), benchmark.selections[selection], options)
