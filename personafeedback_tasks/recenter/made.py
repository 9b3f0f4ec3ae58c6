"""What models made of users' conversations, stage after stage, as other commands read it back from the logs of runs.

    recenter_extract   a case per conversation       -> rows of extraction.jsonl, one per attribute
    recenter_select    a case per user and prompt    -> Selected
    recenter_respond   a case per user and prompt
                       with a selected attribute     -> Replied

A log has what a record needs: the replies, and beside each case its facts (`core.method.FACTS`), so that no data need to be at hand:

    recenter_extract   conversation [{role, content}]; the cell is the source
    recenter_select    prompt_id, prompt, sensitive, attributes (in the order of their numbers in the model's prompt)
    recenter_respond   prompt_id, prompt, sensitive, attributes (those that were selected)

`logs.earlier` reads a log, and the functions here make records of what it gives. Ids are the same in each run on the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..core.earlier import Earlier, EarlierCase
from ..core.report import Shown
from ..parsing.answers import REASONS
from ..parsing.numbers import among, read_numbers
from ..parsing.written import text_of
from .extract import noted
from .histories import ForPrompt
from .rows import Extraction, Message, Relevance, Response
from .stages import bullets


@dataclass(frozen=True)
class Selected(ForPrompt):
    """Which of a user's attributes a model would let change its reply.

    Attributes:
        attributes: all that it was shown, each once.
        selected: those that it chose; None where its reply could not be read.
    """

    selected: tuple[str, ...] | None

    @property
    def rows(self) -> list[Relevance]:
        """Rows of relevance.jsonl without votes, one of each attribute that it was shown; all have the id of the case."""
        return [Relevance(self.id, self.user_id, self.prompt, attribute) for attribute in self.attributes]


P = TypeVar("P", bound=ForPrompt)


@dataclass(frozen=True)
class Replied(ForPrompt):
    """Both replies of a model to one prompt.

    Attributes:
        attributes: those that it was told for the personalized one; at least one.
        personalized, generic: as a user would read them; empty where there is none.
    """

    personalized: str
    generic: str

    @property
    def row(self) -> Response:
        """A row of response.jsonl without votes; its attributes are one per line."""
        attribute = "\n".join(self.attributes)
        return Response(self.id, self.user_id, self.prompt, attribute, self.generic, self.personalized)


def extracted(run: Earlier) -> list[Extraction]:
    """The attributes of a run of `recenter_extract`, none of a reply that could not be read: rows without people's judgment.

    Their ids are `CONVERSATION-NUMBER`, from 1 in the order of the reply. Where the model gave no reason it is the quote, since a row must
    have one.
    """
    return [
        Extraction(
            f"{case.id}-{number}", case.user_id, conversation_of(case), attribute, reason or quote or "None given", case.cell
        )
        for case in _cases(run)
        if case.answers[0] not in REASONS
        for number, (attribute, reason, quote) in enumerate(noted(case.replies[0].text), start=1)
    ]  # fmt: skip


def conversation_of(case: EarlierCase) -> tuple[Message, ...]:
    """What a case of `recenter_extract` is about."""
    return tuple(Message(**message) for message in case.facts["conversation"])


def selected(run: Earlier) -> list[Selected]:
    """What a run of `recenter_select` selected for each user and prompt."""
    made = []
    for case in _cases(run):
        about = _about(case)
        numbers = chosen(case.answers[0], case.replies[0].text, len(about["attributes"]))
        shown = enumerate(about["attributes"], start=1)
        made.append(
            Selected(
                **about, selected=None if numbers is None else tuple(one for number, one in shown if number in numbers)
            )
        )
    return made


def chosen(answer: str, reply: str, attributes: int) -> set[int] | None:
    """The numbers that a reply lists, from 1; None where it cannot be read, or lists one that no attribute has."""
    return None if answer in REASONS else among(read_numbers(reply, False), attributes)


def replied(run: Earlier) -> list[Replied]:
    """Both replies of a run of `recenter_respond` to each prompt."""
    made = []
    for case in _cases(run):
        personalized, generic = (text_of(reply.text) or "" for reply in case.replies)
        made.append(Replied(**_about(case), personalized=personalized, generic=generic))
    return made


def shown_for_prompts(made: Sequence[P], labels: tuple[str, str], texts: Callable[[P], dict[str, str]]) -> Shown:
    """What a report shows of each: the prompt, what the model knew of the user, and what it made of that.

    Args:
        labels: see `Shown`.
        texts: heading -> text of what was made.
    """
    return Shown(
        questions={one.id: one.prompt for one in made},
        question="Prompt",
        texts={one.id: {"About the user": bullets(one.attributes), **texts(one)} for one in made},
        labels=labels,
    )


def _cases(run: Earlier) -> list[EarlierCase]:
    """By id: harnesses log cases in orders of their own, and the last digit of a sum depends on it."""
    return sorted(run.cases, key=lambda case: case.id)


def _about(case: EarlierCase) -> dict[str, Any]:
    """The values of a `ForPrompt`."""
    return {"id": case.id, "user_id": case.user_id, **case.facts, "attributes": tuple(case.facts["attributes"])}
