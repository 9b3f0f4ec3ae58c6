"""A log -> a run, after a check that the log does not contradict itself. One comparer for every harness.

A log passes through many hands. Only the evidence is taken as given; everything else is recomputed: the answers from the replies,
the values from the answers, the table of means from the values. Needs no harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..engine.benchmark import Benchmark, find
from ..engine.outcome import ScoredCase
from ..engine.rewards import correlations
from ..engine.signature import set_of
from ..engine.table import table
from ..engine.usage import NONE, total
from . import claims, marks
from .caveat import VOID, Caveat
from .judged import Compared, compared, equal, scored_cases
from .log import Log, LoggedTask, Printed
from .run import Run, RunError, refused
from .stopped import of_users


def runs_of(log: Log) -> list[Run]:
    """The runs of a log, one per setting.

    Raises:
        RunError: the log contradicts itself or what this version makes of it; a case occurs twice, or an answer is invalid.
    """
    settings = range(len(log.tasks[0].settings))
    cells: dict[str, int] = {}
    cases: list[dict[str, ScoredCase]] = [{} for _ in settings]
    otherwise = [0 for _ in settings]
    usage = [NONE for _ in settings]
    unchecked: dict[Caveat, None] = {}
    left_out: dict[str, int] = {}
    for task in log.tasks:
        unchecked |= dict.fromkeys(claims.compared(task.path, task.signatures, task.record))
        cells |= cells_of(task.path, task.signature, find(task.signature["benchmark"]))
    judged = [compared(task, find(task.signature["benchmark"])) for task in log.tasks]
    asked = [one for _, _, of_task in judged for one in of_task]
    thinks = any(case.thinks for every, _, _ in judged for case in every)
    for task, (every, found_marks, _) in zip(log.tasks, judged, strict=True):
        path, benchmark = task.path, find(task.signature["benchmark"])
        if len(found_marks) < task.completed:
            lost = {"log": path.name, "found": len(found_marks), "claimed": task.completed}
            unchecked[Caveat("missing_samples", VOID, lost)] = None
        claims.refuse_other_model(path, task.record)
        marks.refuse_invalidated(path, task.invalidated, found_marks)
        if not thinks:
            every = [replace(case, if_thinks=None) for case in every]
        counted = [case for case in every if not case.mark]
        kept, short = marks.of_all_epochs(path, counted, task.epochs)
        left_out |= marks.counted(found_marks) | short
        if task.signature["task_version"] == benchmark.version:  # else its reader or its metrics may have been others
            _refuse_other_answers(task, kept)
            _refuse_other_values(task, kept)
            allowed = [every, counted] if any(found_marks) else [every]
            allowed += [[case.readings[-1] for case in cases_of] for cases_of in allowed]
            _refuse_other_table(task, allowed, benchmark)
        every, kept = ([case.readings[-1] for case in cases_of] for cases_of in (every, kept))
        if twice := cases[0].keys() & {case.outcome.case_id for case in kept}:
            found = f"{min(twice)} ({len(twice):,} in all), which are also in another cell's samples"
            raise refused(path, found, "each case in one cell", "Use the files as the harness wrote them.")
        for place in settings:
            usage[place] += total(case.outcomes[place].usage for case in every)
            cases[place] |= scored_cases(case.outcomes[place] for case in kept)
            otherwise[place] += sum(_differing(case, place) for case in kept)
    run = log.run()
    runs = [
        replace(
            run, signature={**run.signature, **log.tasks[0].signatures[place]}, cells=cells, cases=cases[place],
            otherwise=otherwise[place], asked=tuple(one.under(place, log.tasks[0].staged) for one in asked), unchecked=tuple(unchecked),
            left_out=left_out, named=run.named and len(settings) == 1, usage=usage[place], beside={} if place else run.beside,
        )
        for place in settings
    ]  # fmt: skip
    stop = log.tasks[0].stop
    return runs if stop is None else of_users(runs, stop)


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
            expected = f"{known[cell]:,}, since the log says counts={signature['counts']}"
            advice = "It was changed after the run; use the log as the harness wrote it."
            raise refused(path, f"{count:,} as the number of cases of {cell}", expected, advice)
    return found


def _refuse_other_answers(task: LoggedTask, cases: Sequence[Compared]) -> None:
    """Raise RunError unless the answers that a log has are those of its replies."""
    wrong = [case for case in cases if all(map(_differs, case.readings))]
    if wrong:
        answers = ", ".join(answer for of_setting in wrong[0].logged_answers for answer in of_setting)
        again = ", ".join(answer for outcome in wrong[0].outcomes for answer in outcome.answers)
        raise _contradiction(task.path, wrong, len(cases), f"the answers {answers}", again, "its replies")


def _differs(case: Compared) -> bool:
    return any(_differing(case, place) for place in range(len(case.outcomes)))


def _differing(case: Compared, place: int) -> int:
    """Number of replies that the log reads otherwise, under one of the settings."""
    if not case.logged_answers:
        return 0
    return sum(a != b for a, b in zip_longest(case.logged_answers[place], case.outcomes[place].answers))


def _refuse_other_values(task: LoggedTask, cases: Sequence[Compared]) -> None:
    """Raise RunError for a value that does not follow from the answers. One that the log lacks may be of a later version."""
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


def _refuse_other_table(task: LoggedTask, allowed: Sequence[Sequence[Compared]], benchmark: Benchmark) -> None:
    """Raise RunError unless the means that the harness printed are those of the cases.

    Args:
        allowed: all cases, or all and those that count: a mark leaves the table of a run as it was, until its metrics are computed again.
    """
    if task.printed is None:
        return
    first: RunError | None = None
    for cases in allowed:
        if not cases:
            return  # every sample failed, or none of them counts
        try:
            _refuse_one_table(task.path, task.printed, _table(task.printed, cases, benchmark))
        except RunError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def _refuse_one_table(path: Path, printed: Printed, ours: Mapping[str, float]) -> None:
    for name, value in ours.items():
        named = f"{name.removesuffix('_stderr')}{printed.stderr}" if name.endswith("_stderr") else name
        shown = printed.values.get(named, value)
        if not equal(shown, value) and shown == shown:  # lm-eval's mean is nan where one case has no value
            raise RunError(
                f"{path}: found {named} {shown} in the table of {printed.name}, expected {value:g} from its samples. "
                "The rows or the table were changed after the run, or belong to two runs: use the files as the harness wrote them."
            )


def _table(printed: Printed, compared: Sequence[Compared], benchmark: Benchmark) -> dict[str, float]:
    """The means as the harness computes them."""
    cases = scored_cases(replace(case.outcome, values=case.table) for case in compared).values()
    names = {*compared[0].table, *benchmark.corpus}
    ours = table(cases, benchmark.columns if printed.cells else lambda cells: {}, benchmark.corpus, names)
    if compared[0].outcome.rewards and not compared[0].outcome.targets:  # else neither response is right by itself
        ours |= correlations([outcome.rewards or {} for outcome in case] for case in cases)
    return ours


def _contradiction(path: Path, wrong: Sequence[Compared], of: int, found: str, expected: str, source: str) -> RunError:
    found += f" for {wrong[0].outcome.case_id}"
    expected += f" from {source} ({len(wrong):,} of {of:,} rows disagree)"
    return refused(f"{path}, {wrong[0].where}", found, expected)
