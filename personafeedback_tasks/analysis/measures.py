"""The measures of reports and rankings, an entry each: its name, where it is shown, and its value for a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from ..core.report import DIFFERENCE, Control, Line, key_of
from ..core.result import CorpusMetric, Result
from ..core.table import UnitMean
from ..logs.run import Run
from ..stats.estimates import Estimate, estimate, estimate_of, mean, paired, share
from ..stats.logistic import at_zero
from .contender import Contender, has_macro
from .control import gains, named_differences, turned
from .documents import SCORE
from .persona_use import EXCESS, excess_over_counting, same_pick
from .void import is_void

KINDS = ("score", "beside", "margin", "adjusted", "difference", "own")
"""The kinds of the measures of rankings, in their order."""

RESULT, HARMS, BASELINES = "Result", "Answers that change with what the model is told", "Baselines"
SHARED = "Picks that each baseline shares"
SETTINGS, SAME_PICK = "The same cases under each setting", "Cases with the same pick in every order, under both"
"""Headings of tables of a report."""

NEITHER: Mapping[str, Any] = {"higher_is_better": None}
"""Of what is no score of the run."""


@dataclass(frozen=True, kw_only=True)
class Measure(Line):
    """A measure of reports and rankings: the mean of a value per case, unless `of` computes it from all of them.

    Documents have the fields of `Line`.
    """

    # The value of each case, nan where it has none; None where the run has no such measure.
    values: Callable[[Contender], Sequence[float] | None] | None = field(default=None, repr=False, compare=False)
    over: Callable[..., Estimate] = field(default=share, repr=False, compare=False)  # how values become an estimate
    of: Callable[[Contender], Estimate | None] | None = field(default=None, repr=False, compare=False)

    def in_parts(self, whole: Contender, parts: Sequence[Contender]) -> list[Estimate | None]:
        """Its value in parts of a run, whose values are computed once; None where there is none."""
        import numpy as np  # the extra `report` brings it

        if self.values is None:
            assert self.of is not None, "a measure has either"
            return [self.of(part) for part in parts]
        values = self.values(whole)
        if values is None:
            return [None for _ in parts]
        given = np.asarray(values, dtype=float)
        return [self.over(given if one.part is None else given[one.part], one.clusters) for one in parts]


def measures(contenders: Sequence[Contender]) -> list[Measure]:
    """The measures of a ranking: all that its benchmark can have, whatever data and controls there are."""
    first = contenders[0]
    scores = dict.fromkeys(one.run.primary for one in contenders)
    about = "; ".join(filter(None, (first.run.benchmark.report.line(score).meaning for score in scores)))
    macro = "plain mean over the cells, whatever their numbers of cases"
    ranked = [replace(one, label=_in_rankings(one, first)) for one in every(first) if one.ranked]
    return [
        Measure(SCORE, " or ".join(scores), kind="score", values=lambda one: one.scores, ranked=True, meaning=about),
        Measure("macro", kind="score", of=_macro, ranked=True, meaning=macro),
        *sorted(ranked, key=lambda one: KINDS.index(one.kind)),
    ]


def every(one: Contender) -> list[Measure]:
    """Every measure that runs like this one can have, in the order of a report's tables.

    A measure of one benchmark is a `Line` of its `ReportSpec`; one of all benchmarks is an entry here.
    """
    run, texts = one.run, one.texts
    spec = run.benchmark.report
    found = [own(line, run, RESULT) for line in run.headline]
    baselines = dict.fromkeys(spec.baselines)
    if texts:
        baselines |= dict.fromkeys(texts.baselines)
    parts = {name: label for name, (label, _) in texts.subsets.items()} if texts else {}
    picked = {name: f"the baseline that picks {what}" for name, what in spec.shortcuts.items()}
    fields: dict[str, Any]
    of_baselines, of_parts = {}, {}
    for name in baselines:
        # of those that answer like a model, a table of their own has people, too
        fields = {"table": "" if spec.compared else BASELINES, "meaning": picked.get(name, "")}
        of_baselines[name] = Measure(name, kind="baseline", values=partial(_baseline, name), **fields, **NEITHER)
    for name, label in parts.items():
        fields = {"table": f"{run.score_name} in parts of the data", "interval": True, "counted": "cases"}
        of_parts[name] = Measure(name, label, kind="part", values=partial(_part, name), **fields)
    for name in spec.beside:
        fields = {"kind": "beside", "ranked": True, "interval": True, "table": RESULT}
        if name in spec.baselines:
            found.append(replace(of_baselines.pop(name), **fields))
        else:
            fields |= {"meaning": parts.get(name, ""), "counted": "cases"}
            found.append(Measure(name, values=partial(_part, name), **fields))
            of_parts.pop(name, None)
    if spec.adjusted:
        about = f"the score {spec.adjusted} of the responses, by logistic regression"
        fields = {"ranked": True, "interval": True, "table": RESULT, "meaning": about}
        found.append(_named(spec.adjusted, kind="adjusted", of=_adjusted, **fields))
    if spec.control:
        found += _of_control(spec.control, one)
    which = {name: f", which picks {what}" for name, what in spec.shortcuts.items()}
    for name in baselines:
        about = f"the score minus that of the baseline {name} on the same cases{which.get(name, '')}"
        fields = {"unit": DIFFERENCE, "ranked": True, "table": "", "meaning": about}
        found.append(Measure(over(name), kind="margin", values=partial(_margin, name), over=paired, **fields))
    found += of_baselines.values()
    for name in spec.shortcuts if spec.picked else ():
        about = f"share of the run's picks that are those of the baseline {name}{which[name]}"
        fields = {"table": SHARED, "meaning": about, "interval": True, "counted": "cases", **NEITHER}
        found.append(Measure(f"same_as_{name}", name, kind="shared", values=partial(shared_picks, name), **fields))
    found += of_parts.values()
    found += [own(line, run, line.table) for line in spec.details]
    unnamed = (name for name in (*run.benchmark.measures, *run.benchmark.corpus) if name not in spec.lines)
    return [*found, *(own(Line(name), run) for name in unnamed)]


def _named(label: str, **fields: Any) -> Measure:
    return Measure(key_of(label), label, **fields)


def _of_control(control: Control, one: Contender) -> list[Measure]:
    own, setting = named_differences(one.run), one.run.setting
    settings = {named.name: (named.more, named.less) for named in control.named}
    settings |= {name: (setting, value) for name, value in own.items()}
    further = {named.name for named in control.named if named.further}
    shown: dict[str, Any] = {"kind": "difference", "unit": DIFFERENCE, "interval": True, "strong": True}
    found = []
    for name in dict.fromkeys((control.gain, *(named.name for named in control.named))):
        of, table = partial(difference, settings.get(name)), RESULT if name in own else SETTINGS
        found.append(_named(name, of=of, table=table, meaning=_of_difference(name, control), ranked=True, **shown))
    found.sort(key=lambda one: (one.table != RESULT, one.label in further, one.label == control.gain))
    if control.counting:
        counting = f"{control.counting} that a response shares with the {control.known}"
        about = f"right minus wrong minus that of {counting}, where that is above 0, {PAIRED}"
        found.append(_named(EXCESS, of=excess_over_counting, table=RESULT, meaning=about, ranked=True, **shown))
    for word in dict.fromkeys(control.harm.values()):
        fields: dict[str, Any] = {"kind": "own", "interval": True, "counted": "answers", "table": HARMS}
        harmed = "of the answers that are right without, the share that is wrong with it"
        helped = "of those that are wrong, the share that is right"
        harm = {"strong": True, "meaning": harmed, "higher_is_better": False}
        found.append(_named(word, of=partial(_harm, word, 1), **harm, **fields))
        found.append(_named(f"helped, not {word}", of=partial(_harm, word, 0), meaning=helped, **fields))
    about = "right minus wrong on the cases in which both runs pick the same response in every order"
    fields = {"unit": DIFFERENCE, "interval": True, "counted": "cases", "table": SAME_PICK, "meaning": about}
    found.append(Measure("same_pick", "right minus wrong", kind="difference", of=same_pick, **fields))
    for value in one.controls:
        key = f"{one.run.primary}_{value}"
        fields = {"kind": "setting", "interval": True, "table": SETTINGS, **NEITHER}
        found.append(Measure(key, value, values=partial(_under, value), **fields))
        if value not in own.values():
            of, about = partial(difference, (setting, value)), f"the score minus that under {value}, paired by case"
            key, name = f"{setting}_minus_{value}", f"{setting} - {value}"
            found.append(Measure(key, name, of=of, table=SETTINGS, meaning=about, **shown))
    return found


PAIRED = "paired by case, on the cases that both answered"


def _of_difference(name: str, control: Control) -> str:
    for named in control.named:
        if named.name == name:
            more, less = (control.people.get(value, value) for value in (named.more, named.less))
            return f"{named.meaning}: the score of the model told about {more} minus that told about {less}, {PAIRED}"
    return f"the score minus that of the same model {control.without}, {PAIRED}"


def own(line: Line, run: Run, table: str = "") -> Measure:
    """A measure of the benchmark of a run."""
    ranked, kind = line.ranked or bool(line.none), "beside" if line.none else "own"
    fields = {**vars(line), "table": table, "ranked": ranked, "kind": kind}
    metrics = {metric.name: metric for method in run.benchmark.methods.values() for metric in method.metrics}
    if metric := metrics.get(line.key):
        fields["higher_is_better"] = metric.higher_is_better
    if over := run.benchmark.corpus.get(line.key):
        return Measure(**fields, of=partial(_of_corpus, over, line.ends))
    return Measure(**fields, values=lambda one: one.values(line.key), over=share if line.is_share else estimate)


def _in_rankings(measure: Measure, one: Contender) -> str:
    # of a part with the number of its cases, or of their units
    if measure.kind == "own":
        return measure.key
    if one.texts is None or measure.key not in one.texts.subsets:
        return measure.label
    units, count = one.run.benchmark.units, len(one.texts.subsets[measure.key][1])
    return f"{measure.key}, {count // units.size} {units.name}s" if units else f"{measure.key}, {count} cases"


def over(baseline: str) -> str:
    """The key of the margin over a baseline."""
    return key_of(f"over_{baseline}")


# --- values -----------------------------------------------------------------------------------------------------------


def _of_corpus(measure: CorpusMetric, ends: tuple[float, float], one: Contender) -> Estimate:
    if not one.ids:
        return share([], one.clusters)
    if isinstance(measure, UnitMean):
        by_unit = measure.by_unit(one.results)
        values = [mean(by_unit.get(measure.units.of(case_id), ())) for case_id in one.ids]
        return replace(share(values, one.clusters), n=sum(map(len, by_unit.values())))

    def over_cases(epochs: Sequence[Sequence[Result]]) -> float:
        return measure([*chain.from_iterable(epochs)])

    return estimate_of(over_cases, one.judged, one.clusters, ends)


def _macro(one: Contender) -> Estimate | None:
    return share(one.scores, replace(one, plain=True).clusters) if has_macro(one.run) else None


def _baseline(name: str, one: Contender) -> list[float] | None:
    scores = one.texts.baselines.get(name) if one.texts else None
    return None if scores is None else [scores[case_id] for case_id in one.ids]


def _part(name: str, one: Contender) -> list[float] | None:
    if one.texts is None or name not in one.texts.subsets:
        return None
    _, inside = one.texts.subsets[name]
    return [value if case_id in inside else math.nan for case_id, value in zip(one.ids, one.scores, strict=True)]


def _margin(baseline: str, one: Contender) -> list[float] | None:
    # the score minus that of a baseline on the same cases; None where that is missing, or the run is void
    values = _baseline(baseline, one)
    if values is None or is_void(one.run):
        return None
    return [mine - its for mine, its in zip(one.scores, values, strict=True)]


def shared_picks(baseline: str, one: Contender) -> list[float] | None:
    """Of each case, the share of the run's picks that are a baseline's, see `ReportSpec.shortcuts`."""
    # a pick is one reply or one pair of rewards; a case without one of the run or of the baseline is left out
    values = _baseline(baseline, one)
    if values is None or is_void(one.run):
        return None
    shared = []
    for pick, right in zip(one.picks, values, strict=True):
        shared.append(math.nan if right not in (0, 1) else pick if right else 1 - pick)
    return shared


def _adjusted(one: Contender) -> Estimate | None:
    # the score where the responses do not differ in the texts' covariate
    covariate = one.texts.covariate if one.texts else None
    if not covariate or is_void(one.run) or one.plain or not one.ids:
        return None
    return at_zero(one.scores, [covariate[case_id] for case_id in one.ids], one.clusters.users[0].tolist())


def difference(settings: tuple[str, str] | None, one: Contender) -> Estimate | None:
    """The score under the first setting minus that under the second; None where one was not asked."""
    run, runs = one.run, {**one.controls, one.run.setting: one.run}
    more, less = (runs.get(setting) for setting in settings or ("", ""))
    if more is None or less is None or more is less or (more is not run and more.cases.keys().isdisjoint(less.cases)):
        return None
    gain = {} if is_void(run) else gains(more, less, one.ids)  # also between two controls
    return paired([gain.get(case_id, math.nan) for case_id in one.ids], one.clusters)


def _under(value: str, one: Contender) -> list[float]:
    values = one.controls[value].values(one.run.primary)
    return [values.get(case_id, math.nan) for case_id in one.ids]


def _harm(word: str, before: float, one: Contender) -> Estimate | None:
    spec = one.run.benchmark.report.control
    control, runs = one.controls.get(spec.value), {one.run.setting: one.run, **one.controls}
    told = next((runs[value] for value, of in spec.harm.items() if of == word and value in runs), None)
    if control is None or told is None or one.plain or is_void(control, told):
        return None
    return turned(told, control, one.ids, before)
