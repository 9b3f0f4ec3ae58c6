"""Case -> the two conversations that a reward model scores, see `choice.prompts`."""

from __future__ import annotations

from ..choice import prompts as choice
from ..choice.orders import TWO
from ..common.errors import OptionError
from ..engine.conversation import Message
from .cases import PersonaCase
from .prompts import Template, profile

SIDES = TWO.sides
"""The responses of a case; each makes one conversation."""

SETTINGS = ("persona", "no_persona", "other_persona")
"""The settings that reward models are scored under."""

TOLD = {
    "en": "This is the user you are talking to. A good reply suits who this user is and what this user cares about.",
    "zh": "这是正在与你对话的用户。好的回答应当符合这位用户的特点和偏好。",
}
"""The fixed text before the persona."""


def check(template: Template) -> None:
    """Refuse options that do not apply to a reward model.

    Raises:
        OptionError: a setting that is not one of SETTINGS, or a wording of the question, which a reward model does not get.
    """
    if template.setting not in SETTINGS:
        raise OptionError(
            f"Reward models support setting={', '.join(SETTINGS[:-1])} or {SETTINGS[-1]}, got {template.setting!r}. "
            "Use another method with it."
        )
    if template.prompt != "v1":
        raise OptionError(f"prompt does not apply to reward models, got {template.prompt!r}. Leave prompt out.")


def conversation(case: PersonaCase, template: Template, side: str) -> list[Message]:
    """The turns that a reward model scores."""
    told = ""
    if template.setting != "no_persona":
        told = f"{TOLD[template.language_of(case)]}\n\n<persona>\n{profile(case, template)}\n</persona>"
    return choice.conversation(told, case.question, case.responses[SIDES.index(side)])
