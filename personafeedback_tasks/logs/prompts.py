"""The prompts in a log: our texts, and around them only what the log says, the same in every row."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec import Struct

from ..common.records import short

Call = tuple[tuple[str, str], ...]
"""(role, text) of each message that a call sends; a prompt that is one text has the role ""."""

LABEL = "label"
"""In place of a role: the label after a prompt whose log-likelihood was asked for."""

_ROLES = {word for role in ("system", "user", "assistant") for word in (role, role.upper(), role.capitalize())}
_DATE = {*calendar.month_name, *calendar.month_abbr, *calendar.day_name, *calendar.day_abbr}


class Around(NamedTuple):
    """Text before and after ours in a prompt that is one text, and whether the template trims ours."""

    before: str
    after: str
    trims: bool = False


@dataclass(frozen=True)
class Wrapping:
    """The texts around our prompts, as the log has them.

    Attributes:
        system: the text of the system turn; empty for none.
        template: the source of the chat template; empty where nobody has it, as behind an API; None where none was
            applied.
        inserted: other texts that the template may insert, such as its special tokens.
    """

    system: str = ""
    template: str | None = None
    inserted: str = ""

    def around(self, ours: Call, sent: Call) -> Around | None:
        """The texts around our call, as the first one of a log shows; None where messages were sent."""
        (_, text), (role, whole) = ours[0], sent[0]
        if self.template is None:
            return Around(self.system, "")
        if role:
            return None
        trims = text not in whole
        before, _, after = whole.partition(text.strip() if trims else text)
        return Around(before, after, trims)

    def sent(self, ours: Call, around: Around | None) -> Call:
        """A call as the harness sent it."""
        if around is None:
            return (("system", self.system), *ours) if self.system else ours
        (_, text), *label = ours
        # added up: of no text around it stays the same object, whose hash is known
        return (("", around.before + (text.strip() if around.trims else text) + around.after), *label)

    def unknown(self, around: Around | None) -> str:
        """A sentence on text around ours that the log does not account for; empty for none.

        Rendering a template takes its tokenizer, so every word must be one of the template.
        """
        if around is None or self.template is None:
            return ""
        system = self.system.strip()
        if system not in around.before and "raise_exception" not in self.template:  # which may refuse a system turn
            return f"its prompts lack the system instruction that the log names, {short(system)}."
        known = _ROLES | _words(re.sub(r"\\[nrt]", " ", self.template)) | _words(self.inserted)
        for part in (around.before.replace(system, " ", 1), around.after):
            words = _words(part) - known
            if "strftime_now" in self.template:
                words = {word for word in words - _DATE if not word.isdecimal()}
            if words:
                return (
                    f"found {short(part.strip())} around its prompts, which the chat template of the log does not say."
                )
        return ""


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


class Asked(Struct):
    """How a case, or a document of several, was asked under one setting.

    Attributes:
        where: the file, and the line or sample in it.
        calls: the messages of each call, in order, the first call's before those of the method; empty where the log
            has none. Of most samples of a log only their hashes: the texts of a whole run may not fit into memory.
        wrapping: what the log says that the harness put around our texts.
        first_reply: to the first call; None without one.
        facts: what the measures of a text need of its case, as logged; None where nothing is measured.
    """

    where: str
    id: str
    calls: Sequence[Call | int]
    wrapping: Wrapping = Wrapping()
    first_reply: str | None = None
    facts: Any = None
