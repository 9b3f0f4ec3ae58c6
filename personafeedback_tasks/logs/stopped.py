"""A run that stops when it is decided: the users who count and what was known after them, from its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError
from ..core.stopping import StopPlan, difference_of, read_rule
from .run import Run, refused


def plan_in(path: Path, noted: Any, ids: Sequence[str]) -> StopPlan:
    """The plan of a log. Raises RunError if the log has something else there.

    Args:
        noted: what `StopPlan.as_dict` made.
        ids: of all cases in the order in which they enter, asked or not.
    """
    try:
        rule, sizes = read_rule(noted["rule"]), list(map(int, noted["cases_of_users"]))
    except (PersonaFeedbackError, KeyError, TypeError, ValueError) as error:
        raise refused(path, f"{str(noted)[:60]} as its stop rule", "a rule and the cases of each user") from error
    # a run on fewer cases than the data have (`--limit`) lacks the last ids: whose they are nobody asks
    rest = iter([*ids, *(f"\0{number}" for number in range(sum(sizes) - len(ids)))])
    return StopPlan(rule, tuple(tuple(islice(rest, size)) for size in sizes))


def of_users(runs: Sequence[Run], plan: StopPlan) -> list[Run]:
    """The runs of a log, one per setting, with the cases of the users who count."""
    known = plan.known(_values(runs, plan))
    counted = {case_id for ids in plan.cases[: known.users] for case_id in ids}
    return [
        replace(run, stopped=known, cases={case_id: case for case_id, case in run.cases.items() if case_id in counted})
        for run in runs
    ]


def _values(runs: Sequence[Run], plan: StopPlan) -> dict[str, float]:
    benchmark = runs[0].benchmark
    measure = benchmark.measure_of_gain(runs[0].method)
    if plan.rule.accuracy:
        return dict(runs[0].values(measure))
    by_setting = {run.setting: run for run in runs}
    difference = difference_of(benchmark, list(by_setting))
    more, less = by_setting[difference.more].values(measure), by_setting[difference.less].values(measure)
    return {case_id: more[case_id] - less[case_id] for case_id in more.keys() & less.keys()}
