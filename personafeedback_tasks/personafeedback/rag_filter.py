"""A filter of retrieved pieces, after the paper's (arXiv 2506.12915, Appendix F): a model keeps the relevant ones.

The paper states neither model nor prompt. Here the judge itself filters; changing a text raises TASK_VERSION.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.messages import UNREADABLE
from ..parsing.numbers import NONE, among, read_numbers
from .cases import PersonaQuestion

if TYPE_CHECKING:  # which has this call among its prompts
    from .prompts import AnyTemplate, Template

CALL = "rag_filter"
"""The name of the call, and of the option that turns it on."""

_TEXTS = {
    "en": (
        "Below are the persona of a user, a question that this user asked an assistant, and numbered pieces of content "
        "that interest this user. Decide which of the pieces matter for a response to the question that suits this "
        "user.",
        "Which pieces matter? Reply with their numbers alone, separated by commas, as in: 1, 3. If none of them "
        "matters, reply 0.\nNumbers:",
    ),
    "zh": (
        "下面是一位用户的画像、这位用户向助手提出的一个问题，以及这位用户感兴趣的若干条带编号的内容。"
        "要给出适合这位用户的回答，请判断哪些内容是有用的。",
        "哪些内容有用？只回复它们的编号，用逗号隔开，例如：1, 3。如果都没有用，请回复 0。\n编号：",
    ),
}


def prompt(case: PersonaQuestion, options: Template) -> str:
    """The prompt of the call before the choice: which of the pieces of `rag` matter."""
    opening, ask = _TEXTS[case.language]
    numbered = "\n".join(f"{number}. {piece}" for number, piece in enumerate(options.pieces(case), start=1))
    return (
        f"{opening}\n\n"
        f"<persona>\n{case.persona.without(options.hide).text}\n</persona>\n\n"
        f"<question>\n{case.question}\n</question>\n\n"
        f"<memory>\n{numbered}\n</memory>\n\n"
        f"{ask}"
    )


def after(case: PersonaQuestion, options: AnyTemplate, reply: str) -> tuple[AnyTemplate, str]:
    """The options with the pieces that the model keeps, in their order, and `kept 2 of 5`; with all, and UNREADABLE."""
    # Nothing is guessed: a wrong reading would drop pieces.
    pieces, answer = options.pieces(case), read_numbers(reply, False)
    kept = among(NONE if answer == "0" else answer, len(pieces))
    if kept is None:
        return options, UNREADABLE
    left = tuple(piece for number, piece in enumerate(pieces, start=1) if number in kept)
    return replace(options, kept=left), f"kept {len(kept)} of {len(pieces)}"
