"""The record of `recenter_select`: which attributes of a user should change the reply to a new prompt, to a model.

People's labels are not needed; `recenter_relevance_select` asks the same where there are some, and scores it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.errors import DataError
from ..common.text import same_text
from ..core.cases import digest_of
from ..core.earlier import Earlier, earlier
from ..core.evidence import Reply
from ..core.method import Metric, TextMethod
from ..core.options import option
from ..core.report import Line
from ..core.result import Answers
from ..parsing.answers import REASONS
from ..parsing.numbers import NONE, among, read_numbers
from .data import SEED, conversations
from .extract import EXTRACT, LISTED, extracted
from .pairings import (
    PROMPTS,
    ForPrompt,
    Pairings,
    PromptStage,
    judged_pairs,
    located_prompts,
    logged,
    pairings,
    shown_for_prompts,
)
from .relevance import all_of, listing
from .rows import Conversation, Relevance, text_id
from .stages import StageOptions, bullets, data_option, does


@dataclass(frozen=True, kw_only=True)
class SelectOptions(StageOptions):
    method: str = does("select")
    data: str | None = data_option(f"{PROMPTS} or {Relevance.file}")
    attributes: str | None = option(
        None, f"a run of {EXTRACT.name}, whose attributes are used: a log or a folder; those of {Relevance.file} if not given",
        place=True,
    )  # fmt: skip


class Profile(ForPrompt):
    """A pair with all attributes of the user, of which a model selects."""

    stage = "select"


@dataclass(frozen=True)
class Selected(ForPrompt):
    """Which of a user's attributes a model would let change its reply.

    Attributes:
        attributes: all that it was shown, each once.
        selected: those that it chose; None where its reply could not be read.
    """

    selected: tuple[str, ...] | None

    @property
    def rows(self) -> list[Relevance]:
        """Rows of relevance.jsonl without votes, one per attribute that was shown."""
        return [Relevance(text_id(self.id, one), self.user_id, self.prompt, one) for one in self.attributes]


def to_select(data: str | None, run: Earlier | None) -> Pairings:
    """Every user with attributes and every prompt of the data for that user.

    Args:
        run: of `recenter_extract`, whose attributes are shown, each text once, in a seeded order, with the prompts of prompts.jsonl.
            None for attributes and prompts of relevance.jsonl.

    Raises:
        DataError: there are no prompts or attributes, or the run is on other conversations.
    """
    asked, folder, source = located_prompts(data)
    if run is None:
        pairs = [(user, of, [row.attribute for row in rows]) for user, of, rows in judged_pairs(data, asked)]
        return pairings(Profile, pairs, source)
    if (folder / Conversation.file).is_file() and (here := conversations(data).digest) != run.data:
        raise DataError(
            f"{run.where}: found a run on other conversations ({run.data}) than {source} has ({here}), expected the same. Pass the data of "
            "the run."
        )
    own: dict[str, dict[str, str]] = {case.user_id: {} for case in run.cases}
    for one in extracted(run):
        own[one.user_id].setdefault(same_text(one.attribute), one.attribute)
    attributes = {user: sorted(of.values(), key=lambda one: digest_of((SEED, one))) for user, of in own.items()}
    whose = ((user, of) for of in asked for user in of.users or own if user in own)
    return pairings(Profile, [(user, of, attributes[user]) for user, of in whose], source, run)


def chosen(answer: str, reply: str, attributes: int) -> set[int] | None:
    """The numbers that a reply lists, from 1; None where it cannot be read, or lists one that no attribute has."""
    return None if answer in REASONS else among(read_numbers(reply, False), attributes)


def selected(run: Earlier) -> list[Selected]:
    made = []
    for case, values in logged(run):
        numbers = chosen(case.answers[0], case.replies[0].text, len(values["attributes"]))
        shown = enumerate(values["attributes"], start=1)
        took = None if numbers is None else tuple(one for number, one in shown if number in numbers)
        made.append(Selected(**values, selected=took))
    return made


def _read(reply: str, truncated: bool = False) -> str:
    found = read_numbers(reply, truncated)
    return found if found in REASONS else LISTED


def _measure(answers: Answers, replies: Sequence[Reply], facts: Mapping[str, Any]) -> dict[str, float]:
    # chosen is a number, selected a share; both, and none, are nan for an unreadable list
    shown = len(facts["attributes"])
    numbers = chosen(answers[0], replies[0].text, shown)
    found = math.nan if numbers is None else float(len(numbers))
    return {
        "listed": float(numbers is not None),
        "shown": float(shown),
        "chosen": found,
        "selected": found / shown,
        "none": math.nan if numbers is None else float(not numbers),
    }


METHOD = TextMethod(
    name="select", help="the numbers of the attributes that should change the reply",
    calls=("select",), per_case="one call for all attributes of a user and prompt",
    metrics=(
        Metric("listed"), Metric("selected", higher_is_better=None, defined=False), Metric("chosen", higher_is_better=None, defined=False),
        Metric("shown", higher_is_better=None), Metric("none", higher_is_better=None, defined=False),
    ),
    max_tokens=1024, read=_read, facts_of=lambda row: row.facts, measure=_measure,
)  # fmt: skip


class Select(PromptStage):
    """Select the attributes of a user that should change the reply to a prompt."""

    row = Profile
    label = LISTED
    method_of_stage = METHOD
    stand_ins = {METHOD.name: Profile("", "", "", "P", False, ("A", "B  B"))}
    options = SelectOptions
    judges = {"always_all": all_of, "always_none": lambda prompt: NONE}
    report_fields = {
        "headline": (
            Line("selected", strong=True, interval=True, meaning="mean share of a user's attributes that are selected for a prompt"),
            Line("chosen", "attributes", share=False, sign=False, meaning="mean number of attributes that are selected for a prompt"),
            Line("none", "none selected", meaning="share of the prompts for which nothing is selected"),
        ),
        "details": (
            Line("shown", "attributes shown", share=False, sign=False, meaning="mean number of attributes that the model selects of"),
            Line("listed", meaning="share of the replies that are a list of these attributes"),
        ),
        "asks": "Each case is a user and a new prompt. The model says which attributes of the user should change its reply.",
        "ranked": ("selected", "chosen", "none"),
        "written": lambda run: shown_for_prompts(
            selected(run), (LISTED, "not listed"), lambda one: {"Selected": bullets(one.selected or ())}
        ),
    }  # fmt: skip

    def load(self, options: SelectOptions, selection: Mapping[str, str]) -> Any:
        run = earlier(options.attributes, EXTRACT.name) if options.attributes else None
        return to_select(options.data, run)

    def prompt(self, case: Any, options: Any, call: str) -> str:
        return listing(case.attributes, case.question)


SELECT = Select()
