"""The record of `recenter_relevance`: should this attribute of a user change the reply to a new prompt in any way?"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ..common.statistics import mean
from ..engine.answered import CaseAnswers
from ..engine.benchmark import Benchmark, Method, Metric
from ..engine.judged import Answers, Judged, LogLikelihoods
from ..engine.options import Options, option
from ..engine.report import Line, PrecisionRecall, ReportSpec
from ..replies.yes_no import LABELS, read_yes_no
from . import examined, reference
from .data import ENVIRONMENT_VARIABLE, Rows, load, with_majority
from .rows import Relevance

YES, NO = LABELS
VERSION = "1.0"

PROMPT = """\
An AI assistant knows one thing about a user. The user now sends it a new prompt. Should what the assistant knows change its reply in any way?

<about_the_user>
{attribute}
</about_the_user>

<prompt>
{prompt}
</prompt>

Reply with one word: YES if it should change the reply in any way, or NO if the reply should be the same without it."""


@dataclass(frozen=True, kw_only=True)
class RelevanceOptions(Options):
    """The options of `recenter_relevance`."""

    method: str = option("generate", "how the model's answer is read", always=True)
    data: str | None = option(None, "a folder with relevance.jsonl, or `sample`; RECENTER_DATA if not given")
    counts: str = option("any", "nothing says how many rows there should be", values=lambda: ("any",))


def build(row: Relevance) -> str:
    """The prompt of one row. Texts of the data are inserted as values and never interpreted."""
    start, middle, end = PROMPT.replace("{prompt}", "{attribute}").split("{attribute}")
    return f"{start}{row.attribute}{middle}{row.prompt}{end}"


def target(row: Relevance) -> str:
    """What most people said."""
    return YES if row.majority else NO


# --- scores over all rows at once -------------------------------------------------------------------------------------
# An unreadable reply is a value of its own: never right, and no YES.


def _pairs(judged: Sequence[Judged]) -> Counter[tuple[str, str]]:
    """(people's label, the model's answer) -> how often."""
    return Counter(
        (target, answer if answer in LABELS else "")
        for one in judged
        for target, answer in zip(one.targets, one.answers, strict=True)
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _said(pairs: Counter[tuple[str, str]], label: str) -> int:
    """How often people said it."""
    return sum(count for (target, _), count in pairs.items() if target == label)


def _answered(pairs: Counter[tuple[str, str]], label: str) -> int:
    """How often the model said it."""
    return sum(count for (_, answer), count in pairs.items() if answer == label)


def precision(judged: Sequence[Judged]) -> float:
    """Of what the model selects, the share that people select; nan if it selects nothing."""
    pairs = _pairs(judged)
    return _share(pairs[YES, YES], _answered(pairs, YES))


def recall(judged: Sequence[Judged]) -> float:
    """Of what people select, the share that the model selects; nan if they select nothing."""
    pairs = _pairs(judged)
    return _share(pairs[YES, YES], _said(pairs, YES))


def f1(judged: Sequence[Judged]) -> float:
    """Harmonic mean of precision and recall; nan if nobody selects anything."""
    pairs = _pairs(judged)
    return _share(2 * pairs[YES, YES], _answered(pairs, YES) + _said(pairs, YES))


def kappa(judged: Sequence[Judged]) -> float:
    """Cohen's: the agreement beyond what both shares of YES and NO alone imply; nan if they imply all of it."""
    pairs = _pairs(judged)
    n = pairs.total()
    agreed = sum(pairs[label, label] for label in LABELS)
    by_chance = sum(_said(pairs, label) * _answered(pairs, label) for label in LABELS)
    return _share(n * agreed - by_chance, n * n - by_chance)


def selection_rate(judged: Sequence[Judged]) -> float:
    """The share of rows that the model selects."""
    pairs = _pairs(judged)
    return _share(_answered(pairs, YES), pairs.total())


