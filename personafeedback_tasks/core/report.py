"""What the reports of a benchmark show, as data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..stats.estimates import Estimate
from .duels import Duels
from .earlier import Earlier
from .result import Answers, Result

SHARE, DIFFERENCE, SIGNED, RATIO = "share", "difference", "signed", "ratio"
"""Units: a share and a difference of shares, both of 1; a number in [-1, 1]; one from 0 on."""


@dataclass(frozen=True)
class Line:
    """A measure: what it is called, what it is, and where it is shown, in all outputs, whose schema has this text.

    Attributes:
        key: its name in files; of a benchmark's own, that in `Benchmark.measures` or among the corpus metrics.
        label: its name for people; by default the key.
        unit: `share`: from 0 to 1; `difference`: of shares; `signed`: from -1 to 1; `ratio`: from 0.
        meaning: what its numbers are, without a period; empty where the label says it.
        table: heading of its table in a report; empty where only files have it.
        strong: whether tables stress it.
        interval: whether tables have its 95 % interval beside it.
        ranked: whether rankings have it, too.
        compared: whether baselines that answer like a model are beside it.
        none: what is said where it is 0: `0 of {n:,} picks changed`; empty for nothing.
        kind: `score`, the primary measure; `beside` it; `margin` over a baseline; `adjusted`, at equal length;
            `difference` to a control; the benchmark's `own`; of a `baseline`; picks `shared` with one; in a `part` of
            the cases; the score under another `setting`.
        counted: what tables count beside it: `cases` or `answers`; empty for nothing.
        higher_is_better: null where more is neither better nor worse. Of a value of cases, its `Metric` says it.
    """

    key: str
    label: str = ""
    strong: bool = False
    interval: bool = False
    unit: str = SHARE
    ranked: bool = False
    table: str = "Details"
    meaning: str = ""
    none: str = ""
    compared: bool = False
    kind: str = "own"
    counted: str = ""
    higher_is_better: bool | None = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.key)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value: of a share, a correlation, or a ratio."""
        return {SHARE: (0.0, 1.0), RATIO: (0.0, math.inf)}.get(self.unit, (-1.0, 1.0))

    @property
    def is_share(self) -> bool:
        """Whether people read it in percent; else as a number with three digits."""
        return self.unit in (SHARE, DIFFERENCE)


@dataclass(frozen=True)
class HumanAgreement:
    """How far people agree with each other: about as far as a judge can be expected to agree with them."""

    coefficients: Mapping[str, Estimate]
    note: str


@dataclass(frozen=True)
class Examined:
    """What the texts of the cases add to the answers."""

    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # name -> case id -> score
    constant: Mapping[str, Answers] = field(default_factory=dict)  # baseline -> its answers to any case, per call
    agreement: HumanAgreement | None = None  # of the people whose judgments are the targets
    subsets: Mapping[str, tuple[str, frozenset[str]]] = field(default_factory=dict)  # name -> (label, ids of its cases)
    ceiling: Mapping[str, float] = field(default_factory=dict)  # group -> highest value that labels allow, in [0, 1]
    ceiling_note: str = ""  # what the ceiling is; `{}` is where the values go
    label_note: str = ""  # how often people label alike what the data have twice; empty if unknown
    version: str = ""  # of the audit that found these, for the signature
    covariate: Mapping[str, float] = field(default_factory=dict)  # case id -> better minus other response, in any unit
    flags: Mapping[str, tuple[str, frozenset[str]]] = field(default_factory=dict)  # name -> (meaning, ids of its cases)
    # Gives the baselines that count terms: name -> case id -> what it gains there from the persona of this user instead
    # of another one; None where there are none.
    counted: Callable[[], Mapping[str, Mapping[str, float]]] | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)  # case id -> prompt, where users share prompts
    partners: Mapping[str, str] = field(default_factory=dict)  # case id -> second user, where cases are about two


@dataclass(frozen=True)
class Shown:
    """The texts of the cases, for people who look at them. A case shows those that there are."""

    questions: Mapping[str, str]  # case id -> what was asked
    question: str = "Question"  # what that is
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # case id -> heading -> text, in this order
    labels: tuple[str, str] = ("right", "wrong")  # of a right and a wrong answer, or response
    responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # case id -> texts, the right one first
    about: str = ""  # what `people` has: `Persona`
    people: Mapping[str, str] = field(default_factory=dict)  # user id -> what prompts show of that user
    told: Mapping[str, Callable[[str], str]] = field(default_factory=dict)  # setting -> user id -> user shown instead


def key_of(name: str) -> str:
    """The key of a measure with this name, one word: `right minus wrong` -> `right_minus_wrong`."""
    return name.replace(",", "").replace(" ", "_")


