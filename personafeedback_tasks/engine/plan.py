"""What one should know before a run: its calls and tokens, and how many cases show a difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

from ..common.errors import OptionError
from ..common.power import Comparison
from ..common.strict_json import jsonable
from ..common.tokens import Count
from .beginnings import repeated
from .benchmark import Benchmark, benchmarks
from .cases import CaseSet
from .documents import cases_of
from .messages import texts
from .method import HARNESSES, Method
from .options import Options
from .signature import KEY, signature
from .usage import Prices, Usage, total

Steps = Sequence[Sequence[str]]
"""The users of the cases that each further case of `--limit` adds."""

CORRELATIONS = (0.01, 0.1)
"""The least and the most that two cases of a user can be expected to correlate by; the true value is known only after a run."""

RUNS = 10
"""Runs in the ranking whose pairs share the level in `Detection.ranked`."""


@dataclass(frozen=True)
class Work:
    """The calls of a task and their texts.

    Attributes:
        calls: how many, as each harness counts them.
        longest: tokens of the longest prompt.
        repeated: share of the prompts' characters that begin an earlier prompt, too: what a prefix cache can serve at most.
        room: limit on the tokens of the longest reply; None where the model writes none that count.
        reply_tokens: of all replies, at most.
    """

    calls: int
    prompt_tokens: int
    longest: int
    repeated: float
    room: int | None
    reply_tokens: int


@dataclass(frozen=True)
class Limit:
    """A value of `--limit`, and what a run with it has."""

    limit: int
    cases: int
    users: int


@dataclass(frozen=True)
class Detection:
    """When two runs of the task, compared like this, show a difference.

    Attributes:
        smallest: the smallest difference that the whole task shows.
        low, high: the same at the correlations of CORRELATIONS.
        half: the difference that is significant half of the time.
        ranked: the smallest one that is shown between two of RUNS runs that are ranked; nan if they are not paired.
        limits: harness -> the `--limit` from which on they do; None if not even the whole task does.
    """

    comparison: Comparison
    smallest: float
    low: float
    high: float
    half: float
    ranked: float
    limits: Mapping[str, Limit | None]


@dataclass(frozen=True)
class Plan:
    """What a run of one task takes.

    Attributes:
        task: its name with what differs from the default.
        difference: the one to be shown, in [0, 1].
        expected: cell -> number of cases that it must have; empty if that is not checked.
        asks: setting -> its calls and tokens, of replies `reply` each.
        reply: tokens of a reply: as the user expects them, else the limit; `is_bound`: whether it is the limit, and not 0.
        longer: call of the benchmark's stage -> the limit on its replies, where that is not `reply` and nobody expects less.
        epochs: how often each call is made; all numbers include it.
    """

    task: str
    options: Options
    cases: CaseSet[Any]
    expected: Mapping[str, int]
    work: Work
    difference: float
    shown: tuple[Detection, ...]
    asks: Mapping[str, Usage]
    reply: int
    is_bound: bool = False
    longer: Mapping[str, int] = field(default_factory=dict)
    prices: Prices | None = None
    epochs: int = 1

    def dollars(self, usage: Usage) -> float:
        """nan without prices."""
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
            "calls": self.work.calls,
            "prompt_tokens": self.work.prompt_tokens,
            "longest_prompt_tokens": self.work.longest,
            "repeated_share": self.work.repeated,
            "reply_tokens_at_most": self.work.reply_tokens,
            "reply_tokens_of_a_call_at_most": self.work.room,
            "epochs": self.epochs,
            "settings": {name: {**_taken(usage), "dollars": self.dollars(usage)} for name, usage in self.asks.items()},
            "reply_tokens_of_a_call": self.reply,
            "prices": self.prices and asdict(self.prices),
            "dollars": self.dollars(total(self.asks.values())),
            "difference": self.difference,
            "comparisons": [
                {
                    **asdict(one.comparison),
                    "smallest_of_the_whole_task": one.smallest,
                    "smallest_by_correlation": dict(zip(map(str, CORRELATIONS), (one.low, one.high), strict=True)),
                    "significant_half_of_the_time": one.half,
                    f"smallest_between_two_of_{RUNS}_ranked_runs": one.ranked,
                    "limits": {name: limit and asdict(limit) for name, limit in one.limits.items()},
                }
                for one in self.shown
            ],
        }
        return jsonable(document)


def _taken(usage: Usage) -> dict[str, float]:
    return {"calls": usage.calls, "prompt_tokens": usage.input, "reply_tokens": usage.output}


def benchmark_of(task: str) -> Benchmark:
    """The benchmark whose name a task's begins with.

    Raises:
        OptionError: there is none.
    """
    known = benchmarks()
    names = [name for name in known if f"{_name(task)}_".startswith(f"{name}_")]
    if not names:
        raise OptionError(f"task must begin with one of {', '.join(sorted(known))}, got {task!r}.")
    return known[max(names, key=len)]


def asked(benchmark: Benchmark, task: str, method: str | None) -> tuple[str, Method]:
    """The selection and the method of a task, as either harness names them.

    Args:
        task: may end with the suffix of its method, as in lm-eval.
        method: None for that of the name, or the default one.

    Raises:
        OptionError: there is no such task or method, or the name and `method` differ.
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
    """A task's name without the package that Inspect wants before it."""
    return task.removeprefix(f"{KEY}/")


