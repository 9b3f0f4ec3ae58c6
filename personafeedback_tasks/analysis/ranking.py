"""Runs -> rankings: which are better, how sure that is, and which do not differ significantly.

Only runs that answered the same cases, asked in the same way, share a ranking. Users are the unit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..core.cases import CaseSet
from ..core.report import Examined
from ..logs.caveat import WEAKENS, Caveat, grouped
from ..logs.data import RunData, first_with
from ..logs.run import Run
from ..stats.estimates import ALPHA, Estimate
from .baselines import with_scores
from .caveats import of_result
from .contender import Contender
from .measures import SCORE, Measure, measures, shared_picks
from .pairs import RunPair, of_two, pairs_of
from .use import Use, use_of
from .void import is_void


@dataclass(frozen=True)
class Ranked:
    """One run of a ranking."""

    run: Run
    rank: int | None  # 1 is the best; equal scores share the better rank. None for a void run
    # (best, worst) rank it may have: below every run that is significantly better, above every one that is worse. With
    # 95 % confidence all of these hold at once. None for a void run
    ranks: tuple[int, int] | None
    tied: tuple[int, ...]  # places, from 1, that it is not significantly different from; empty for void runs
    values: Mapping[str, Estimate | None]  # key of a measure -> its value; None where the run has none
    # value of the control's option -> the run of the same model under it
    controls: Mapping[str, Run] = field(default_factory=dict)

    @property
    def score(self) -> Estimate:
        """The primary measure."""
        found = self.values[SCORE]
        assert found is not None  # every run has it
        return found


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Runs on the same cases, from the best; void ones come last, in no order."""

    asked: Mapping[str, Any]  # name -> value of what they share: signature fields, set, cases and texts
    users: int
    cells: Mapping[str, int]
    measures: Sequence[Measure]  # keys of `Ranked.values`, in the order of every output
    rows: Sequence[Ranked]
    pairs: Sequence[RunPair]
    caveats: Sequence[Caveat]  # each about the places of its runs
    data: CaseSet[Any] | None = None  # the cases; None if they are not at hand
    texts: Examined | None = None  # facts from their texts; None without data

    @property
    def cases(self) -> int:
        return sum(self.cells.values())

    @property
    def runs(self) -> list[Run]:
        return [row.run for row in self.rows]

    @property
    def scores(self) -> list[str]:
        """The measures that are scores of its runs: `acc_sym` of some methods, `acc` of others."""
        return list(dict.fromkeys(run.primary for run in self.runs))

    @property
    def void(self) -> set[int]:
        """Places, from 1, of the runs whose numbers are not those of the model: nothing is concluded from them."""
        return {place for place, row in enumerate(self.rows, 1) if row.rank is None}

    @cached_property
    def uses(self) -> list[Use | None]:
        """What each run makes of who its user is, in the order of the rows; None where its numbers are void, or its benchmark does not
        ask that. It is said of all of them at once, so that equal chances of each do not add up."""
        found = [
            None
            if place in self.void
            else use_of(row.run, {one.label: row.values[one.key] for one in self.measures}, row.controls)
            for place, row in enumerate(self.rows, 1)
        ]
        models = max(1, sum(use is not None and use.asked for use in found))
        return [use and replace(use, models=models) for use in found]

    def has(self, measure: Measure) -> bool:
        """Whether a measure is defined for any run."""
        values = (row.values[measure.key] for row in self.rows)
        return any(value is not None and not math.isnan(value.value) for value in values)


def alike(contenders: Sequence[Contender]) -> list[list[Contender]]:
    """Runs grouped by what a ranking must share: benchmark, options but for the method, prompt, task version and
    cases."""
    found: dict[str, list[Contender]] = {}
    for one in contenders:
        found.setdefault(repr(asked(one.run)), []).append(one)
    return sorted(found.values(), key=len, reverse=True)


def asked(run: Run) -> dict[str, Any]:
    """Values that runs must share for their scores to be compared."""
    shared = {name: value for name, value in run.signature.defining.items() if name != "method"}
    texts = "\n".join(f"{case_id} {case.digest}" for case_id, case in sorted(run.cases.items()))
    cells = ", ".join(f"{cell} {count:,}" for cell, count in sorted(run.answered.items()))
    return {**shared, "set": run.title, "cases": cells, "texts": hashlib.sha256(texts.encode()).hexdigest()[:12]}


