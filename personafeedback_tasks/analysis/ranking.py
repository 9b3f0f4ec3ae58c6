"""Runs -> rankings: which are better, how sure that is, and which do not differ significantly.

Only runs that answered the same cases, asked in the same way, share a ranking. Users are the unit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.cases import CaseSet
from ..core.report import Examined, ReportSpec
from ..logs import read
from ..logs.caveat import WEAKENS, Caveat, caveat, grouped
from ..logs.data import RunData
from ..logs.errors import RunError
from ..logs.run import Run
from ..stats.estimates import ALPHA, Estimate
from .caveats import of_result, side_by_side
from .contender import Contender, with_scores
from .documents import SCORE, RankedRun, RankingEntry, fields_of
from .measures import measures
from .pairs import of_two, pairs_of
from .persona_use import Use, use_of
from .sentences import named, none_of, uses_known
from .void import is_void


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Runs on the same cases: what outputs have of them, and the runs themselves, the best first, void ones last."""

    entry: RankingEntry
    contenders: Sequence[Contender]  # of `entry.runs`
    data: CaseSet[Any] | None = None  # the cases; None if they are not at hand

    @property
    def runs(self) -> list[Run]:
        return [one.run for one in self.contenders]

    @property
    def texts(self) -> Examined | None:
        """Facts from the texts of the cases; None without data."""
        return self.contenders[0].texts


def asked(run: Run) -> dict[str, Any]:
    """What runs must share for their scores to be compared: benchmark, options but for the method, prompt, cases."""
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
    """Rank runs that share what `asked` says; `no_data` says why there are no `data`.

    Args:
        texts: of their cases, for the margins over baselines and the adjusted score.
        differing: what the runs differ in; None for the conditions that any harness can ask.
    """
    first = contenders[0].run
    texts = with_scores(first, texts) if texts else None
    contenders = [replace(one, texts=texts) for one in contenders]
    listed = measures(contenders)
    sound = [one for one in contenders if not _has_no_rank(one.run)]
    totals = {id(one.run): sum(one.scores) for one in sound}
    sound.sort(key=lambda one: (-totals[id(one.run)], one.run.label))
    void = sorted((one for one in contenders if _has_no_rank(one.run)), key=lambda one: one.run.label)
    pairs = pairs_of([one.scores for one in sound], contenders[0].clusters)
    if len(contenders) == len(sound) == 2:
        pairs = [of_two(pairs[0], *sound)]
    apart = {(pair.first, pair.second) for pair in pairs if pair.p < ALPHA}
    contenders = [*sound, *void]
    names = _names([one.run for one in contenders])
    values = [{measure.key: measure.in_parts(one, [one])[0] for measure in listed} for one in contenders]
    uses = _uses(contenders, values)
    of_all = _other_conditions([one.run for one in contenders]) if differing is None else differing
    audit = texts.version if texts else ""
    runs = []
    caveats = []
    for place, (one, name, found, use) in enumerate(zip(contenders, names, values, uses, strict=True), 1):
        is_sound = place <= len(sound)
        rank = 1 + sum(total > totals[id(one.run)] + 1e-9 for total in totals.values()) if is_sound else None
        clauses = filter(None, [none_of(one.run, found), uses_known(use) if use and use.asked else ""])
        runs.append(
            RankedRun(
                **{**fields_of(one.run, one.controls, use, audit), "void": not is_sound},
                shown=name,
                harness=one.run.harness,
                method=one.run.method.name,
                partial=bool(one.run.partial),
                rank=rank,
                ranks=ranks_of(place, len(sound), apart) if is_sound else None,
                tied=_tied(place, len(sound), apart) if is_sound else (),
                verdict="; ".join(clauses) or None,
                controlled=use.controlled if use else None,
                measures=found,
            )
        )
        score = found[SCORE]
        assert score is not None  # every run has it
        own = of_result(one, data, no_data, score)
        caveats.append((f"{place}", [*own, *of_all]))
    cells = {cell: first.answered[cell] for cell in first.benchmark.cells if cell in first.answered}
    spec, shared = first.benchmark.report, asked(first)
    compared = {line.key: line for line in spec.compared if any(line.key in pair.measures for pair in pairs)}
    users = len({case.user_id for case in first.cases.values()})
    entry = RankingEntry(
        title=_title(first, shared, cells, users),
        asked=shared,
        cases=sum(cells.values()),
        users=users,
        cells=cells,
        caveats=grouped(caveats),
        measures={one.key: one for one in listed},
        gains=_gains(spec, shared.get(spec.control.option), values),
        runs=runs,
        pairs=pairs,
        compared=compared,
    )
    return Ranking(entry=entry, contenders=contenders, data=data)


def _uses(contenders: Sequence[Contender], values: Sequence[Mapping[str, Estimate | None]]) -> list[Use | None]:
    # it is said of all of them at once, so that equal chances of each do not add up
    found: list[Use | None] = []
    for one, of in zip(contenders, values, strict=True):
        found.append(None if is_void(one.run) else use_of(one.run, of, one.controls))
    models = max(1, sum(use is not None and use.asked for use in found))
    return [use and replace(use, models=models) for use in found]


def _gains(spec: ReportSpec, setting: object, values: Sequence[Mapping[str, Estimate | None]]) -> list[str]:
    # `right_minus_wrong`, `persona_gain`, and further ones that a run has; none where nothing controls such runs
    def has(key: str) -> bool:
        return any((value := of[key]) is not None and not math.isnan(value.value) for of in values)

    return [one.key for one in spec.control.named if one.more == setting and (not one.further or has(one.key))]


def _has_no_rank(run: Run) -> bool:
    return not run.cases or is_void(run)


