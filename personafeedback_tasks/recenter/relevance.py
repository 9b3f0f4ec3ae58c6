"""The record of `recenter_relevance`: should this attribute of a user change the reply to a new prompt in any way?

Asked for each attribute alone, or for all attributes of a user in one prompt, of which the model lists some.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..core.cases import digest_of
from ..core.method import LabelMethod, Reply
from ..core.result import Answers, Result
from ..parsing.answers import REASONS, excerpt
from ..parsing.numbers import NONE, among, read_numbers
from ..parsing.verdicts import NO, YES, read_yes_no
from .data import in_turns, profiles
from .rows import Relevance
from .stages import METRICS, LabelStage, filled, score

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


@dataclass(frozen=True)
class CaseGroup:
    """The rows of one user and prompt, with what harnesses want of a case."""

    cell: ClassVar = Relevance.cells[0]
    language: ClassVar = "en"
    id: str
    user_id: str
    question: str
    cases: tuple[Relevance, ...]  # in the order in which the reply answers them

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of its id and its rows' digests in their order."""
        return digest_of((self.id, *(case.digest for case in self.cases)))


def listing(attributes: Iterable[str], prompt: str) -> str:
    """The prompt that asks for the numbers of the relevant attributes. An attribute is one line."""
    numbered = [f"{number}. {' '.join(attribute.split())}" for number, attribute in enumerate(attributes, start=1)]
    return filled(PROFILE_PROMPT, attributes="\n".join(numbered), prompt=prompt)


def all_of(prompt: str) -> str:
    """The reply that lists every attribute of a text that `listing` made; empty for any other text."""
    before, _, rest = PROFILE_PROMPT.partition("{attributes}")
    if not prompt.startswith(before):
        return ""
    listed = prompt.removeprefix(before).split(rest.partition("{prompt}")[0])[0]
    return ", ".join(re.findall(r"^(\d+)\. ", listed, re.MULTILINE))


def gather(rows: Sequence[Relevance]) -> list[CaseGroup]:
    """The rows of each user and prompt as one document; users take turns."""
    groups = []
    for own in profiles(rows):
        user, prompt = own[0].user_id, own[0].prompt
        groups.append(CaseGroup(f"{user}-{digest_of((prompt,))}", user, prompt, tuple(own)))
    return in_turns(groups)


def split(answer: str, rows: int) -> Answers:
    """YES or NO for each row, or for all of them why the list is unreadable. A number of no row makes it so."""
    if (numbers := among(answer, rows)) is None:
        return (answer if answer in REASONS else "invalid_response_format",) * rows
    return tuple(YES if number in numbers else NO for number in range(1, rows + 1))


@dataclass(frozen=True, kw_only=True)
class ListMethod(LabelMethod):
    """Reads which cases of a document the reply lists."""

    groups: ClassVar[str] = "prompts"

    def documents(self, cases: Sequence[Relevance]) -> Sequence[CaseGroup]:
        return gather(cases)

    def judge(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        (listed,), unread = self.readings(evidence)
        answers = split(listed, len(cases))
        if answers[0] in REASONS and not unread:  # a number of no row
            unread = ((answers[0], excerpt(evidence[0].text)),)
        found = []
        for case, answer in zip(cases, answers, strict=True):
            values = self.score(case.targets, (answer,))
            found.append(case.changed(answers=(answer,), values=values, unread=unread))
        return found


GENERATE = LabelMethod(
    name="generate", help="YES or NO for one attribute", calls=("yes_or_no",), per_case="one call",
    score=score, metrics=METRICS, max_tokens=1024, read=read_yes_no,
)  # fmt: skip

SELECT = ListMethod(
    name="select", help="the numbers of the relevant attributes, from a profile in one prompt",
    calls=("select",), per_case="one call for all attributes of a user and prompt",
    score=score, metrics=METRICS, suffix="select", max_tokens=1024, read=read_numbers,
)  # fmt: skip

_STAND_INS = (Relevance("", "", "P", "A"), Relevance("", "", "P", "A  A"))


class RelevanceTask(LabelStage):
    """Should an attribute of the user change the reply to a new prompt?"""

    row = Relevance
    stand_ins = {"generate": _STAND_INS[0], "select": CaseGroup("", "", "P", _STAND_INS)}
    methods = {"generate": GENERATE, "select": SELECT}
    labels = (YES, NO)
    measured = (*LabelStage.measured, "over_selection")
    rates = ("How much is selected", "selected", "selected by people")
    report_fields = {
        "asks": "Each row is an attribute of a user and a new prompt. People judged whether the attribute should "
        "change the reply; the model does the same.",
        "drawn": {"always YES": "Always YES"},
    }

    def prompt(self, case: Any, options: Any, call: str) -> str:
        if isinstance(case, CaseGroup):
            return listing([row.attribute for row in case.cases], case.question)
        return filled(PROMPT, attribute=case.attribute, prompt=case.prompt)

    def always(self, label: str, prompt: str) -> str:
        every = all_of(prompt)
        return (every if label == YES else NONE) if every else label

    def texts(self, row: Relevance) -> dict[str, str]:
        return {"About the user": row.attribute, "People": self.people(row)}


RELEVANCE = RelevanceTask()
