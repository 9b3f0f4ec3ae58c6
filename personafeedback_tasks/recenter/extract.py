"""The record of `recenter_extract`: a model notes what a conversation says about its user. Measured without a judge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.outputs import jsonable
from ..core.earlier import Earlier, EarlierCase
from ..core.method import Metric, Reply, TextMethod
from ..core.report import RATIO, Line
from ..core.result import Answers, Result
from ..parsing.answers import REASONS
from ..parsing.objects import Objects, read_objects
from ..stats.estimates import mean
from .data import ENVIRONMENT_VARIABLE, load
from .rows import SOURCES, Conversation, Extraction, Message, text_id
from .stages import DoneStage, StageOptions, bullets, data_option, does, filled

LISTED = "listed"
"""The one label: the reply is what was asked for."""

KEYS = ("attribute", "reason", "quote")

PROMPT = """\
Below is a conversation between a user and an AI assistant. Note what it says about the user that will still hold in \
other conversations: who the user is, and what the user does, needs, knows or prefers. Note nothing that the user's \
own words do not support.

<conversation>
{conversation}
</conversation>

Reply with a JSON list of objects and nothing else; with [] if there is nothing to note. Each object has three texts:
"attribute": what holds of the user, in a few words
"reason": how the conversation shows it, in one sentence
"quote": the words of the user that show it, copied exactly"""


@dataclass(frozen=True, kw_only=True)
class ExtractOptions(StageOptions):
    method: str = does("extract")
    data: str | None = data_option(Conversation.file)


def noted(reply: str) -> Objects:
    """(attribute, reason, quote) of each attribute of a reply; none if it cannot be read."""
    found = read_objects(reply, KEYS)
    return () if isinstance(found, str) else found


def conversation_of(case: EarlierCase) -> Conversation:
    messages = tuple(Message(**message) for message in case.facts["conversation"])
    return Conversation(case.id, case.user_id, messages, case.cell)


def extracted(run: Earlier) -> list[Extraction]:
    """The attributes of a run as rows without judgments; none of an unreadable reply.

    A row must have a reason: where the model gave none, it is the quote.
    """
    rows = []
    for case in sorted(run.cases, key=lambda case: case.id):
        if case.answers[0] in REASONS:
            continue
        said = conversation_of(case).conversation
        for attribute, reason, quote in noted(case.replies[0].text):
            name, why = text_id(case.id, attribute), reason or quote or "None given"
            rows.append(Extraction(name, case.user_id, said, attribute, why, case.cell))
    return rows


def is_there(quote: str, said: Sequence[str]) -> bool:
    """Whether a quote is in one of the user's messages, white space apart."""
    words = " ".join(quote.split())
    return bool(words) and any(words in " ".join(message.split()) for message in said)


def _read(reply: str, truncated: bool = False) -> str:
    found = read_objects(reply, KEYS, truncated)
    return found if isinstance(found, str) else LISTED


def _items(replies: Sequence[Reply], facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    said = [message["content"] for message in facts["conversation"] if message["role"] == "user"]
    return [{"attribute": attribute, "quoted": is_there(quote, said)} for attribute, _, quote in noted(replies[0].text)]


def _measure(answers: Answers, replies: Sequence[Reply], facts: Mapping[str, Any]) -> dict[str, float]:
    read = answers[0] == LISTED
    count = len(noted(replies[0].text)) if read else math.nan
    return {
        "listed": float(read),
        "attributes": float(count),
        "none": float(count == 0) if read else math.nan,
    }


def quoted(outcomes: Sequence[Result]) -> float:
    """The share of all attributes whose quote is really there; nan without attributes."""
    return mean(float(item["quoted"]) for outcome in outcomes for item in outcome.items)


class Extract(DoneStage):
    """Note what a conversation says about its user."""

    label = LISTED
    method_of_stage = TextMethod(
        name="extract", help="a JSON list of attributes, each with a reason and a quote",
        calls=("attributes",), per_case="one call",
        metrics=(
            Metric("listed"), *(Metric(name, higher_is_better=None, defined=False) for name in ("attributes", "none"))
        ),
        max_tokens=2048, read=_read, measure=_measure, items=_items,
        facts_of=lambda row: {"conversation": jsonable(row.conversation)},
    )  # fmt: skip
    stand_in = Conversation("", "", (Message("user", "U"), Message("assistant", "S")), SOURCES[0])
    options = ExtractOptions
    asked_about = "First message"
    corpus = {"quoted": quoted}
    report_fields = {
        "headline": (
            Line(
                "quoted", "quote is there", strong=True, interval=True, ranked=True,
                meaning="share of the attributes whose quote is in a message of the user",
            ),
            Line("attributes", unit=RATIO, meaning="mean number of attributes of a conversation", ranked=True),
        ),
        "details": (
            Line("none", "nothing noted", meaning="share of the conversations without an attribute"),
            Line("listed", meaning="share of the replies that are a list"),
        ),
        "asks": "Each case is a conversation of a user. The model notes what it says about the user; nobody judges "
        "here whether that is true.",
        "load": lambda data, counts: load(Conversation, data),
        "environment": ENVIRONMENT_VARIABLE,
    }  # fmt: skip

    def load(self, options: ExtractOptions, selection: Mapping[str, str]) -> Any:
        return load(Conversation, options.data)

    def texts(self, run: Earlier) -> Iterator[tuple[Conversation, dict[str, str]]]:
        for case in run.cases:
            row, found = conversation_of(case), noted(case.replies[0].text)
            yield row, {"Conversation": row.transcript, "Noted": bullets(attribute for attribute, *_ in found)}

    def prompt(self, case: Conversation, options: Any, call: str) -> str:
        return filled(PROMPT, conversation=case.transcript)


EXTRACT = Extract()
