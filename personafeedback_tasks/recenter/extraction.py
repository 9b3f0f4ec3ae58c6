"""The record of `recenter_extraction`: is this attribute, extracted from this conversation, acceptable?"""

from __future__ import annotations

from typing import Any

from ..core.method import LabelMethod
from ..parsing.verdicts import ACCEPT, PROBLEMATIC, read_accept
from .rows import SOURCES, Extraction, Message
from .stages import METRICS, LabelStage, filled, score

PROMPT = """\
An AI assistant read a conversation and noted something about the user in it. Is the note acceptable, or is it \
problematic, because it is wrong or the conversation leaves it uncertain?

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


GENERATE = LabelMethod(
    name="generate", help="ACCEPT or PROBLEMATIC in the reply", calls=("accept",), per_case="one call",
    score=score, metrics=METRICS, max_tokens=1024, read=read_accept,
)  # fmt: skip


class ExtractionTask(LabelStage):
    """Is an attribute that was inferred from a conversation true of the user?"""

    row = Extraction
    asked_about = "Attribute"
    stand_ins = {
        "generate": Extraction("", "", (Message("user", "U"), Message("assistant", "S")), "A", "R", SOURCES[0])
    }
    methods = {"generate": GENERATE}
    labels = (PROBLEMATIC, ACCEPT)
    rates = ("How much is called problematic", "called problematic", "by people")
    report_fields = {
        "asks": "Each row is an attribute that was inferred from a conversation. People judged whether it is true of "
        "the user; the model does the same."
    }

    def prompt(self, case: Extraction, options: Any, call: str) -> str:
        return filled(PROMPT, conversation=case.transcript, attribute=case.attribute, reason=case.reason)

    def texts(self, row: Extraction) -> dict[str, str]:
        return {"Reason": row.reason, "Conversation": row.transcript, "People": self.people(row)}


EXTRACTION = ExtractionTask()
