"""Some runs -> rankings: which are better, how sure that is, and which cannot be told apart.

Only runs that answered the same cases, asked in the same way, share a ranking. Users are the unit, as in `common.statistics`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..common.adjusted import at_zero
from ..common.statistics import Estimate, estimate, holm, mean, share, sign_flip_p
from ..engine.report import Examined
from ..runs.run import Run
from .baselines import with_scores
from .caveats import of_runs
from .control import gains
from .groups import has_macro, measures_of
from .signature_line import signature_line

RESAMPLES = 2_000
"""Bootstrap samples of users behind the interval of a rank."""
SEED = 20250615
LEVEL = 0.05
"""Two runs are told apart if their difference is significant at this level after Holm's correction over all pairs."""


@dataclass(frozen=True)
class Ranked:
    """One run of a ranking.

    Attributes:
        run: which.
        rank: 1 is the best; equal scores share the better rank.
        ranks: (best, worst) of its 95 % interval: the rank in bootstrap samples of users.
        score: the primary measure.
        macro: its plain mean over the cells, where all are there.
        margins: baseline -> the score minus that of the baseline on the same cases; empty without data.
        adjusted: the score where the responses do not differ in the texts' covariate, see `adjusted.at_zero`; None without data.
        differences: name -> the score minus that of a control on the cases that both answered, such as `persona gain`; empty
            without controls.
        measures: see `ReportSpec.ranked`: name -> estimate.
        tokens: mean per case; nan where the log does not count them.
        tied: (first, last) place in the table of the runs around it that it cannot be told apart from, from 1.
    """

    run: Run
    rank: int
    ranks: tuple[int, int]
    score: Estimate
    macro: Estimate | None
    margins: Mapping[str, Estimate]
    adjusted: Estimate | None
    differences: Mapping[str, Estimate]
    measures: Mapping[str, Estimate]
    tokens: float
    tied: tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """Two runs of a ranking, by their places in it, from 1.

    Attributes:
        difference: score of the first minus that of the second, paired by case.
        p: two-sided, by sign flips of users, after Holm's correction.
    """

    first: int
    second: int
    difference: Estimate
    p: float


