"""Case -> the two conversations that a reward model scores, also as the JSONL that RewardBench reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..common.errors import OptionError
from ..core.rewards import Message, without_system
from ..pairwise import prompts as pairwise
from ..pairwise.orders import TWO
from ..pairwise.report import PADDING
from .cases import PersonaCase, PersonaCases
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


NOTICE = "{} test data. Do not train on it: benchmark data must never be in training corpora."
"""In every row, so that a row that leaks into a corpus can be found."""


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


def rewardbench(cases: PersonaCases, template: Template) -> Iterator[dict[str, Any]]:
    """One row per case, as RewardBench reads it, for reward models that ship their own code.

    RewardBench takes the whole conversation from `chosen` and `rejected`, reads turns by position and has no system
    turn: so the persona precedes the question, and both contain every turn; `prompt` has those before the response.
    """
    check(template)
    named = cases.named_set
    notice = NOTICE.format(named.name if named else "PersonaFeedback (arXiv 2506.12915)")
    for case in cases:
        chosen, rejected = (without_system(conversation(case, template, side)) for side in SIDES)
        yield {
            "prompt": chosen[:-1],
            "chosen": chosen,
            "rejected": rejected,
            "split": "test",
            "notice": notice,
            "id": case.id,
            "cell": case.cell,
            "user_id": case.user_id,
            "digest": case.digest,
        }
