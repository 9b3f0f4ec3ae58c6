"""A whole profile in one prompt: every attribute of a user, numbered, and the model lists those that matter for a new prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..core.cases import digest_of
from ..core.documents import Document, Several
from ..core.outcome import Answers
from ..parsing.answers import REASONS
from ..parsing.numbers import among
from ..parsing.words import NO, YES
from .control import profiles
from .data import in_turns
from .rows import Relevance
from .stages import around, filled

PROMPT = """\
An AI assistant knows these things about a user, in no particular order. The user now sends it a new prompt. Which of them should change its reply in any way?

<about_the_user>
{attributes}
</about_the_user>

<prompt>
{prompt}
</prompt>

Reply with the numbers of those that should change the reply, separated by commas, or with NONE if the reply should be the same without any of them."""

_NUMBERED = re.compile(r"\d+\. ")


def build(document: Document[Relevance]) -> str:
    """The prompt of one profile."""
    return listing([row.shown for row in document.cases], document.cases[0].prompt)


def listing(attributes: Iterable[str], prompt: str) -> str:
    """The prompt that asks for the numbers of the relevant attributes. An attribute is one line."""
    numbered = [f"{number}. {' '.join(attribute.split())}" for number, attribute in enumerate(attributes, start=1)]
    return filled(PROMPT, attributes="\n".join(numbered), prompt=prompt)


def listed(prompt: str) -> int | None:
    """How many attributes a text that `build` made has; None for any other text."""
    before, between, _ = around(PROMPT)
    if not prompt.startswith(before):
        return None
    numbered = prompt.removeprefix(before).split(between)[0].splitlines()
    return sum(bool(_NUMBERED.match(line)) for line in numbered)


def all_of(prompt: str) -> str:
    """The reply that lists every attribute of a text that `build` made."""
    return ", ".join(map(str, range(1, (listed(prompt) or 0) + 1)))


def gather(rows: Sequence[Relevance]) -> list[Document[Relevance]]:
    """The rows of each user and prompt as one document. Users take turns, see `data.in_turns`."""
    return in_turns(Document(f"{own[0].user_id}-{digest_of((own[0].prompt,))}", tuple(own)) for own in profiles(rows))


def split(answer: str, rows: int) -> Answers:
    """YES or NO for each row, from the numbers that were read; for all of them the reason why none was.

    A number that no row has makes the whole list unreadable: nobody can tell which one was meant.
    """
    if answer in REASONS:
        return (answer,) * rows
    if (numbers := among(answer, rows)) is None:
        return ("invalid_response_format",) * rows
    return tuple(YES if number in numbers else NO for number in range(1, rows + 1))


PROFILES = Several(unit="prompts", gather=gather, split=split)
