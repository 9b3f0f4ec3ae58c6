"""A run beside the data that it was made on: its cases, and the prompts in its log, held against those that this version builds for its
options. One comparer for both harnesses.

Both harnesses log every prompt in full. Those of some cases tell under which setting, wording and method a run was asked, whatever
its signature claims.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..common.errors import PersonaFeedbackError
from ..common.strict_json import cut
from ..engine.benchmark import Benchmark
from ..engine.cases import CaseSet, NamedSet, digest_of
from ..engine.options import Options
from .claims import options_of, prompts_unchecked
from .run import USE_AS_WRITTEN, Asked, Run, RunError, refused

CASES = 50
"""Of how many cases or documents of a log the prompts are compared."""

T = TypeVar("T")


def spread(items: Iterable[tuple[str, T]]) -> list[T]:
    """Up to CASES of some items, in their order. Their names decide which: always the same ones, and from all over a log."""
    by_name = ((int(digest_of([name]), 16), number, item) for number, (name, item) in enumerate(items))
    kept = sorted(heapq.nsmallest(CASES, by_name), key=lambda entry: entry[1])
    return [item for _, _, item in kept]


def checked(run: Run, cases: CaseSet[Any]) -> Run:
    """The run, once it was checked against its data; `Run.unchecked` says what could not be.

    Raises:
        RunError: these are other data, or the log has other prompts than its options ask for.
    """
    refuse_other_data(run, cases)
    why = "" if run.asked is None or run.unchecked else _compared(run, run.asked, cases)
    return replace(run, unchecked=(prompts_unchecked(run.logs[0], why),)) if why else run


def refuse_other_data(run: Run, cases: CaseSet[Any]) -> None:
    """Raise RunError unless every answer was given to the texts of `cases`, each case has the same cell and user there, and both
    are of the same set, or of none."""
    if run.named_set != cases.named_set:
        raise RunError(
            f"{run.logs[0]}: found a run of {run.title} with {_counted(run.named_set)}, expected one of {run.benchmark.titled(cases.named_set)} with "
            f"{_counted(cases.named_set)}, as in {cases.source}. Pass --data with the data of the run (its log names them)."
        )
    of_data = {case.id: (case.digest, case.cell, case.user_id) for case in cases}
    for cell, size in run.cells.items():
        if (expected_size := len(cases.cells.get(cell, ()))) != size:
            raise RunError(
                f"{run.logs[0]}: found {size:,} as the number of cases of {cell}, expected {expected_size:,} as in {cases.source}. "
                "Pass --data with the data of the run (its log names them), or run again."
            )
    of_run = {case_id: (case.digest, case.cell, case.user_id) for case_id, case in run.cases.items()}
    differing = [case_id for case_id, fields in of_run.items() if of_data.get(case_id) != fields]
    for place, meaning in enumerate(("have other texts", "are in another cell", "belong to another user")):
        wrong = [name for name in differing if name not in of_data or of_data[name][place] != of_run[name][place]]
        if wrong:
            first = wrong[0]
            expected = of_data[first][place] if first in of_data else "no such case"
            raise RunError(
                f"{run.logs[0]}: {len(wrong):,} of {len(run.cases):,} cases {meaning} than in "
                f"{cases.source}; the first is {first}, found {of_run[first][place]}, expected {expected}. Pass --data with "
                "the data of the run (its log names them), or run again."
            )
    for cell, digest in cases.digests.items() if not run.partial else ():
        logged = run.signature.get("cells", {}).get(cell, {}).get("data", digest)
        if logged != digest:
            found = f"the digest {logged} of the cases of {cell} in its signature"
            raise refused(run.logs[0], found, f"{digest} as in {cases.source}")


def _counted(named: NamedSet | None) -> str:
    return ", ".join(f"{cell} {count:,}" for cell, count in named.counts.items()) if named else "no manifest"


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
