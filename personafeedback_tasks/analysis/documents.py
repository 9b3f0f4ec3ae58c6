"""The documents of reports and rankings, as types: what JSON has, and every other output is written from.

Shares are from 0 to 1, and their differences from -1 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ..common.outputs import Output
from ..core.report import Line, key_of
from ..logs.caveat import Caveat
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import Estimate
from .control import listed_controls
from .pairs import RunPair
from .persona_use import Use
from .users import Users
from .void import is_void

SCORE = "acc"
"""The key of the primary measure in every file of a ranking, whatever its benchmark and method call it."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a document."""


@dataclass(frozen=True)
class Group:
    """One row of a report: a cell, a group of cells, or all.

    Attributes:
        name: `general_hard`, `general`, `total`.
        cases: answered cases.
        of: how many the data have.
        users: of the answered cases.
        replies: number of replies read; 0 for a reward model.
        reasons: why replies are unreadable -> how many.
        measures: key of a measure -> its value; without those that no group of the report has.
    """

    name: str
    cases: int
    of: int
    users: int
    replies: int
    reasons: Mapping[str, int]
    measures: Mapping[str, Estimate]


@dataclass(frozen=True)
class Judges:
    """Baselines that answer like a model, over all cases of a run, and people.

    Attributes:
        baselines: baseline -> measure -> value.
        agreement: coefficient -> how far people agree; empty without votes.
        note: whose agreement it is.
    """

    baselines: Mapping[str, Mapping[str, Estimate]]
    agreement: Mapping[str, Estimate]
    note: str


@dataclass(frozen=True)
class CostOfCalls:
    """Calls and tokens of a run under one setting.

    Attributes:
        asked: the setting; `in no scored sample`; `total`.
        calls: calls of the model.
        input_tokens: tokens of prompts.
        cached_tokens: those of them that a server had in its cache.
        output_tokens: tokens of replies.
        reasoning_tokens: those of them that are thoughts.
        answers: answered cases, each once per epoch.
        dollars: at the user's prices; null without.
    """

    asked: str
    calls: float
    input_tokens: float
    cached_tokens: float
    output_tokens: float
    reasoning_tokens: float
    answers: int
    dollars: float


class Unread(Record, frozen=True, kw_only=True):
    """A reply that cannot be read.

    Attributes:
        case: its id.
        reason: why.
        reply: an excerpt.
    """

    case: str
    reason: str
    reply: str


class RunEntry(Record, frozen=True, kw_only=True):
    """The fields of a run that reports and rankings share."""

    model: Annotated[str, Meta(description="the model as the harness names it")]
    name: Annotated[str, Meta(description="the model as --name calls it")]
    label: Annotated[str, Meta(description="the model with remarks")]
    primary: Annotated[str, Meta(description="the measure that is its score; in rankings, `acc` has it")]
    score: Annotated[str, Meta(description="name of the score for people")]
    signature: Annotated[str, Meta(description="all that the numbers depend on, as what is published has it, too")]
    controls: Annotated[
        Mapping[str, str], Meta(description="difference to a control -> setting of that control, asked or not")
    ]
    void: Annotated[bool, Meta(description="whether its numbers are not those of the model: no rank, no verdict")]
    use: Annotated[
        str | None,
        Meta(
            description="`uses`, `no more than counting terms`, `this kind of person, not this one`, `misled only`, "
            "`any persona` or `no sign`; null without a verdict"
        ),
    ]

    @property
    def control_of(self) -> dict[str, str]:
        """Key of a difference to a control -> setting of that control, asked or not."""
        return {key_of(name): value for name, value in self.controls.items()}


def fields_of(run: Run, controls: Mapping[str, Run], use: Use | None, audit: str) -> dict[str, Any]:
    """The fields of a `RunEntry`, by name; `audit` is the version of the audit of the texts, empty without data."""
    return {
        "model": run.model,
        "name": run.name,
        "label": run.label,
        "primary": run.primary,
        "score": run.score_name,
        "signature": signature_line(run, audit),
        "controls": listed_controls(run, controls),
        "void": is_void(run),
        "use": use.verdict.value if use and use.verdict else None,
    }


