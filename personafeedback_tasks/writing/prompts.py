"""A question -> the prompt that asks a model to write. What it is told about the user is laid out as for a judge.

The paper prints a prompt for the responses of its data (Appendix I). The wordings here are ours; they name the criteria that the
annotators judged by (see personafeedback/wordings.py), so that the writer knows what it is compared by.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, replace
from typing import Any

from ..common.errors import choose
from ..engine.options import option
from ..personafeedback.cases import PersonaCases as Pairs
from ..personafeedback.prompts import SETTINGS, STAND_INS, Template
from ..personafeedback.wordings import Wording
from .cases import Questions, UserQuestion
from .duel import SIDES

_WORDINGS = {
    "v1": {
        "en": Wording(
            with_persona=(
                "Below are the persona of a user and a question that this user asks you. Answer the question for this user: precisely "
                "what was asked, and in a way that suits them. Work in what fits of the persona; do not list it, and force nothing in."
            ),
            with_memory=(
                "Below are some pieces of content that interest a user (such as posts, reviews or forum threads), and a question that "
                "this user asks you. Infer from the content who this user is, and answer the question for them: precisely what was "
                "asked, and in a way that suits them. Work in what fits; do not list the content, and force nothing in."
            ),
            without_persona="Below is a question that a user asks you. Answer precisely what was asked, in a way that suits this user.",
            ask="Write your answer to this user, and nothing else.",
            ask_cot="",
        ),
        "zh": Wording(
            with_persona=(
                "下面是一位用户的画像，以及这位用户向你提出的一个问题。请为这位用户作答：准确切中所提的问题，并适合这位用户。"
                "恰当融入画像中与问题相关的部分，不要罗列画像，也不要生硬拼凑。"
            ),
            with_memory=(
                "下面是一位用户感兴趣的一些内容（如帖子、评价、论坛讨论），以及这位用户向你提出的一个问题。请根据这些内容推断这位用户"
                "是怎样的人，并为其作答：准确切中所提的问题，并适合这位用户。恰当融入相关的部分，不要罗列这些内容，也不要生硬拼凑。"
            ),
            without_persona="下面是一位用户向你提出的一个问题。请准确切中所提的问题作答，并适合这位用户。",
            ask="请直接写出给这位用户的回答，不要写其他内容。",
            ask_cot="",
        ),
    }
}
"""Prompt version -> language -> its texts. A text here never changes without a new version."""


def _sides(value: object) -> tuple[str, ...]:
    """`chosen,rejected`, or a list of these."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    sides = [choose("against", part.strip() if isinstance(part, str) else part, tuple(SIDES)) for part in parts]
    return tuple(side for side in SIDES if side in sides)


@dataclass(frozen=True, kw_only=True)
class Writing(Template):
    """The options of the writing tasks: those of PersonaFeedback that say what the model is told."""

    method: str = option("write", "what the model does", values=lambda: ("write",))
    against: tuple[str, ...] = option(
        (), "what a grader compares each reply with at once, with --model-role grader=MODEL (Inspect)", parse=_sides
    )
    prompt: str = option(
        "v1", "which wording of the request", values=lambda: tuple(_WORDINGS), said=lambda version: [f"prompt {version}"],
        always=True,
    )  # fmt: skip

    def wording(self, case: Any) -> Wording:
        """The fixed texts for the user of a question."""
        return _WORDINGS[self.prompt][self.language_of(case)]

    def fingerprint(self) -> str:
        """Prompt version and a SHA-256 (12 hex digits) that changes with every fixed text of it and with the layout."""
        plain = replace(Writing(), prompt=self.prompt, language=self.language)
        questions = [UserQuestion("", (case,)) for case in STAND_INS]
        parts = [build(question, plain) for question in questions]
        parts += [text for question in questions for text in astuple(plain.wording(question))]
        return f"{self.prompt}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


def check(options: Writing, questions: Questions) -> None:
    """See `Template.check`."""
    pairs: Pairs = questions.pairs
    options.check(pairs)


def build(question: UserQuestion, options: Writing) -> str:
    """The prompt: instructions and what is told about the user, the question, the request."""
    case: Any = question  # it has all that a setting reads of a case
    return (
        f"{SETTINGS[options.setting](case, options)}\n\n"
        f"<question>\n{question.question}\n</question>\n\n{options.wording(question).ask}"
    )