def make_plan(
    benchmark: Benchmark,
    selection: str,
    cases: CaseSet[Any],
    every: Sequence[Options],
    difference: float,
    count: Count,
    *,
    reply: int | None = None,
    prices: Prices | None = None,
    epochs: int = 1,
) -> Plan:
    """What a run of some cells takes under some options.

    Args:
        cases: those of the selection, as `Benchmark.load` gives them.
        reply, prices, epochs: see `Plan`; without `reply` the limit of the method counts.

    Raises:
        OptionError, DataError: the run would be refused.
    """
    for options in every:
        benchmark.check(options, cases)
    options = every[0]
    method = benchmark.methods[options.method]
    expected = reply if method.writes else 0
    reply = method.writes if expected is None else expected
    steps: dict[str, Steps] = {}
    if benchmark.comparisons:
        every_step = {"lm-eval": _of_leaves(benchmark, cases, options), "inspect": _users_of(method, cases)}
        steps = {name: every_step[name] for name in HARNESSES if name in method.harnesses}
    sizes = _users(cases).values()
    work, taken = _work(benchmark, cases, every, count, epochs, expected)
    stage = benchmark.stage
    longer = stage.limit(method) if expected is None and stage and any(map(stage.applies, every)) else reply
    return Plan(
        task=benchmark.named(benchmark.task(selection, method.suffix), cases, options),
        options=options,
        cases=cases,
        expected={} if cases.counts == "any" else benchmark.sizes(signature(benchmark, selection, cases, options)),
        work=work,
        difference=difference,
        shown=tuple(_shown(one, list(sizes), steps, difference) for one in benchmark.comparisons),
        asks={setting or "the run": usage for setting, usage in zip(benchmark.settings(every), taken, strict=True)},
        reply=reply,
        is_bound=0 < method.writes == reply,
        longer={stage.name: longer} if stage and longer != reply else {},
        prices=prices,
        epochs=epochs,
    )


def _shown(comparison: Comparison, sizes: Sequence[int], steps: Mapping[str, Steps], difference: float) -> Detection:
    low, high = (replace(comparison, correlation=correlation).smallest(sizes) for correlation in CORRELATIONS)
    return Detection(
        comparison,
        comparison.smallest(sizes),
        low,
        high,
        half=comparison.smallest(sizes, power=0.5),
        ranked=comparison.smallest(sizes, tests=math.comb(RUNS, 2)) if comparison.paired else math.nan,
        limits={name: _limit(comparison, of, difference) for name, of in steps.items()},
    )


def _work(
    benchmark: Benchmark, cases: CaseSet[Any], every: Sequence[Options], count: Count, epochs: int, expected: int | None
) -> tuple[Work, list[Usage]]:
    """(the work under all settings, what each takes with replies of `expected` tokens, or of as many as they may have)."""
    method, stage = benchmark.methods[every[0].method], benchmark.stage
    each = epochs * (len(benchmark.labels) if method.evidence == "log_likelihoods" else 1)  # a request for each label
    documents = method.documents(cases)
    prompts = [[text for one in documents for text in _prompts(benchmark, one, options)] for options in every]
    tokens = [count(of_setting) for of_setting in prompts]
    together = [text for of_setting in prompts for text in of_setting]
    characters = sum(map(len, together))
    seen = repeated(together) + (each - 1) * characters
    taken, rooms, most = [], [method.room], 0
    for options, some in zip(every, tokens, strict=True):
        calls = each * len(some)
        replies = calls * method.writes
        if stage is not None and stage.applies(options):
            rooms.append(stage.limit(method))
            replies += epochs * len(documents) * (rooms[-1] - method.writes)
        most += replies
        output = replies if expected is None else calls * expected
        taken.append(Usage(calls=calls, input=each * sum(some), output=output))
    room = max(rooms)
    work = Work(
        calls=sum(each * len(some) for some in tokens),
        prompt_tokens=sum(each * sum(some) for some in tokens),
        longest=max(map(max, tokens)),
        repeated=seen / (each * characters),
        room=room or None,
        reply_tokens=most if room else 0,
    )
    return work, taken


def _prompts(benchmark: Benchmark, document: Any, options: Options) -> list[str]:
    """What the model reads about a case or document: that of the benchmark's stage, and of each call as if the stage had changed nothing."""
    stage = benchmark.stage
    first = [stage.prompt(document, options)] if stage and stage.applies(options) else []
    return [*first, *texts(benchmark, document, options)]


def _of_leaves(benchmark: Benchmark, cases: CaseSet[Any], options: Options) -> Steps:
    """lm-eval counts `--limit` per task: per cell, where each is a task of its own with an order of its own."""
    method = benchmark.methods[options.method]
    selections = benchmark.selections
    leaves = [benchmark.cases(options, selections[cell]) for cell in cases.cells if cell in selections] or [cases]
    turns = zip_longest(*(_users_of(method, leaf) for leaf in leaves), fillvalue=())
    return [[user for users in turn for user in users] for turn in turns]


def _users_of(method: Method, cases: CaseSet[Any]) -> Steps:
    """The user of each case, document by document."""
    return [[case.user_id for case in cases_of(document)] for document in method.documents(cases)]


def _limit(comparison: Comparison, steps: Steps, difference: float) -> Limit | None:
    number = comparison.needed(steps, difference)
    if number is None:
        return None
    users = [user for step in islice(steps, number) for user in step]
    return Limit(number, len(users), len(set(users)))


def _users(cases: Iterable[Any]) -> Counter[str]:
    """User -> number of their cases."""
    return Counter(case.user_id for case in cases)
