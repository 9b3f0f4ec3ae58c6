"""A run that stops when it is decided: the users who count, and what was known after them, computed again from the answers of its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError
from ..engine.stopping import StopPlan, difference_of, read_rule, user_order
from .run import USE_AS_WRITTEN, Run, RunError, refused


def plan_in(path: Path, noted: object, ids: Sequence[str], passed: object) -> StopPlan:
    """The plan of a log.

    Args:
        ids: of all cases in the order in which they enter, asked or not.
        passed: the value of the option, as the harness has it; None where it does not.

    Raises:
        RunError: the log has something else there.
    """
    found: Mapping[str, Any] = noted if isinstance(noted, Mapping) else {}
    sizes = found.get("cases_of_users")
    if (
        not isinstance(sizes, list)
        or not sizes
        or {*map(type, sizes)} != {int}
        or min(sizes) < 1
        or len(ids) > sum(sizes)
    ):
        raise refused(path, f"{str(sizes)[:60]} as the cases of each user", f"{len(ids):,} in all")
    try:
        rule = read_rule(found.get("rule"))
    except PersonaFeedbackError as error:
        raise RunError(f"{path}: {error} {USE_AS_WRITTEN}") from error
    if passed is not None and read_rule(passed) != rule:
        raise refused(path, f"the rule {rule.written}", f"stop={passed} as in task_args")
    # a run on fewer cases than the data have (`--limit`) lacks the last ids: whose they are nobody asks
    rest = iter([*ids, *(f"\0{number}" for number in range(sum(sizes) - len(ids)))])
    return StopPlan(rule, tuple(tuple(next(rest) for _ in range(size)) for size in sizes))


def of_users(runs: Sequence[Run], plan: StopPlan) -> list[Run]:
    """The runs of a log, one per setting, with the cases of the users who count.

    Raises:
        RunError: the users are in another order, or the settings are not those of the rule.
    """
    _refuse_other_order(runs[0], plan)
    known = plan.known(_values(runs, plan))
    counted = {case_id for ids in plan.cases[: known.users] for case_id in ids}
    return [
        replace(run, stopped=known, cases={case_id: case for case_id, case in run.cases.items() if case_id in counted})
        for run in runs
    ]


def _values(runs: Sequence[Run], plan: StopPlan) -> dict[str, float]:
    benchmark, first = runs[0].benchmark, runs[0]
    measure = benchmark.measure_of_gain(first.method)
    if plan.rule.accuracy:
        return dict(first.values(measure))
    by_setting = {run.setting: run for run in runs}
    try:
        difference = difference_of(benchmark, list(by_setting))
    except PersonaFeedbackError as error:
        raise RunError(f"{first.logs[0]}: {error} {USE_AS_WRITTEN}") from error
    more, less = by_setting[difference.more].values(measure), by_setting[difference.less].values(measure)
    return {case_id: more[case_id] - less[case_id] for case_id in more.keys() & less.keys()}


def _refuse_other_order(run: Run, plan: StopPlan) -> None:
    """Raise RunError unless each user has their own place in the order that is drawn."""
    found: list[str] = []
    for ids in plan.cases:
        users = {run.cases[case_id].user_id for case_id in ids if case_id in run.cases}
        if len(users) > 1:
            raise RunError(
                f"{run.logs[0]}: found the cases of {', '.join(sorted(users))} as those of one user. {USE_AS_WRITTEN}"
            )
        found += users
    if found != user_order(found) or len(found) != len(set(found)):
        raise RunError(f"{run.logs[0]}: found its users in another order than stop draws. {USE_AS_WRITTEN}")
