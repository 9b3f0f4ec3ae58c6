"""Two runs on the same cases: which one serves these users better, and the smallest difference they could detect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan

from ..common.jackknife import estimate_of
from ..common.paired_tests import SMALLEST, paired_p
from ..common.significance import holm, minimum_detectable_difference, shared_p
from ..common.statistics import Estimate, estimate
from ..core.result import CorpusMetric, Result
from ..core.table import over_corpus
from ..logs.caches import refuse_shared
from ..logs.caveat import WEAKENS, Caveat, grouped, ordered
from ..logs.run import Run, RunError
from . import caveats
from .groups import groups_of, judged, partners_of
from .place import cannot_move


@dataclass(frozen=True)
class GroupComparison:
    """One line of a comparison: a cell, a category, or all."""

    name: str  # `general_hard`, `general`, `total`
    acc_a: float  # score of run A on the cases that both answered, in [0, 1]
    acc_b: float
    difference: Estimate  # acc_a - acc_b, paired, interval clustered by user; nan where place answers every case
    # two-sided, by resampling whole users, in (0, 1]. That over all cases is the test; those of the other groups, of
    # which there may be ten, have Holm's correction.
    p: float
    is_bound: bool  # whether p is only an upper bound, since no sample of users reached the difference
    # ids of the cases that run A got entirely right (a letter: in both orders) and run B did not
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]  # the reverse of `only_a`
    detectable: float  # the smallest true difference that these data show with 80 % power at the 5 % level
    # measure that is no mean over cases -> (run A, run B, difference with its jackknife interval)
    others: Mapping[str, tuple[float, float, Estimate]] = field(default_factory=dict)


@dataclass(frozen=True)
class RunComparison:
    """Everything that is printed about two runs."""

    run_a: Run
    run_b: Run
    groups: tuple[GroupComparison, ...]
    only_in_a: tuple[str, ...]  # ids of the cases that run A answered and run B did not
    only_in_b: tuple[str, ...]  # the reverse of `only_in_a`
    # run (`A`, `B`) -> why its users, cells and texts were not checked against the data
    unchecked: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> dict[str, Run]:
        return {"A": self.run_a, "B": self.run_b}

    @property
    def caveats(self) -> list[Caveat]:
        """Caveats to show before the numbers."""
        a, b = self.run_a, self.run_b
        found = []
        for name, ids in (("A", self.only_in_a), ("B", self.only_in_b)):
            if ids:
                shown = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
                found.append(Caveat("only_in_one", WEAKENS, {"run": name, "count": len(ids), "shown": shown}))
        if a.title != b.title:
            found.append(Caveat("other_titles", WEAKENS, {"a": a.title, "b": b.title}))
        for name in dict.fromkeys((*a.defining, *b.defining)):
            values = {"name": name, "a": a.signature.get(name), "b": b.signature.get(name)}
            if values["a"] != values["b"]:
                found.append(Caveat("other_options", WEAKENS, values))
        if differing := a.other_conditions(b):
            found.append(Caveat("other_conditions", WEAKENS, caveats.listed(differing, "a", "b")))
        of_data = [
            (
                f"run {name}",
                [Caveat("data_unchecked", WEAKENS, {"why": why})] if (why := self.unchecked.get(name)) else [],
            )
            for name in self.named
        ]
        of_runs = [(f"run {name}", caveats.of_run(run)) for name, run in self.named.items()]
        users = caveats.of_users(self.groups[-1].difference)
        return ordered([*grouped(of_data), *found, *grouped(of_runs), *users])


def compare(run_a: Run, run_b: Run, unchecked: Mapping[str, str] | None = None) -> RunComparison:
    """Compare two runs on the cases that both answered.

    Raises:
        RunError: the runs are of two benchmarks, share no case, or a case has different texts.
    """
    if run_a.signature["benchmark"] != run_b.signature["benchmark"]:
        raise RunError(
            f"{run_b.logs[0]}: found a run of {run_b.benchmark.title}, expected {run_a.benchmark.title} as in {run_a.logs[0]}."
        )
    refuse_shared([run_a, run_b])
    common = run_a.cases.keys() & run_b.cases.keys()
    if not common:
        raise RunError(f"{run_a.logs[0]} and {run_b.logs[0]} have no case in common, expected runs of the same cells.")
    other = sorted(case_id for case_id in common if run_a.cases[case_id].digest != run_b.cases[case_id].digest)
    if other:
        raise RunError(
            f"{run_b.logs[0]}: {len(other):,} of {len(common):,} cases have other texts than in {run_a.logs[0]}; "
            f"the first is {other[0]}. Compare runs on the same data."
        )
    values = {case_id: tuple(run.cases[case_id].value(run.primary) for run in (run_a, run_b)) for case_id in common}
    groups = []
    for name, _, ids in groups_of((run_a.cases[case_id] for case_id in common), (), run_a.benchmark):
        users = [run_a.cases[case_id].user_id for case_id in ids]
        a, b = ([values[case_id][side] for case_id in ids] for side in (0, 1))
        deltas = [x - y for x, y in zip(a, b, strict=True)]
        also = partners_of(run_a, ids)
        difference = estimate(deltas, users, also=also)
        if cannot_move((run_a, run_b), ids):
            difference, deltas = Estimate(nan, nan, nan, nan, len(ids), difference.users), [nan] * len(ids)
        right = {case_id: tuple(value == 1 for value in values[case_id]) for case_id in ids}
        p = shared_p(difference) if also else paired_p(deltas, users)
        groups.append(
            GroupComparison(
                name=name,
                acc_a=sum(a) / len(a),
                acc_b=sum(b) / len(b),
                difference=difference,
                p=p,
                is_bound=not also and p <= SMALLEST,
                only_a=tuple(case_id for case_id in ids if right[case_id] == (True, False)),
                only_b=tuple(case_id for case_id in ids if right[case_id] == (False, True)),
                detectable=minimum_detectable_difference(deltas, users, also),
                others=_others(run_a, run_b, ids, users),
            )
        )
    *parts, whole = groups
    corrected = holm([part.p for part in parts])
    return RunComparison(
        run_a,
        run_b,
        (*(replace(part, p=p) for part, p in zip(parts, corrected, strict=True)), whole),
        tuple(sorted(run_a.cases.keys() - common)),
        tuple(sorted(run_b.cases.keys() - common)),
        unchecked or {},
    )


def _others(
    run_a: Run, run_b: Run, ids: Sequence[str], users: Sequence[str]
) -> dict[str, tuple[float, float, Estimate]]:
    if not all(judged(run.cases[case_id]) for run in (run_a, run_b) for case_id in ids):
        return {}
    pairs = [(judged(run_a.cases[case_id]), judged(run_b.cases[case_id])) for case_id in ids]
    found = {}
    for shown in run_a.benchmark.report.compared:
        if (measure := run_a.benchmark.corpus.get(shown.measure)) is not None:
            a, b = (over_corpus(measure, [pair[side] for pair in pairs]) for side in (0, 1))
            found[shown.measure] = (a, b, estimate_of(partial(_difference, measure), pairs, users))
    return found


def _difference(measure: CorpusMetric, pairs: Sequence[tuple[Sequence[Result], Sequence[Result]]]) -> float:
    return over_corpus(measure, [a for a, _ in pairs]) - over_corpus(measure, [b for _, b in pairs])
