"""A reward model with several outputs: the accuracy of each, and its correlations with the choice and with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..common.records import short_list
from ..common.statistics import Estimate, mean, share
from ..core.result import ScoredCase
from ..core.rewards import TOTAL, between, over_responses, right_and_tie, with_better
from ..logs.run import Run, RunError


@dataclass(frozen=True)
class AspectsOfGroup:
    """The aspects in a cell or a group of cells. A correlation is over both responses of its cases.

    Attributes:
        responses: number of responses of its cases.
        acc: aspect -> share of the cases in which the better response has the higher value; a tie is wrong.
        pearson: TOTAL and each aspect -> its correlation with being the better response.
        correlations: aspect -> aspect -> their correlation.
    """

    responses: int
    acc: Mapping[str, Estimate]
    pearson: Mapping[str, float]
    correlations: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Aspects:
    """Report on the outputs of a reward model.

    Attributes:
        names: of the aspects, in the model's order.
        better: the benchmark's name for the better response.
        groups: by name, as in the report.
    """

    names: tuple[str, ...]
    better: str
    groups: Mapping[str, AspectsOfGroup]


def make_aspects(run: Run, groups: Mapping[str, Sequence[str]]) -> Aspects | None:
    """The aspects of a run; None with one output, without rewards, or if neither response is right by itself.

    Args:
        groups: name -> ids of its answered cases.

    Raises:
        RunError: the cases have different aspects.
    """
    names = _names(run)
    method = run.method
    if not names:
        return None
    found = {name: _of_group([run.cases[case_id] for case_id in ids], names) for name, ids in groups.items()}
    return Aspects(names, method.calls[0], found)


def _names(run: Run) -> tuple[str, ...]:
    found = [
        (case_id, list(outcome.rewards)) for case_id, case in run.cases.items() for outcome in case if outcome.rewards
    ]
    for case_id, names in found:
        first, expected = found[0]
        if set(names) != set(expected):
            raise RunError(
                f"{run.logs[0]}: found the rewards {short_list(names)} of {case_id}, expected {short_list(expected)} as of {first}. "
                "Use the log as the harness wrote it."
            )
    return tuple(name for name in found[0][1] if name != TOTAL) if found else ()


def _of_group(cases: Sequence[ScoredCase], names: Sequence[str]) -> AspectsOfGroup:
    users = [case.user_id for case in cases]
    columns: dict[str, list[float]] = {name: [] for name in (TOTAL, *names)}  # a group may have no answered case
    columns |= over_responses([outcome.rewards or {} for outcome in case] for case in cases)

    def right(case: ScoredCase, name: str) -> float:
        return mean(right_and_tie(*outcome.rewards[name])[0] for outcome in case if outcome.rewards)

    return AspectsOfGroup(
        responses=len(columns[TOTAL]),
        acc={name: share([right(case, name) for case in cases], users) for name in names},
        pearson=with_better(columns, len(cases[0][0].rewards[TOTAL]) if cases and cases[0][0].rewards else 1),
        correlations=between({name: columns[name] for name in names}),
    )
