"""What a report says right below its table, in words: is the score a shortcut's, and for whom does the run fail?"""

from __future__ import annotations

import math

from ..analysis.report import Report
from ..analysis.users import SHARED_BY, Users
from ..common.statistics import Estimate, percent
from .blocks import Notes


def shortcuts(report: Report) -> Notes:
    """The agreement with each baseline, and the accuracy where the covariate does not differ, over all cases."""
    found, spec = report.shortcuts.get(report.overall.name), report.run.benchmark.report
    if found is None:
        return Notes(())
    said = []
    for name, one in found.baselines.items():
        if one.kappa.n:
            kappa = f"kappa {_signed(one.kappa.value)} ({_signed(one.kappa.low)} to {_signed(one.kappa.high)})"
            said.append(
                f"{name} ({one.kappa.n:,} cases): {percent(one.same)} % shared, {percent(one.expected)} % implied, {kappa}"
            )
    if found.adjusted is not None and report.texts.covariate:
        said.append(f"{spec.primary} {report.texts.covariate.equal}: {_with_interval(found.adjusted)}")
    lead = "Is it a shortcut? Picks shared with each baseline; kappa is 0 if they share no more than their accuracies imply:"
    return Notes(said, lead)


def users(report: Report) -> Notes:
    """How far the users differ, and the groups of users that do better or worse than the others."""
    found = report.users
    if found is None:
        return Notes(())
    quantiles = [f"{share} % of users at {_with_interval(value)}" for share, value in found.quantiles.items()]
    return Notes(
        [
            f"mean of the worst tenth {_with_interval(found.worst_tenth)}; {', '.join(quantiles)}",
            f"standard deviation beyond chance {percent(found.spread)} ({percent(found.low)} to {percent(found.high)}) points",
            *_slices(found),
        ],
        f"By user ({found.count:,} users; accuracies without what chance adds, at equal cells, with 95 % intervals):",
    )


def _slices(found: Users) -> list[str]:
    named = [
        f"{one.attribute}: {one.value} ({one.users:,} users): {_points(one.difference)} points "
        f"({_points(one.low)} to {_points(one.high)}) beside the others, p = {one.p:.2g} (Holm)"
        for one in found.slices
        if one.significant
    ]
    if named or not found.slices:
        return named
    gaps = sorted(one.detectable for one in found.slices)
    between = " to ".join(dict.fromkeys(f"{100 * gap:.1f}" for gap in (gaps[0], gaps[-1])))
    return [
        f"no group of users was found to differ, of {len(found.slices)} that at least {SHARED_BY} users share (5 %, Holm); a gap of {between} "
        "points would have been found in 80 % of benchmarks, depending on the group"
    ]


def _with_interval(found: Estimate) -> str:
    return f"{percent(found.value)} ({percent(found.low)} to {percent(found.high)})"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.2f}"
