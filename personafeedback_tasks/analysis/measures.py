"""The measures of a ranking: what each is, and how it is computed for one of its runs. Every output shows this list."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..common.adjusted import at_zero
from ..common.statistics import Estimate, estimate, mean, share
from ..engine.report import Examined
from ..engine.usage import Usage
from ..runs.caveat import Caveat
from ..runs.run import Run
from .control import gains, named_differences
from .groups import has_macro, measures_of
from .stopped import with_sequence

PERCENT, POINTS, SIGNED, RATIO, COUNT = "percent", "points", "signed", "ratio", "count"
"""Units: a share and a difference of shares, both of 1; a number in [-1, 1]; one from 0 on; a number of things."""

SCORE = "acc"
"""The key of the primary measure."""

KINDS = ("score", "margin", "adjusted", "difference", "given", "own", "cost")
"""The primary measure; what a baseline or a control is subtracted from; what was computed elsewhere; `ReportSpec.ranked`; tokens. Outputs have
them in this order."""


USED: tuple[tuple[str, str, Callable[[Usage], float]], ...] = (
    ("calls", "calls", lambda usage: usage.calls),
    ("input_tokens", "input tokens", lambda usage: usage.input),
    ("output_tokens", "output tokens", lambda usage: usage.output),
    ("tokens", "tokens", lambda usage: usage.tokens),
)
"""What a case takes: (key, name, how many)."""


@dataclass(frozen=True)
class Contender:
    """A run that is ranked.

    Attributes:
        controls: value of the control's option -> run, for differences.
        given: name of a measure that was computed elsewhere -> its value, undefined where this run has none.
        caveats: of the run, beside those of every run.
    """

    run: Run
    controls: Mapping[str, Run] = field(default_factory=dict)
    given: Mapping[str, Estimate] = field(default_factory=dict)
    caveats: Sequence[Caveat] = ()


@dataclass(frozen=True)
class SharedCases:
    """The cases that all runs of a ranking answered.

    Attributes:
        prompts: of each case where users share prompts, see `Examined.prompts`.
        texts: what the texts add; None without data.
    """

    ids: Sequence[str]
    users: Sequence[str]
    cells: Sequence[str]
    prompts: Sequence[str] | None
    texts: Examined | None


@dataclass(frozen=True)
class Entry:
    """A contender with its scores.

    Attributes:
        scores: the primary measure of each case.
    """

    contender: Contender
    cases: SharedCases
    scores: Sequence[float]

    @property
    def run(self) -> Run:
        return self.contender.run


def entry(contender: Contender, cases: SharedCases) -> Entry:
    """A contender with its scores."""
    run = contender.run
    return Entry(contender, cases, [run.cases[case_id].value(run.benchmark.report.primary) for case_id in cases.ids])


@dataclass(frozen=True)
class Measure:
    """One measure of a ranking.

    Attributes:
        unit: see PERCENT.
        kind: see KINDS.
        of: its value for a run; None where that has none.
    """

    key: str
    heading: str
    unit: str
    kind: str
    of: Callable[[Entry], Estimate | None]

    @property
    def is_share(self) -> bool:
        """Whether its values are shares or differences of shares, which every output has in percent."""
        return self.unit in (PERCENT, POINTS)


def measures(contenders: Sequence[Contender], cases: SharedCases) -> list[Measure]:
    """The measures of a ranking, in the order of every output: all that its benchmark can have, so that files have the same ones
    whichever data and controls are at hand."""
    spec, texts = contenders[0].run.benchmark.report, cases.texts
    baselines = dict.fromkeys(spec.baselines)
    if texts:
        baselines |= dict.fromkeys(name for of_case in texts.baselines.values() for name in of_case)
    found = [
        Measure(SCORE, SCORE, PERCENT, "score", _score),
        Measure("macro", "macro", PERCENT, "score", _macro),
    ]
    found += [Measure(over(name), over(name), POINTS, "margin", partial(_margin, name)) for name in baselines]
    if spec.adjusted:
        found.append(_named(spec.adjusted, PERCENT, "adjusted", _adjusted))
    if spec.control is not None:
        names = dict.fromkeys((spec.control.gain, *(one.name for one in spec.control.named)))
        found += [_named(name, POINTS, "difference", partial(_difference, name)) for name in names]
    given = dict.fromkeys(name for one in contenders for name in one.given)
    found += [_named(name, PERCENT, "given", partial(_given, name)) for name in given]
    for name in spec.ranked:
        line = spec.line(name)
        unit = PERCENT if line.share else SIGNED if line.sign else RATIO
        found.append(Measure(name, name, unit, "own", partial(_ranked, name)))
    return [*found, *(Measure(key, f"{name} a case", COUNT, "cost", partial(_used, of)) for key, name, of in USED)]


def over(baseline: str) -> str:
    """The key of the margin over a baseline."""
    return f"over_{baseline}".replace(" ", "_")


def _named(heading: str, unit: str, kind: str, of: Callable[[Entry], Estimate | None]) -> Measure:
    """A measure whose key is its heading without spaces."""
    return Measure(heading.replace(" ", "_"), heading, unit, kind, of)


def _score(one: Entry) -> Estimate:
    found = share(one.scores, one.cases.users, also=one.cases.prompts)
    return with_sequence(found, one.run.benchmark.report.primary, one.run)


def _macro(one: Entry) -> Estimate | None:
    """The plain mean over the cells, where all are there."""
    return share(one.scores, one.cases.users, one.cases.cells, one.cases.prompts) if has_macro(one.run) else None


def _margin(name: str, one: Entry) -> Estimate | None:
    """The score minus that of a baseline on the same cases; None where it is not at hand."""
    cases = one.cases
    baselines = [cases.texts.baselines.get(case_id, {}) for case_id in cases.ids] if cases.texts else [{}]
    if not all(name in of_case for of_case in baselines):
        return None
    theirs = [of_case[name] for of_case in baselines]
    margins = [mine - its for mine, its in zip(one.scores, theirs, strict=True)]
    return estimate(margins, cases.users, also=cases.prompts)


def _adjusted(one: Entry) -> Estimate | None:
    """The score where the responses do not differ in the texts' covariate; None without texts."""
    covariate = one.cases.texts.covariate if one.cases.texts else None
    if not covariate:
        return None
    return at_zero(one.scores, [covariate[case_id] for case_id in one.cases.ids], one.cases.users)


