"""A filter of retrieved pieces, after the paper's (arXiv 2506.12915, Appendix F): a model keeps the relevant ones.

The paper states neither model nor prompt. Here the judge itself filters; changing a text raises TASK_VERSION.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.benchmark import Stage
from ..core.messages import UNREADABLE_SHARE
from .cases import PersonaCase
from .prompts import Template

UNREADABLE = "unreadable"

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


class RagFilter(Stage):
    """Before the choice: the model says which of the pieces of `rag` matter."""

    name = "rag_filter"
    max_tokens = 1024

    def applies(self, options: Template) -> bool:
        return options.rag_filter

    def prompt(self, case: PersonaCase, options: Template) -> str:
        opening, ask = _TEXTS[case.language]
        numbered = "\n".join(f"{number}. {piece}" for number, piece in enumerate(options.pieces(case), start=1))
        return (
            f"{opening}\n\n"
            f"<persona>\n{case.persona.without(options.hide).text}\n</persona>\n\n"
            f"<question>\n{case.question}\n</question>\n\n"
            f"<memory>\n{numbered}\n</memory>\n\n"
            f"{ask}"
        )

    def about(self, case: PersonaCase, options: Template) -> dict[str, Any]:
        return {"pieces": len(options.pieces(case))}

    def read(self, reply: str, about: Mapping[str, Any]) -> str:
        """`kept 2 of 5`, or UNREADABLE."""
        kept = read_numbers(reply, about["pieces"])
        return UNREADABLE if kept is None else f"kept {len(kept)} of {about['pieces']}"

    def apply(self, case: PersonaCase, options: Template, reply: str) -> Template:
        """The options of a case after the filter: with the pieces that the model keeps, or all if it is unreadable."""
        pieces = options.pieces(case)
        kept = read_numbers(reply, len(pieces))
        return options if kept is None else replace(options, kept=tuple(pieces[number - 1] for number in kept))

    def warning(self, task: str, outcomes: Sequence[str]) -> str | None:
        """A warning if more than 1 % of the replies to the filter are unreadable, else None."""
        count = outcomes.count(UNREADABLE)
        if count <= UNREADABLE_SHARE * len(outcomes):
            return None
        return (
            f"{task}: {count:,} of {len(outcomes):,} replies to rag_filter ({count / len(outcomes):.1%}) are "
            "unreadable: these cases kept all pieces, as without the filter. Use a model that replies with the "
            "numbers alone, or leave rag_filter out; give thinking models room: --max-tokens 16384."
        )


def read_numbers(reply: str, count: int) -> tuple[int, ...] | None:
    """The numbers that a reply names, from 1 to `count`, in ascending order; None if it is unreadable.

    `0` means none. Nothing is guessed: a wrong reading would drop pieces, and an unreadable reply keeps them all.
    """
    from ..parsing import numbers  # no report needs its patterns, which take long to compile

    answer = numbers.read_numbers(reply, False)
    kept = numbers.among(numbers.NONE if answer == "0" else answer, count)
    return None if kept is None else tuple(sorted(kept))
