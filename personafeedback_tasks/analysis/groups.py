"""The columns of a report: each cell, the groups of several cells, and all their numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from ..core.benchmark import Benchmark
from ..core.report import Examined
from ..core.result import CorpusMetric, Result, by_case, over_epochs
from ..core.table import UnitMean
from ..logs.run import Run
from ..stats.clusters import Shared
from ..stats.estimates import Estimate, estimate, estimate_of, mean, paired, share
from .control import with_sequence


@dataclass(frozen=True)
class Group:
    """One column of a report: a cell, a group of cells, or all.

    Attributes:
        name: `general_hard`, `general`, `total`.
        cases: answered cases.
        of: how many the data have.
        replies: number of replies read, or of responses that a reward model scored.
        reasons: why replies are unreadable -> how many.
        measures: name -> estimate over the cases, those over the whole corpus included.
        baselines: name -> score on the same cases; empty without data.
        subsets: name -> score on those of the cases; empty without data.
        gain: score minus that of the control on the same cases; None without a control.
    """

    name: str
    cases: int
    of: int
    replies: int
    reasons: Mapping[str, int]
    measures: Mapping[str, Estimate]
    baselines: Mapping[str, Estimate]
    subsets: Mapping[str, Estimate]
    gain: Estimate | None = None

    @property
    def named(self) -> dict[str, Estimate]:
        """Measures, baselines and subsets."""
        return {**self.measures, **self.baselines, **self.subsets}


def has_macro(run: Run) -> bool:
    """Whether the plain mean of the cells is shown: every cell of the benchmark has an answered case."""
    return run.benchmark.report.macro and set(run.answered) == set(run.benchmark.cells)


def groups_of(
    cases: Iterable[Result], begun: Iterable[str], benchmark: Benchmark
) -> list[tuple[str, list[str], list[str]]]:
    """(name, its cells, ids of its answered cases in order) of every cell and group; cells `begun` may have no ids."""
    ids: dict[str, list[str]] = {cell: [] for cell in begun}
    for case in cases:
        ids.setdefault(case.cell, []).append(case.case_id)
    return [
        (name, cells, sorted(case_id for cell in cells for case_id in ids[cell]))
        for name, cells in benchmark.columns(ids).items()
    ]


def make_group(
    run: Run,
    name: str,
    cells: Sequence[str],
    ids: Sequence[str],
    texts: Examined | None,
    gain: Mapping[str, float],
    plain: bool = False,
) -> Group:
    """One column.

    Args:
        gain: case id -> the score minus that of the control; empty without one.
        plain: gives each cell the same weight.
    """
    benchmark, cases = run.benchmark, [run.cases[case_id] for case_id in ids]
    results = [result for case_id in ids for result in run.by_case[case_id]]
    users = [case.user_id for case in cases]
    strata = [case.cell for case in cases] if plain else None
    also = texts.shared(ids) if texts else partners_of(run, ids)
    shared = partial(share, users=users, cells=strata, also=also)

    measures = measures_of(benchmark, results, strata, also=also)
    for line in (*benchmark.report.headline, *benchmark.report.details):  # a run without a case has no values
        measures.setdefault(line.measure, share([], []))
    primary = run.primary
    if strata is None and primary in measures:
        measures[primary] = with_sequence(measures[primary], primary, run)
    answers = [answer for result in results for answer in result.answers]
    scored = sum(not result.answers for result in results) * len(run.method.calls)
    return Group(
        name=name,
        cases=len(cases),
        of=sum(run.cells[cell] for cell in cells),
        replies=len(answers) + scored,
        reasons=dict(sorted(Counter(answer for answer in answers if answer not in benchmark.labels).items())),
        measures=measures,
        baselines=_baselines(texts, ids, shared) if texts else {},
        subsets=_subsets(texts, ids, [case.value(primary) for case in cases], shared) if texts else {},
        gain=paired([gain.get(case_id, math.nan) for case_id in ids], users, strata, also) if gain else None,
    )


def measures_of(
    benchmark: Benchmark,
    results: Sequence[Result],
    strata: Sequence[str] | None = None,
    only: Collection[str] | None = None,
    also: Shared | None = None,
) -> dict[str, Estimate]:
    """Every measure over some cases: means of values, and those over the corpus.

    Args:
        strata: the cell of each case, for means that weigh cells equally.
        only: names of the wanted measures; None for all.
        also: cluster of each case beside its user.
    """
    cases = list(map(over_epochs, by_case(results).values()))
    users = [case.user_id for case in cases]
    found = {}
    for measure in benchmark.measures:
        if only is None or measure in only:
            over_cases = share if benchmark.report.line(measure).is_share else estimate
            found[measure] = over_cases([case.value(measure) for case in cases], users, strata, also)
    for measure, over in benchmark.corpus.items():
        if not cases or (only is not None and measure not in only):
            continue
        if isinstance(over, UnitMean):
            by_unit = over.by_unit(judged(results))
            of_cases = [mean(by_unit.get(over.units.of(case.case_id), ())) for case in cases]
            found[measure] = replace(share(of_cases, users, strata, also), n=sum(map(len, by_unit.values())))
        else:
            epochs = [judged(of_case) for of_case in by_case(results).values()]
            ends = benchmark.report.line(measure).ends
            found[measure] = estimate_of(partial(_over_cases, over), epochs, users, ends, also)
    return found if cases else dict.fromkeys(only or (), share([], []))


def _over_cases(measure: CorpusMetric, epochs: Sequence[Sequence[Result]]) -> float:
    return measure([result for of_case in epochs for result in of_case])


def judged(results: Sequence[Result]) -> list[Result]:
    """The results that a corpus metric sees: those with answers, or with rewards and a target."""
    return [result for result in results if result.answers or (result.rewards and result.targets)]


def _baselines(
    texts: Examined, ids: Sequence[str], shared: Callable[[Sequence[float]], Estimate]
) -> dict[str, Estimate]:
    if not texts.baselines:
        return {}
    names = dict.fromkeys(chain.from_iterable(texts.baselines.values()))
    of_cases = [texts.baselines[case_id] for case_id in ids]
    return {name: shared([of_case[name] for of_case in of_cases]) for name in names}


def _subsets(
    texts: Examined, ids: Sequence[str], primary: Sequence[float], shared: Callable[[Sequence[float]], Estimate]
) -> dict[str, Estimate]:
    return {
        name: shared([a if i in inside else math.nan for i, a in zip(ids, primary, strict=True)])
        for name, (_, inside) in texts.subsets.items()
    }


def partners_of(run: Run, ids: Sequence[str]) -> Shared | None:
    """The other user of each case's unit, where cases come in units: known without the texts, unlike prompts."""
    units = run.benchmark.units
    if units is None:
        return None
    users: dict[str, set[str]] = {}
    for case_id in ids:
        users.setdefault(units.of(case_id), set()).add(run.cases[case_id].user_id)
    own = [(run.cases[case_id].user_id, users[units.of(case_id)]) for case_id in ids]
    return Shared([""] * len(own), [max(of_unit - {user}, default=user) for user, of_unit in own])
