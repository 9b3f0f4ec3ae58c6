"""The record of `recenter_relevance`: should this attribute of a user change the reply to a new prompt in any way?

Asked for each attribute alone, or for all attributes of a user in one prompt, of which the model lists some.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.cases import CaseGroup, digest_of
from ..core.method import LabelMethod, Several
from ..core.result import Answers
from ..parsing.answers import REASONS
from ..parsing.numbers import NONE, among, read_numbers
from ..parsing.verdicts import NO, YES, read_yes_no
from .data import in_turns, profiles
from .labels import METRICS, LabelStage, score
from .rows import Relevance
from .stages import filled

PROMPT = """\
An AI assistant knows one thing about a user. The user now sends it a new prompt. Should what the assistant knows \
change its reply in any way?

<about_the_user>
{attribute}
</about_the_user>

<prompt>
{prompt}
</prompt>

Reply with one word: YES if it should change the reply in any way, or NO if the reply should be the same without it."""


PROFILE_PROMPT = """\
An AI assistant knows these things about a user, in no particular order. The user now sends it a new prompt. Which \
of them should change its reply in any way?

<about_the_user>
{attributes}
</about_the_user>

<prompt>
{prompt}
</prompt>

Reply with the numbers of those that should change the reply, separated by commas, or with NONE if the reply should \
be the same without any of them."""


def build(row: Relevance) -> str:
    return filled(PROMPT, attribute=row.attribute, prompt=row.prompt)


def build_profile(document: CaseGroup[Relevance]) -> str:
    return listing([row.attribute for row in document.cases], document.cases[0].prompt)


def listing(attributes: Iterable[str], prompt: str) -> str:
    """The prompt that asks for the numbers of the relevant attributes. An attribute is one line."""
    numbered = [f"{number}. {' '.join(attribute.split())}" for number, attribute in enumerate(attributes, start=1)]
    return filled(PROFILE_PROMPT, attributes="\n".join(numbered), prompt=prompt)


def listed(prompt: str) -> int:
    """How many attributes a text that `listing` made has; 0 for any other text."""
    before, _, rest = PROFILE_PROMPT.partition("{attributes}")
    if not prompt.startswith(before):
        return 0
    between = rest.partition("{prompt}")[0]
    return len(re.findall(r"^\d+\. ", prompt.removeprefix(before).split(between)[0], re.MULTILINE))


def all_of(prompt: str) -> str:
    """The reply that lists every attribute of a text that `listing` made; empty for any other text."""
    return ", ".join(map(str, range(1, listed(prompt) + 1)))


def gather(rows: Sequence[Relevance]) -> list[CaseGroup[Relevance]]:
    """The rows of each user and prompt as one document; users take turns."""
    return in_turns(CaseGroup(f"{own[0].user_id}-{digest_of((own[0].prompt,))}", tuple(own)) for own in profiles(rows))


def split(answer: str, rows: int) -> Answers:
    """YES or NO for each row, or for all of them why the list is unreadable. A number of no row makes it so."""
    if answer in REASONS:
        return (answer,) * rows
    if (numbers := among(answer, rows)) is None:
        return ("invalid_response_format",) * rows
    return tuple(YES if number in numbers else NO for number in range(1, rows + 1))


GENERATE = LabelMethod(
    name="generate", help="YES or NO for one attribute", calls=("yes_or_no",), per_case="one call",
    score=score, metrics=METRICS, max_tokens=1024, read=read_yes_no,
)  # fmt: skip

SELECT = LabelMethod(
    name="select", help="the numbers of the relevant attributes, from a profile in one prompt",
    calls=("select",), per_case="one call for all attributes of a user and prompt",
    score=score, metrics=METRICS, suffix="select", max_tokens=1024, read=read_numbers,
    several=Several(unit="prompts", gather=gather, split=split),
)  # fmt: skip

_STAND_INS = (Relevance("", "", "P", "A"), Relevance("", "", "P", "A  A"))


class RelevanceTask(LabelStage):
    """Should an attribute of the user change the reply to a new prompt?"""

    row = Relevance
    stand_ins = {"generate": _STAND_INS[0], "select": CaseGroup("", _STAND_INS)}
    methods = {"generate": GENERATE, "select": SELECT}
    labels = (YES, NO)
    measured = ("precision", "recall", "f1", "kappa", "selection_rate", "human_rate", "over_selection")
    rates = ("How much is selected", "selected", "selected by people")
    judges = {
        "always_yes": lambda prompt: all_of(prompt) or YES,
        "always_no": lambda prompt: NONE if listed(prompt) else NO,
    }
    report_fields = {
        "asks": "Each row is an attribute of a user and a new prompt. People judged whether the attribute should "
        "change the reply; the model does the same.",
        "drawn": {"always YES": "Always YES"},
    }

    def prompt(self, case: Any, options: Any, call: str) -> str:
        return build_profile(case) if isinstance(case, CaseGroup) else build(case)

    def texts(self, row: Relevance) -> dict[str, str]:
        return {"About the user": row.attribute, "People": self.people(row)}


RELEVANCE = RelevanceTask()
