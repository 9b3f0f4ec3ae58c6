"""The measures of a ranking: meaning and computation for one of its runs, in the order of every output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from ..core.report import DIFFERENCE, SHARE, Control, Examined
from ..logs.run import Run
from ..stats.clusters import Shared
from ..stats.estimates import Estimate, paired, share
from ..stats.logistic import at_zero
from .control import gains, named_differences, with_sequence
from .groups import Group, has_macro, make_group, measures_of, partners_of
from .use import EXCESS, excess_over_counting
from .void import is_void

SCORE = "acc"
"""The key of the primary measure in every file, whatever its benchmark and method call it."""

MACRO = "plain mean over the cells, whatever their numbers of cases"
KINDS = ("score", "beside", "margin", "adjusted", "difference", "own")
"""Primary measure; `ReportSpec.beside`; score minus a baseline; score at equal texts; difference to a control; the benchmark's
own. In the order of outputs."""


@dataclass(frozen=True)
class Contender:
    """A run that is ranked."""

    run: Run
    controls: Mapping[str, Run] = field(default_factory=dict)  # value of the control's option -> run, for differences
    texts: Examined | None = None  # facts from the texts of its cases; None without data

    @cached_property
    def ids(self) -> list[str]:
        """Ids of its cases, which all runs of a ranking answered."""
        return sorted(self.run.cases)

    @cached_property
    def users(self) -> list[str]:
        """The user of each case."""
        return [self.run.cases[case_id].user_id for case_id in self.ids]

    @cached_property
    def shared(self) -> Shared | None:
        """Clusters of the cases beside their user, such as a prompt that several users have; None without any."""
        return self.shared_by(self.ids)

    def shared_by(self, ids: Sequence[str]) -> Shared | None:
        """The same of some of its cases."""
        return self.texts.shared(ids) if self.texts else partners_of(self.run, ids)

    @cached_property
    def group(self) -> Group:
        """All of its cases."""
        return make_group(self.run, "", list(self.run.cells), self.ids, self.texts, {})

    @cached_property
    def scores(self) -> list[float]:
        """The primary measure of each case."""
        values = self.run.values(self.run.primary)
        return [values[case_id] for case_id in self.ids]


@dataclass(frozen=True)
class Measure:
    """One measure of a ranking."""

    key: str
    heading: str
    unit: str  # SHARE, DIFFERENCE, SIGNED or RATIO
    kind: str  # one of KINDS
    of: Callable[[Contender], Estimate | None]  # its value for a run; None where that has none
    baseline: str = ""  # of a margin
    meaning: str = ""  # what its numbers are; empty where the heading says it

    @property
    def is_share(self) -> bool:
        """Whether outputs have its values in percent."""
        return self.unit in (SHARE, DIFFERENCE)


def measures(contenders: Sequence[Contender]) -> list[Measure]:
    """The measures of a ranking: all that its benchmark can have, so that files do not depend on the data and controls
    at hand."""
    spec, texts = contenders[0].run.benchmark.report, contenders[0].texts
    baselines = dict.fromkeys(spec.baselines)
    if texts:
        baselines |= dict.fromkeys(name for of_case in texts.baselines.values() for name in of_case)
    found = [
        Measure(SCORE, " or ".join(dict.fromkeys(one.run.primary for one in contenders)), SHARE, "score", _score),
        Measure("macro", "macro", SHARE, "score", _macro),
    ]
    found += [Measure(over(name), over(name), DIFFERENCE, "margin", partial(margin, name), name) for name in baselines]
    if spec.adjusted:
        found.append(_named(spec.adjusted, SHARE, "adjusted", _adjusted))
    if spec.control is not None:
        names = dict.fromkeys((spec.control.gain, *(one.name for one in spec.control.named)))
        found += [_named(name, DIFFERENCE, "difference", partial(_difference, name)) for name in names]
        if spec.control.counting:
            found.append(_named(EXCESS, DIFFERENCE, "difference", _excess))
    for name in (*spec.beside, *(line.measure for line in spec.headline if line.none)):
        found.append(Measure(name, _heading(name, contenders[0]), SHARE, "beside", partial(_beside, name)))
    own = (line for line in spec.lines.values() if line.ranked)
    found += [Measure(line.measure, line.measure, line.unit, "own", partial(_ranked, line.measure)) for line in own]
    return [replace(measure, meaning=_meaning(measure, contenders)) for measure in found]


def _meaning(measure: Measure, contenders: Sequence[Contender]) -> str:
    # no sentence, without a period; empty where the benchmark's record does not say
    spec, texts = contenders[0].run.benchmark.report, contenders[0].texts
    if measure.key == SCORE:
        scores = dict.fromkeys(one.run.primary for one in contenders)
        return "; ".join(filter(None, (spec.line(score).meaning for score in scores)))
    if measure.kind == "margin":
        picks = f", which picks {spec.shortcuts[measure.baseline]}" if measure.baseline in spec.shortcuts else ""
        return f"the score minus that of the baseline {measure.baseline} on the same cases{picks}"
    if measure.kind == "adjusted":
        return f"the score {measure.heading} of the responses, by logistic regression"
    if measure.kind == "difference" and spec.control is not None:
        return _of_difference(measure.heading, spec.control)
    if measure.key in spec.shortcuts:
        return f"the baseline that picks {spec.shortcuts[measure.key]}"
    if texts and measure.key in texts.subsets:
        return texts.subsets[measure.key][0]
    return MACRO if measure.key == "macro" else spec.line(measure.key).meaning


def _of_difference(name: str, control: Control) -> str:
    paired = "paired by case, on the cases that both answered"
    if name == EXCESS:
        return f"right minus wrong minus that of {control.counting} that a response shares with the {control.known}, {paired}"
    for difference in control.named:
        if difference.name == name:
            more, less = (control.people.get(value, value) for value in (difference.more, difference.less))
            return (
                f"{difference.meaning}: the score of the model told about {more} minus that told about {less}, {paired}"
            )
    return f"the score minus that of the same model {control.without}, {paired}"


def _heading(name: str, one: Contender) -> str:
    """A name; of a subset with the number of its cases, or of their units."""
    if one.texts is None or name not in one.texts.subsets:
        return name
    units, count = one.run.benchmark.units, len(one.texts.subsets[name][1])
    return f"{name}, {count // units.size} {units.name}s" if units else f"{name}, {count} cases"


def _beside(name: str, one: Contender) -> Estimate | None:
    return one.group.named.get(name)


def over(baseline: str) -> str:
    """The key of the margin over a baseline."""
    return f"over_{baseline}".replace(" ", "_")


def _named(heading: str, unit: str, kind: str, of: Callable[[Contender], Estimate | None]) -> Measure:
    return Measure(heading.replace(" ", "_"), heading, unit, kind, of)


def _score(one: Contender) -> Estimate:
    found = share(one.scores, one.users, also=one.shared)
    return with_sequence(found, one.run.primary, one.run)


def _macro(one: Contender) -> Estimate | None:
    return (
        share(one.scores, one.users, [one.run.cases[case_id].cell for case_id in one.ids], one.shared)
        if has_macro(one.run)
        else None
    )


def margin(baseline: str, one: Contender) -> Estimate | None:
    """The score minus that of a baseline on the same cases; None where that is missing, or the run is void."""
    if is_void(one.run):
        return None
    of_cases = [one.texts.baselines.get(case_id, {}) for case_id in one.ids] if one.texts else [{}]
    if not all(baseline in of_case for of_case in of_cases):
        return None
    margins = [mine - of_case[baseline] for mine, of_case in zip(one.scores, of_cases, strict=True)]
    return paired(margins, one.users, also=one.shared)


def _adjusted(one: Contender) -> Estimate | None:
    # the score where the responses do not differ in the texts' covariate
    covariate = one.texts.covariate if one.texts else None
    if not covariate or is_void(one.run):
        return None
    return at_zero(one.scores, [covariate[case_id] for case_id in one.ids], one.users)


def _difference(name: str, one: Contender) -> Estimate | None:
    run, spec = one.run, one.run.benchmark.report.control
    runs = {**one.controls, run.setting: run}
    settings = {named.name: (named.more, named.less) for named in (spec.named if spec else ())}
    settings |= {own: (run.setting, value) for own, value in named_differences(run).items()}
    more, less = map(runs.get, settings.get(name, ("", "")))
    if more is None or less is None or more is less or (more is not run and more.cases.keys().isdisjoint(less.cases)):
        return None
    gain = gains(more, less)
    if is_void(run):  # also between two controls
        return paired([], [])
    found = paired(list(gain.values()), [more.cases[case_id].user_id for case_id in gain])
    return with_sequence(found, name, more, less)


def _excess(one: Contender) -> Estimate | None:
    return excess_over_counting(one.run, one.controls, one.texts)


def _ranked(name: str, one: Contender) -> Estimate:
    results = [result for case_id in one.ids for result in one.run.by_case[case_id]]
    return measures_of(one.run.benchmark, results, only=(name,), also=one.shared)[name]