def human_rate(judged: Sequence[Judged]) -> float:
    """The share of rows that people select."""
    pairs = _pairs(judged)
    return _share(_said(pairs, YES), pairs.total())


def over_selection(judged: Sequence[Judged]) -> float:
    """How many times as often as people the model selects; nan if they select nothing."""
    pairs = _pairs(judged)
    return _share(_answered(pairs, YES), _said(pairs, YES))


CORPUS: dict[str, Callable[[Sequence[Judged]], float]] = {
    measure.__name__: measure for measure in (precision, recall, f1, kappa, selection_rate, human_rate, over_selection)
}

# --- the record -------------------------------------------------------------------------------------------------------


def _score(targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods]) -> dict[str, float]:
    return {
        "acc": mean(float(answer == target) for target, answer in zip(targets, answers, strict=True)),
        "invalid": mean(float(answer not in LABELS) for answer in answers),
    }


def _load(data: str | None) -> Rows[Relevance]:
    return with_majority(load(Relevance, data))


def _columns(cells: Collection[str]) -> dict[str, list[str]]:
    return {cell: [cell] for cell in cells}


def _values(row: CaseAnswers) -> dict[str, float]:
    return {name: row.value(name) for name in ("acc", "invalid")}


GENERATE = Method(
    name="generate", help="YES or NO in the reply", evidence="reply", harnesses=("lm-eval", "inspect"), calls=("yes_or_no",),
    per_case="one call", score=_score, metrics=(Metric("acc"), Metric("invalid", higher_is_better=False)), room=1024,
    read=read_yes_no,
)  # fmt: skip

RELEVANCE = Benchmark(
    name="recenter_relevance",
    title="Recenter relevance",
    version=VERSION,
    options=RelevanceOptions,
    methods={"generate": GENERATE},
    labels=LABELS,
    cells=(Relevance.stage,),
    selections={"": {}},
    load=lambda options, selection: _load(options.data),
    columns=_columns,
    prompt=lambda case, options, call: build(case),
    input=lambda case: case.prompt,
    targets=lambda case: [target(case)],
    fingerprint=lambda options: f"v1-{hashlib.sha256(PROMPT.encode()).hexdigest()[:12]}",
    corpus=CORPUS,
    undirected=("selection_rate", "human_rate", "over_selection"),
    judges={"always_yes": lambda prompt: YES, "always_no": lambda prompt: NO},
    signed=("even_votes",),
    signs=lambda cases, options: {"even_votes": cases.even},
    report=ReportSpec(
        primary="acc",
        score="Accuracy",
        chance=None,
        values=_values,
        headline=(Line("acc", strong=True, interval=True), Line("f1", "F1 of YES", strong=True, interval=True)),
        compared=(
            Line("acc", strong=True, interval=True),
            Line("f1", "F1", strong=True, interval=True),
            Line("precision"),
            Line("recall"),
            Line("kappa", share=False),
            Line("over_selection", "over-selection", share=False, sign=False),
        ),
        precision_recall=PrecisionRecall("precision", "recall", "f1", "human_rate"),
        ranked=("f1", "kappa", "over_selection", "invalid"),
        examine=examined.relevance,
        shown=examined.shown_relevance,
        published=reference.beside(Relevance.stage),
        drawn={"always YES": ("Always YES", "-."), "BM25": ("BM25", (0, (3, 1, 1, 1, 1, 1)))},
        details=(
            Line("precision", table="Against people's majority"),
            Line("recall", table="Against people's majority"),
            Line("kappa", share=False, table="Against people's majority"),
            Line("selection_rate", "selected", table="How much is selected"),
            Line("human_rate", "selected by people", table="How much is selected"),
            Line("over_selection", "times as often", share=False, sign=False, table="How much is selected"),
            Line("invalid", table="How much is selected"),
        ),
        load=lambda data, counts: _load(data),
        environment=ENVIRONMENT_VARIABLE,
    ),
)
