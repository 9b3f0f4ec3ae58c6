"""A log -> runs, after a check that its scores follow from its replies and that each case counts once.

Answers are read from the replies again, values computed from the answers. Printed means are not read. Needs no harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..core.benchmark import Benchmark, find
from ..core.result import ScoredCase
from ..core.signature import set_of
from ..core.usage import NONE
from . import marks
from .caveat import VOID, Caveat
from .judged import Compared, compared, equal, scored_cases
from .log import Log, LoggedTask
from .run import Run, RunError, refused
from .stopped import of_users


def runs_of(log: Log) -> list[Run]:
    """The runs of a log, one per setting.

    Raises:
        RunError: answers or values do not follow from the replies, a case occurs twice, or the log is invalidated.
    """
    settings = range(len(log.tasks[0].settings))
    cells: dict[str, int] = {}
    cases: list[dict[str, ScoredCase]] = [{} for _ in settings]
    otherwise = [0 for _ in settings]
    usage = [NONE for _ in settings]
    unchecked: dict[Caveat, None] = {}
    left_out: dict[str, int] = {}
    for task in log.tasks:
        cells |= cells_of(task.path, task.signature, find(task.signature["benchmark"]))
    judged = [compared(task, find(task.signature["benchmark"])) for task in log.tasks]
    asked = [one for _, _, of_task, _ in judged for one in of_task]
    thinks = any(case.thinks for every, *_ in judged for case in every)
    for task, (every, found_marks, _, used) in zip(log.tasks, judged, strict=True):
        path, benchmark = task.path, find(task.signature["benchmark"])
        if len(found_marks) < task.completed:
            lost = {"log": path.name, "found": len(found_marks), "claimed": task.completed}
            unchecked[Caveat("missing_samples", VOID, lost)] = None
        marks.refuse_invalidated(path, task.invalidated, found_marks)
        if not thinks:
            every = [replace(case, if_thinks=None) for case in every]
        counted = [case for case in every if not case.mark]
        kept, short = marks.of_all_epochs(path, counted, task.epochs)
        left_out |= marks.counted(found_marks) | short
        if task.signature["task_version"] == benchmark.version:  # else its reader or its metrics may have been others
            _refuse_other_answers(task, kept)
            _refuse_other_values(task, kept)
        every, kept = ([case.readings[-1] for case in cases_of] for cases_of in (every, kept))
        if twice := cases[0].keys() & {case.outcome.case_id for case in kept}:
            found = f"{min(twice)} ({len(twice):,} in all), which are also in another cell's samples"
            raise refused(path, found, "each case in one cell", "Use the files as the harness wrote them.")
        for place in settings:
            usage[place] += used[place]
            cases[place] |= scored_cases(case.outcomes[place] for case in kept)
            otherwise[place] += sum(_differing(case, place) for case in kept)
    run = log.run()
    runs = [
        replace(
            run, signature={**run.signature, **log.tasks[0].signatures[place]}, cells=cells, cases=cases[place],
            otherwise=otherwise[place], asked=tuple(one.under(place, log.tasks[0].staged) for one in asked), unchecked=tuple(unchecked),
            left_out=left_out, usage=usage[place], elsewhere=NONE if place else run.elsewhere,
        )
        for place in settings
    ]  # fmt: skip
    stop = log.tasks[0].stop
    return runs if stop is None else of_users(runs, stop)


def cells_of(path: Path, signature: Mapping[str, Any], benchmark: Benchmark) -> dict[str, int]:
    """Cell -> its number of cases, as the log says."""
    named = set_of(signature)
    cells = tuple(named.counts) if named else benchmark.cells
    found = {cell: entry["cases"] for cell, entry in signature["cells"].items()}
    for cell, count in found.items():
        if cell not in cells or type(count) is not int or count < 0:
            raise RunError(f"{path}: found the cell {cell!r} with {count!r} cases, expected one of {', '.join(cells)}.")
    return found


def _refuse_other_answers(task: LoggedTask, cases: Sequence[Compared]) -> None:
    wrong = [case for case in cases if all(map(_differs, case.readings))]
    if wrong:
        answers = ", ".join(answer for of_setting in wrong[0].logged_answers for answer in of_setting)
        again = ", ".join(answer for outcome in wrong[0].outcomes for answer in outcome.answers)
        raise _contradiction(task.path, wrong, len(cases), f"the answers {answers}", again, "its replies")


def _differs(case: Compared) -> bool:
    return any(_differing(case, place) for place in range(len(case.outcomes)))


def _differing(case: Compared, place: int) -> int:
    if not case.logged_answers:
        return 0
    return sum(a != b for a, b in zip_longest(case.logged_answers[place], case.outcomes[place].answers))


def _refuse_other_values(task: LoggedTask, cases: Sequence[Compared]) -> None:
    # a value that the log lacks may be of a later version
    scored = [(case, case.logged) for case in cases if case.logged is not None]
    for name in scored[0][0].table if scored else ():
        wrong = [
            case
            for case, values in scored
            if name in values and not any(equal(values[name], one.table[name]) for one in case.readings)
        ]
        if wrong:
            found = f"{name} {(wrong[0].logged or {})[name]}"
            raise _contradiction(task.path, wrong, len(cases), found, f"{wrong[0].table[name]:g}", "its answers")


def _contradiction(path: Path, wrong: Sequence[Compared], of: int, found: str, expected: str, source: str) -> RunError:
    found += f" for {wrong[0].outcome.case_id}"
    expected += f" from {source} ({len(wrong):,} of {of:,} rows disagree)"
    return refused(f"{path}, {wrong[0].where}", found, expected)
