"""The documents of a log, scored again: every case beside what the log says of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ..core.benchmark import Benchmark
from ..core.documents import of_settings
from ..core.evidence import Evidence
from ..core.method import Method
from ..core.result import Answers, Result, ScoredCase
from ..core.rewards import RewardError
from ..core.thinking import settled, shows_thinking
from ..core.usage import NONE, UNCOUNTED, Usage
from .log import LoggedDocument, LoggedTask
from .run import AS_WRITTEN, Asked, RunError, refused

T = TypeVar("T")

TOLERANCE = 1e-9
"""Allowed difference between a logged number and ours: sums in another order."""


@dataclass(frozen=True)
class Compared:
    """A case of a log beside what the log says of it.

    Attributes:
        mark: why it does not count; empty if it does.
        outcomes: one per setting, computed from the evidence alone.
        logged_answers: the answers under each setting, as logged; empty where the log has none.
        logged: metric -> value, as logged; None where nothing was scored.
        table: metric -> value, as the harness should have it.
        thinks: whether a reply of its document shows thinking.
        if_thinks: the case as read if any reply of the run shows thinking; None where that changes nothing.
    """

    where: str
    mark: str
    outcomes: Sequence[Result]
    logged_answers: Sequence[Answers]
    logged: Mapping[str, Any] | None
    table: Mapping[str, float]
    thinks: bool = False
    if_thinks: Compared | None = None

    @property
    def readings(self) -> list[Compared]:
        """Readings that a harness which sees a part of the run may have made."""
        return [self, *([self.if_thinks] if self.if_thinks else [])]

    @property
    def outcome(self) -> Result:
        """The outcome of the first setting; the others have the same case and epoch."""
        return self.outcomes[0]


def scored_cases(outcomes: Iterable[Result]) -> dict[str, ScoredCase]:
    """Case id -> its outcomes, by epoch."""
    epochs: dict[str, list[Result]] = {}
    for outcome in outcomes:
        epochs.setdefault(outcome.case_id, []).append(outcome)
    return {name: ScoredCase(sorted(of_case, key=lambda outcome: outcome.epoch)) for name, of_case in epochs.items()}


def refuse_other_number(path: Path, where: str, replies: Sequence[int], calls: int) -> None:
    """Raise RunError unless each call has one reply; `replies` counts those of each call."""
    if list(replies) != [1] * calls:
        found = f"{sum(replies)} replies to {len(replies)} calls"
        raise refused(
            f"{path}, {where}", found, f"one to each of {calls}", "Use the log as the harness wrote it, or run again."
        )


def compared(task: LoggedTask, benchmark: Benchmark) -> tuple[list[Compared], list[str], list[Asked], list[Usage]]:
    """(cases, the mark of each document, how each was asked, usage by setting); only the first keeps its prompts."""
    method = benchmark.methods[task.signature["method"]]
    compared, found_marks = [], []
    asked: list[Asked] = []
    used = [NONE] * len(task.settings)
    in_full = False
    seen: dict[str, list[Compared]] = {}
    for document in task.documents():
        found_marks.append(document.mark)
        if document.document is None:
            continue
        for case in _judged(task, benchmark, method, document):
            if not case.mark:
                _refuse_unknown(task, case)
                of_case = seen.setdefault(case.outcome.case_id, [])
                for other in of_case:
                    _refuse_twice(task.path, other, case)
                of_case.append(case)
            compared.append(case)
        used = [so_far + one for so_far, one in zip(used, document.usage or [UNCOUNTED] * len(used), strict=True)]
        if document.asked is not None:
            one = document.asked()
            asked.append(one.hashed() if in_full else one)
            in_full = in_full or bool(one.calls)
    return compared, found_marks, asked, used


def _judged(task: LoggedTask, benchmark: Benchmark, method: Method, logged: LoggedDocument) -> list[Compared]:
    path, where, document = task.path, logged.where, logged.document
    assert document is not None  # checked by the caller
    if document.settings != task.settings:
        found, expected = (f"{', '.join(map(str, settings))}" for settings in (document.settings, task.settings))
        expected += " as in the signature of the log"
        raise refused(f"{path}, {where}", f"the settings {found}", expected, AS_WRITTEN)
    refuse_other_number(path, where, [1] * len(logged.evidence), len(method.asked(document.settings)))
    outcomes = _outcomes(path, method, logged, logged.evidence)
    answers = logged.answers or ()
    if answers and list(map(len, answers)) != [len(outcome.answers) for outcome in outcomes]:
        found = f"the answers {[answer for of_case in answers for answer in of_case]!r}"
        raise refused(f"{path}, {where}", found, "one per call", AS_WRITTEN)
    tables = benchmark.tabled(method, outcomes, task.harness)
    values = [None] * len(tables) if logged.values is None else logged.values
    if len(values) != len(tables) or (logged.values and not all(isinstance(value, Mapping) for value in values)):
        found = f"no values of its {len(tables)} cases"
        raise refused(f"{path}, {where}", found, "one mapping for each", AS_WRITTEN)
    thinks = any(map(shows_thinking, logged.evidence))
    settings = len(document.settings)
    logged_answers = _by_case(answers, settings) if answers else [()] * len(tables)
    by_case = zip(_by_case(outcomes, settings), logged_answers, values, tables, strict=True)
    cases = [Compared(where, logged.mark, of, said, found, table, thinks) for of, said, found, table in by_case]
    in_view = [settled(given, method, task.max_tokens) for given in logged.evidence]
    if in_view == list(logged.evidence):
        return cases
    then = _outcomes(path, method, logged, in_view)
    again = zip(cases, _by_case(then, settings), benchmark.tabled(method, then, task.harness), strict=True)
    return [replace(case, if_thinks=replace(case, outcomes=of, table=table)) for case, of, table in again]


def _by_case(listed: Sequence[T], settings: int) -> list[tuple[T, ...]]:
    # per setting and case -> per case and setting
    return list(zip(*of_settings(listed, settings), strict=True))


def _outcomes(path: Path, method: Method, logged: LoggedDocument, evidence: Sequence[Evidence]) -> list[Result]:
    assert logged.document is not None
    try:
        return method.judge(logged.document, evidence, logged.epoch)
    except RewardError as error:
        raise RunError(f"{path}: {error}") from error


def _refuse_unknown(task: LoggedTask, case: Compared) -> None:
    outcome, cells, where = case.outcome, task.signature["cells"], f"{task.path}, {case.where}"
    texts = outcome.case_id, outcome.cell, outcome.user_id, outcome.digest
    if not all(isinstance(text, str) and text for text in texts):
        raise refused(where, repr(texts), "the case's id, cell, user id and digest", AS_WRITTEN)
    "".join(texts).encode()  # a lone surrogate is a ValueError here, and not while a report is written
    if outcome.cell not in cells:
        expected = f"one of {', '.join(cells)}, the cells of the run"
        raise refused(where, f"a case of {outcome.cell}", expected, "Keep the files of one run together.")


def _refuse_twice(path: Path, first: Compared, second: Compared) -> None:
    # two samples of a case are allowed as two epochs
    one, other, where = first.outcome, second.outcome, f"{path}, {second.where}"
    if one.epoch == other.epoch:
        found = f"{other.case_id} a second time (first: {first.where})"
        advice = "Which one counts is unclear; use the log as the harness wrote it."
        raise refused(where, found, "each case once", advice)
    if (one.cell, one.user_id, one.digest) != (other.cell, other.user_id, other.digest):
        found = f"{other.case_id} with another cell, user or digest than in epoch {one.epoch}"
        raise refused(where, found, "the same case in every epoch", AS_WRITTEN)


def equal(found: object, expected: float) -> bool:
    """Whether a logged number is ours; nan equals nan."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return False
    return math.isclose(found, expected, rel_tol=0, abs_tol=TOLERANCE) or (math.isnan(found) and math.isnan(expected))
