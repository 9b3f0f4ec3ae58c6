"""What models made of users' conversations, stage after stage, as other commands read it back from the logs of runs.

    recenter_extract   a case per conversation       -> Extracted, one per attribute
    recenter_select    a case per user and prompt    -> Selected
    recenter_respond   a case per user and prompt
                       with a selected attribute     -> Replied

A log has what a record needs: the replies, and beside each case its facts (`engine.method.FACTS`), so that no data need to be at hand:

    recenter_extract   conversation [{role, content}], half (1 or 2, of the user's conversations); the cell is the source
    recenter_select    prompt_id, prompt, sensitive, topic, attributes (in the order of their numbers in the model's prompt)
    recenter_respond   prompt_id, prompt, sensitive, topic, attributes (those that were selected)

`runs.made` reads them: `extracted(run)`, `selected(run)`, `replied(run)`. Ids are the same in each run on the same data.
"""

from __future__ import annotations

from dataclasses import dataclass

from .fields import Message


@dataclass(frozen=True)
class Extracted:
    """An attribute that a model took from a conversation: a row of extraction.jsonl without people's judgment.

    Attributes:
        id: `CONVERSATION-NUMBER`, from 1 in the order of the reply.
        source: of the conversation, `human` or `synthetic`.
        reason, quote: empty where the model gave none.
        quoted: whether the quote is in a message of the user, white space apart.
    """

    id: str
    user_id: str
    conversation_id: str
    conversation: tuple[Message, ...]
    source: str
    attribute: str
    reason: str
    quote: str
    quoted: bool


@dataclass(frozen=True)
class ForPrompt:
    """Something that was made for one user and one prompt.

    Attributes:
        id: `USER-PROMPT`.
        topic: empty where the prompt names none.
    """

    id: str
    user_id: str
    prompt_id: str
    prompt: str
    sensitive: bool
    topic: str


@dataclass(frozen=True)
class Selected(ForPrompt):
    """Which of a user's attributes a model would let change its reply.

    Attributes:
        attributes: all that it was shown, each once.
        selected: those that it chose; None where its reply could not be read.
    """

    attributes: tuple[str, ...]
    selected: tuple[str, ...] | None


@dataclass(frozen=True)
class Replied(ForPrompt):
    """Both replies of a model to one prompt.

    Attributes:
        attributes: those that it was told for the personalized one; at least one.
        personalized, generic: as a user would read them; empty where there is none.
    """

    attributes: tuple[str, ...]
    personalized: str
    generic: str

    @property
    def attribute(self) -> str:
        """As a row of response.jsonl has them: one per line."""
        return "\n".join(self.attributes)
