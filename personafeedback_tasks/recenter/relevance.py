"""The record of `recenter_relevance`: should this attribute of a user change the reply to a new prompt in any way?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..common.errors import DataError
from ..common.statistics import mean
from ..common.strict_json import short
from ..engine.benchmark import Benchmark, always
from ..engine.cases import each_and_all
from ..engine.documents import Document
from ..engine.evidence import LogLikelihoods
from ..engine.method import Method, Metric
from ..engine.options import Options, option
from ..engine.outcome import Answers
from ..engine.report import Line, ReportSpec
from ..replies.numbers import NONE, read_numbers
from ..replies.words import NO, YES, read_yes_no
from . import examined, profile, reference
from .control import CONTROL, NO_CONTROL, SELECTED, control_option, counts_option, data_option, under_control
from .data import ENVIRONMENT_VARIABLE, Rows, load, with_majority
from .labels import TwoLabels
from .rows import Relevance

VERSION = "1.1"
SCORES = TwoLabels(YES, NO)

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

    method: str = option("generate", "how the model is asked", always=True)
    control: str = control_option()
    data: str | None = data_option()
    counts: str = counts_option()


def build(row: Relevance) -> str:
    """The prompt of one row. Texts of the data are inserted as values and never interpreted."""
    start, middle, end = _frame()
    return f"{start}{row.shown}{middle}{row.prompt}{end}"


def texts_of(text: str) -> tuple[str, str]:
    """(attribute, prompt) of a prompt that `build` made.

    Raises:
        DataError: it is not one, or its texts repeat the tags between them, so that where they end is open.
    """
    start, middle, end = _frame()
    inside = text[len(start) : len(text) - len(end)]
    if f"{start}{inside}{end}" != text or middle not in inside:
        raise DataError(
            f"Found a prompt that the task {RELEVANCE.name} does not make for a single attribute ({short(text)}), expected one that it "
            f"makes. Run the task {RELEVANCE.name} with method={GENERATE.name}."
        )
    if inside.find(middle) != inside.rfind(middle):
        raise DataError(
            f"Found the tags {short(middle)} several times in a prompt, expected them once. Remove them from the attribute or the prompt."
        )
    attribute, prompt = inside.split(middle)
    return attribute, prompt


def _frame() -> tuple[str, str, str]:
    """What is before, between and after the two texts."""
    start, middle, end = PROMPT.replace("{prompt}", "{attribute}").split("{attribute}")
    return start, middle, end


def target(row: Relevance) -> str:
    """What most people said."""
    return YES if row.majority else NO


def _load(data: str | None, control: str = NO_CONTROL) -> Rows[Relevance]:
    return under_control(with_majority(load(Relevance, data)), control)


def _prompt(asked: Any, options: Any, call: str) -> str:
    return profile.build(asked) if isinstance(asked, Document) else build(asked)


def _input(asked: Any) -> str:
    prompt: str = asked.cases[0].prompt if isinstance(asked, Document) else asked.prompt
    return prompt


def _always_yes(prompt: str) -> str:
    rows = profile.listed(prompt)
    return YES if rows is None else ", ".join(map(str, range(1, rows + 1)))


def _always_no(prompt: str) -> str:
    return NO if profile.listed(prompt) is None else NONE


def _score(targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods] = ()) -> dict[str, float]:
    return {**SCORES.score(targets, answers), SELECTED: mean(float(answer == YES) for answer in answers)}


METRICS = (Metric("acc"), Metric("invalid", higher_is_better=False), Metric(SELECTED, harnesses=()))

GENERATE = Method(
    name="generate", help="YES or NO for one attribute", evidence="reply", harnesses=("lm-eval", "inspect"), calls=("yes_or_no",),
    per_case="one call", score=_score, metrics=METRICS, room=1024, read=read_yes_no,
)  # fmt: skip

SELECT = Method(
    name="select", help="the numbers of the relevant attributes, from a profile in one prompt", evidence="reply",
    harnesses=("lm-eval", "inspect"), calls=("select",), per_case="one call for all attributes of a user and prompt",
    score=_score, metrics=METRICS, suffix="select", tasks=True, room=1024, read=read_numbers, several=profile.PROFILES,
)  # fmt: skip

RELEVANCE = Benchmark(
    name="recenter_relevance",
    title="Recenter relevance",
    version=VERSION,
    options=RelevanceOptions,
    methods={"generate": GENERATE, "select": SELECT},
    labels=SCORES.labels,
    cells=Relevance.cells,
    selections={"": {}},
    load=lambda options, selection: _load(options.data, options.control),
    columns=each_and_all,
    prompt=_prompt,
    input=_input,
    targets=lambda case: [target(case)],
    fingerprint=lambda options: (
        f"v1-{hashlib.sha256((profile.PROMPT if options.method == 'select' else PROMPT).encode()).hexdigest()[:12]}"
    ),
    corpus=SCORES.corpus("precision", "recall", "f1", "kappa", "selection_rate", "human_rate", "over_selection"),
    undirected=("selection_rate", "human_rate", "over_selection"),
    judges={"always_yes": _always_yes, "always_no": _always_no},
    signed={"even_votes": always},
    signs=lambda cases, options: {"even_votes": cases.even},
    report=ReportSpec(
        primary="acc",
        score="Accuracy",
        chance=None,
        headline=(Line("acc", strong=True, interval=True), Line("f1", "F1 of YES", strong=True, interval=True)),
        compared=(
            Line("acc", strong=True, interval=True),
            Line("f1", "F1", strong=True, interval=True),
            Line("precision"),
            Line("recall"),
            Line("kappa", share=False),
            Line("over_selection", "over-selection", share=False, sign=False),
        ),
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
        control=CONTROL,
        load=lambda data, counts: _load(data),
        under=lambda cases, signature: under_control(cases, signature["control"]),
        environment=ENVIRONMENT_VARIABLE,
    ),
)
