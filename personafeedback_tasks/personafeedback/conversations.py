"""Case -> the two conversations that a reward model scores: what is told about the user, the question, one response.

A reward model judges one response at a time, so no text has a question of ours or a letter. What the model is
told is a system turn; a chat template or a reader without system turns gets it before the question.
"""

from __future__ import annotations

import hashlib
import json

from ..common.errors import OptionError
from ..engine.conversation import Message
from .cases import Case
from .prompts import STAND_INS, Template, profile

SIDES = ("chosen", "rejected")
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


def conversation(case: Case, template: Template, side: str) -> list[Message]:
    """The turns that a reward model scores.

    Args:
        side: one of SIDES.
    """
    turns = [
        {"role": "user", "content": case.question},
        {"role": "assistant", "content": case.chosen if side == SIDES[0] else case.rejected},
    ]
    if template.setting != "no_persona":
        told = f"{TOLD[template.language_of(case)]}\n\n<persona>\n{profile(case, template)}\n</persona>"
        turns.insert(0, {"role": "system", "content": told})
    return turns


def fingerprint(template: Template) -> str:
    """A SHA-256 (12 hex digits) that changes with the fixed text and the layout; a run and its control have the same."""
    plain = Template(language=template.language)
    turns = [conversation(case, plain, side) for case in STAND_INS for side in SIDES]
    return f"conversations-{hashlib.sha256(json.dumps(turns).encode()).hexdigest()[:12]}"
