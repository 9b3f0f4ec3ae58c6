"""The record of `recenter_extraction`: is this attribute, extracted from this conversation for this reason, acceptable?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..engine.benchmark import Benchmark, always
from ..engine.cases import each_and_all
from ..engine.method import Method, Metric
from ..engine.options import Options, option
from ..engine.outcome import Outcome
from ..engine.report import Line, ReportSpec
from ..replies.words import ACCEPT, PROBLEMATIC, read_accept
from . import examined
from .control import counts_option, data_option
from .data import ENVIRONMENT_VARIABLE, Rows, load, with_majority
from .labels import TwoLabels
from .rows import SOURCES, Extraction

VERSION = "1.1"
SCORES = TwoLabels(PROBLEMATIC, ACCEPT)
HUMAN, SYNTHETIC = SOURCES

PROMPT = """\
An AI assistant read a conversation and noted something about the user in it. Is the note acceptable, or is it problematic, because it is wrong or the conversation leaves it uncertain?

<conversation>
{conversation}
</conversation>

<note>
{attribute}
</note>

<reason>
{reason}
</reason>

Reply with one word: ACCEPT if the conversation supports the note, or PROBLEMATIC if it does not."""


@dataclass(frozen=True, kw_only=True)
class ExtractionOptions(Options):
    """The options of `recenter_extraction`."""

    method: str = option("generate", "how the model is asked", always=True)
    data: str | None = data_option()
    counts: str = counts_option()


def build(row: Extraction) -> str:
    """The prompt of one row. Texts of the data are inserted as values and never interpreted."""
    conversation = "\n\n".join(f"{message.role}: {message.content}" for message in row.conversation)
    first, rest = PROMPT.split("{conversation}")
    second, rest = rest.split("{attribute}")
    third, last = rest.split("{reason}")
    return "".join((first, conversation, second, row.attribute, third, row.reason, last))


def target(row: Extraction) -> str:
    """What most people said; uncertain and rejected count together."""
    return PROBLEMATIC if row.majority else ACCEPT


def f1_gap(judged: Sequence[Outcome]) -> float:
    """F1 on conversations of people minus F1 on synthetic ones; nan if either is undefined."""
    human, synthetic = (SCORES.f1([one for one in judged if one.cell == source]) for source in (HUMAN, SYNTHETIC))
    return human - synthetic


def _load(data: str | None) -> Rows[Extraction]:
    return with_majority(load(Extraction, data))


GENERATE = Method(
    name="generate", help="ACCEPT or PROBLEMATIC in the reply", evidence="reply", harnesses=("lm-eval", "inspect"), calls=("accept",),
    per_case="one call", score=SCORES.score, metrics=(Metric("acc"), Metric("invalid", higher_is_better=False)), room=1024,
    read=read_accept,
)  # fmt: skip

EXTRACTION = Benchmark(
    name="recenter_extraction",
    title="Recenter extraction",
    version=VERSION,
    options=ExtractionOptions,
    methods={"generate": GENERATE},
    labels=SCORES.labels,
    cells=Extraction.cells,
    selections={"": {}},
    load=lambda options, selection: _load(options.data),
    columns=each_and_all,
    prompt=lambda case, options, call: build(case),
    input=lambda case: case.attribute,
    targets=lambda case: [target(case)],
    fingerprint=lambda options: f"v1-{hashlib.sha256(PROMPT.encode()).hexdigest()[:12]}",
    corpus={
        **SCORES.corpus("precision", "recall", "f1", "kappa", "selection_rate", "human_rate"),
        "f1_gap": f1_gap,
    },
    undirected=("selection_rate", "human_rate", "f1_gap"),
    judges={"always_accept": lambda prompt: ACCEPT, "always_problematic": lambda prompt: PROBLEMATIC},
    signed={"even_votes": always},
    signs=lambda cases, options: {"even_votes": cases.even},
    report=ReportSpec(
        primary="acc",
        score="Accuracy",
        chance=None,
        headline=(Line("acc", strong=True, interval=True), Line("f1", "F1 of PROBLEMATIC", strong=True, interval=True)),
        compared=(
            Line("acc", strong=True, interval=True),
            Line("f1", "F1", strong=True, interval=True),
            Line("precision"),
            Line("recall"),
            Line("kappa", share=False),
        ),
        ranked=("f1", "kappa", "invalid"),
        examine=examined.extraction,
        shown=examined.shown_extraction,
        details=(
            Line("precision", table="Against people's majority"),
            Line("recall", table="Against people's majority"),
            Line("kappa", share=False, table="Against people's majority"),
            Line("f1_gap", "F1, human minus synthetic", share=False, table="Against people's majority"),
            Line("selection_rate", "called problematic", table="How much is called problematic"),
            Line("human_rate", "by people", table="How much is called problematic"),
            Line("invalid", table="How much is called problematic"),
        ),
        load=lambda data, counts: _load(data),
        environment=ENVIRONMENT_VARIABLE,
    ),
)
