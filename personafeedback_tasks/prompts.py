"""Case -> the two prompts, one per order.

Every prompt is laid out as instructions, persona, question | response A, response B, final ask. What stands before
the bar is the same in both orders, and what stands before the question is the same for all cases of a user,
so that a server's prefix cache serves it.

The authors never released the prompt with which they asked models to choose. The wording here is ours; the two
criteria are those of the paper's annotation guidelines (arXiv 2506.12915, Appendix D). Texts of the data are
joined in as values and never interpreted: braces, template syntax and chat tokens arrive as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .dataset import Case
from .orders import ORDERS, shown
from .persona import Persona

PROMPT_VERSION = "v1"


@dataclass(frozen=True)
class Wording:
    """The fixed texts of one prompt language. The reply is read by `answers.read_reply`."""

    with_persona: str
    without_persona: str
    ask: str


WORDINGS = {
    "en": Wording(
        with_persona=(
            "Below are the persona of a user, a question that this user asked an assistant, and two responses to it, "
            "A and B. Decide which response suits this user better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers the question well.\n"
            "2. Personalization: the response fits who this user is and what this user cares about. Facts about the "
            "user that are forced in where the question does not call for them count against it.\n\n"
            "The order of the responses says nothing about their quality."
        ),
        without_persona=(
            "Below are a question that a user asked an assistant, and two responses to it, A and B. Decide which "
            "response suits this user better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers the question well.\n"
            "2. Personalization: the response fits the user who asked. Nothing is known about this user beyond the "
            "question itself.\n\n"
            "The order of the responses says nothing about their quality."
        ),
        ask="Which response suits this user better? Reply with the letter alone: A or B.\nAnswer:",
    ),
    "zh": Wording(
        with_persona=(
            "下面是一位用户的画像、这位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            "请判断哪个回答更适合这位用户。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答很好地解决了问题。\n"
            "2. 个性化：回答符合这位用户的特点和偏好。问题并不需要时生硬地塞入用户信息，应视为缺点。\n\n"
            "两个回答的先后顺序与质量无关。"
        ),
        without_persona=(
            "下面是一位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            "请判断哪个回答更适合这位用户。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答很好地解决了问题。\n"
            "2. 个性化：回答适合提问的用户。除问题本身外，没有关于这位用户的任何信息。\n\n"
            "两个回答的先后顺序与质量无关。"
        ),
        ask="哪个回答更适合这位用户？只回复一个字母：A 或 B。\n答案：",
    ),
}


def persona(case: Case) -> str:
    """The paper's Persona Profile setting: the model reads the whole profile."""
    return f"{WORDINGS[case.language].with_persona}\n\n<persona>\n{case.persona.text}\n</persona>"


def no_persona(case: Case) -> str:
    """The paper's No Persona control: the model reads the question and the responses alone."""
    return WORDINGS[case.language].without_persona


SETTINGS: dict[str, Callable[[Case], str]] = {"persona": persona, "no_persona": no_persona}
"""What the model is told about the user: the prompt's text before the question."""


def build(case: Case, setting: str, order: str) -> str:
    """The prompt of one case in one order."""
    first, second = shown(case, order)
    return (
        f"{SETTINGS[setting](case)}\n\n"
        f"<question>\n{case.question}\n</question>\n\n"
        f"<response_A>\n{first}\n</response_A>\n\n"
        f"<response_B>\n{second}\n</response_B>\n\n"
        f"{WORDINGS[case.language].ask}"
    )


def responses(prompt: str) -> tuple[str, str]:
    """Read the two responses back out of a prompt: (A, B).

    Raises:
        ValueError: the prompt is not one of ours, or a text of the data holds our tags so that the parts are ambiguous.
    """
    parts = []
    for tag in ("response_A", "response_B"):
        opening, closing = f"<{tag}>\n", f"\n</{tag}>"
        if prompt.count(opening) != 1 or prompt.count(closing) != 1:
            raise ValueError(f"expected exactly one {opening.strip()} ... {closing.strip()} in the prompt")
        parts.append(prompt.partition(opening)[2].partition(closing)[0])
    return parts[0], parts[1]


def fingerprint() -> str:
    """SHA-256 (12 hex digits) of the prompts of an invented case: changes with every wording and with the layout."""
    profiles: list[dict[str, Any]] = [
        {"Name": "Ada", "Likes": ["tea", {"in": "May"}]},
        {"姓名": "小安", "喜好": ["茶"]},
    ]
    cases = [Case("", "", "", Persona("", profile), "Q", "C", "R") for profile in profiles]
    texts = [build(case, setting, order) for case in cases for setting in SETTINGS for order in ORDERS]
    return hashlib.sha256("\0".join([PROMPT_VERSION, *texts]).encode()).hexdigest()[:12]
