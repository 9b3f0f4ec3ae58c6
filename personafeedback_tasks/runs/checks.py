"""A log -> a run, after a check that the log does not contradict itself. One comparer for every harness.

A log passes through many hands. Only the evidence is taken as given; everything else is recomputed: the answers from the replies,
the values from the answers, the table of means from the values. Needs no harness.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..common.statistics import mean
from ..engine.benchmark import Benchmark, find
from ..engine.documents import document_digest
from ..engine.method import Method
from ..engine.outcome import Answers, Outcome, ScoredCase
from ..engine.rewards import RewardError, correlations
from ..engine.signature import set_of
from ..engine.table import table
from . import claims, marks
from .asked import Spread
from .log import Log, LoggedDocument, LoggedTask, Printed
from .run import Asked, Run, RunError

TOLERANCE = 1e-9
"""By how much a logged number may differ from ours: sums in another order."""


@dataclass(frozen=True)
class Compared:
    """A case of a log beside what the log says of it.

    Attributes:
        where, mark: see `LoggedDocument`.
        outcome: its answers are the log's, its values follow from them.
        again: the reading of the evidence by this version.
        logged: metric -> value, as logged; None where nothing was scored.
        table: metric -> value, as the harness should have it.
    """

    where: str
    mark: str
    outcome: Outcome
    again: Answers
    logged: Mapping[str, Any] | None
    table: Mapping[str, float]


def run_of(log: Log) -> Run:
    """The run of a log.

    Raises:
        RunError: the log contradicts itself or what this version makes of it; a case occurs twice, or an answer is invalid.
    """
    cells: dict[str, int] = {}
    cases: dict[str, ScoredCase] = {}
    otherwise = 0
    asked: list[Asked] = []
    unchecked: dict[str, None] = {}
    left_out: dict[str, int] = {}
    for task in log.tasks:
        path, benchmark = task.path, find(task.signature["benchmark"])
        unchecked |= dict.fromkeys(claims.compared(path, task.signature, task.record))
        cells |= cells_of(path, task.signature, benchmark)
        spread: Spread[LoggedDocument] = Spread()
        every, found_marks = _compared(task, benchmark, spread)
        asked += [document.asked() for document in spread if document.asked is not None]
        claims.refuse_other_model(path, task.record)
        marks.refuse_invalidated(path, task.invalidated, found_marks)
        counted = [case for case in every if not case.mark]
        kept, short = marks.of_all_epochs(path, counted, task.epochs)
        left_out |= marks.counted(found_marks) | short
        otherwise += _differing(task, kept, benchmark)
        _refuse_other_values(task, kept, benchmark)
        _refuse_other_table(task, [every, counted] if any(found_marks) else [every], benchmark)
        of_task = scored_cases(case.outcome for case in kept)
        if twice := cases.keys() & of_task.keys():
            raise RunError(
                f"{path}: found {min(twice)} ({len(twice):,} in all), which are also in another cell's samples, expected each "
                "case in one cell. Use the files as the harness wrote them."
            )
        cases |= of_task
    return replace(
        log.run(), cells=cells, cases=cases, otherwise=otherwise, asked=tuple(asked), unchecked=tuple(unchecked), left_out=left_out,
    )  # fmt: skip


def scored_cases(outcomes: Iterable[Outcome]) -> dict[str, ScoredCase]:
    """Case id -> its outcomes, by epoch."""
    epochs: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        epochs.setdefault(outcome.case_id, []).append(outcome)
    return {name: ScoredCase(sorted(of_case, key=lambda outcome: outcome.epoch)) for name, of_case in epochs.items()}


def refuse_other_cases(path: Path, where: str, logged: Mapping[str, Any], cases: int) -> None:
    """Raise RunError unless a document that has several cases lists those that were asked, in their order.

    Args:
        logged: what a harness logs of it, see `Benchmark.logged`.
        cases: how many it has.
    """
    listed = logged.get("cases")
    if not isinstance(listed, list) or not all(isinstance(case, dict) for case in listed) or len(listed) != cases:
        found = f"{len(listed)} cases" if isinstance(listed, list) else "no list of cases"
        raise RunError(
            f"{path}, {where}: found {found}, expected one for each of {cases} answers. Use the log as the harness wrote it."
        )
    expected = document_digest(str(logged.get("id")), [str(case.get("digest")) for case in listed])
    if logged.get("digest") != expected:
        raise RunError(
            f"{path}, {where}: found cases with the digest {expected}, expected {logged.get('digest')}: other ones, or in another "
            "order. The log was changed after the run: use it as the harness wrote it, or run again."
        )


def refuse_other_number(path: Path, where: str, replies: Sequence[int], calls: int) -> None:
    """Raise RunError unless each call has one reply.

    Args:
        replies: how many each call of a case or document has.
        calls: how many it has.
    """
    if list(replies) != [1] * calls:
        raise RunError(
            f"{path}, {where}: found {sum(replies)} replies to {len(replies)} calls, expected one to each of {calls}. Use the log as the "
            "harness wrote it, or run again."
        )


def cells_of(path: Path, signature: Mapping[str, Any], benchmark: Benchmark) -> dict[str, int]:
    """Cell -> its number of cases: the log's claim, checked against the benchmark's sizes unless it says counts=any.

    Raises:
        RunError: a cell or a number that does not exist.
    """
    known, named = benchmark.sizes(signature), set_of(signature)
    cells = tuple(named.counts) if named else benchmark.cells
    found = {cell: entry["cases"] for cell, entry in signature["cells"].items()}
    for cell, count in found.items():
        if cell not in cells or type(count) is not int or count < 0:
            raise RunError(f"{path}: found the cell {cell!r} with {count!r} cases, expected one of {', '.join(cells)}.")
        if signature["counts"] != "any" and count != known.get(cell, count):
            raise RunError(
                f"{path}: found {count:,} as the number of cases of {cell}, expected {known[cell]:,}, "
                f"since the log says counts={signature['counts']}. It was changed after the run; use the log as the harness wrote it."
            )
    return found


def _compared(
    task: LoggedTask, benchmark: Benchmark, spread: Spread[LoggedDocument]
) -> tuple[list[Compared], list[str]]:
    """(every case of every document, the mark of each document); `spread` is offered the documents."""
    method = benchmark.methods[task.signature["method"]]
    compared, found_marks = [], []
    seen: dict[str, list[Compared]] = {}
    for document in task.documents():
        found_marks.append(document.mark)
        if document.document is None:
            continue
        for case in _judged(task, method, document):
            if not case.mark:
                _refuse_unknown(task, case, benchmark)
                of_case = seen.setdefault(case.outcome.case_id, [])
                for other in of_case:
                    _refuse_twice(task.path, other, case)
                of_case.append(case)
            compared.append(case)
        spread.offer(f"{document.id} {document.epoch}", document)
    return compared, found_marks


def _judged(task: LoggedTask, method: Method, logged: LoggedDocument) -> list[Compared]:
    """The cases of a document."""
    path, where, document = task.path, logged.where, logged.document
    assert document is not None  # checked by the caller
    refuse_other_number(path, where, [1] * len(logged.evidence), len(method.calls))
    outcomes = _outcomes(path, method, logged, None)
    again = [outcome.answers for outcome in outcomes]
    if logged.answers is not None and list(logged.answers) != again:
        answers = [answer for of_case in logged.answers for answer in of_case]
        if list(map(len, logged.answers)) != [len(case.targets) for case in document.cases]:
            raise RunError(
                f"{path}, {where}: found the answers {answers!r}, expected one per call. Use the log as the harness wrote it."
            )
        outcomes = _outcomes(path, method, logged, logged.answers)
    tables = [method.tabled(outcome.values, task.harness) for outcome in outcomes]
    if logged.mean is not None:
        _refuse_other_mean(path, where, logged.mean, tables)
    values = [None] * len(tables) if logged.values is None else logged.values
    if len(values) != len(tables) or (logged.values and not all(isinstance(value, Mapping) for value in values)):
        raise RunError(
            f"{path}, {where}: found no values of its {len(tables)} cases, expected one mapping for each. Use the log as the "
            "harness wrote it."
        )
    return [Compared(where, logged.mark, *of_case) for of_case in zip(outcomes, again, values, tables, strict=True)]


def _outcomes(path: Path, method: Method, logged: LoggedDocument, answers: Sequence[Answers] | None) -> list[Outcome]:
    assert logged.document is not None
    try:
        return method.judge(logged.document, logged.evidence, answers, logged.epoch, logged.tokens)
    except RewardError as error:
        raise RunError(f"{path}: {error}") from error


def _refuse_other_mean(
    path: Path, where: str, logged: Mapping[str, Any], tables: Sequence[Mapping[str, float]]
) -> None:
    """Raise RunError unless the score of a document is the mean over its cases."""
    for metric in tables[0]:
        value = mean(of_case[metric] for of_case in tables)
        if not equal(logged.get(metric), value):
            raise RunError(
                f"{path}, {where}: found {metric} {logged.get(metric)}, expected {value:g}, the mean over its {len(tables)} cases. "
                "The log was changed after the run: use it as the harness wrote it, or run again."
            )


def _differing(task: LoggedTask, cases: Sequence[Compared], benchmark: Benchmark) -> int:
    """Number of replies that this version of the reader reads differently from the run's.

    Raises:
        RunError: there are some, and the run's version is this one.
    """
    wrong = [case for case in cases if case.outcome.answers != case.again]
    if wrong and task.signature["task_version"] == benchmark.version:
        answers, again = ", ".join(wrong[0].outcome.answers), ", ".join(wrong[0].again)
        raise _contradiction(task.path, wrong, len(cases), f"the answers {answers}", again, "its replies")
    return sum(a != b for case in wrong for a, b in zip(case.outcome.answers, case.again, strict=True))


def _refuse_other_values(task: LoggedTask, cases: Sequence[Compared], benchmark: Benchmark) -> None:
    version = task.signature["task_version"]
    scored = [(case, case.logged) for case in cases if case.logged is not None]
    for name in scored[0][0].table if scored else ():
        differing = [(case, values) for case, values in scored if not equal(values.get(name), case.table[name])]
        if not differing:
            continue
        wrong, (first, values) = [case for case, _ in differing], differing[0]
        found, expected = values.get(name, "nothing"), first.table[name]
        if version != benchmark.version:
            raise RunError(
                f"{task.path}, {first.where}: found {name} {found} for {first.outcome.case_id}, expected {expected:g} "
                f"({len(wrong):,} of {len(cases):,} rows disagree). Task version {version} scored the "
                f"log, {benchmark.version} is installed: score it again (`inspect score`) or run again."
            )
        raise _contradiction(task.path, wrong, len(cases), f"{name} {found}", f"{expected:g}", "its answers")


def _refuse_other_table(task: LoggedTask, allowed: Sequence[Sequence[Compared]], benchmark: Benchmark) -> None:
    """Raise RunError unless the means that the harness printed are those of the cases.

    Args:
        allowed: all cases, or all and those that count: a mark leaves the table of a run as it was, until its metrics are computed again.
    """
    if task.printed is None:
        return
    refused: RunError | None = None
    for cases in allowed:
        if not cases:
            return  # every sample failed, or none of them counts
        try:
            _refuse_one_table(task.path, task.printed, _table(task.printed, cases, benchmark), benchmark.report.primary)
        except RunError as error:
            refused = refused or error
        else:
            return
    if refused is not None:
        raise refused


def _refuse_one_table(path: Path, printed: Printed, ours: Mapping[str, float], primary: str) -> None:
    for name, value in ours.items():
        named = f"{name.removesuffix('_stderr')}{printed.stderr}" if name.endswith("_stderr") else name
        if named in printed.values and not equal(printed.values[named], value):
            raise RunError(
                f"{path}: found {named} {printed.values[named]} in the table of {printed.name}, expected {value:g} from its samples. "
                "The rows or the table were changed after the run, or belong to two runs: use the files as the harness wrote them."
            )
    if primary in ours and primary not in printed.values:
        raise RunError(
            f"{path}: found no {primary} in the table of {printed.name}, expected {ours[primary]:g} from its samples. Use the log "
            "as the harness wrote it."
        )


def _table(printed: Printed, compared: Sequence[Compared], benchmark: Benchmark) -> dict[str, float]:
    """The means as the harness computes them."""
    cases = scored_cases(case.outcome for case in compared).values()
    names = {*compared[0].table, *benchmark.corpus}
    ours = table(cases, benchmark.columns if printed.cells else lambda cells: {}, benchmark.corpus, names)
    if compared[0].outcome.rewards:
        ours |= correlations([outcome.rewards or {} for outcome in case] for case in cases)
    return ours


def _refuse_unknown(task: LoggedTask, case: Compared, benchmark: Benchmark) -> None:
    outcome, cells = case.outcome, task.signature["cells"]
    texts = outcome.case_id, outcome.cell, outcome.user_id, outcome.digest
    if not all(isinstance(text, str) and text for text in texts):
        raise RunError(
            f"{task.path}, {case.where}: found {texts!r}, expected the case's id, cell, user id and digest. Use the log as the "
            "harness wrote it."
        )
    "".join(texts).encode()  # a lone surrogate is a ValueError here, and not while a report is written
    if outcome.cell not in cells:
        raise RunError(
            f"{task.path}, {case.where}: found a case of {outcome.cell}, expected one of {', '.join(cells)}, the cells "
            "of the run. Keep the files of one run together."
        )
    unknown = [answer for answer in outcome.answers if answer not in benchmark.answers]
    if unknown:
        raise RunError(
            f"{task.path}, {case.where}: found the answer {unknown[0]!r} to {outcome.case_id}, expected one of "
            f"{', '.join(benchmark.answers)}. Use the log as the harness wrote it."
        )


def _refuse_twice(path: Path, first: Compared, second: Compared) -> None:
    """Two samples of a case are two epochs of it."""
    one, other = first.outcome, second.outcome
    if one.epoch == other.epoch:
        raise RunError(
            f"{path}, {second.where}: found {other.case_id} a second time (first: {first.where}), expected each case once. "
            "Which one counts is unclear; use the log as the harness wrote it."
        )
    if (one.cell, one.user_id, one.digest) != (other.cell, other.user_id, other.digest):
        raise RunError(
            f"{path}, {second.where}: found {other.case_id} with another cell, user or digest than in epoch {one.epoch}, "
            "expected the same case in every epoch. Use the log as the harness wrote it."
        )


def _contradiction(path: Path, wrong: Sequence[Compared], of: int, found: str, expected: str, source: str) -> RunError:
    return RunError(
        f"{path}, {wrong[0].where}: found {found} for {wrong[0].outcome.case_id}, expected {expected} from {source} "
        f"({len(wrong):,} of {of:,} rows disagree). The log was changed after the run: use it as the harness wrote it, or "
        "run again."
    )


def equal(found: object, expected: float) -> bool:
    """Whether a logged number is ours; nan is nan."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return False
    return math.isclose(found, expected, rel_tol=0, abs_tol=TOLERANCE) or (math.isnan(found) and math.isnan(expected))
