"""Some runs -> rankings: which are better, how sure that is, and which cannot be told apart.

Only runs that answered the same cases, asked in the same way, share a ranking. Users are the unit, as in `common.statistics`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..analysis.control import gains
from ..analysis.groups import has_macro, measures_of
from ..common.adjusted import at_zero
from ..common.paired_tests import familywise_p
from ..common.statistics import Estimate, estimate, mean, of_mean, share, user_sums
from ..engine.report import Examined
from ..runs.run import Run
from ..runs.signature_line import signature_line
from .baselines import with_scores
from .caveats import of_runs

LEVEL = 0.05
"""Two runs are told apart if their difference is significant at this level, which all pairs of a ranking share."""


@dataclass(frozen=True)
class Ranked:
    """One run of a ranking.

    Attributes:
        run: which.
        rank: 1 is the best; equal scores share the better rank.
        ranks: (best, worst) rank it may have: below every run that is significantly better, above every one that is worse. With
            95 % confidence all of these hold at once.
        score: the primary measure.
        macro: its plain mean over the cells, where all are there.
        margins: baseline -> the score minus that of the baseline on the same cases; empty without data.
        adjusted: the score where the responses do not differ in the texts' covariate, see `adjusted.at_zero`; None without data.
        differences: name -> the score minus that of a control on the cases that both answered, such as `persona gain`; empty
            without controls.
        measures: see `ReportSpec.ranked`: name -> estimate.
        tokens: mean per case; nan where the log does not count them.
        tied: places in the table, from 1, of the other runs that it cannot be told apart from.
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
    tied: tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """Two runs of a ranking, by their places in it, from 1.

    Attributes:
        difference: score of the first minus that of the second, paired by case.
        p: two-sided, see `familywise_p` over all pairs of the ranking.
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
    pairs = pairs_of(scores, users)
    apart = {(pair.first, pair.second) for pair in pairs if pair.p < LEVEL}
    also = texts.prompts_of(ids) if texts else None
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
                ranks=ranks_of(place, len(scored), apart),
                score=share(mine, users, also=also),
                macro=share(mine, users, cells, also) if has_macro(run) else None,
                margins={name: estimate(values, users, also=also) for name, values in against.items()},
                adjusted=_adjusted(run, ids, users, texts),
                differences=_differences(run, beside),
                measures=_measures(run, ids, also),
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
    spec = run.benchmark.report
    if spec.picked is None or texts is None or texts.covariate is None:
        return None
    scores = [run.cases[i].value(spec.primary) for i in ids]
    return at_zero(scores, [texts.covariate.values[i] for i in ids], users)


def _measures(run: Run, ids: Sequence[str], also: Sequence[str] | None) -> dict[str, Estimate]:
    """Those of `ReportSpec.ranked`, in its order."""
    cases, ranked = [run.cases[i] for i in ids], run.benchmark.report.ranked
    found = measures_of(run.benchmark, cases, only=ranked, also=also)
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


def pairs_of(scores: Sequence[Sequence[float]], users: Sequence[str]) -> list[Pair]:
    """Each two of some runs, compared; the p values control the chance of any false difference among all of them.

    Args:
        scores: run -> one value per case, from the best run.
        users: the user of each case.
    """
    cases = user_sums([1.0] * len(users), users)
    sums = [user_sums(of_run, users) for of_run in scores]
    found, differences = [], []
    for a, b in combinations(range(len(scores)), 2):
        by_user = {user: sums[a][user] - sums[b][user] for user in cases}
        value = math.fsum(by_user.values()) / len(users)
        moves = {user: (total - value * cases[user]) / len(users) for user, total in by_user.items()}
        found.append((a + 1, b + 1, of_mean(value, len(users), moves)))
        differences.append(list(by_user.values()))
    p_values = familywise_p(differences) if found else []
    return [Pair(*pair, p) for pair, p in zip(found, p_values, strict=True)]


def ranks_of(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, int]:
    """(best, worst) rank that the run at a place may have.

    Args:
        count: of all runs.
        apart: (place of the better, of the worse) of each pair that is told apart.
    """
    return 1 + sum(worse == place for _, worse in apart), count - sum(better == place for better, _ in apart)


def _tied(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, ...]:
    """See `Ranked.tied`."""
    others = (other for other in range(1, count + 1) if other != place)
    return tuple(other for other in others if (min(place, other), max(place, other)) not in apart)
