"""First lines of a report: is the score a shortcut's, for whom does the run fail, what do people reach?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..analysis.groups import Group
from ..analysis.report import Report
from ..analysis.users import SHARED_BY, Users
from ..logs.run import Run
from ..stats.estimates import Estimate, percent
from ..stats.logistic import LEAST_SHARE
from . import sentences
from .blocks import Block, Words, bullets
from .table import Column, Table, measured, points, signed, with_ends, with_interval

TOO_FEW = f"not given: the right response is the shorter or the longer one in less than {100 * LEAST_SHARE:.0f} % of the cases"
"""In place of a score at equal length."""


def verdict(report: Report) -> str:
    """The first sentence about a run; empty where nothing was answered."""
    spec = report.run.benchmark.report
    score = report.overall.measures[report.run.primary]
    if math.isnan(score.value):
        return ""
    if report.void:
        return "No verdict: the numbers are void."
    known = report.run.stopped
    sequence = known is not None and known.early  # only its interval holds
    clauses = [
        sentences.beyond(margin, f"always picking {spec.card.baselines[name]}")
        for name, margin in report.margins.items()
        if spec.card is not None and not sequence
    ]
    if unchanged := none_of(report.run, report.overall.measures):
        clauses = [unchanged]
    elif known is not None and sequence and not known.accuracy:
        clauses = [""]
    elif not clauses and spec.chance is not None:
        above = {end: getattr(score, end) - spec.chance for end in ("value", "low", "high")}
        clauses = [sentences.beyond(replace(score, **above), "chance")]
    if not clauses:
        clauses = [f"{report.run.score_name} {percent(score.value)} %{_beside_baselines(report)}"]
    harms = [sentences.harmed(word, harm.share) for word, harm in report.harms[report.overall.name].items()]
    return sentences.verdict(clauses[0], "; ".join(harms) or (sentences.uses_known(report.use) if report.use else ""))


def none_of(run: Run, values: Mapping[str, Estimate | None]) -> str:
    """A clause on what the run never does, from `Line.none`; else empty, also where picks are not what its score is made of."""
    if run.primary != run.benchmark.report.primary:
        return ""
    zero = ((line, value) for line in run.headline if line.none and (value := values.get(line.measure)))
    return next((line.none.format(n=value.n) for line, value in zero if value.value == 0), "")


def columns_beside(report: Report, groups: Sequence[Group]) -> list[Column]:
    """The columns of `ReportSpec.beside`; of a subset also its size: `35 of 276 pairs`."""
    columns: list[Column] = []
    units = report.run.benchmark.units
    size, kind = (units.size, units.name) if units else (1, "case")
    for name in report.run.benchmark.report.beside:
        if all(name in group.named for group in groups):
            found = [group.named[name] for group in groups]
            value, ends = with_interval(name, found, strong=False)
            columns += [replace(value, texts=tuple(percent(one.value) if one.n else "none" for one in found)), ends]
            counts = zip(found, groups, strict=True)
            of_all = tuple(f"{one.n // size:,} of {group.cases // size:,} {kind}s" for one, group in counts)
            columns += [Column("in", of_all, joined=True)] if name in report.texts.subsets else []
    return columns


def _beside_baselines(report: Report) -> str:
    primary, baselines = report.run.primary, report.judges.baselines if report.judges else {}
    scores = {name: measures[primary].value for name, measures in baselines.items() if primary in measures}
    if not scores:
        return ""
    best = max(scores, key=lambda name: scores[name])
    return f"; the best baseline, {best}, reaches {percent(scores[best])} %"


def ceilings(report: Report) -> dict[str, str]:
    """Group of the run -> the highest score that the labels allow, in percent, where that is below 100."""
    columns = report.run.benchmark.columns(report.run.benchmark.cells)
    whole = {group.name for group in report.groups}
    held = whole | {name for name, cells in columns.items() if name != "total" and set(cells) & set(report.run.cells)}
    values = {name: percent(value) for name, value in report.texts.ceiling.items() if name in held}
    return {name: value for name, value in values.items() if value != "100.0"}


def shortcuts(report: Report) -> Words:
    """The agreement with each baseline, and the accuracy where the covariate does not differ, over all cases."""
    overall, spec = report.shortcuts.get(report.overall.name), report.run.benchmark.report
    if overall is None:
        return bullets(())
    lines = [
        f"{name} ({agreement.kappa.n:,} cases): {percent(agreement.same)} % shared, {percent(agreement.expected)} % implied, "
        f"kappa {with_ends(agreement.kappa, lambda kappa: signed(kappa, 2))}"
        for name, agreement in overall.baselines.items()
        if agreement.kappa.n
    ]
    if overall.adjusted is not None:
        value = TOO_FEW if math.isnan(overall.adjusted.value) else with_ends(overall.adjusted)
        lines.append(f"{report.run.primary} {spec.adjusted}: {value}")
    lead = "Is it a shortcut? Picks shared with each baseline; kappa is 0 if they share no more than their accuracies imply:"
    return bullets(lines, lead)


def users(report: Report) -> Words:
    """How far the users differ, and the groups of users that do better or worse than the others."""
    users = report.users
    if users is None:
        return bullets(())
    return bullets(
        [
            f"standard deviation beyond chance {percent(users.spread)} ({percent(users.low)} to {percent(users.high)}) points",
            *_slices(users),
        ],
        f"By user ({users.count:,} users; at equal cells, with 95 % intervals):",
    )


def differing(users: Users) -> list[str]:
    """The groups of users that differ from the others."""
    return [
        f"{group.attribute}: {group.value} ({group.users:,} users): {points(group.difference)} points "
        f"({points(group.low)} to {points(group.high)}) beside the others, p = {group.p:.2g} (Holm)"
        for group in users.slices
        if group.significant
    ]


def _slices(users: Users) -> list[str]:
    lines = differing(users)
    if lines or not users.slices:
        return lines
    gaps = sorted(group.detectable for group in users.slices)
    between = " to ".join(dict.fromkeys(f"{100 * gap:.1f}" for gap in (gaps[0], gaps[-1])))
    return [
        f"none of {len(users.slices)} groups of at least {SHARED_BY} users differs from the others (5 %, Holm); a gap of {between} "
        "points would have been found in 80 % of benchmarks, depending on the group"
    ]


def beside(report: Report) -> list[Block]:
    """The run and the baselines that answer, one below the other; and how far people agree."""
    judges = report.judges
    if judges is None:
        return []
    blocks: list[Block] = []
    if judges.baselines:
        rows = {"this run": report.overall.measures, **judges.baselines}
        columns: list[Column] = []
        for line in report.run.benchmark.report.compared:
            columns += measured(line, [measures[line.measure] for measures in rows.values()])
        blocks.append(Table("Beside baselines", tuple(rows), tuple(columns)))
    lines = []
    if agreement := judges.agreement:
        values = "; ".join(f"{name} {with_ends(value, signed)}" for name, value in agreement.coefficients.items())
        lines.append(f"People's agreement ({agreement.note}): {values}." if values else agreement.note)
    return [*blocks, bullets(lines)]
