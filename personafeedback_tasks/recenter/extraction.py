"""The record of `recenter_extraction`: is this attribute, extracted from this conversation for this reason, acceptable?"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.method import LabelMethod, Metric
from ..core.outcome import Outcome
from ..core.report import Examined, Line
from ..parsing.words import ACCEPT, PROBLEMATIC, read_accept
from .labels import AGAINST_PEOPLE, COMPARED, PEOPLE, TwoLabels
from .rows import SOURCES, Extraction, Message
from .stages import always_saying, filled, judging

SCORES = TwoLabels(PROBLEMATIC, ACCEPT)
CORPUS = SCORES.corpus("precision", "recall", "f1", "kappa", "selection_rate", "human_rate")
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


def build(row: Extraction) -> str:
    """The prompt of one row."""
    return filled(PROMPT, conversation=row.transcript, attribute=row.attribute, reason=row.reason)


def f1_gap(outcomes: Sequence[Outcome]) -> float:
    """F1 on conversations of people minus F1 on synthetic ones; nan if either is undefined."""
    human, synthetic = (
        CORPUS["f1"]([outcome for outcome in outcomes if outcome.cell == source]) for source in (HUMAN, SYNTHETIC)
    )
    return human - synthetic


GENERATE = LabelMethod(
    name="generate", help="ACCEPT or PROBLEMATIC in the reply", calls=("accept",),
    per_case="one call", score=SCORES.score, metrics=(Metric("acc"), Metric("invalid", higher_is_better=False)), max_tokens=1024,
    read=read_accept,
)  # fmt: skip

_RATES = "How much is called problematic"

EXTRACTION = judging(
    Extraction,
    {"generate": Extraction("", "", (Message("user", "U"), Message("assistant", "S")), "A", "R", HUMAN)},
    "even_votes",
    methods={"generate": GENERATE},
    labels=SCORES.labels,
    prompt=lambda row, options, call: build(row),
    targets=lambda row: [SCORES.target(row)],
    corpus={**CORPUS, "f1_gap": f1_gap},
    undirected=("selection_rate", "human_rate", "f1_gap"),
    judges={"always_accept": lambda prompt: ACCEPT, "always_problematic": lambda prompt: PROBLEMATIC},
    examine=lambda rows: Examined(
        said={f"always {label}": always_saying(rows, (label,)) for label in SCORES.labels},
        agreement=SCORES.agreement(rows),
    ),
    shown=lambda row: {"Reason": row.reason, "Conversation": row.transcript, "People": SCORES.people(row)},
    report={
        "headline": SCORES.headline,
        "compared": COMPARED,
        "asks": "Each row is an attribute that was inferred from a conversation. People judged whether it is true of the user; the model does the same.",
        "ranked": ("f1", "kappa", "invalid"),
        "details": (
            *AGAINST_PEOPLE,
            Line("f1_gap", "F1, human minus synthetic", share=False, table=PEOPLE),
            Line("selection_rate", "called problematic", table=_RATES),
            Line("human_rate", "by people", table=_RATES),
            Line("invalid", table=_RATES, meaning="share of the replies that could not be read"),
        ),
    },
)
