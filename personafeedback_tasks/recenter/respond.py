"""The record of `recenter_respond`: a model replies to a prompt with the selected attributes, and without any.

Nothing measured here is quality: that is for people, or for the judges of `recenter_response`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.errors import OptionError
from ..core.earlier import Earlier
from ..core.method import Metric, Reply, TextMethod
from ..core.options import option
from ..core.report import RATIO, Line
from ..core.result import Answers
from ..parsing.answers import WRITTEN, read_written
from ..parsing.markup import shown_text
from .filter import folder as filter_folder
from .rows import Relevance, Response, text_id
from .select import SELECT, ForPrompt, NewPrompt, Pairings, PromptStage, logged, selected
from .stages import StageOptions, bullets, data_option, does, filled

PERSONALIZED, GENERIC = "personalized", "generic"
"""The calls: with the attributes, and without."""

PROMPTS = {
    PERSONALIZED: """\
Below are a prompt that a user sends you, and some things that you know about this user. Reply to the prompt in a \
way that suits this user. Use what you know where it makes the reply better; do not list it, and force nothing in.

<about_the_user>
{attributes}
</about_the_user>

<prompt>
{prompt}
</prompt>

Write your reply to this user, and nothing else.""",
    GENERIC: """\
Below is a prompt that a user sends you. Reply to the prompt.

<prompt>
{prompt}
</prompt>

Write your reply to this user, and nothing else.""",
}


@dataclass(frozen=True, kw_only=True)
class RespondOptions(StageOptions):
    method: str = does("respond")
    data: str | None = data_option(Relevance.file)
    selected: str | None = option(
        None, f"a run of {SELECT.name}, whose attributes are used: a log or a folder; those that people found relevant "
        "if not given", place=True,
    )  # fmt: skip
    relevance_filter: str | None = option(
        None,
        "a folder of `recenter train`: attributes of the run that it finds irrelevant are left out",
        place=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relevance_filter and not self.selected:
            raise OptionError(
                "relevance_filter filters what a run selected, and there is none. Pass selected=RUN as well."
            )


class Informed(ForPrompt, frozen=True):
    """A pair with the attributes that a reply may use."""

    stage = "respond"


class Replied(ForPrompt, frozen=True):
    """Both replies of a model to one prompt, as a user would read them; empty without a reply."""

    personalized: str
    generic: str

    @property
    def row(self) -> Response:
        """A row of response.jsonl without votes; its attributes are one per line."""
        name = text_id(self.id, self.generic, self.personalized)
        return Response(name, self.user_id, self.prompt, "\n".join(self.attributes), self.generic, self.personalized)


def replied(run: Earlier) -> list[Replied]:
    made = []
    for case, values in logged(run):
        personalized, generic = (shown_text(reply.text) or "" for reply in case.replies)
        made.append(Replied(**values, personalized=personalized, generic=generic))
    return made


def _measure(answers: Answers, replies: Sequence[Reply], facts: Mapping[str, Any]) -> dict[str, float]:
    personalized, generic = (len(shown_text(reply.text) or "") for reply in replies)
    return {
        "written": float(all(answer == WRITTEN for answer in answers)),
        "length": float(personalized),
        "length_generic": float(generic),
    }


class Respond(PromptStage):
    """Reply to a prompt with the attributes of its user, and without them."""

    version = "1.3"
    label = WRITTEN
    method_of_stage = TextMethod(
        name="respond", help="the texts of two replies", calls=(PERSONALIZED, GENERIC), per_case="two calls",
        metrics=(Metric("written"), *(Metric(name, higher_is_better=None) for name in ("length", "length_generic"))),
        max_tokens=2048, read=read_written, facts_of=lambda row: row.facts, measure=_measure,
    )  # fmt: skip
    stand_in = Informed("", "", "", "P", ("A", "B  B"))
    options = RespondOptions
    before = "selected", SELECT.name
    signed = (*PromptStage.signed, "filtered_by")
    report_fields = {
        "headline": (
            Line("written", strong=True, interval=True, meaning="share of the prompts with two whole replies"),
            Line("length", "characters", unit=RATIO, ranked=True, meaning="mean length of a personalized reply"),
            Line("length_generic", "of the generic one", unit=RATIO, meaning="mean length of a generic reply"),
        ),
        "asks": "Each case is a prompt and attributes of the user who sends it. The model replies with the attributes, "
        "and without them.",
    }  # fmt: skip

    def of_run(self, run: Earlier, options: RespondOptions) -> tuple[list[ForPrompt], str]:
        passes = filter_folder.read(options.relevance_filter) if options.relevance_filter else None
        pairs: list[ForPrompt] = []
        dropped = 0
        for one in selected(run):
            took = one.selected or ()
            kept = [row.attribute for row in one.rows if row.attribute in took and not (passes and passes.drops(row))]
            dropped += len(took) - len(kept)
            pairs.append(self.pair(one.user_id, NewPrompt(one.prompt_id, one.prompt), kept))
        return pairs, f"{passes.signature}, {dropped:,} dropped" if passes else "none"

    def is_told(self, row: Relevance) -> bool:
        return bool(row.judgment)

    def texts(self, run: Earlier) -> Iterator[tuple[Replied, dict[str, str]]]:
        for one in replied(run):
            wrote = {"Personalized reply": one.personalized, "Generic reply": one.generic}
            yield one, {"About the user": bullets(one.attributes), **wrote}

    def prompt(self, case: Any, options: Any, call: str) -> str:
        return filled(PROMPTS[call], attributes=bullets(case.attributes), prompt=case.question)

    def signs(self, cases: Pairings, options: Any) -> dict[str, Any]:
        return {**super().signs(cases, options), "filtered_by": cases.filtered_by}


RESPOND = Respond()
