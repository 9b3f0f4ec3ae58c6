"""A fingerprint changes with whatever changes a prompt: each text and number of each function and module that prompts are built with.

Nothing is listed here. What builds prompts is seen while they are built, and each constant of it is changed in turn.
"""

from __future__ import annotations

import dataclasses
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import islice, product
from types import CodeType, FunctionType
from typing import Any

import pytest
from support.samples import a_part

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.benchmark import Benchmark, benchmarks
from personafeedback_tasks.personafeedback import prompts as personafeedback

pytestmark = pytest.mark.slow

PACKAGE = "personafeedback_tasks"
CHOSEN = ("method", "prompt", "language")
"""Options that a fingerprint may depend on; it is the same under every value of the others."""

WATCHING: list[Any] = []
"""What is told of each call of a function while prompts are built."""

Key = tuple[str, ...]
Set = Callable[[Any], None]


def variants(benchmark: Benchmark) -> Iterator[tuple[Key, dict[str, Any]]]:
    """What a fingerprint may depend on, with the options: all methods, all wordings in both languages, and each language by itself."""
    known = {"method": tuple(benchmark.methods)}
    known |= {
        name: benchmark.options.values_of(name) for name in CHOSEN[1:] if name in benchmark.options.signed_names()
    }
    for chosen in product(*known.values()):
        first = [values[0] for values in known.values()]
        if sum(one != other for one, other in zip(chosen, first, strict=True)) < 2:
            yield (benchmark.name, *chosen), dict(zip(known, chosen, strict=True))


def ways(benchmark: Benchmark, chosen: dict[str, Any]) -> Iterator[Any]:
    """Options under every setting, with a hidden field and with the filter; those that no run has are left out."""
    control = benchmark.report.control
    settings = benchmark.options.values_of(control.option) if control else ("",)
    for setting, more in product(settings, ({}, {"hide": "Name"}, {"rag_filter": True})):
        told = {**chosen, **({control.option: setting} if control else {}), **more}
        with suppress(OptionError):
            yield benchmark.options.strict({**told, "data": "sample"})


@cache
def documents(benchmark: str, method: str, control: str) -> list[Any]:
    """Some cases of the sample, of both languages."""
    record = benchmarks()[benchmark]
    options = record.options.strict({"method": method, "data": "sample", **({"control": control} if control else {})})
    return list(islice(record.methods[method].documents(record.load(options, record.selections[""])), 0, None, 20))[:3]


def watched(build: Callable[..., Any], *args: Any) -> Any:
    """What is built; WATCHING sees how."""
    sys.setprofile(*(WATCHING or [None]))
    try:
        return build(*args)
    finally:
        sys.setprofile(None)


def prompts(benchmark: Benchmark, chosen: dict[str, Any]) -> list[Any]:
    """What models read of these cases."""
    method, read = benchmark.methods[chosen["method"]], []
    for options in ways(benchmark, chosen):
        for document in documents(benchmark.name, method.name, getattr(options, "control", "")):
            told = [options]
            if benchmark.stage and benchmark.stage.applies(options):
                read.append(watched(benchmark.stage.prompt, document, options))
                told = [benchmark.stage.apply(document, options, reply) for reply in ("1", "0")]
            read += [watched(benchmark.turns, method, document, one, call) for one in told for call in method.calls]
    return read


def built() -> dict[Key, tuple[list[Any], str]]:
    """What a fingerprint may depend on -> the prompts, and the fingerprint."""
    forget()
    return {
        key: (prompts(benchmark, chosen), benchmark.fingerprint(benchmark.options.strict({**chosen, "data": "sample"})))
        for benchmark in benchmarks().values()
        for key, chosen in variants(benchmark)
    }


@cache
def keeping() -> set[type]:
    """The types of ours that keep what was made once."""
    ours = {value for name, module in sys.modules.items() if name.startswith(PACKAGE) for value in vars(module).values()
            if isinstance(value, type)}  # fmt: skip
    return {one for one in ours if any(isinstance(value, cached_property) for value in vars(one).values())}


def forget() -> None:
    """Empty what is kept of a text once it was made, such as a profile: it would outlive a change."""
    kinds = keeping()
    for value in [
        value for value in gc.get_objects() if type(value) in kinds
    ]:  # of millions in a process of many tests
        for name in [name for name in vars(value) if isinstance(getattr(type(value), name, None), cached_property)]:
            if isinstance(vars(value)[name], str) or name.startswith("_"):
                del vars(value)[name]


# --- what builds prompts, and each constant of it ------------------------------------------------------------------------


def building() -> list[FunctionType]:
    """The functions that are called while prompts are built."""
    codes: dict[CodeType, None] = {}

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_globals.get("__name__", "").startswith(f"{PACKAGE}."):
            codes[frame.f_code] = None

    WATCHING.append(seen)
    built()
    WATCHING.clear()
    return [one for one in gc.get_objects() if isinstance(one, FunctionType) and one.__code__ in codes]


