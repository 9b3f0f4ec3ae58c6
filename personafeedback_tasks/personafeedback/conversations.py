"""Case -> the two conversations that a reward model scores."""

from __future__ import annotations

from ..common.errors import OptionError
from ..core.rewards import Message
from ..pairwise import prompts as pairwise
from ..pairwise.orders import TWO
from ..pairwise.report import PADDING
from .cases import PersonaCase
from .prompts import Template, profile
from .system import neutral

SIDES = TWO.sides
"""The responses of a case; each makes one conversation."""

SETTINGS = ("persona", "no_persona", "other_persona", "similar_persona", "padding")
"""The settings that reward models are scored under."""

TOLD = {
    "en": "This is the user you are talking to. A good reply suits who this user is and what this user cares about.",
    "zh": "这是正在与你对话的用户。好的回答应当符合这位用户的特点和偏好。",
}
"""The fixed text before the persona."""


def check(template: Template) -> None:
    """Refuse, with OptionError, what does not apply to a reward model: some settings, and wordings of the question."""
    if template.setting not in SETTINGS:
        raise OptionError(
            f"Reward models support setting={', '.join(SETTINGS[:-1])} or {SETTINGS[-1]}, got {template.setting!r}. "
            "Use another method with it."
        )
    if template.prompt != "v1":
        raise OptionError(f"prompt does not apply to reward models, got {template.prompt!r}. Leave prompt out.")


def conversation(case: PersonaCase, options: Template, side: str) -> list[Message]:
    told = ""
    if options.setting == PADDING:
        told = neutral(len(case.persona.text), case.persona.language)
    elif options.setting != "no_persona":
        told = f"{TOLD[case.language]}\n\n<persona>\n{profile(case, options)}\n</persona>"
    return pairwise.conversation(told, case.question, case.responses[SIDES.index(side)])