class ReportedRun(RunEntry, frozen=True, kw_only=True):
    """The report of one run.

    Attributes:
        title: name of its data: a set's, or the benchmark's.
        chance: the score of guessing; null if unknown.
        short_signature: the part of it that one line has room for.
        audit: version of the audit of the texts; empty without data.
        beside: setting -> signature of a control.
        advice: how to ask for the controls that are missing; empty where nothing is.
        cells: started cell -> cases.
        partial: cell with missing cases -> (answered, cases).
        left_out: why samples do not count -> how many.
        demonstration: whether it is on the bundled sample.
        set: name of a set; null for the benchmark's own data.
        verdict: the first sentence of the report.
        caveats: what a reader must know first.
        unread: replies that cannot be read, of every reason in turn.
        ceiling: group -> highest accuracy that the labels allow, a share; only where that is below 1.
        labels: sentences on errors in the labels.
        measures: key of a measure of the groups -> what it is, in the order of the tables.
        groups: cell or group of cells -> its numbers; the last one has all cases.
        macro: the plain mean of the cells; null unless all are there.
        judges: baselines that answer, and people; null without data.
        users: how far users differ; null with few.
        costs: what the run and its controls took.
    """

    title: str
    chance: float | None
    short_signature: str
    audit: str
    beside: Mapping[str, str]
    advice: str
    cells: Mapping[str, int]
    partial: Mapping[str, tuple[int, int]]
    left_out: Mapping[str, int]
    demonstration: bool
    set: str | None
    verdict: str
    caveats: Sequence[Caveat]
    unread: Sequence[Unread]
    ceiling: Mapping[str, float]
    labels: Sequence[str]
    measures: Mapping[str, Line]
    groups: Mapping[str, Group]
    macro: Group | None
    judges: Judges | None
    users: Users | None
    costs: Sequence[CostOfCalls]

    @property
    def overall(self) -> Group:
        """The group of all cases."""
        return [*self.groups.values()][-1]

    @property
    def rows(self) -> list[Group]:
        """The rows of a table."""
        return [*self.groups.values(), *([self.macro] if self.macro else [])]

    def differences(self, group: Group) -> dict[str, Estimate]:
        """The differences to the controls that are there, by name."""
        found = {name: group.measures.get(key_of(name)) for name in self.controls}
        return {name: value for name, value in found.items() if value is not None}


class ReportDocument(Output, frozen=True, kw_only=True):
    """`report.json`, `personafeedback report --json`, `score-replies --json`.

    Attributes:
        reports: one for each run that is no control of another.
    """

    reports: Sequence[ReportedRun]


class RankedRun(RunEntry, frozen=True, kw_only=True):
    """A run in a ranking.

    Attributes:
        shown: its name in tables, which no other run of the ranking has.
        harness: harness and version.
        method: how it was asked.
        partial: whether cases of a started cell are missing.
        rank: 1 is the best; equal scores share the better one; null for a void run.
        ranks: best and worst rank that it may have, all right at once in 95 % of rankings; null for a void run.
        tied: places, from 1, of the runs that it is not significantly different from.
        verdict: whether it uses who the user is, in words, corrected for the number of models; null where that was not
            asked, or cannot be said of a void run.
        controlled: whether it was asked with another user's persona and without one, which a verdict that it uses who
            the user is needs; null where its benchmark does not ask that, and for a void run.
        measures: key of a measure -> its value; null where the run has none.
    """

    shown: str
    harness: str
    method: str
    partial: bool
    rank: int | None
    ranks: tuple[int, int] | None
    tied: Sequence[int]
    verdict: str | None
    controlled: bool | None
    measures: Mapping[str, Estimate | None]


class RankingEntry(Record, frozen=True, kw_only=True):
    """Runs on the same cases.

    Attributes:
        title: what the runs share, in a line.
        asked: what the runs share: benchmark, options, prompt, task version, cases. Of `compare`, that of the best run.
        cases: number of cases.
        users: number of users.
        cells: cell -> number of cases.
        caveats: what a reader must know first; `about` has places, from 1.
        measures: key -> each measure that the benchmark can have.
        gains: keys of those on what a run gains from knowing the user, the first ones first.
        runs: the best first.
        pairs: each two runs that are not void.
        compared: of two runs, key -> each measure of their pair.
    """

    title: str
    asked: Mapping[str, Any]
    cases: int
    users: int
    cells: Mapping[str, int]
    caveats: Sequence[Caveat]
    measures: Mapping[str, Line]
    gains: Sequence[str]
    runs: Sequence[RankedRun]
    pairs: Sequence[RunPair]
    compared: Mapping[str, Line]

    @property
    def scores(self) -> list[str]:
        """The measures that are scores of its runs: `acc_sym` of some methods, `acc` of others."""
        return list(dict.fromkeys(run.primary for run in self.runs))

    @property
    def short(self) -> list[str]:
        """Keys of the measures that every output shows: the score, what is beside it, and the gains."""
        first = [key for key, measure in self.measures.items() if measure.kind == "beside" or key == SCORE]
        return [*first, *self.gains]

    def values(self, key: str) -> list[Estimate | None]:
        """A measure of each run."""
        return [run.measures[key] for run in self.runs]

    def has(self, key: str) -> bool:
        """Whether a measure is defined for any run."""
        return any(value is not None and not math.isnan(value.value) for value in self.values(key))


class Balance(Record, frozen=True, kw_only=True):
    """Gain and cost of knowing the user, of one model by one method.

    Attributes:
        model: its name, with the method where the model has several.
        values: `persona gain`, `swap score`, `yields` or `cost on TASK` -> its value.
        titles: each of the first three -> the data that it was asked on, which all models share.
    """

    model: str
    values: Mapping[str, Estimate]
    titles: Mapping[str, str]


class RankDocument(Output, frozen=True, kw_only=True):
    """`personafeedback rank --json`, `compare --json`, `ranking.json`.

    Attributes:
        rankings: runs on the same cases, asked the same.
        balance: models with both a gain and a cost.
    """

    rankings: Sequence[RankingEntry]
    balance: Sequence[Balance]
