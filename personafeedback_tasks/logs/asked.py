"""A run beside its data: its cases, and the prompts in its log, are compared with those that this version builds.

Prompts tell under which setting, wording and method a run was asked, whatever its signature says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError
from ..common.records import cut
from ..core.benchmark import Benchmark
from ..core.cases import CaseSet, NamedSet
from ..core.options import Options
from .caveat import FORBIDS, VOID, Caveat
from .logged import documents_of
from .run import USE_AS_WRITTEN, Asked, Run, RunError, refused
from .wrapping import LABEL, Call


def checked(run: Run, cases: CaseSet[Any]) -> Run:
    """The run, checked against its data; `unchecked` says what could not be. Raises RunError if they differ."""
    refuse_other_data(run, cases)
    found = None if run.asked is None else _compared(run, run.asked, cases)
    return replace(run, asked=None, unchecked=(*run.unchecked, found) if found else run.unchecked)


def refuse_other_data(run: Run, cases: CaseSet[Any]) -> None:
    """Raise RunError unless run and `cases` have the same set, or none, and cases with the same texts, cells and users."""
    if run.named_set != cases.named_set:
        raise RunError(
            f"{run.logs[0]}: found a run of {run.title} with {_counted(run.named_set)}, expected one of {run.benchmark.titled(cases.named_set)} with "
            f"{_counted(cases.named_set)}, as in {cases.source}. Pass --data with the data of the run (its log names them)."
        )
    for cell in cases.cells:
        logged = run.signature.get("cells", {}).get(cell, {})
        for name, value in cases.signed_cell(cell).items():
            if name not in ("cases", "data") and logged.get(name, value) != value:
                raise refused(run.logs[0], f"the {name} {logged[name]} of {cell}", f"{value} as in {cases.source}")
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


def _compared(run: Run, logged: Sequence[Asked], cases: CaseSet[Any]) -> Caveat | None:
    log, benchmark = run.logs[0], run.benchmark
    options = _options(run)
    try:
        version, prompts = run.signature["task_version"], run.signature["fingerprint"]
        if version != benchmark.version and prompts != benchmark.fingerprint(options):
            why = f"task version {version} had other prompts (fingerprint {prompts}; the installed version"
            return _unchecked(log, f"{why} {benchmark.version} has {benchmark.fingerprint(options)}).")
        for name, value in benchmark.signs(cases, options).items():
            if value != run.signature.get(name):
                return _unchecked(
                    log, f"found {name} {run.signature.get(name)}, expected {value} as in {cases.source}."
                )
        documents = {document.id: document for document in _documents(run, cases)}
        lacking, around, unknown = 0, None, ""
        for asked in logged:
            if not asked.calls:
                lacking += 1
                continue
            if asked.id not in documents:
                raise RunError(
                    f"{log}, {asked.where}: found prompts of {asked.id}, which is not in {cases.source}. {USE_AS_WRITTEN}"
                )
            ours = dict(_calls(benchmark, options, documents[asked.id], asked))
            if isinstance(first := asked.calls[0], tuple):  # the texts of the first case of a log are kept
                around = asked.wrapping.around(next(iter(ours.values())), first)
                unknown = unknown or asked.wrapping.unknown(around)
            expected = {name: asked.wrapping.sent(call, around) for name, call in ours.items()}
            hashes = [hash(call) if isinstance(call, tuple) else call for call in asked.calls]
            if [*map(hash, expected.values())] != hashes:
                raise _other(run, asked, expected)
    except RunError:
        raise
    except (PersonaFeedbackError, ImportError) as error:  # a file or a package is missing that their prompts need
        return _unchecked(log, f"they cannot be built: {error}")
    if unknown:
        return Caveat("prompts_wrapped", VOID, {"log": log.name, "why": unknown})
    if lacking:
        return _unchecked(log, f"{lacking:,} of {len(logged):,} cases have no prompt in the log.")
    return None


def _options(run: Run) -> Options:
    # a signature has the digest of the data in place of their folder
    names = (*run.benchmark.options.signed_names(), "counts")
    try:
        (options,) = run.benchmark.options_of({name: run.signature[name] for name in names})
    except PersonaFeedbackError as error:
        raise RunError(f"{run.logs[0]}: found options in its signature that no run has. {error}") from error
    return options


def _unchecked(log: Path, why: str) -> Caveat:
    return Caveat("prompts_unchecked", FORBIDS, {"log": log.name, "why": why})


def _documents(run: Run, cases: CaseSet[Any]) -> Sequence[Any]:
    # the cases of a control may have been loaded for the run that it controls
    under = run.benchmark.report.under
    cases = under(cases, run.signature) if under else cases
    return run.method.documents([case for case in cases if case.cell in run.cells])


def _other(run: Run, asked: Asked, expected: Mapping[str, Call]) -> RunError:
    again = (
        document.asked().under(task.settings.index(run.setting), task.staged).calls
        for task, document in documents_of(run)
        if document.asked is not None and (document.where, document.id) == (asked.where, asked.id)
    )
    calls: list[Any] = [*next(again, ())]
    name, ours, theirs = "all calls", f"{len(expected)} calls", f"{len(calls)} calls"
    for (call, own), logged in zip(expected.items(), calls, strict=False) if len(calls) == len(expected) else ():
        if own != logged:
            name, ours, theirs = call, _shown(own), _shown(logged)
            break
    same = next((place for place, (one, other) in enumerate(zip_longest(ours, theirs)) if one != other), 0)
    return RunError(
        f"{run.logs[0]}, {asked.where}: found another prompt ({name}) than its options ask for: {_from(theirs, same)} in place of "
        f"{_from(ours, same)}. {USE_AS_WRITTEN}"
    )


def _shown(call: Call) -> str:
    return "\n".join(f"{role}: {text}" if role else text for role, text in call)


def _calls(benchmark: Benchmark, options: Options, document: Any, asked: Asked) -> Iterator[tuple[str, Call]]:
    method, stage = benchmark.methods[options.method], benchmark.stage
    if stage is not None and stage.applies(options):
        yield stage.name, (("user", stage.prompt(document, options)),)
        options = stage.apply(document, options, asked.stage_reply or "")
    for call in method.calls:
        turns = tuple((turn["role"], turn["content"]) for turn in benchmark.turns(method, document, options, call))
        if method.requests(benchmark.labels) > 1:  # one request per label
            yield from ((f"{call}, {label}", (*turns, (LABEL, label))) for label in benchmark.labels)
        else:
            yield call, turns


def _from(text: str, place: int) -> str:
    return repr(cut(" ".join(text[max(0, place - _BEFORE) :].split()), _SHOWN))


# characters of a prompt in an error: before the first difference, and in all
_BEFORE, _SHOWN = 20, 80