@dataclass(frozen=True)
class Difference:
    """A difference between runs under two values of the control's option that has a name of its own."""

    more: str
    less: str  # subtracted from `more`
    name: str  # `right minus wrong`
    meaning: str  # what it measures, for the end of a sentence
    further: bool = False  # whether outputs are silent about it where it was not asked

    @property
    def key(self) -> str:
        """`right_minus_wrong`."""
        return key_of(self.name)


@dataclass(frozen=True)
class Control:
    """The run that shows how much of a score needs what the model is told; without values where there is none."""

    option: str = ""  # the one that differs
    value: str = ""  # its value in the control
    gain: str = ""
    without: str = ""
    known: str = ""
    others: tuple[str, ...] = ()
    named: tuple[Difference, ...] = ()
    # value of the option -> further options that such a run must share with the one that it controls
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # value of the option, from the one that is told most -> whom the model was told about: `right person`
    people: Mapping[str, str] = field(default_factory=dict)
    of_one_run: tuple[Difference, ...] = ()  # in a harness's table; empty where a run asks one value
    similar: str = ""  # value of the option whose runs are told about a similar user
    counting: str = ""  # what the baselines of `Examined.counted` are called
    # Where what the model is told must change no answer: value of the option -> what a model does that then loses a
    # right one: `yields`. Empty where it shall help.
    harm: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.option)

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
    """The figures of a run that the caveats in its card mention."""

    languages: Counter[str]  # of the asked cases
    baselines: Mapping[str, str]  # name -> percent on the same cases
    prompt: str
    cases: Any  # a `CaseSet` of the benchmark


@dataclass(frozen=True)
class CardSpec:
    """What a model card says about a benchmark, and how the Hub identifies its data."""

    dataset: str  # id on the Hub
    baselines: Mapping[str, str]  # name -> what it always picks: `the longer response`
    # (model, options by name, the measure that is the score, the data) -> what was measured, in safe Markdown
    measured: Callable[[str, Mapping[str, Any], str, Any], str]
    # the figures of a run -> what its numbers do not show, in safe Markdown: for everybody, and the rest
    caveats: Callable[[CardFacts], tuple[list[str], list[str]]]


@dataclass(frozen=True, kw_only=True)
class ReportSpec:
    """What the reports of a benchmark show."""

    primary: str  # compared, drawn and put into cards, unless a method has another, see `Benchmark.primary`
    score: str  # its name in a picture
    chance: float | None  # of `primary`; None if unknown
    headline: Sequence[Line]  # the first table
    details: Sequence[Line] = ()  # the tables after the baselines and the subsets
    # The results of a case, one per epoch -> the share of its readable picks that are the better response; nan without
    # one. None where a case is no choice between two responses.
    picked: Callable[[Sequence[Result]], float] | None = None
    places: tuple[str, ...] = ()  # in the order of the labels: `first`. Empty where labels are no places
    shortcuts: Mapping[str, str] = field(default_factory=dict)  # baseline -> what it picks: `the longer response`
    beside: Sequence[str] = ()  # baselines and subsets that every output has beside the score
    baselines: Sequence[str] = ()  # all that `examine` may give; a ranking's files always have them
    adjusted: str = ""  # where both responses have the same covariate: `at equal length`
    probability: str = ""  # the measure that is the probability of the better response
    examine: Callable[[Any, Collection[str]], Examined] | None = None  # (cases, ids of the asked ones)
    shown: Callable[[Any, Collection[str]], Shown] | None = None  # (cases, ids of the asked ones)
    written: Callable[[Earlier], Shown] | None = None  # in place of `shown`, with what the model wrote
    duels: Callable[[Any], Duels | None] | None = None  # of a model's replies; a verdict needs it
    control: Control = Control()
    macro: bool = False  # whether the plain mean of the cells is shown where all cells are there
    drawn: Mapping[str, str] = field(default_factory=dict)  # baseline in the page's picture -> label
    card: CardSpec | None = None
    load: Callable[[str, str], Any] | None = None  # (folder or id, counts) -> all cases that are there
    under: Callable[[Any, Any], Any] | None = None  # (cases, signature) -> the cases as that run had them
    environment: str = ""  # the variable that names the data
    swaps: bool = False  # both responses are right for somebody: whoever ignores the user scores 0.5
    asks: str = ""  # what a case is and what is right, in a sentence or two

    @property
    def lines(self) -> dict[str, Line]:
        """Measure -> how it is named and printed."""
        return {line.key: line for line in (*self.headline, *self.details)}

    @property
    def compared(self) -> list[Line]:
        """The measures that baselines which answer like a model have beside a run, and the difference of two runs."""
        return [line for line in self.lines.values() if line.compared]

    def line(self, measure: str) -> Line:
        """How a measure is named and printed."""
        return self.lines.get(measure) or Line(measure)
