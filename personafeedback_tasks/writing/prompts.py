"""A question -> the prompt that asks a model to write. What it is told about the user is laid out as for a judge.

The paper prints a prompt for the responses of its data (Appendix I). The wordings here are ours; they name the criteria that the
annotators judged by (see personafeedback/wordings.py), so that the writer knows what it is compared by.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.options import option
from ..personafeedback.cases import PersonaCases as Pairs
from ..personafeedback.prompts import SETTINGS, Template
from ..personafeedback.wordings import Wording, wordings
from .cases import Questions, UserQuestion

_WORDINGS = wordings(Path(__file__).with_name("wordings"))
"""Prompt version -> language -> its texts. A text here never changes without a new version."""


@dataclass(frozen=True, kw_only=True)
class Writing(Template):
    """The options of the writing tasks: those of PersonaFeedback that say what the model is told."""

    method: str = option("write", "what the model does", values=lambda: ("write",))
    prompt: str = option(
        "v1", "which wording of the request", values=lambda: tuple(_WORDINGS), said=lambda version: [f"prompt {version}"],
        always=True,
    )  # fmt: skip

    def wording(self, case: Any) -> Wording:
        """The fixed texts for the user of a question."""
        return _WORDINGS[self.prompt][self.language_of(case)]


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