def _title(run: Run, shared: Mapping[str, Any], cells: Mapping[str, int], users: int) -> str:
    remarks = [*run.benchmark.options.remarks(shared)] or ["default options"]
    return (
        f"{run.title}, {', '.join(remarks)}, prompt {shared['fingerprint']}, task version {shared['task_version']}: "
        f"{sum(cells.values()):,} cases of {users:,} users{' (' + ', '.join(cells) + ')' if cells else ''}"
    )


def _names(runs: Sequence[Run]) -> list[str]:
    # with the method where it is not the default; where two are equal, with conditions or harness, options, or the log
    names = []
    for run in runs:
        is_default = run.method is next(iter(run.benchmark.methods.values()))
        names.append(run.name if is_default else f"{run.name} ({run.method.name})")
    found = list(names)
    for others in (
        [f"{name} ({run.apart or run.program})" for name, run in zip(names, runs, strict=True)],
        [run.label for run in runs],
        [f"{name} ({'/'.join(run.logs[0].parts[-2:])})" for name, run in zip(names, runs, strict=True)],
    ):
        found = [other if found.count(name) > 1 else name for name, other in zip(found, others, strict=True)]
    return found


def _scored(some: Sequence[Contender]) -> list[Sequence[Contender]]:
    # runs without right answers are ranked alone
    scored = [
        one for one in some if not one.run.cases or not all(map(math.isnan, one.run.values(one.run.primary).values()))
    ]
    return [*([scored] if scored else []), *([one] for one in some if one not in scored)]


def ranked(contenders: Sequence[Contender], data: RunData) -> list[Ranking]:
    """The rankings of some runs, each of those that share what `asked` says."""
    rankings = []
    alike: dict[str, list[Contender]] = {}
    for one in contenders:
        alike.setdefault(repr(asked(one.run)), []).append(one)
    for group in sorted(alike.values(), key=len, reverse=True):
        for some in _scored(group):
            run = some[0].run
            rankings.append(make_ranking(some, data.texts(run), *data.of(run)))
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
    return [caveat("asked_otherwise", WEAKENS, how="; ".join(differing))] if differing else []


def ranks_of(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, int]:
    """(best, worst) rank of the run at a place, given the (better, worse) places of each significant pair."""
    return 1 + sum(worse == place for _, worse in apart), count - sum(better == place for better, _ in apart)


def _tied(place: int, count: int, apart: set[tuple[int, int]]) -> tuple[int, ...]:
    others = (other for other in range(1, count + 1) if other != place)
    return tuple(other for other in others if (min(place, other), max(place, other)) not in apart)


def compare(run_a: Run, run_b: Run, data: RunData | None = None) -> Ranking:
    """Rank two runs on their common cases.

    Args:
        data: where their data may be; None for where the logs say.

    Raises:
        RunError: both are one run; or they are of two benchmarks, share no case, or a case has different texts.
    """
    if (run_a.same, run_a.date, run_a.results) == (run_b.same, run_b.date, run_b.results):
        raise RunError(
            f"{run_b.logs[0]}: found the same run as in {run_a.logs[0]}, expected another one: a run does not differ "
            "from itself. Pass the log of the run to compare it with."
        )
    if run_a.signature.benchmark != run_b.signature.benchmark:
        raise RunError(
            f"{run_b.logs[0]}: found a run of {run_b.benchmark.title}, expected {run_a.benchmark.title} as in "
            f"{run_a.logs[0]}."
        )
    read.refuse_shared([run_a, run_b])
    run_a, run_b = read.told_apart([run_a, run_b])
    common = run_a.cases.keys() & run_b.cases.keys()
    if not common:
        raise RunError(f"{run_a.logs[0]} and {run_b.logs[0]} have no case in common, expected runs of the same cells.")
    differing = sorted(case_id for case_id in common if run_a.cases[case_id].digest != run_b.cases[case_id].digest)
    if differing:
        raise RunError(
            f"{run_b.logs[0]}: {len(differing):,} of {len(common):,} cases have other texts than in {run_a.logs[0]}; "
            f"the first is {differing[0]}. Compare runs on the same data."
        )
    contenders = [Contender(_common_part(run, common, other)) for run, other in ((run_a, run_b), (run_b, run_a))]
    data, first = data or RunData(), contenders[0].run
    return make_ranking(contenders, data.texts(first), *data.of(first), _differences(run_a, run_b))


def _common_part(run: Run, ids: Collection[str], other: Run) -> Run:
    # cells that the other run was not asked are no missing part of the comparison
    return replace(run.part(ids), cells={cell: size for cell, size in run.cells.items() if cell in other.cells})


def _differences(a: Run, b: Run) -> list[Caveat]:
    found = []
    for run, other in ((a, b), (b, a)):
        if ids := sorted(run.cases.keys() - other.cases.keys()):
            shown = ", ".join(ids[:5]) + (" and others" if len(ids) > 5 else "")
            found.append(caveat("only_in_one", WEAKENS, run=run.label, count=len(ids), shown=shown))
    if a.title != b.title:
        found.append(caveat("other_titles", WEAKENS, a=a.title, b=b.title))
    of_a, of_b = a.signature.defining, b.signature.defining
    for name in dict.fromkeys((*of_a, *of_b)):
        mine, its = named(of_a.get(name)), named(of_b.get(name))
        if mine != its:
            found.append(caveat("other_options", WEAKENS, name=name, a=mine, b=its))
    if differing := a.other_conditions(b):
        mine, its = side_by_side(differing)
        found.append(caveat("other_conditions", WEAKENS, a=mine, b=its))
    return found
