"""Gain of knowing the user where the person matters, beside its cost where the person must not matter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..core.report import key_of
from ..logs.caveat import FORBIDS, VOID
from ..logs.run import Run
from ..stats.estimates import Estimate
from . import caveats
from .contender import Contender
from .control import turned
from .documents import SCORE, Balance, RankDocument, RankedRun
from .ranking import Ranking

GAIN, SWAP, COST = "persona gain", "swap score", "yields"
"""Names of: the score with the persona minus that without; the score of `personafeedback_swap`, 0.5 without the person;
the share of the calls right without the user's memory that its wrong memory turns."""

OfTasks = Mapping[str, Mapping[str, Estimate]]
"""Identity of a model -> name of a cost in another task -> value."""

NO_TASKS: OfTasks = {}

_Values = dict[tuple[str, str], Estimate]
"""(identity of a model, name of the method) -> value."""


def rank_document(rankings: Sequence[Ranking], of_tasks: OfTasks = NO_TASKS) -> RankDocument:
    """The document of rankings; `of_tasks` as `balances` takes them."""
    return RankDocument(rankings=[ranking.entry for ranking in rankings], balance=balances(rankings, of_tasks))


def balances(rankings: Sequence[Ranking], of_tasks: OfTasks = NO_TASKS) -> list[Balance]:
    """Models with both a gain and a cost, in the order of the rankings.

    Args:
        of_tasks: costs in other tasks, as `other_tasks.costs_of_models` has them, whatever the method.

    Void and partial runs and controls do not count. Each quantity is of runs on the same cases, asked in the same way:
    those with most cases, then those that most models with a cost have. Of several runs of one model by one method,
    the earliest counts.
    """
    names = {_key(run): run.name for ranking in rankings for run in ranking.runs}
    found: dict[str, dict[str, tuple[Run, _Values]]] = {GAIN: {}, SWAP: {}, COST: {}}
    for ranking in rankings:
        # but for the fingerprint: rewards, which are another method, have one of their own
        asked = repr({**ranking.entry.asked, "fingerprint": ""})
        _, of_models = found[_quantity(ranking.runs[0])].setdefault(asked, (ranking.runs[0], {}))
        rows = zip(ranking.entry.runs, ranking.contenders, strict=True)
        for row, one in sorted(rows, key=lambda both: both[1].run.date):
            value = None if row.void else _value(row, one)
            if value is not None and not math.isnan(value.value):
                of_models.setdefault(_key(one.run), value)
    costs = {key for _, of_models in found[COST].values() for key in of_models}
    costs |= {key for key in names if key[0] in of_tasks}

    def preferred(one: tuple[Run, _Values]) -> tuple[bool, int, int]:
        models = len(costs & one[1].keys())
        return models > 0, len(one[0].cases), models

    chosen = {quantity: max(ways.values(), key=preferred) for quantity, ways in found.items() if ways}
    titles = {quantity: run.title for quantity, (run, _) in chosen.items()}
    found_of = {}
    for key in names:
        values = {quantity: of[key] for quantity, (_, of) in chosen.items() if key in of}
        values.update(of_tasks.get(key[0], {}))
        if 0 < len(costs_among(values)) < len(values):
            found_of[key] = values
    methods = Counter(identity for identity, _ in found_of)
    return [
        Balance(model=f"{names[key]} ({key[1]})" if methods[key[0]] > 1 else names[key], values=values, titles=titles)
        for key, values in found_of.items()
    ]


def costs_among(values: Iterable[str]) -> list[str]:
    """Names of the costs among a model's values."""
    return [name for name in values if name not in (GAIN, SWAP)]


def _key(run: Run) -> tuple[str, str]:
    return run.identity, run.method.name


def _quantity(run: Run) -> str:
    control = run.benchmark.report.control
    return SWAP if not control else COST if control.harm else GAIN


def _value(row: RankedRun, one: Contender) -> Estimate | None:
    run, spec = one.run, one.run.benchmark.report
    control = spec.control
    if not control:
        asked = run.benchmark.options().signed().get("setting")  # by default: the persona
        is_counted = spec.swaps and run.signature.options.get("setting") == asked and not run.partial
        return row.measures[SCORE] if is_counted else None
    if control.harm:
        return _yields(run, one.controls, (VOID,))
    without = one.controls.get(control.value)
    if without is None or run.setting not in [*control.people][:1] or not _whole(run, without, (VOID,)):
        return None
    return row.measures.get(key_of(GAIN))


def costs_beside(
    run: Run, rows: Sequence[tuple[Run, Mapping[str, Run]]], of_tasks: OfTasks = NO_TASKS
) -> dict[str, Estimate]:
    """The costs of the same model: COST, of other runs by the same method and their controls, and those in other tasks.

    COST is missing where no whole run on the benchmark's own data has it. Of several runs, that of the same harness
    counts, then the earliest.
    """
    of_model = [(other, controls) for other, controls in rows if _key(other) == _key(run) and not other.remark]
    of_model.sort(key=lambda row: (row[0].program != run.program, row[0].date))
    found = [_yields(other, controls, (VOID, FORBIDS)) for other, controls in of_model]
    known = [value for value in found if value is not None and not math.isnan(value.value)]
    return {**({COST: known[0]} if known else {}), **of_tasks.get(run.identity, {})}


def _yields(run: Run, controls: Mapping[str, Run], barred: Collection[str]) -> Estimate | None:
    # under the setting that is told most alone, over every cell, beside the control
    control = run.benchmark.report.control
    without = controls.get(control.value)
    if without is None or run.setting not in [*control.harm][:1]:
        return None
    if not {*run.benchmark.cells} <= run.answered.keys() or not _whole(run, without, barred):
        return None
    return turned(run, without, run.cases)


def _whole(run: Run, control: Run, barred: Collection[str]) -> bool:
    """Whether both have every case, and no caveat of these severities."""
    found = [*caveats.of_run(run), *caveats.of_run(control), *caveats.of_control(run, control, control.setting)]
    return not (
        run.partial
        or control.partial
        or run.cases.keys() - control.cases.keys()
        or any(caveat.severity in barred for caveat in found)
    )
