"""The columns of a report: each cell, the groups of several cells, and every number that they have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..common.statistics import Estimate, estimate, estimate_of, share
from ..engine.benchmark import Benchmark
from ..engine.outcome import Outcome, ScoredCase
from ..engine.report import Examined
from ..engine.table import over_corpus
from ..runs.run import Run


@dataclass(frozen=True)
class Group:
    """One column of a report: a cell, a group of cells, or all.

    Attributes:
        name: `general_hard`, `general`, `total`.
        cases: answered cases; `of` is how many the data have.
        replies: number of replies read, or of responses that a reward model scored; `reasons` counts the unreadable ones by reason.
        measures: name -> estimate over the cases, see `Benchmark.measures` and `Benchmark.corpus`.
        derived: name -> value, see `ReportSpec.derived`.
        baselines: name -> `primary` on the same cases; empty without data.
        subsets: name -> `primary` on those of the cases; empty without data.
        gain: `primary` minus that of the control on the same cases; None without a control.
    """

    name: str
    cases: int
    of: int
    replies: int
    reasons: Mapping[str, int]
    measures: Mapping[str, Estimate]
    derived: Mapping[str, float]
    baselines: Mapping[str, Estimate]
    subsets: Mapping[str, Estimate]
    gain: Estimate | None = None


def has_macro(run: Run) -> bool:
    """Whether the plain mean of the cells is shown: every cell of the benchmark has an answered case."""
    return run.benchmark.report.macro and set(run.answered) == set(run.benchmark.cells)


def groups_of(
    cases: Iterable[ScoredCase], begun: Iterable[str], benchmark: Benchmark
) -> list[tuple[str, list[str], list[str]]]:
    """(name, its cells, ids of its answered cases in order) of every cell, and of each group of several cells.

    Args:
        cases: the answered cases.
        begun: cells to include even if none of their cases is answered.
    """
    ids: dict[str, list[str]] = {cell: [] for cell in begun}
    for case in cases:
        ids.setdefault(case.cell, []).append(case.case_id)
    return [
        (name, cells, sorted(case_id for cell in cells for case_id in ids[cell]))
        for name, cells in benchmark.columns(ids).items()
    ]


def make_group(
    benchmark: Benchmark,
    name: str,
    cases: Sequence[ScoredCase],
    of: int,
    texts: Examined | None,
    gain: Mapping[str, float],
    calls: int,
    plain: bool,
) -> Group:
    """One column.

    Args:
        name: of the column.
        cases: the answered ones; `of` is how many there are.
        texts: of the cases, for baselines and subsets.
        gain: case id -> the score minus that of the control; empty without one.
        calls: of a case, for the number of replies.
        plain: gives each cell the same weight.
    """
    ids, users = [case.case_id for case in cases], [case.user_id for case in cases]
    strata = [case.cell for case in cases] if plain else None
    also = texts.prompts_of(ids) if texts else None
    shared = partial(share, users=users, cells=strata, also=also)
    measures = measures_of(benchmark, cases, strata, also=also)
    for line in (*benchmark.report.headline, *benchmark.report.details):  # a run without a case has no values
        if line.measure not in benchmark.report.derived:
            measures.setdefault(line.measure, share([], []))
    answers = [answer for case in cases for outcome in case for answer in outcome.answers]
    scored = sum(not outcome.answers for case in cases for outcome in case) * calls
    primary = [case.value(benchmark.report.primary) for case in cases]
    return Group(
        name=name,
        cases=len(cases),
        of=of,
        replies=len(answers) + scored,
        reasons=dict(sorted(Counter(answer for answer in answers if answer not in benchmark.labels).items())),
        measures=measures,
        derived={derived: measure(measures) for derived, measure in benchmark.report.derived.items()},
        baselines=_baselines(texts, ids, shared) if texts else {},
        subsets=_subsets(texts, ids, primary, shared) if texts else {},
        gain=estimate([gain.get(case_id, math.nan) for case_id in ids], users, strata, also) if gain else None,
    )


def measures_of(
    benchmark: Benchmark,
    cases: Sequence[ScoredCase],
    strata: Sequence[str] | None = None,
    only: Collection[str] | None = None,
    also: Sequence[str] | None = None,
) -> dict[str, Estimate]:
    """Every measure over some cases: means of values, and those over the corpus.

    Args:
        strata: the cell of each case, for means that weigh cells equally.
        only: the measures that are asked for; None for all.
        also: the prompt of each case where users share prompts, see `Examined.prompts`.
    """
    users = [case.user_id for case in cases]
    of_corpus = list(map(judged, cases))
    found = {
        measure: (share if benchmark.report.line(measure).share else estimate)(
            [case.value(measure) for case in cases], users, strata, also
        )
        for measure in benchmark.measures
        if only is None or measure in only
    }
    for measure, over in benchmark.corpus.items():
        if (only is None or measure in only) and cases:
            ends = benchmark.report.line(measure).ends
            found[measure] = estimate_of(partial(over_corpus, over), of_corpus, users, ends, also)
    return found if cases else dict.fromkeys(only or (), share([], []))


def judged(case: ScoredCase) -> list[Outcome]:
    """What a corpus metric sees of a case: its epochs with answers."""
    return [outcome for outcome in case if outcome.answers]


def _baselines(
    texts: Examined, ids: Sequence[str], shared: Callable[[Sequence[float]], Estimate]
) -> dict[str, Estimate]:
    names = dict.fromkeys(name for of_case in texts.baselines.values() for name in of_case)
    return {name: shared([texts.baselines[case_id][name] for case_id in ids]) for name in names}


def _subsets(
    texts: Examined, ids: Sequence[str], primary: Sequence[float], shared: Callable[[Sequence[float]], Estimate]
) -> dict[str, Estimate]:
    return {
        name: shared([a if i in inside else math.nan for i, a in zip(ids, primary, strict=True)])
        for name, (_, inside) in texts.subsets.items()
    }
