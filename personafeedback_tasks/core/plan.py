"""What one should know before a run: its calls, tokens and price, and the smallest difference that it can show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..common.errors import OptionError
from ..common.outputs import jsonable
from ..common.significance import Comparison
from ..common.tokens import estimated
from .benchmark import Benchmark, benchmarks
from .cases import CaseSet
from .messages import texts
from .method import Method
from .options import Options
from .signature import KEY
from .usage import Prices, Usage, total


@dataclass(frozen=True)
class Plan:
    """What a run of one task takes, and what it can show."""

    task: str  # its name with what differs from the default
    options: Options
    cases: CaseSet[Any]
    expected: Mapping[str, int]  # cell -> number of cases that it must have; empty if that is not checked
    asks: Mapping[str, Usage]  # setting -> its calls, as each harness counts them, and tokens
    longest: int  # tokens of the longest prompt
    max_tokens: int  # limit on the longest reply; 0 where the model writes none that count
    smallest: tuple[tuple[Comparison, float], ...]  # (comparison, smallest difference that the task shows, a share)
    detects: Mapping[str, float]  # cell or group -> see `Benchmark.detects`; empty where that is unknown
    reply: int  # tokens of a reply: as the user expects them, else the limit
    is_bound: bool = False  # whether `reply` is the limit, and not 0
    prices: Prices | None = None

    @property
    def sizes(self) -> list[int]:
        """The number of cases of each user."""
        return list(_users(self.cases).values())

    @property
    def total(self) -> Usage:
        """The usage of all settings together."""
        return total(self.asks.values())

    def dollars(self, usage: Usage) -> float:
        """The price of some usage; nan without prices."""
        return self.prices.of(usage) if self.prices else math.nan

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        document: dict[str, Any] = {
            "task": self.task,
            "options": self.options.signed(),
            "data": self.cases.revision,
            "cells": {
                cell: {"cases": len(some), "expected": self.expected.get(cell), "users": len(_users(some))}
                for cell, some in self.cases.cells.items()
            },
            "cases": len(self.cases),
            "users": len(_users(self.cases)),
            "calls": self.total.calls,
            "prompt_tokens": self.total.input,
            "longest_prompt_tokens": self.longest,
            "reply_tokens_of_a_call_at_most": self.max_tokens or None,
            "settings": {name: {**_taken(usage), "dollars": self.dollars(usage)} for name, usage in self.asks.items()},
            "reply_tokens_of_a_call": self.reply,
            "prices": self.prices and asdict(self.prices),
            "dollars": self.dollars(self.total),
            "comparisons": [{**asdict(comparison), "smallest": smallest} for comparison, smallest in self.smallest],
            "detects": self.detects,
        }
        return jsonable(document)


def _taken(usage: Usage) -> dict[str, float]:
    return {"calls": usage.calls, "prompt_tokens": usage.input, "reply_tokens": usage.output}


def benchmark_of(task: str) -> Benchmark:
    """The benchmark whose name a task's begins with."""
    known = benchmarks()
    names = [name for name in known if f"{_name(task)}_".startswith(f"{name}_")]
    if not names:
        raise OptionError(f"task must begin with one of {', '.join(sorted(known))}, got {task!r}.")
    return known[max(names, key=len)]


def asked(benchmark: Benchmark, task: str, method: str | None) -> tuple[str, Method]:
    """The selection and the method of a task, which may end with the method's suffix, as in lm-eval.

    Where `method` is None, it is that of the name, or the default one.
    """
    selections = {benchmark.task(selection): selection for selection in benchmark.selections}
    first = next(iter(benchmark.methods))
    if method is not None and method not in benchmark.methods:
        raise OptionError(f"method must be one of {', '.join(benchmark.methods)}, got {method!r}.")
    for one in benchmark.methods.values():
        plain = _name(task).removesuffix(f"_{one.suffix}") if one.suffix else _name(task)
        if plain in selections:
            named = one.name if plain != _name(task) else method or first
            if method not in (None, named):
                raise OptionError(f"task {task} has the method {named}, got method={method}. Leave one of them out.")
            return selections[plain], benchmark.methods[named]
    raise OptionError(f"task must be one of {', '.join(selections)}, got {task!r}.")


def _name(task: str) -> str:
    # A task's name without the package that Inspect wants before it.
    return task.removeprefix(f"{KEY}/")


def make_plan(
    benchmark: Benchmark,
    selection: str,
    cases: CaseSet[Any],
    every: Sequence[Options],
    *,
    reply: int | None = None,
    prices: Prices | None = None,
) -> Plan:
    """What a run takes under some options, refused where the run would be. Without `reply` the limit counts."""
    for options in every:
        benchmark.check(options, cases)
    options = every[0]
    method, stage = benchmark.methods[options.method], benchmark.stage
    each = method.requests
    expected = reply if method.new_tokens else 0
    reply = method.new_tokens if expected is None else expected
    documents = method.documents(cases)
    asks, longest, max_tokens = {}, 0, method.max_tokens
    for setting, told in zip(benchmark.settings(every), every, strict=True):
        tokens = estimated([text for document in documents for text in _prompts(benchmark, document, told)])
        calls = each * len(tokens)
        output = calls * reply
        if stage is not None and stage.applies(told):
            max_tokens = max(max_tokens, stage.limit(method))
            if expected is None:
                output += len(documents) * (stage.limit(method) - reply)
        asks[setting or "the run"] = Usage(calls=calls, input=each * sum(tokens), output=output)
        longest = max(longest, *tokens)
    sizes = list(_users(cases).values())
    groups = benchmark.columns(cases.cells).items()
    detects = {name: benchmark.detects([case for cell in of for case in cases.cells[cell]]) for name, of in groups}
    return Plan(
        task=benchmark.named(benchmark.task(selection, method.suffix), cases, options),
        options=options,
        cases=cases,
        expected={} if cases.counts == "any" else benchmark.sizes(cases, options),
        asks=asks,
        longest=longest,
        max_tokens=max_tokens,
        smallest=tuple((one, one.smallest(sizes)) for one in benchmark.comparisons),
        detects={name: value for name, value in detects.items() if not math.isnan(value)},
        reply=reply,
        is_bound=0 < method.new_tokens == reply,
        prices=prices,
    )


def _prompts(benchmark: Benchmark, document: Any, options: Options) -> list[str]:
    # That of the benchmark's stage, and of each call as if the stage had changed nothing.
    stage = benchmark.stage
    first = [stage.prompt(document, options)] if stage and stage.applies(options) else []
    return [*first, *texts(benchmark, document, options)]


def _users(cases: Iterable[Any]) -> Counter[str]:
    return Counter(case.user_id for case in cases)
