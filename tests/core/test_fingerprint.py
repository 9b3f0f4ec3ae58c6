"""A fingerprint is the same for a run and its controls, and another one if a text changes that any of them shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, product
from typing import Any

import pytest

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.benchmark import Benchmark, benchmarks
from personafeedback_tasks.personafeedback import rag_filter
from personafeedback_tasks.personafeedback.prompts import WORDINGS

pytestmark = pytest.mark.slow

CHOSEN = ("method", "prompt")
"""Options that a fingerprint may depend on; it is the same under every value of the others."""

AS_ANOTHER = {"similar_persona", "padding", "dialogue"}
"""Settings that show other contents in the words and the layout of another one."""

Key = tuple[str, ...]


def variants(benchmark: Benchmark) -> Iterator[tuple[Key, dict[str, Any]]]:
    """What a fingerprint may depend on, with the options: all methods and all wordings."""
    known = {"method": tuple(benchmark.methods)}
    known |= {
        name: benchmark.options.table()[name].values()
        for name in CHOSEN[1:]
        if name in benchmark.options.signed_types()
    }
    for chosen in product(*known.values()):
        first = [values[0] for values in known.values()]
        if sum(one != other for one, other in zip(chosen, first, strict=True)) < 2:
            yield (benchmark.name, *chosen), dict(zip(known, chosen, strict=True))


def ways(benchmark: Benchmark, chosen: dict[str, Any]) -> Iterator[Any]:
    """Options under every setting, with a hidden field and with the filter; those that no run has are left out."""
    control = benchmark.report.control
    settings = benchmark.options.table()[control.option].values() if control else ("",)
    for setting, more in product(settings, ({}, {"hide": "Name"}, {"rag_filter": True})):
        told = {**chosen, **({control.option: setting} if control else {}), **more}
        with suppress(OptionError):
            yield benchmark.options.strict({**told, "data": "sample"})


def fingerprint(benchmark: Benchmark, chosen: dict[str, Any]) -> str:
    return benchmark.fingerprint(benchmark.options.strict({**chosen, "data": "sample"}))


def documents(benchmark: Benchmark, options: Any) -> list[Any]:
    """Some cases of the sample, of both languages."""
    method = benchmark.methods[options.method]
    return list(islice(method.documents(benchmark.load(options, benchmark.selections[""])), 0, None, 20))[:3]


@pytest.mark.parametrize("name", benchmarks())
def test_one_more_character_in_any_kind_of_prompt_changes_the_fingerprint(name, monkeypatch):
    """A kind is a setting, a way to ask, a call and a language; all that a run on the sample shows are tried, one after the other."""
    benchmark, turns = benchmarks()[name], type(benchmarks()[name]).turns
    kind_of = {}

    def kind(method, document, options, call):
        languages = {getattr(case, "language", "") for case in getattr(document, "cases", [document])}
        asks = method.name if method.name in ("cot", "reward") else ""  # the others ask in the same words
        return getattr(options, "setting", ""), asks, call, *sorted(languages)

    for _, chosen in variants(benchmark):
        for options in ways(benchmark, chosen):
            if getattr(options, "setting", "") in AS_ANOTHER:
                continue
            method = benchmark.methods[options.method]
            for document, call in product(documents(benchmark, options), method.calls):
                kind_of[kind(method, document, options, call)] = chosen
    before = {str(chosen): fingerprint(benchmark, chosen) for chosen in kind_of.values()}
    for one, chosen in kind_of.items():

        def other(self, document, options, call, one=one):
            told = turns(self, document, options, call)
            own = kind(self.methods[options.method], document, options, call)
            moved = own[:3] == one[:3] and (own[3:] == one[3:] or not any(own[3:]))
            return [*told, {"role": "user", "content": "~"}] if moved else told

        with monkeypatch.context() as patch:
            patch.setattr(type(benchmark), "turns", other)
            assert fingerprint(benchmark, chosen) != before[str(chosen)], one


@pytest.mark.parametrize("version", WORDINGS)
def test_every_text_of_a_wording_changes_its_fingerprint(version, monkeypatch):
    benchmark = benchmarks()["personafeedback"]
    for language, wording in list(WORDINGS[version].items()):
        chosen = {"method": "generate", "prompt": version}
        before = fingerprint(benchmark, chosen)
        for field in dataclasses.fields(wording):
            text = getattr(wording, field.name)
            with monkeypatch.context() as patch:
                patch.setitem(WORDINGS[version], language, dataclasses.replace(wording, **{field.name: f"{text}~"}))
                assert fingerprint(benchmark, chosen) != before, field.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompt_of_a_call_before_those_of_the_method_changes_it_in_each_language(language, monkeypatch):
    benchmark = benchmarks()["personafeedback"]
    prompt, chosen = rag_filter.prompt, {"method": "generate"}

    def other(case, options):
        return prompt(case, options) + "~" * (case.language == language)

    before = fingerprint(benchmark, chosen)
    monkeypatch.setattr(rag_filter, "prompt", other)
    assert fingerprint(benchmark, chosen) != before


@pytest.mark.parametrize("name", benchmarks())
def test_a_run_and_its_controls_have_the_same_fingerprint(name):
    benchmark = benchmarks()[name]
    for key, chosen in variants(benchmark):
        found = {benchmark.fingerprint(options) for options in ways(benchmark, chosen)}
        assert len(found) <= 1, key


def test_wordings_are_told_apart():
    (benchmark,) = (one for one in benchmarks().values() if one.name == "personafeedback")
    prints: dict[str, Key] = {}
    for key, chosen in variants(benchmark):
        told_apart = (key[1] == "reward", *key[2:])
        assert prints.setdefault(benchmark.fingerprint(benchmark.options.strict(chosen)), told_apart) == told_apart
