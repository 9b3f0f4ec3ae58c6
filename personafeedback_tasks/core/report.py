"""What the reports of a benchmark show, as data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..common.clusters import Shared
from ..common.statistics import Estimate
from .duels import Duels
from .earlier import Earlier
from .outcome import Answers, Outcome, ScoredCase

PRECISION, RECALL = "precision", "recall"
"""Corpus metrics of a benchmark that selects something."""


@dataclass(frozen=True)
class Line:
    """One measure in a report's tables.

    Attributes:
        measure: of `Benchmark.measures`, `ReportSpec.derived` or the benchmark's corpus metrics.
        interval: whether its 95 % interval stands beside it.
        share: printed in percent; else as a number with three digits.
        sign: whether a number that is no share has its sign, as a correlation has, and a ratio has not.
        none: what is said where it is 0, with the number of things that it is a share of: `0 of {n:,} picks changed`. Empty for nothing.
        table: of the details, the heading of the table that it is in; the headline is a table of its own.
        meaning: what its numbers are, for a tooltip or a list of definitions; no sentence, without a period.
    """

    measure: str
    label: str = ""
    strong: bool = False
    interval: bool = False
    share: bool = True
    sign: bool = True
    table: str = "Details"
    meaning: str = ""
    none: str = ""

    @property
    def title(self) -> str:
        return self.label or self.measure

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value: of a share, a correlation, or a ratio."""
        return (0.0, 1.0) if self.share else (-1.0, 1.0) if self.sign else (0.0, math.inf)


@dataclass(frozen=True)
class HumanAgreement:
    """How far people agree with each other: about as far as a judge can be expected to agree with them.

    Attributes:
        coefficients: name -> value, such as Fleiss' kappa.
        against_rest: (user, judgment) of each person and row: the label that most of the others chose there, and that of the
            person. Where the others are even, there is none.
        note: of how many rows and people, or why there is nothing; a sentence.
    """

    coefficients: Mapping[str, Estimate]
    against_rest: Sequence[tuple[str, Outcome]]
    note: str


