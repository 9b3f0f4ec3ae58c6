"""The prompts in a log, held against those that this version builds for its options and the data. One comparer for both harnesses.

Both harnesses log every prompt in full. Those of some cases tell under which setting, wording and method a run was asked, whatever
its signature claims.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from ..common.errors import PersonaFeedbackError
from ..common.strict_json import cut
from ..engine.benchmark import Benchmark
from ..engine.cases import CaseSet, digest_of
from ..engine.options import Options
from .claims import options_of, prompts_unchecked
from .data import refuse_other_data
from .run import USE_AS_WRITTEN, Asked, Run, RunError

CASES = 50
"""Of how many cases or documents of a log the prompts are compared."""

T = TypeVar("T")


class Spread(Generic[T]):
    """Up to CASES of the items that are offered. Their names decide which: always the same ones, and from all over a log."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, int, T]] = []
        self._offered = 0

    def offer(self, name: str, item: T) -> None:
        """Keep an item, or the others."""
        self._offered += 1
        entry = (-int(digest_of([name]), 16), self._offered, item)
        if len(self._kept) < CASES:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)

    def __iter__(self) -> Iterator[T]:
        """In the order in which they were offered."""
        return (item for _, _, item in sorted(self._kept, key=lambda entry: entry[1]))


def checked(run: Run, cases: CaseSet[Any]) -> Run:
    """The run, once it was checked against its data; `Run.unchecked` says what could not be.

    Raises:
        RunError: these are other data, or the log has other prompts than its options ask for.
    """
    refuse_other_data(run, cases)
    why = "" if run.asked is None or run.unchecked else _compared(run, run.asked, cases)
    return replace(run, unchecked=(prompts_unchecked(run.logs[0], why),)) if why else run


def _compared(run: Run, logged: Sequence[Asked], cases: CaseSet[Any]) -> str:
    """Why the prompts could not be compared with those of `cases`, in a sentence; empty if they were.

    Raises:
        RunError: the log has other prompts than its options ask for.
    """
    log, benchmark = run.logs[0], run.benchmark
    options = options_of(log, run.signature)
    try:
        for name, value in benchmark.signs(cases, options).items():
            if value != run.signature.get(name):
                return f"found {name} {run.signature.get(name)}, expected {value} as in {cases.source}."
        documents = {document.id: document for document in _documents(run, cases)}
        lacking = 0
        for asked in logged:
            if not asked.calls:
                lacking += 1
                continue
            if asked.id not in documents:
                raise RunError(
                    f"{log}, {asked.where}: found prompts of {asked.id}, which is not in {cases.source}. {USE_AS_WRITTEN}"
                )
            if (other := _other(benchmark, options, documents[asked.id], asked)) is not None:
                call, ours, theirs = other
                same = next(
                    (place for place, pair in enumerate(zip(ours, theirs, strict=False)) if len(set(pair)) > 1), 0
                )
                raise RunError(
                    f"{log}, {asked.where}: found another prompt ({call}) than its options ask for: {_from(theirs, same)} in place of "
                    f"{_from(ours, same)}. {USE_AS_WRITTEN}"
                )
    except RunError:
        raise
    except (PersonaFeedbackError, ImportError) as error:  # a file or a package is missing that their prompts need
        return f"they cannot be built: {error}"
    if lacking:
        return f"{lacking} of {len(logged)} cases that were looked at have no prompt in the log."
    return ""


def _documents(run: Run, cases: CaseSet[Any]) -> Sequence[Any]:
    """The cases as the run showed them: those of a control were maybe loaded for the run that it controls."""
    under = run.benchmark.report.under
    cases = under(cases, run.signature) if under else cases
    return run.method.documents([case for case in cases if case.cell in run.cells])


def _other(benchmark: Benchmark, options: Options, document: Any, asked: Asked) -> tuple[str, str, str] | None:
    """(call, our text, the logged one) of the first call that was asked otherwise; None if there is none."""
    ours = list(_calls(benchmark, options, document, asked))
    exact = benchmark.methods[options.method].conversation is not None
    for (call, texts), logged in zip(ours, asked.calls, strict=False):
        if exact and len(texts) != len(logged):
            return call, "\n".join(texts), "\n".join(logged)
        rest = iter(logged)
        for text in texts:
            # Chat templates wrap and trim a text; few-shot examples and a system instruction are before it.
            if not any(text.strip() in other for other in rest):
                return call, text, "\n".join(logged)
    if len(ours) != len(asked.calls):
        return "all calls", f"{len(ours)} calls", f"{len(asked.calls)} calls"
    return None


def _calls(benchmark: Benchmark, options: Options, document: Any, asked: Asked) -> Iterator[tuple[str, list[str]]]:
    """The calls of a case or document with the texts of each, in order; that of the stage first."""
    method, stage = benchmark.methods[options.method], benchmark.stage
    if stage is not None and stage.applies(options):
        yield stage.name, [stage.prompt(document, options)]
        options = stage.apply(document, options, asked.stage_reply or "")
    for call in method.calls:
        texts = [turn["content"] for turn in benchmark.turns(method, document, options, call)]
        if method.evidence == "log_likelihoods":  # one request per label, which follows the prompt
            yield from ((f"{call}, {label}", [*texts, label]) for label in benchmark.labels)
        else:
            yield call, texts


def _from(text: str, place: int) -> str:
    """Some words of a prompt, from a little before a place in it."""
    return repr(cut(" ".join(text[max(0, place - _BEFORE) :].split()), _SHOWN))


_BEFORE, _SHOWN = 20, 80
"""Characters of a prompt in an error: before the first difference, and in all."""