@dataclass(frozen=True)
class Ranking:
    """Runs on the same cases, from the best.

    Attributes:
        asked: what they share: name -> value.
        cases, users: how many.
        cells: cell -> number of its cases.
        covariate: what `Ranked.adjusted` is, in words: `at equal length`; empty without it.
        rows: the runs.
        pairs: each two of them.
        notes: what a reader must know before the numbers.
    """

    asked: Mapping[str, Any]
    cases: int
    users: int
    cells: Mapping[str, int]
    covariate: str
    rows: tuple[Ranked, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Ready for `jsonable`."""
        return {
            "asked": self.asked,
            "cases": self.cases,
            "users": self.users,
            "cells": self.cells,
            "notes": self.notes,
            "runs": [
                {
                    "model": row.run.model,
                    "label": row.run.label,
                    "signature": signature_line(row.run),
                    **{name: _plain(value) for name, value in vars(row).items() if name != "run"},
                }
                for row in self.rows
            ],
            "pairs": [{name: _plain(value) for name, value in vars(pair).items()} for pair in self.pairs],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return vars(value)
    return {name: vars(one) for name, one in value.items()} if isinstance(value, Mapping) else value


Row = tuple[Run, Mapping[str, Run]]
"""A run with its controls: value of the control's option -> run."""


def alike(rows: Sequence[Row]) -> list[list[Row]]:
    """The runs that may share a ranking: the same benchmark, options but for the method, prompt, task version and cases."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(repr(asked(row[0])), []).append(row)
    return sorted(found.values(), key=len, reverse=True)


def asked(run: Run) -> dict[str, Any]:
    """What runs must share for their scores to be compared."""
    shared = {name: run.signature.get(name) for name in run.defining if name != "method"}
    texts = "\n".join(f"{case_id} {case.digest}" for case_id, case in sorted(run.cases.items()))
    cells = ", ".join(f"{cell} {count:,}" for cell, count in sorted(run.answered.items()))
    return {**shared, "set": run.title, "cases": cells, "texts": hashlib.sha256(texts.encode()).hexdigest()[:12]}


def make_ranking(runs: Sequence[Row], texts: Examined | None = None) -> Ranking:
    """Rank runs that `alike` put together.

    Args:
        texts: of their cases, for the margins over baselines and the adjusted score.
    """
    first, spec = runs[0][0], runs[0][0].benchmark.report
    texts = with_scores(first, texts) if texts else None
    ids = sorted(first.cases)
    users = [first.cases[case_id].user_id for case_id in ids]
    cells = [first.cases[case_id].cell for case_id in ids]
    scored = [([run.cases[case_id].value(spec.primary) for case_id in ids], run, beside) for run, beside in runs]
    scored.sort(key=lambda one: (-sum(one[0]), one[1].label))
    scores = [mine for mine, *_ in scored]
    pairs = _pairs(scores, users)
    apart = {(pair.first, pair.second) for pair in pairs if pair.p < LEVEL}
    intervals = _rank_intervals(scores, users)
    baselines = dict.fromkeys(name for of_case in texts.baselines.values() for name in of_case) if texts else {}
    rows = []
    for place, (mine, run, beside) in enumerate(scored, start=1):
        against = {
            name: [score - texts.baselines[case_id][name] for case_id, score in zip(ids, mine, strict=True)]
            for name in baselines
            if texts is not None
        }
        rows.append(
            Ranked(
                run=run,
                rank=1 + sum(sum(other) > sum(mine) + 1e-9 for other in scores),
                ranks=intervals[place - 1],
                score=share(mine, users),
                macro=share(mine, users, cells) if has_macro(run) else None,
                margins={name: estimate(values, users) for name, values in against.items()},
                adjusted=_adjusted(run, ids, users, texts),
                differences=_differences(run, beside),
                measures=_measures(run, ids),
                tokens=mean(run.cases[i].tokens for i in ids),
                tied=_tied(place, len(scored), apart),
            )
        )
    notes = [
        f"{about}: {sentence}" if about else sentence
        for about, sentence in of_runs([(f"{place}", one.run) for place, one in enumerate(rows, start=1)])
    ]
    return Ranking(
        asked(first), len(ids), len(set(users)), {cell: first.answered[cell] for cell in first.benchmark.cells if cell in first.answered},
        texts.covariate.equal if texts and texts.covariate else "", tuple(rows), tuple(pairs), tuple(notes),
    )  # fmt: skip


def _adjusted(run: Run, ids: Sequence[str], users: Sequence[str], texts: Examined | None) -> Estimate | None:
    picked = run.benchmark.report.picked
    if picked is None or texts is None or texts.covariate is None:
        return None
    return at_zero([picked(run.cases[i]) for i in ids], [texts.covariate.values[i] for i in ids], users)


def _measures(run: Run, ids: Sequence[str]) -> dict[str, Estimate]:
    """Those of `ReportSpec.ranked`, in its order."""
    cases, ranked = [run.cases[i] for i in ids], run.benchmark.report.ranked
    values = {
        case.case_id: {name: case.value(name) for name in ranked if name not in run.benchmark.corpus} for case in cases
    }
    found = measures_of(run.benchmark, cases, values, only=ranked)
    return {name: found[name] for name in ranked if name in found}


def _differences(run: Run, beside: Mapping[str, Run]) -> dict[str, Estimate]:
    """The gain over the control, and the differences of the run that have a name."""
    spec = run.benchmark.report.control
    if spec is None:
        return {}
    names = {spec.value: spec.gain}
    names |= {one.less: one.name for one in spec.named if one.more == run.signature[spec.option]}
    found = {name: gains(run, beside[value]) for value, name in names.items() if value in beside}
    return {
        name: estimate(list(gain.values()), [run.cases[case_id].user_id for case_id in gain])
        for name, gain in found.items()
    }


def _pairs(scores: Sequence[Sequence[float]], users: Sequence[str]) -> list[Pair]:
    found = []
    for a, b in combinations(range(len(scores)), 2):
        differences = [x - y for x, y in zip(scores[a], scores[b], strict=True)]
        found.append((a + 1, b + 1, estimate(differences, users), sign_flip_p(differences, users)))
    adjusted = holm([p for *_, p in found])
    return [Pair(a, b, difference, p) for (a, b, difference, _), p in zip(found, adjusted, strict=True)]


def _tied(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, int]:
    """The places around one without a pair that is told apart: from the one itself up, and from it down."""
    first = last = place
    while first > 1 and (first - 1, place) not in apart:
        first -= 1
    while last < count and (place, last + 1) not in apart:
        last += 1
    return first, last


def _rank_intervals(scores: Sequence[Sequence[float]], users: Sequence[str]) -> list[tuple[int, int]]:
    """(best, worst) rank of each run in 95 % of bootstrap samples of users."""
    names = {user: index for index, user in enumerate(sorted(set(users)))}
    codes = np.array([names[user] for user in users])
    cases = np.bincount(codes, minlength=len(names))
    sums = np.array([np.bincount(codes, weights=of_run, minlength=len(names)) for of_run in scores])
    drawn = np.random.default_rng(SEED).multinomial(len(names), [1 / len(names)] * len(names), size=RESAMPLES)
    means = (drawn @ sums.T) / (drawn @ cases)[:, None]
    ranks = 1 + (means[:, None, :] > means[:, :, None] + 1e-12).sum(axis=2)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    return [(int(a), int(b)) for a, b in zip(low, high, strict=True)]