def make_ranking(
    contenders: Sequence[Contender],
    texts: Examined | None = None,
    data: CaseSet[Any] | None = None,
    no_data: str = "",
    differing: Sequence[Caveat] | None = None,
) -> Ranking:
    """Rank runs that `alike` put together; `no_data` says why there are no `data`.

    Args:
        texts: of their cases, for the margins over baselines and the adjusted score.
        differing: what the runs differ in; None for the conditions that any harness can ask.
    """
    first = contenders[0].run
    texts = with_scores(first, texts) if texts else None
    contenders = [replace(one, texts=texts) for one in contenders]
    users = contenders[0].users
    listed = measures(contenders)
    sound = [one for one in contenders if not is_void(one.run)]
    sound.sort(key=lambda one: (-sum(one.scores), one.run.label))
    void = sorted((one for one in contenders if is_void(one.run)), key=lambda one: one.run.label)
    pairs = pairs_of([one.scores for one in sound], users, contenders[0].shared)
    if len(contenders) == len(sound) == 2:
        pairs = [of_two(pairs[0], *sound)]
    apart = {(pair.first, pair.second) for pair in pairs if pair.p < ALPHA}

    def ranked(one: Contender, rank: int | None, ranks: tuple[int, int] | None, tied: tuple[int, ...]) -> Ranked:
        return Ranked(one.run, rank, ranks, tied, {measure.key: measure.of(one) for measure in listed}, one.controls)

    rows = [
        ranked(
            one,
            1 + sum(sum(other.scores) > sum(one.scores) + 1e-9 for other in sound),
            ranks_of(place, len(sound), apart),
            _tied(place, len(sound), apart),
        )
        for place, one in enumerate(sound, 1)
    ]
    rows += [ranked(one, None, None, ()) for one in void]
    entries = [*sound, *void]
    of_all = _other_conditions([one.run for one in entries]) if differing is None else differing
    caveats = [
        (f"{place}", [*_caveats(one, row, data, no_data), *of_all])
        for place, (one, row) in enumerate(zip(entries, rows, strict=True), 1)
    ]
    return Ranking(
        asked=asked(first),
        users=len(set(users)),
        cells={cell: first.answered[cell] for cell in first.benchmark.cells if cell in first.answered},
        measures=listed,
        rows=rows,
        pairs=pairs,
        caveats=grouped(caveats),
        data=data,
        texts=texts,
    )


def _scored(some: Sequence[Contender]) -> list[Sequence[Contender]]:
    # runs without right answers are ranked alone
    scored = [
        one for one in some if not one.run.cases or not all(map(math.isnan, one.run.values(one.run.primary).values()))
    ]
    return [*([scored] if scored else []), *([one] for one in some if one not in scored)]


def ranked(contenders: Sequence[Contender], data: Sequence[RunData]) -> list[Ranking]:
    """The rankings of some runs.

    Args:
        data: where their data may be; the last place counts where no other fits.
    """
    rankings = []
    for some in (part for group in alike(contenders) for part in _scored(group)):
        place = first_with(some[0].run, data)
        rankings.append(make_ranking(some, place.texts(some[0].run), *place.of(some[0].run)))
    return rankings


def _other_conditions(runs: Sequence[Run]) -> list[Caveat]:
    # conditions that any harness can ask, between runs of one method
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for place, run in enumerate(runs, 1):
        for name, value in run.common_conditions(bool(run.method.new_tokens)).items():
            found.setdefault((run.method.name, name), {}).setdefault(value, []).append(f"{place}")
    differing = []
    for (_, name), values in found.items():
        if len(values) > 1:
            differing.append(f"{name} " + ", ".join(f"{value} ({', '.join(of)})" for value, of in values.items()))
    return [Caveat("asked_otherwise", WEAKENS, {"how": "; ".join(differing)})] if differing else []


def _caveats(one: Contender, row: Ranked, data: CaseSet[Any] | None, no_data: str) -> list[Caveat]:
    return of_result(one.run, one.controls, data, no_data, row.score, shared_picks(one))


def ranks_of(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, int]:
    """(best, worst) rank of the run at a place, given the (better, worse) places of each significant pair."""
    return 1 + sum(worse == place for _, worse in apart), count - sum(better == place for better, _ in apart)


def _tied(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, ...]:
    others = (other for other in range(1, count + 1) if other != place)
    return tuple(other for other in others if (min(place, other), max(place, other)) not in apart)