def _difference(name: str, one: Entry) -> Estimate | None:
    """The score minus that of a control, or that of one control minus that of another, on the cases that both answered."""
    run, spec = one.run, one.run.benchmark.report.control
    runs = {**one.contender.controls, run.setting: run}
    settings = {named.name: (named.more, named.less) for named in (spec.named if spec else ())}
    settings |= {own: (run.setting, value) for own, value in named_differences(run).items()}
    more, less = map(runs.get, settings.get(name, ("", "")))
    if more is None or less is None or more is less or (more is not run and more.cases.keys().isdisjoint(less.cases)):
        return None
    gain = gains(more, less)
    found = estimate(list(gain.values()), [more.cases[case_id].user_id for case_id in gain])
    return with_sequence(found, name, more, less)


def _given(name: str, one: Entry) -> Estimate | None:
    return one.contender.given.get(name)


def _ranked(name: str, one: Entry) -> Estimate:
    """One of `ReportSpec.ranked`."""
    answered = [one.run.cases[case_id] for case_id in one.cases.ids]
    return measures_of(one.run.benchmark, answered, only=(name,), also=one.cases.prompts)[name]


def _used(of: Callable[[Usage], float], one: Entry) -> Estimate | None:
    """Mean per case; None where nobody counts it. 0 tokens are those of a judge without a model."""
    value, users = mean(one.run.cases[case_id].used(of) for case_id in one.cases.ids), one.cases.users
    known = value and not math.isnan(value)
    return Estimate(value, math.nan, math.nan, math.nan, len(users), len(set(users))) if known else None
