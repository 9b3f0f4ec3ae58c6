"""Gain of knowing the user where the person matters, beside its cost where the person must not matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..common.statistics import Estimate
from ..logs.caveat import FORBIDS, VOID
from ..logs.run import Run
from . import caveats
from .harm import harm_of
from .ranking import Ranked, Ranking

GAIN, SWAP, COST = "persona gain", "swap score", "yields"
"""Names of: the score with the persona minus that without; the score of `personafeedback_swap`, 0.5 without the person;
the share of the calls right without the user's memory that its wrong memory turns."""


@dataclass
class Balance:
    """Gain and cost of one model."""

    model: str
    values: dict[str, Estimate] = field(default_factory=dict)  # GAIN, SWAP, COST -> value, as far as it was asked

    def gain(self) -> Estimate | None:
        """Value on the axis of gains: the persona gain, or else how far the swap score is above chance."""
        if GAIN in self.values or SWAP not in self.values:
            return self.values.get(GAIN)
        swap = self.values[SWAP]
        return Estimate(swap.value - 0.5, swap.stderr, swap.low - 0.5, swap.high - 0.5, swap.n, swap.users)


def balances(rankings: Sequence[Ranking]) -> list[Balance]:
    """Models with both a gain and a cost, in the order of the rankings. Void runs have neither."""
    found: dict[str, Balance] = {}
    for ranking in rankings:
        name, value_of = _measure(ranking)
        for place, row in enumerate(ranking.rows, start=1):
            value = None if place in ranking.void else value_of(row)
            if value is not None and not math.isnan(value.value):
                found.setdefault(row.run.identity, Balance(row.run.name)).values.setdefault(name, value)
    return [one for one in found.values() if COST in one.values and one.gain() is not None]


def _measure(ranking: Ranking) -> tuple[str, Callable[[Ranked], Estimate | None]]:
    spec = ranking.runs[0].benchmark.report
    if spec.control is None:
        return SWAP, lambda row: row.score if spec.swaps else None
    if spec.control.harm:
        return COST, _yields
    return GAIN, lambda row: row.values.get(GAIN.replace(" ", "_"))


def cost_beside(run: Run, rows: Sequence[tuple[Run, Mapping[str, Run]]]) -> Estimate | None:
    """COST of the same model among other runs and their controls; None where no whole run on the benchmark's own data
    has it."""
    for other, controls in rows:
        sound = not any(one.severity in (VOID, FORBIDS) for one in caveats.of_run(other))
        if other.identity == run.identity and sound and not (other.partial or other.remark):
            found = _yields_of(other, controls)
            if found is not None and not math.isnan(found.value):
                return found
    return None


def _yields(row: Ranked) -> Estimate | None:
    return _yields_of(row.run, row.controls)


def _yields_of(run: Run, controls: Mapping[str, Run]) -> Estimate | None:
    # under the setting that is told most, beside the control
    control = run.benchmark.report.control
    without = controls.get(control.value) if control else None
    if control is None or without is None or run.setting not in control.harm:
        return None
    harm = harm_of(run, without, run.cases)
    return harm.share if harm else None
