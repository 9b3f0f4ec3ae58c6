"""Two runs on the same cases -> which one serves these users better, and the smallest difference they could detect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from rich.console import RenderableType

from ..analysis.groups import groups_of, judged
from ..common import foreign
from ..common.paired_tests import paired_p
from ..common.significance import holm, minimum_detectable_difference
from ..common.statistics import Estimate, estimate, estimate_of
from ..common.strict_json import jsonable
from ..engine.outcome import CorpusMetric, Outcome
from ..engine.report import Line
from ..engine.table import over_corpus
from ..runs.run import Run, RunError
from ..runs.signature_line import signature_line
from . import caveats
from . import table as layout
from .table import NOTHING, Column, Table, percent, spaced, with_interval
from .terminal import line


@dataclass(frozen=True)
class GroupComparison:
    """One line of a comparison: a cell, a category, or all.

    Attributes:
        name: `general_hard`, `general`, `total`.
        acc_a, acc_b: accuracy of each run on the cases that both answered, in [0, 1].
        difference: acc_a - acc_b, paired, with its interval clustered by user.
        p: two-sided p value by resampling whole users, see `paired_tests.paired_p`, in (0, 1]. That over all cases is the test; those of the
            other groups, of which there may be ten, have Holm's correction.
        only_a: ids of the cases that run A got entirely right (a letter: in both orders) and run B did not; only_b the
            reverse.
        detectable: the minimum detectable difference, the smallest true one that these data show with 80 % power at the 5 % level.
        others: measure -> (run A, run B, difference with its jackknife interval), of `ReportSpec.compared` that are no means
            over cases.
    """

    name: str
    acc_a: float
    acc_b: float
    difference: Estimate
    p: float
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    detectable: float
    others: Mapping[str, tuple[float, float, Estimate]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Everything that is printed about two runs.

    Attributes:
        only_in_a: ids of the cases that run A answered and run B did not; only_in_b the reverse.
        unchecked: run (`A`, `B`) -> why its users, cells and texts were not checked against the data.
    """

    run_a: Run
    run_b: Run
    groups: tuple[GroupComparison, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    unchecked: Mapping[str, str] = field(default_factory=dict)

    @property
    def caveats(self) -> list[str]:
        """What a reader must know before the numbers."""
        missing = [sentence for name, run in _named(self) for sentence in caveats.of_missing(run, f"run {name}")]
        found = missing + [
            f"The users, cells and texts of run {name} were not checked. {why}" for name, why in self.unchecked.items()
        ]
        for name, ids in (("A", self.only_in_a), ("B", self.only_in_b)):
            if ids:
                named = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
                found.append(f"{len(ids):,} cases are only in run {name} and left out: {named}")
        if self.run_a.title != self.run_b.title:
            found.append(f"Run A is of {self.run_a.title}, run B of {self.run_b.title}, with the same texts.")
        for name in dict.fromkeys((*self.run_a.defining, *self.run_b.defining)):
            a, b = self.run_a.signature.get(name), self.run_b.signature.get(name)
            if a != b:
                found.append(
                    f"The runs also differ in {name}: {a} and {b}. The difference is not due to the model alone."
                )
        a, b = self.run_a.conditions_line, self.run_b.conditions_line
        if a != b:
            found.append(f"The conditions differ: {a}; and {b}.")
        found += (caveat for name, run in _named(self) for caveat in caveats.of_run(run, f"run {name}"))
        if self.groups[-1].difference.users < caveats.FEW_USERS:
            found.append(f"Only {self.groups[-1].difference.users} users: 95 % intervals under-cover.")
        return list(dict.fromkeys(found))

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; nan becomes None."""
        return jsonable(
            {
                "a": signature_line(self.run_a),
                "b": signature_line(self.run_b),
                "partial": {name: run.partial for name, run in _named(self)},
                "left_out": {name: run.left_out for name, run in _named(self)},
                "caveats": self.caveats,
                "only_in_a": self.only_in_a,
                "only_in_b": self.only_in_b,
                "groups": {group.name: asdict(group) for group in self.groups},
            }
        )


def compare(run_a: Run, run_b: Run, unchecked: Mapping[str, str] | None = None) -> Comparison:
    """Compare two runs on the cases that both answered.

    Args:
        unchecked: see `Comparison`.

    Raises:
        RunError: the runs are of two benchmarks, share no case, or a case has different texts.
    """
    if run_a.signature["benchmark"] != run_b.signature["benchmark"]:
        raise RunError(
            f"{run_b.logs[0]}: found a run of {run_b.benchmark.title}, expected {run_a.benchmark.title} as in {run_a.logs[0]}."
        )
    primary = run_a.benchmark.report.primary
    common = run_a.cases.keys() & run_b.cases.keys()
    if not common:
        raise RunError(f"{run_a.logs[0]} and {run_b.logs[0]} have no case in common, expected runs of the same cells.")
    other = sorted(case_id for case_id in common if run_a.cases[case_id].digest != run_b.cases[case_id].digest)
    if other:
        raise RunError(
            f"{run_b.logs[0]}: {len(other):,} of {len(common):,} cases have other texts than in {run_a.logs[0]}; "
            f"the first is {other[0]}. Compare runs on the same data."
        )
    values = {case_id: tuple(run.cases[case_id].value(primary) for run in (run_a, run_b)) for case_id in common}
    groups = []
    for name, _, ids in groups_of((run_a.cases[case_id] for case_id in common), (), run_a.benchmark):
        users = [run_a.cases[case_id].user_id for case_id in ids]
        a, b = ([values[case_id][side] for case_id in ids] for side in (0, 1))
        deltas = [x - y for x, y in zip(a, b, strict=True)]
        right = {case_id: tuple(value == 1 for value in values[case_id]) for case_id in ids}
        groups.append(
            GroupComparison(
                name=name,
                acc_a=sum(a) / len(a),
                acc_b=sum(b) / len(b),
                difference=estimate(deltas, users),
                p=paired_p(deltas, users),
                only_a=tuple(case_id for case_id in ids if right[case_id] == (True, False)),
                only_b=tuple(case_id for case_id in ids if right[case_id] == (False, True)),
                detectable=minimum_detectable_difference(deltas, users),
                others=_others(run_a, run_b, ids, users),
            )
        )
    *parts, whole = groups
    corrected = holm([part.p for part in parts])
    return Comparison(
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
    """See `GroupComparison.others`."""
    if not all(judged(run.cases[case_id]) for run in (run_a, run_b) for case_id in ids):
        return {}
    pairs = [(judged(run_a.cases[case_id]), judged(run_b.cases[case_id])) for case_id in ids]
    found = {}
    for shown in run_a.benchmark.report.compared:
        if (measure := run_a.benchmark.corpus.get(shown.measure)) is not None:
            a, b = (over_corpus(measure, [pair[side] for pair in pairs]) for side in (0, 1))
            found[shown.measure] = (a, b, estimate_of(partial(_difference, measure), pairs, users))
    return found


def _difference(measure: CorpusMetric, pairs: Sequence[tuple[Sequence[Outcome], Sequence[Outcome]]]) -> float:
    return over_corpus(measure, [a for a, _ in pairs]) - over_corpus(measure, [b for _, b in pairs])


LEGEND = (
    "acc in percent, paired by case; intervals clustered by user; p: the larger of sign flips and "
    "bootstrap-t over users (the last row is the test; the other rows have Holm's correction among them); only A, only B: cases that one run got entirely right (in all of its calls) and the other did not; "
    "detectable: the minimum detectable difference at 80 % power."
)


def tables(comparison: Comparison) -> list[Table]:
    """One row per group. The last columns are a table of their own where they do not fit beside the others."""
    groups = comparison.groups
    columns = (
        Column("cases", tuple(f"{group.difference.n:,}" for group in groups)),
        Column("users", tuple(f"{group.difference.users:,}" for group in groups)),
        Column("A", tuple(percent(group.acc_a) for group in groups)),
        Column("B", tuple(percent(group.acc_b) for group in groups)),
        *with_interval("A - B", [group.difference for group in groups], sign=True),
        Column("p", tuple(NOTHING if group.p != group.p else f"{group.p:.4f}" for group in groups), joined=True),
        Column("only A", tuple(f"{len(group.only_a):,}" for group in groups)),
        Column("only B", tuple(f"{len(group.only_b):,}" for group in groups), joined=True),
        Column("detectable", tuple(percent(group.detectable) for group in groups), joined=True),
    )
    return [Table("Difference", tuple(spaced(group.name) for group in groups), columns), _other_table(comparison)]


def _other_table(comparison: Comparison) -> Table:
    """The measures of `GroupComparison.others` over all cases, each in its unit; differences of percentages are in points."""
    found = comparison.groups[-1].others
    shown = [line for line in comparison.run_a.benchmark.report.compared if line.measure in found]
    rows = [(one, replace(one, sign=True), found[one.measure]) for one in shown]

    def gap(one: Line, value: float) -> str:
        return percent(value, sign=True) if one.share else layout.number(one, value)

    def between(one: Line, gaps: Estimate) -> str:
        return NOTHING if gaps.low != gaps.low else f"{gap(one, gaps.low)} to {gap(one, gaps.high)}"

    columns = (
        Column("A", tuple(layout.number(one, a) for one, _, (a, _, _) in rows)),
        Column("B", tuple(layout.number(one, b) for one, _, (_, b, _) in rows)),
        Column("A - B", tuple(gap(signed, difference.value) for _, signed, (_, _, difference) in rows), strong=True),
        Column(
            layout.INTERVAL, tuple(between(signed, difference) for _, signed, (_, _, difference) in rows), joined=True
        ),
    )
    labels = tuple(f"{one.title} (%)" if one.share else one.title for one in shown)
    return Table("Over all cases", labels, columns if rows else (), corner="")


def terminal(comparison: Comparison) -> list[RenderableType]:
    """What `terminal.show` prints."""
    return [
        *(line(f"{name}: {run.label}", style="bold") for name, run in _named(comparison)),
        *(line(f"! {caveat}") for caveat in comparison.caveats),
        *layout.drawn(tables(comparison)),
        line(LEGEND, style="dim"),
        *(line(f"{name}: {signature_line(run)}", style="dim") for name, run in _named(comparison)),
    ]


def markdown(comparison: Comparison) -> str:
    """A section of a Markdown file."""
    parts: Sequence[str] = (
        "## A: {}; B: {}".format(*(foreign.markdown(run.label) for _, run in _named(comparison))),
        "\n".join(f"> {foreign.markdown(caveat)}  " for caveat in comparison.caveats),
        *layout.markdown(tables(comparison), 3),
        LEGEND,
        "\n".join(f"{name}: {foreign.code(signature_line(run))}  " for name, run in _named(comparison)),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _named(comparison: Comparison) -> list[tuple[str, Run]]:
    return [("A", comparison.run_a), ("B", comparison.run_b)]