@cache
def read() -> str:
    """All prompts."""
    return str([prompts for prompts, _ in built().values()]).replace("\\n", "\n")


def shown(text: str) -> bool:
    """Whether a prompt has a line of a text; else the text makes none, and to change it takes time alone."""
    return any(line in read() for line in text.splitlines() or [text])


def constants(function: FunctionType) -> Iterator[tuple[str, CodeType]]:
    """(name, the code with one other constant) for each text and number of a function, those of its inner ones included."""

    def of(code: CodeType, docstring: Any) -> Iterator[tuple[str, CodeType]]:
        for place, value in enumerate(code.co_consts):
            others: list[tuple[str, Any]] = []
            if isinstance(value, CodeType):
                others = list(of(value, None))
            elif isinstance(value, str) and value is not docstring and shown(value):
                others = [(repr(value), f"{value}~")]
            elif type(value) is int:
                others = [(repr(value), value + 1)]
            for name, other in others:
                consts = (*code.co_consts[:place], other, *code.co_consts[place + 1 :])
                yield name, code.replace(co_consts=consts)

    for name, code in of(function.__code__, function.__doc__):
        yield f"{function.__module__}.{function.__qualname__}: {name}", code


def texts(
    value: Any, put: Set, name: str, seen: set[int]
) -> Iterator[tuple[str, Callable[[], None], Callable[[], None]]]:
    """(name, what changes it, what changes it back) for each text in a value of a module."""
    if isinstance(value, str):
        if shown(value):
            yield name, lambda: put(f"{value}~"), lambda: put(value)
    elif isinstance(value, tuple) and not hasattr(value, "_fields"):
        for place, item in enumerate(value):
            yield from texts(
                item, lambda new, at=place: put((*value[:at], new, *value[at + 1 :])), f"{name}[{place}]", seen
            )
    elif id(value) in seen:
        return
    elif isinstance(value, dict):
        seen.add(id(value))
        for key, item in list(value.items()):
            yield from texts(item, lambda new, at=key: value.__setitem__(at, new), f"{name}[{key!r}]", seen)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        seen.add(id(value))
        for key, item in list(vars(value).items()):
            yield from texts(item, lambda new, at=key: object.__setattr__(value, at, new), f"{name}.{key}", seen)


def of_modules(names: Iterable[str]) -> Iterator[tuple[str, Callable[[], None], Callable[[], None]]]:
    """The same of all that modules have; whoever imported it gets it, too."""
    seen: set[int] = set()
    for module, name in [(one, name) for one in names for name in vars(sys.modules[one])]:
        value = vars(sys.modules[module])[name]
        holders = [
            vars(one) for key, one in sys.modules.items() if key.startswith(PACKAGE) and vars(one).get(name) is value
        ]

        def put(new: Any, name: str = name, holders: list[dict[str, Any]] = holders) -> None:
            for holder in holders:
                holder[name] = new

        if not name.startswith("__"):
            yield from texts(value, put, f"{module}.{name}", seen)


def changes() -> Iterator[tuple[str, Callable[[], None], Callable[[], None]]]:
    functions = building()
    for function in functions:
        for name, code in constants(function):
            change, back = (partial(setattr, function, "__code__", one) for one in (code, function.__code__))
            yield name, change, back
    yield from of_modules(sorted({function.__module__ for function in functions}))


PARTS = 12


@pytest.mark.parametrize("part", a_part(range(PARTS), PARTS))
def test_whatever_changes_a_prompt_changes_its_fingerprint(part, monkeypatch):
    monkeypatch.setattr(personafeedback, "retrieve", lambda question, pieces, k: pieces[:k])  # which, the data say
    before, kept, moved = built(), [], 0
    for name, change, back in list(changes())[part::PARTS]:
        change()
        try:
            after = built()
        except Exception:  # no text of a prompt: none can be built without it
            continue
        finally:
            back()
        different = [key for key in before if after[key][0] != before[key][0]]
        moved += bool(different)
        kept += [f"{name}, {key}" for key in different if after[key][1] == before[key][1]]
    assert built() == before, "everything is as it was"
    assert not kept, "\n".join(kept)
    assert moved > 60 / PARTS, "else this tries too few texts"


@pytest.mark.parametrize("name", benchmarks())
def test_a_run_and_its_controls_have_the_same_fingerprint(name):
    benchmark = benchmarks()[name]
    for key, chosen in variants(benchmark):
        found = {benchmark.fingerprint(options) for options in ways(benchmark, chosen)}
        assert len(found) <= 1, key


def test_wordings_and_languages_are_told_apart():
    (benchmark,) = (one for one in benchmarks().values() if one.name == "personafeedback")
    prints: dict[str, Key] = {}
    for key, chosen in variants(benchmark):
        told_apart = (key[1] == "reward", *key[2:])
        assert prints.setdefault(benchmark.fingerprint(benchmark.options.strict(chosen)), told_apart) == told_apart
