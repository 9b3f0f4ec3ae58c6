"""The record of the writing tasks: a model writes a reply to each question. `duel` makes pairs of them for a judge."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..common.text import language_of
from ..core.benchmark import Benchmark
from ..core.method import Metric, Reply, TextMethod
from ..core.options import option
from ..core.report import RATIO, Line, ReportSpec
from ..pairwise.report import shown_of
from ..parsing.answers import WRITTEN, read_written
from ..parsing.markup import shown_text
from ..personafeedback import rag_filter
from ..personafeedback.cases import CATEGORIES, PersonaQuestion, load_cases, load_present
from ..personafeedback.cells import SELECTIONS
from ..personafeedback.prompts import SETTINGS, Template, Wording, stand_ins, wordings
from ..personafeedback.record import PERSONAFEEDBACK
from ..personafeedback.release import ENVIRONMENT_VARIABLE
from .cases import Questions, UserQuestion, questions

_WORDINGS = wordings(Path(__file__).with_name("wordings"))
"""Prompt version -> language -> its texts. A text never changes without a new version. The wordings are ours; they name
the criteria that annotators judged by (personafeedback/prompts.py), so that the writer knows what it is compared by."""


@dataclass(frozen=True, kw_only=True)
class Writing(Template):
    """The options of the writing tasks: those of PersonaFeedback that say what the model is told."""

    method: str = option("write", "what the model does", values=lambda: ("write",))
    prompt: str = option(
        "v1", "which wording of the request", values=lambda: tuple(_WORDINGS),
        said=lambda version: [f"prompt {version}"], always=True,
    )  # fmt: skip

    wordings: ClassVar[Mapping[str, Mapping[str, Wording]]] = _WORDINGS


def build(question: PersonaQuestion, options: Writing) -> str:
    """The prompt: instructions and what is told about the user, the question, the request."""
    wording = options.wordings[options.prompt][question.language]
    return (
        f"{SETTINGS[options.setting](question, options, wording)}\n\n"
        f"<question>\n{question.question}\n</question>\n\n{wording.ask}"
    )


def measures(answer: str, reply: Reply, facts: Mapping[str, Any]) -> dict[str, float]:
    """What can be said of one reply without a judge, 1 or 0, and its length in characters. None of it is quality.

    `truncated` is nan where nobody knows, and `language` (whether it is the question's) where the reply is empty.
    """
    text = shown_text(reply.text) or ""
    return {
        "written": float(answer == WRITTEN),
        "empty": float(not text),
        "refused": float(answer == "refusal"),
        "truncated": math.nan if reply.truncated is None else float(answer == "truncated"),
        "length": float(len(text)),
        "language": float(language_of(text) == language_of(facts["question"])) if text else math.nan,
    }


METHOD = TextMethod(
    name="write",
    help="the text of the reply",
    calls=("written_reply",),
    metrics=(
        Metric("written"),
        Metric("length", higher_is_better=None),
        Metric("language", defined=False),
        Metric("empty", higher_is_better=False),
        Metric("truncated", higher_is_better=False, harnesses=("inspect",)),  # lm-eval does not say why a reply ended
        Metric("refused", higher_is_better=False),
    ),
    max_tokens=2048,
    read=read_written,
    facts_of=lambda question: {"question": question.question},
    measure=lambda answers, replies, facts: measures(answers[0], replies[0], facts),
)


class Write(Benchmark):
    """A reply to a user's question."""

    name = "personafeedback_write"
    title = "PersonaFeedback, writing"
    version = "1.3"
    options = Writing
    methods = {METHOD.name: METHOD}
    labels = (WRITTEN,)
    cells = CATEGORIES
    selections = SELECTIONS
    first_call = rag_filter.CALL
    after = staticmethod(rag_filter.after)
    signed = (*PERSONAFEEDBACK.signed, "questions_of")
    report = ReportSpec(
        primary="written",
        score="Written",
        chance=None,
        headline=(
            Line(
                "written", strong=True, interval=True,
                meaning="share of the questions with a whole reply: not empty, cut off or refused",
            ),
            Line("length", "characters", unit=RATIO, meaning="mean length of a reply in characters", ranked=True),
        ),
        details=(
            Line("language", "in the question's language", table="Replies"),
            Line("empty", table="Replies"),
            Line("truncated", table="Replies"),
            Line("refused", table="Replies", meaning="share of the replies that refuse", ranked=True),
        ),
        asks="Each case is a question of a user, to which the model writes a reply.",
        shown=shown_of("Persona", (WRITTEN, "not written")),
        load=lambda data, counts: questions(load_present(data, counts=counts)),
        under=lambda cases, signature: cases.of_cells(str(signature.signs["questions_of"]).split(", ")),
        environment=ENVIRONMENT_VARIABLE,
    )  # fmt: skip

    def load(self, options: Writing, selection: Mapping[str, str]) -> Questions:
        return questions(load_cases(options.data, counts=options.counts, **selection))

    def columns(self, cells: Collection[str]) -> dict[str, list[str]]:
        present = [cell for cell in CATEGORIES if cell in cells]
        columns = {cell: [cell] for cell in present}
        return columns | {"total": present} if len(present) > 1 else columns

    def prompt(self, case: PersonaQuestion, options: Writing, call: str) -> str:
        return rag_filter.prompt(case, options) if call == rag_filter.CALL else build(case, options)

    def targets(self, case: UserQuestion) -> list[str]:
        return [WRITTEN]

    def check(self, options: Writing, cases: Questions) -> None:
        options.check(cases.pairs)

    def fingerprint(self, options: Writing) -> str:
        return self.fingerprint_of(options.prompt, stand_ins(options, [METHOD.name]))

    def signs(self, cases: Questions, options: Writing) -> dict[str, Any]:
        return {**PERSONAFEEDBACK.signs(cases.pairs, options), "questions_of": ", ".join(cases.pairs.cells)}


WRITE = Write()
