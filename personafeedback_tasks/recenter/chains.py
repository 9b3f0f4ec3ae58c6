"""Runs of the three stages -> the chains that they make: one of each model, and one more of each filter between its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ..common.errors import OptionError
from ..engine.earlier import Earlier
from ..replies.answers import REASONS
from .extract import EXTRACT
from .made import Extracted, Replied, Selected, extracted, replied, selected
from .respond import RESPOND
from .select import SELECT

TASKS = (EXTRACT.name, SELECT.name, RESPOND.name)

T = TypeVar("T", Extracted, Selected, Replied)


class StageRun(NamedTuple):
    """A run of one stage.

    Attributes:
        signature: all that its numbers depend on.
        source: where its data were.
        came_from: the run that it went on from: its model and digest.
        filtered_by: the filter before it, or `none`.
    """

    model: str
    task: str
    earlier: Earlier
    signature: str
    source: str
    came_from: str
    filtered_by: str

    @property
    def name(self) -> str:
        """As `came_from` of other runs has it."""
        return f"{self.earlier.model} {self.earlier.digest}"


@dataclass(frozen=True)
class MadeChain:
    """What one model made, stage after stage; None where there is no run of that stage.

    Attributes:
        conversations: ids of all conversations that it read.
        unread: of how many of them its list of attributes could not be read.
    """

    model: str
    conversations: frozenset[str] = frozenset()
    extracted: Sequence[Extracted] | None = None
    selected: Sequence[Selected] | None = None
    replied: Sequence[Replied] | None = None
    unread: int = 0


def made_chain(model: str, runs: Mapping[str, Earlier]) -> MadeChain:
    """What a model made.

    Args:
        runs: name of the task -> its run.
    """
    extracts, selects, responds = map(runs.get, TASKS)
    return MadeChain(
        model,
        frozenset(case.id for case in extracts.cases) if extracts else frozenset(),
        _in_order(extracted(extracts)) if extracts else None,
        _in_order(selected(selects)) if selects else None,
        _in_order(replied(responds)) if responds else None,
        sum(case.answers[0] in REASONS for case in extracts.cases) if extracts else 0,
    )


def _in_order(made: list[T]) -> list[T]:
    """By id: harnesses log cases in orders of their own, and the last digit of a sum depends on it."""
    return sorted(made, key=lambda one: one.id)


def chains(runs: Sequence[StageRun]) -> dict[str, dict[str, StageRun]]:
    """Name of a chain -> task -> its run. Runs of one model are one chain, but that a stage is there with a filter before it and without.

    Raises:
        OptionError: a model has two runs of one stage, both with a filter before them or both without one.
    """
    by_name = {run.name: run for run in runs}
    found: dict[str, dict[bool, dict[str, StageRun]]] = {}
    for run in runs:
        own = found.setdefault(run.model, {}).setdefault(_is_filtered(run, by_name), {})
        other = own.setdefault(run.task, run)
        if other is not run:
            raise OptionError(
                f"{run.earlier.where}: found a second run of {run.task} by {run.model} (the first: {other.earlier.where}), expected one of each "
                "stage, or one with a filter and one without. Pass one of them."
            )
    named = {}
    for model, kinds in found.items():
        plain, filtered = kinds.get(False, {}), kinds.get(True, {})
        if filtered.keys() & plain.keys():
            named[model] = plain
            named[f"{model}, filtered"] = {**plain, **filtered}
        else:
            named[model] = {**plain, **filtered}
    return named


def _is_filtered(run: StageRun, by_name: Mapping[str, StageRun]) -> bool:
    """Whether a filter was before it, or before a run that it went on from."""
    before = by_name.get(run.came_from)
    return run.filtered_by != "none" or (before is not None and _is_filtered(before, by_name))