@dataclass(frozen=True)
class Examined:
    """What the texts of the cases add to the answers.

    Attributes:
        baselines: case id -> name -> what that baseline scores there.
        said: name of a baseline -> case id -> its answers, one per call: reports score them as they score those of a run.
        said_notes: what these baselines are, and which ones are missing and why, in sentences.
        agreement: of the people whose judgments are the targets; None where there is no such thing.
        subsets: name -> (label, ids of its cases).
        ceiling: name of a group -> the highest value that its labels allow a judge, in [0, 1].
        ceiling_note: what the ceiling is, for a note; `{}` is where the values go.
        label_note: how often people label alike what the data have twice, in a sentence; empty where that is unknown.
        version: of the audit that found these, for the signature.
        covariate: case id -> how much more the better response has of what scores are adjusted for, in any unit; 0 where both have the
            same. Empty where they are not.
        people: user id -> attribute -> its value, for slices by what many users share.
        flags: what may be wrong with a case or special about it: name -> (what that is, ids of its cases).
        counted: gives case id -> what `Control.counting` gains there from the persona of this user instead of another one; None where
            no baseline counts terms.
        prompts: case id -> its prompt, where users share prompts, so that the cases of one go together too; empty elsewhere.
        partners: case id -> a second user whom it is about; empty where cases are about one.
    """

    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    said: Mapping[str, Mapping[str, Answers]] = field(default_factory=dict)
    said_notes: Sequence[str] = ()
    agreement: HumanAgreement | None = None
    subsets: Mapping[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    ceiling: Mapping[str, float] = field(default_factory=dict)
    ceiling_note: str = ""
    label_note: str = ""
    version: str = ""
    covariate: Mapping[str, float] = field(default_factory=dict)
    people: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    flags: Mapping[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    counted: Callable[[], Mapping[str, float]] | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    partners: Mapping[str, str] = field(default_factory=dict)

    def shared(self, ids: Sequence[str]) -> Shared | None:
        """What the cases share beside their user; None where users share no prompts."""
        if not self.prompts:
            return None
        return Shared([self.prompts[case_id] for case_id in ids], [self.partners[i] for i in ids if self.partners])


@dataclass(frozen=True)
class Shown:
    """The texts of the cases, for people who look at them. A case shows those that there are.

    Attributes:
        questions: case id -> what was asked.
        question: what that is: `Question`.
        texts: case id -> heading -> text, below the question in this order.
        labels: what a right answer is called, and a wrong one; where there are responses, also the right response, and a wrong one.
        responses: case id -> their texts, the right one first.
        about: what `people` has: `Persona`.
        people: user id -> what is known about that user, as prompts show it.
        told: value of the control's option -> user id -> the user whom the model was told about instead. Called only for runs
            with that value.
    """

    questions: Mapping[str, str]
    question: str = "Question"
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    labels: tuple[str, str] = ("right", "wrong")
    responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    about: str = ""
    people: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, Callable[[str], str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """A difference between runs under two values of the control's option that has a name of its own.

    Attributes:
        more, less: the values; the second is subtracted.
        name: `right minus wrong`.
        meaning: what it measures, for the end of a sentence.
        further: whether outputs are silent about it where it was not asked.
    """

    more: str
    less: str
    name: str
    meaning: str
    further: bool = False

    @property
    def key(self) -> str:
        """The name as one word: `right_minus_wrong`."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True)
class Control:
    """The run that shows how much of a score needs what the model is told.

    Attributes:
        option, value: the one option that differs, and its value in the control.
        without: what the control leaves out, for a sentence: `without the persona`.
        known: what it is that the control leaves out, as a noun: `persona`.
        others: further values of the option whose runs a sheet can show beside.
        named: the differences of a sheet that have a name.
        alike: value of the option -> further options that such a run must share with the one that it controls.
        measure: of `Benchmark.measures`, whose difference the gain is; that of the run if none is named.
        people: value of the option, from the one that is told most -> whom the model was told about: `right person`.
        of_one_run: the differences that the table of a harness shows where one run asks several values; empty where a run asks one.
        similar: value of the option whose runs are told about a similar user; empty where there is none.
        counting: the baseline of `Examined.counted`; empty where there is none.
        harm: where what the model is told must change no answer: value of the option -> what a model does that then loses a right one, for
            a sentence: `yields`. Empty where it shall help.
    """

    option: str
    value: str
    gain: str
    without: str
    known: str
    others: tuple[str, ...] = ()
    named: tuple[Difference, ...] = ()
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    measure: str = ""
    people: Mapping[str, str] = field(default_factory=dict)
    of_one_run: tuple[Difference, ...] = ()
    similar: str = ""
    counting: str = ""
    harm: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> tuple[str, ...]:
        """Every value whose runs can stand beside another, from the one that is told most."""
        return (*self.others, self.value)

    @property
    def controls(self) -> tuple[str, ...]:
        """The values of the option whose runs are controls of others, from the one that is told least."""
        return tuple(dict.fromkeys((self.value, *(difference.less for difference in self.named))))


@dataclass(frozen=True)
class CardFacts:
    """The figures of a run that the caveats in its card mention.

    Attributes:
        languages: of the asked cases -> how many.
        baselines: name -> percent on the same cases.
        cases: the data, a `CaseSet` of the benchmark.
    """

    languages: Counter[str]
    baselines: Mapping[str, str]
    prompt: str
    cases: Any


@dataclass(frozen=True)
class CardSpec:
    """What a model card says about a benchmark, and how the Hub identifies its data.

    Attributes:
        dataset: the id on the Hub; revision: the commit that is read by default.
        measures: what a card gives, each with its interval.
        baselines: those beside them -> what each always picks: `the longer response`.
        measured: (model, options by name, the measures that there are, the data) -> what was measured, in safe Markdown.
        caveats: the figures of a run -> what the numbers do not show, in safe Markdown: what everybody must see, and the rest.
    """

    dataset: str
    revision: str
    measures: tuple[str, ...]
    baselines: Mapping[str, str]
    measured: Callable[[str, Mapping[str, Any], Sequence[str], Any], str]
    caveats: Callable[[CardFacts], tuple[list[str], list[str]]]


@dataclass(frozen=True, kw_only=True)
class ReportSpec:
    """What the reports of a benchmark show.

    Attributes:
        primary: the measure that is compared, drawn and put into cards, unless a method has another, see `Benchmark.primary`.
        score: its name on the axis of a figure.
        asks: what a case is and what is right, in a sentence or two, for readers who do not know the benchmark.
        chance: its chance level; None if unknown.
        headline, details: the measures in the first table, and in those after the baselines and the subsets.
        derived: measure -> what it is, from the estimates of the others.
        picked: the answers of a case -> the share of its readable picks, over all calls and epochs, that are the better
            response; nan without one. None where a case is no choice between two responses.
        places: the names of the places in which a case's responses are shown, in the order of the labels: `first`. Empty where labels are no
            places.
        shortcuts: name of a baseline of `examine` -> what it picks, for a sentence: `the longer response`. A run is
            compared with each, see `analysis.shortcuts`.
        compared: the measures of the table that has the run beside the baselines that answer (see `Examined.said`) and beside
            people, over all cases; a comparison of two runs has them, too.
        ranked: the measures beside `primary` in a ranking.
        beside: measures, baselines and subsets that every output has beside the score.
        baselines: the names of all that `examine` may give; a ranking's files have them also where they are not at hand.
        adjusted: where both responses have the same `Examined.covariate`, for a sentence: `at equal length`.
        probability: the measure that is the probability of the better response.
        examine: (cases, ids of those that were asked) -> what their texts add.
        shown: (cases, ids of those that were asked) -> their texts.
        written: in place of `shown` (a run as its log has it) -> the texts of its cases and what the model wrote there.
        duels: what cases are that a model's replies are part of; None where they are the benchmark's own. A verdict needs it.
        macro: whether the plain mean of the cells is shown beside the last group where all cells are there.
        wording: the options that only change the wording of the question; the range of scores between them is the prompt
            sensitivity.
        drawn: baselines behind the figure's points: name -> (label, line style).
        card: what a model card says; None where no card is written.
        load: (folder or id, counts) -> all cases that are there, for a report on data at hand.
        under: (these cases, a run's signature) -> the same as that run showed them; None where no option changes a case's texts.
        environment: the variable that names the data.
        swaps: whether both responses of each case are right for somebody, so that the score is 0.5 for whoever ignores the user.
    """

    primary: str
    score: str
    chance: float | None
    headline: Sequence[Line]
    details: Sequence[Line] = ()
    derived: Mapping[str, Callable[[Mapping[str, Estimate]], float]] = field(default_factory=dict)
    picked: Callable[[ScoredCase], float] | None = None
    places: tuple[str, ...] = ()
    shortcuts: Mapping[str, str] = field(default_factory=dict)
    compared: Sequence[Line] = ()
    ranked: Sequence[str] = ()
    beside: Sequence[str] = ()
    baselines: Sequence[str] = ()
    adjusted: str = ""
    probability: str = ""
    examine: Callable[[Any, Collection[str]], Examined] | None = None
    shown: Callable[[Any, Collection[str]], Shown] | None = None
    written: Callable[[Earlier], Shown] | None = None
    duels: Callable[[Any], Duels | None] | None = None
    control: Control | None = None
    macro: bool = False
    wording: tuple[str, ...] = ()
    drawn: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    card: CardSpec | None = None
    load: Callable[[str, str], Any] | None = None
    under: Callable[[Any, Mapping[str, Any]], Any] | None = None
    environment: str = ""
    swaps: bool = False
    asks: str = ""

    def line(self, measure: str) -> Line:
        """How a measure is named and printed."""
        return next((line for line in (*self.headline, *self.details) if line.measure == measure), Line(measure))
