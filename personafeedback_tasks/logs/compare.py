"""A log -> its runs, scored from its replies alone, and compared: each case counts once, prompts and cases are ours.

Answers, values and means in a log are not read. Prompts tell under which setting, wording and method a run was asked,
whatever its signature says. Needs no harness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError
from ..common.records import cut, short
from ..core.benchmark import Benchmark
from ..core.cases import CaseSet, NamedSet
from ..core.method import TextMethod
from ..core.options import Options
from ..core.result import Result
from ..core.rewards import RewardError
from ..core.usage import total
from .caveat import FORBIDS, VOID, Caveat, caveat
from .errors import AS_WRITTEN, USE_AS_WRITTEN, RunError, refused
from .log import INVALIDATED, Log, Sample, samples_of
from .prompts import LABEL, Asked, Call
from .run import Run


def runs_of(log: Log) -> list[Run]:
    """The runs of a log, one per setting.

    Raises:
        RunError: a case occurs twice or lacks a reply, or the log is invalidated.
    """
    marks = [sample.mark for sample in log.samples]
    if log.invalidated and (INVALIDATED not in marks or all(marks)):
        raise RunError(
            f"{log.path}: found a log that is marked as invalidated as a whole, expected samples that count. Rerun "
            "its cases with `inspect eval-retry`, or remove the mark with Inspect's uninvalidate_samples()."
        )
    by_setting: dict[str, list[Sample]] = {run.setting: [] for run in log.runs}
    for sample in log.samples:
        by_setting[sample.setting].append(sample)
    return [_scored(log, run, by_setting[run.setting]) for run in log.runs]


def _scored(log: Log, run: Run, samples: Sequence[Sample]) -> Run:
    # the run under one setting, with what its samples say
    unchecked = []
    if len(samples) < log.completed:
        unchecked = [caveat("missing_samples", VOID, log=log.path.name, found=len(samples), claimed=log.completed)]
    counted = [sample for sample in samples if sample.cases and not sample.mark]
    _refuse_unknown_and_repeated(run, counted)
    kept, left_out = _with_all_epochs(log, counted)
    return replace(
        run,
        results=_results(run, kept),
        asked=tuple(sample.asked for sample in samples if sample.asked is not None),
        unchecked=tuple(unchecked),
        left_out=dict(Counter(sample.mark for sample in samples if sample.mark)) | left_out,
        usage=total(usage for sample in samples if sample.cases for usage in sample.usage),
    )


def _refuse_unknown_and_repeated(run: Run, samples: Sequence[Sample]) -> None:
    first: dict[tuple[str, int], str] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for sample in samples:
        where = sample.where
        for case in sample.cases:
            about = case.case_id, case.cell, case.user_id, case.digest, *case.targets
            if {*map(type, about)} != {str} or not all(about[:4]):
                raise refused(where, about, "the case's id, cell, user id, digest and right answers", AS_WRITTEN)
            "".join(about).encode()  # a lone surrogate is a ValueError here, and not in a report
            if case.cell not in run.cells:
                expected = f"one of {', '.join(run.cells)}, the cells of the run"
                raise refused(where, f"a case of {case.cell}", expected, "Keep the files of one run together.")
            asked = case.case_id, case.epoch
            if asked in first:
                found_twice = f"{case.case_id} a second time (first: {first[asked]})"
                advice = "Which one counts is unclear; use the log as the harness wrote it."
                raise refused(where, found_twice, "each case once", advice)
            first[asked] = where
            if texts.setdefault(case.case_id, about) != about:
                found_other = f"{case.case_id} with another cell, user, digest or right answer than in another epoch"
                raise refused(where, found_other, "the same case in every epoch", AS_WRITTEN)


def _with_all_epochs(log: Log, samples: Sequence[Sample]) -> tuple[list[Sample], dict[str, int]]:
    # (the samples of the cases that have every epoch, reason -> number of samples left out)
    epochs = log.epochs
    for sample in samples:
        if sample.cases[0].epoch not in range(1, epochs + 1):
            expected = f"1 to {epochs}, as many as the log says were asked (eval.config.epochs)"
            raise refused(sample.where, f"epoch {sample.cases[0].epoch} of {sample.id}", expected, AS_WRITTEN)
    found = Counter(sample.id for sample in samples)
    kept = [sample for sample in samples if found[sample.id] >= epochs]
    if samples and not kept:
        raise RunError(
            f"{log.path}: found no case with all {epochs} epochs, expected {epochs} of each as the log says "
            "(eval.config.epochs). Use the log as Inspect wrote it, or resume the run (`inspect eval-retry`)."
        )
    short = len(samples) - len(kept)
    return kept, {f"without all {epochs} epochs of their case": short} if short else {}


def _results(run: Run, samples: Sequence[Sample]) -> list[Result]:
    # computed from the evidence alone
    results: list[Result] = []
    method = run.method
    for sample in samples:
        if len(sample.evidence) != len(method.calls):
            found = f"{len(sample.evidence)} replies about {sample.id}"
            raise refused(sample.where, found, f"one to each of {', '.join(method.calls)}", AS_WRITTEN)
        try:
            results += method.judge(sample.cases, sample.evidence)
        except RewardError as error:
            raise RunError(f"{run.logs[0]}: {error}") from error
        except ValueError as error:
            found = f"the right answers {', '.join(target for case in sample.cases for target in case.targets)}"
            raise refused(sample.where, found, f"some of {', '.join(run.benchmark.labels)}", AS_WRITTEN) from error
    return results


# --- a run beside its data --------------------------------------------------------------------------------------------


PASS_DATA = "Pass --data with the data of the run (its log names them)"


Prompts = dict[Any, dict[Any, list[int]]]
"""Runs that were asked the same -> document -> its calls, as hashes."""


def with_prompts_checked(run: Run, cases: CaseSet[Any], known: Prompts) -> Run:
    """The run, its prompts compared with those of its cases, `known` or added there. Raises RunError if they differ."""
    found = None if run.asked is None else _prompts_differ(run, run.asked, cases, known)
    return run.said(asked=None, unchecked=(*run.unchecked, found) if found else run.unchecked)


def refuse_other_data(run: Run, cases: CaseSet[Any]) -> None:
    """Raise RunError unless run and `cases` have the same set, if any, and the same texts, cells and users."""
    if run.named_set != cases.named_set:
        raise RunError(
            f"{run.logs[0]}: found a run of {run.title} with {_sizes(run.named_set)}, expected one of "
            f"{run.benchmark.titled(cases.named_set)} with {_sizes(cases.named_set)}, as in {cases.source}. "
            f"{PASS_DATA}."
        )
    for cell, size in run.cells.items():
        if (expected_size := len(cases.cells.get(cell, ()))) != size:
            raise RunError(
                f"{run.logs[0]}: found {size:,} as the number of cases of {cell}, expected {expected_size:,} as in "
                f"{cases.source}. {PASS_DATA}, or run again."
            )
    of_run = {name: (case.digest, case.cell, case.user_id, case.targets) for name, case in run.cases.items()}
    of_data: dict[str, tuple[Any, ...]] = {}
    for case in cases:
        if case.id in of_run:
            targets = tuple(run.benchmark.targets(case)) if of_run[case.id][-1] else ()  # a reward is held against none
            of_data[case.id] = (case.digest, case.cell, case.user_id, targets)
    differing = [case_id for case_id, fields in of_run.items() if of_data.get(case_id) != fields]
    kinds = ("have other texts", "are in another cell", "belong to another user", "have other right answers")
    for place, meaning in enumerate(kinds):
        wrong = [name for name in differing if name not in of_data or of_data[name][place] != of_run[name][place]]
        if wrong:
            first = wrong[0]
            expected = of_data[first][place] if first in of_data else "no such case"
            raise RunError(
                f"{run.logs[0]}: {len(wrong):,} of {len(run.cases):,} cases {meaning} than in "
                f"{cases.source}; the first is {first}, found {of_run[first][place]}, expected {expected}. "
                f"{PASS_DATA}, or run again."
            )


def _sizes(named: NamedSet | None) -> str:
    return ", ".join(f"{cell} {count:,}" for cell, count in named.counts.items()) if named else "no manifest"


def _prompts_differ(run: Run, logged: Sequence[Asked], cases: CaseSet[Any], known: Prompts) -> Caveat | None:
    log, benchmark = run.logs[0], run.benchmark
    options = _options(run)
    alike = id(cases), repr(run.signature.defining), tuple(run.cells)
    try:
        version, prompts = run.signature.task_version, run.signature.fingerprint
        if version != benchmark.version and prompts != benchmark.fingerprint(options):
            why = f"task version {version} had other prompts (fingerprint {prompts}; the installed version"
            return _unchecked(log, f"{why} {benchmark.version} has {benchmark.fingerprint(options)}).")
        for name, value in benchmark.signs(cases, options).items():
            if value != run.signature.signs.get(name):
                return _unchecked(
                    log, f"found {name} {run.signature.signs.get(name)}, expected {value} as in {cases.source}."
                )
        under = benchmark.report.under  # the cases of a control may have been loaded for the run that it controls
        of_run = under(cases, run.signature) if under else cases
        documents = run.method.documents([case for case in of_run if case.cell in run.cells])
        document_of = {document.id: document for document in documents}
        # another version may have logged other facts
        measures = run.method if isinstance(run.method, TextMethod) and version == benchmark.version else None
        lacking, around, unknown = 0, None, ""
        for asked in logged:
            if not asked.calls:
                lacking += 1
                continue
            if asked.id not in document_of:
                raise RunError(
                    f"{asked.where}: found prompts of {asked.id}, which is not in {cases.source}. {USE_AS_WRITTEN}"
                )
            document = document_of[asked.id]
            if measures and asked.facts is not None:
                facts = dict(measures.facts_of(document))
                if asked.facts != facts:
                    raise refused(asked.where, f"other facts of {asked.id}", f"{short(facts)} as in {cases.source}")
            if isinstance(first := asked.calls[0], tuple):  # the texts of the first case of a log are kept
                _, ours = next(_calls(benchmark, options, document, asked))
                around = asked.wrapping.around(ours, first)
                unknown = unknown or asked.wrapping.unknown(around)
            expected = known.setdefault((*alike, asked.wrapping, around), {})
            key = asked.id, asked.first_reply
            if key not in expected:
                calls = _calls(benchmark, options, document, asked)
                expected[key] = [hash(asked.wrapping.sent(call, around)) for _, call in calls]
            if expected[key] != [hash(call) if isinstance(call, tuple) else call for call in asked.calls]:
                calls = _calls(benchmark, options, document, asked)
                raise _other(run, asked, {name: asked.wrapping.sent(call, around) for name, call in calls})
    except RunError:
        raise
    except (PersonaFeedbackError, ImportError) as error:  # a file or a package is missing that their prompts need
        return _unchecked(log, f"they cannot be built: {error}")
    if unknown:
        return caveat("prompts_wrapped", VOID, log=log.name, why=unknown)
    if lacking:
        return _unchecked(log, f"{lacking:,} of {len(logged):,} cases have no prompt in the log.")
    return None


def _options(run: Run) -> Options:
    # a signature has the digest of the data in place of their folder
    try:
        (options,) = run.benchmark.options_of({**run.signature.options, "counts": run.signature.counts})
    except PersonaFeedbackError as error:
        raise RunError(f"{run.logs[0]}: found options in its signature that no run has. {error}") from error
    return options


def _unchecked(log: Path, why: str) -> Caveat:
    return caveat("prompts_unchecked", FORBIDS, log=log.name, why=why)


def _other(run: Run, asked: Asked, expected: Mapping[str, Call]) -> RunError:
    calls: list[Any] = []
    for sample in samples_of(run, texts=True):
        if sample.asked is not None and sample.where == asked.where:
            calls = [*sample.asked.calls]
    name, ours, theirs = "all calls", f"{len(expected)} calls", f"{len(calls)} calls"
    for (call, own), logged in zip(expected.items(), calls, strict=False) if len(calls) == len(expected) else ():
        if own != logged:
            name, ours, theirs = call, _shown(own), _shown(logged)
            break
    same = next((place for place, (one, other) in enumerate(zip_longest(ours, theirs)) if one != other), 0)
    return RunError(
        f"{asked.where}: found another prompt ({name}) than its options ask for: {_from(theirs, same)} in place of "
        f"{_from(ours, same)}. {USE_AS_WRITTEN}"
    )


def _shown(call: Call) -> str:
    return "\n".join(f"{role}: {text}" if role else text for role, text in call)


def _calls(benchmark: Benchmark, options: Options, document: Any, asked: Asked) -> Iterator[tuple[str, Call]]:
    method = benchmark.methods[options.method]
    if first := benchmark.first(vars(options)):
        yield first, (("user", benchmark.prompt(document, options, first)),)
        options, _ = benchmark.after(document, options, asked.first_reply or "")
    for call in method.calls:
        turns = tuple((turn["role"], turn["content"]) for turn in benchmark.turns(document, options, call))
        if method.requests > 1:  # one request per label
            yield from ((f"{call}, {label}", (*turns, (LABEL, label))) for label in benchmark.labels)
        else:
            yield call, turns


def _from(text: str, place: int) -> str:
    return repr(cut(" ".join(text[max(0, place - _BEFORE) :].split()), _SHOWN))


# characters of a prompt in an error: before the first difference, and in all
_BEFORE, _SHOWN = 20, 80
