"""Runs of the three stages -> chains: one of each model, and one more of each filter between its stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..common.errors import OptionError
from ..core.earlier import Earlier
from .extract import EXTRACT
from .respond import RESPOND
from .select import SELECT

TASKS = (EXTRACT.name, SELECT.name, RESPOND.name)


class StageRun(NamedTuple):
    """A run of one stage.

    Attributes:
        came_from: `name` of the run that it went on from.
        filtered_by: the filter before it, or `none`.
    """

    model: str
    task: str
    earlier: Earlier
    came_from: str
    filtered_by: str

    @property
    def name(self) -> str:
        return f"{self.earlier.model} {self.earlier.digest}"


def chains(runs: Sequence[StageRun]) -> dict[str, dict[str, StageRun]]:
    """Name of a chain -> task -> its run. A model with filtered and unfiltered replies has two chains.

    Of runs with the same replies the first one counts.

    Raises:
        OptionError: a model has two runs of one stage, and not because one chain has a filter and the other has none.
    """
    named: dict[str, dict[str, StageRun]] = {}
    for model in dict.fromkeys(run.model for run in runs):
        own: dict[tuple[str, str, str], StageRun] = {}
        for run in runs:
            if run.model == model:
                own.setdefault((run.task, run.name, run.filtered_by), run)
        found = _of_one_model(list(own.values()))
        named |= {
            f"{model}, filtered" if is_filtered and len(found) > 1 else model: of for is_filtered, of in found.items()
        }
    return named


def _of_one_model(runs: Sequence[StageRun]) -> dict[bool, dict[str, StageRun]]:
    by_name = {run.name: run for run in runs if run.task != RESPOND.name}
    found: dict[bool, dict[str, StageRun]] = {}
    for run in runs:
        if run.task == RESPOND.name:
            own = found.setdefault(run.filtered_by != "none", {})
            if own:
                raise _second(run, own[run.task])
            before: StageRun | None = run
            while before is not None and before.task not in own:
                own[before.task] = before
                before = by_name.get(before.came_from)
    found = dict(sorted(found.items())) or {False: {}}
    taken = [run for own in found.values() for run in own.values()]
    for run in runs:
        if run in taken:
            continue
        lacking = [own for own in found.values() if run.task not in own]
        if not lacking:
            raise _second(run, found[min(found)][run.task])
        for own in lacking:
            own[run.task] = run
    return found


def _second(run: StageRun, other: StageRun) -> OptionError:
    return OptionError(
        f"{run.earlier.where}: found a second run of {run.task} by {run.model} (the first: {other.earlier.where}), expected one of each "
        "stage, or replies with a filter and replies without one, each with the runs that they went on from. Pass one of them."
    )
