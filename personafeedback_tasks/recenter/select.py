"""The record of `recenter_select`: which attributes of a user a model would let change its reply to a new prompt.

People's labels are not needed. Where there are some of the same attributes, `recenter_relevance_select` asks the same and scores it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.benchmark import always
from ..core.earlier import earlier
from ..core.evidence import Reply
from ..core.method import Metric, TextMethod
from ..core.options import option
from ..core.outcome import Answers
from ..core.report import Line
from ..parsing.answers import REASONS
from ..parsing.numbers import NONE, read_numbers
from . import profile
from .data import file_name
from .extract import EXTRACT, LISTED
from .histories import PROMPTS
from .made import chosen, selected, shown_for_prompts
from .pairings import Pairings, Profile, to_select
from .rows import Relevance
from .stages import DoneStage, StageOptions, bullets, data_option, does


@dataclass(frozen=True, kw_only=True)
class SelectOptions(StageOptions):
    """The options of the task."""

    method: str = does("select")
    data: str | None = data_option(f"{PROMPTS} or {file_name(Relevance)}")
    attributes: str | None = option(
        None, f"a run of {EXTRACT.name}, whose attributes are used: a log or a folder; those of {file_name(Relevance)} if not given",
        place=True,
    )  # fmt: skip


SIGNED = {"attributes_of": always, "without_attributes": always}


def signs(cases: Pairings, options: Any) -> dict[str, Any]:
    """What a signature says of the run that a stage goes on from."""
    return {"attributes_of": cases.made_by or "people", "without_attributes": cases.without}


def _load(options: Any, selection: Mapping[str, str]) -> Pairings:
    return to_select(options.data, earlier(options.attributes, EXTRACT.name) if options.attributes else None)


def _read(reply: str, truncated: bool = False) -> str:
    found = read_numbers(reply, truncated)
    return found if found in REASONS else LISTED


def _measure(answers: Answers, replies: Sequence[Reply], facts: Mapping[str, Any]) -> dict[str, float]:
    """listed, invalid, none (it selects nothing): 1 or 0; selected: a share, chosen: a number. What is said of a list that cannot be read is nan."""
    shown = len(facts["attributes"])
    numbers = chosen(answers[0], replies[0].text, shown)
    found = math.nan if numbers is None else float(len(numbers))
    return {
        "listed": float(numbers is not None),
        "shown": float(shown),
        "chosen": found,
        "selected": found / shown,
        "none": math.nan if numbers is None else float(not numbers),
        "invalid": float(numbers is None),
    }


METHOD = TextMethod(
    name="select", help="the numbers of the attributes that should change the reply",
    calls=("select",), per_case="one call for all attributes of a user and prompt",
    metrics=(
        Metric("listed"), Metric("selected", higher_is_better=None, defined=False), Metric("chosen", higher_is_better=None, defined=False),
        Metric("shown", higher_is_better=None), Metric("none", higher_is_better=None, defined=False), Metric("invalid", higher_is_better=False),
    ),
    max_tokens=1024, read=_read, facts_of=lambda row: row.facts, measure=_measure,
)  # fmt: skip


class Select(DoneStage):
    """Select the attributes of a user that should change the reply to a prompt."""

    row = Profile
    label = LISTED
    method_of_stage = METHOD
    stand_ins = {METHOD.name: Profile("", "", "", "P", False, ("A", "B  B"))}
    options = SelectOptions
    signed = SIGNED
    judges = {"always_all": profile.all_of, "always_none": lambda prompt: NONE}
    report_fields = {
        "headline": (
            Line("selected", strong=True, interval=True, meaning="mean share of a user's attributes that are selected for a prompt"),
            Line("chosen", "attributes", share=False, sign=False, meaning="mean number of attributes that are selected for a prompt"),
            Line("none", "none selected", meaning="share of the prompts for which nothing is selected"),
        ),
        "details": (
            Line("shown", "attributes shown", share=False, sign=False, meaning="mean number of attributes that the model selects of"),
            Line("listed", meaning="share of the replies that are a list of these attributes"),
            Line("invalid", meaning="share of the replies that could not be read"),
        ),
        "asks": "Each case is a user and a new prompt. The model says which attributes of the user should change its reply.",
        "ranked": ("selected", "chosen", "none"),
        "written": lambda run: shown_for_prompts(
            selected(run), (LISTED, "not listed"), lambda one: {"Selected": bullets(one.selected or ())}
        ),
    }  # fmt: skip

    def load(self, options: SelectOptions, selection: Mapping[str, str]) -> Any:
        return _load(options, selection)

    def prompt(self, case: Any, options: Any, call: str) -> str:
        return profile.listing(case.attributes, case.question)

    def signs(self, cases: Any, options: Any) -> dict[str, Any]:
        return signs(cases, options)


SELECT = Select()
