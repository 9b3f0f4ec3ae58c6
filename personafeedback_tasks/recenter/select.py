"""The record of `recenter_select`: which attributes of a user should change the reply to a new prompt, to a model.

People's labels are not needed; `recenter_relevance_select` asks the same where there are some, and scores it. Here are
also the pairs of a user and a prompt, about which `recenter_respond` goes on.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from ..common.errors import DataError
from ..common.records import NonEmpty, decoded, short
from ..common.text import same_text
from ..core.cases import digest_of
from ..core.earlier import Earlier, EarlierCase, earlier
from ..core.method import Metric, Reply, TextMethod
from ..core.options import option
from ..core.report import RATIO, Line
from ..core.result import Answers
from ..parsing.answers import REASONS
from ..parsing.numbers import NONE, among, read_numbers
from .data import SEED, Rows, each_if_there, in_turns, load, located, profiles
from .extract import EXTRACT, LISTED, extracted
from .relevance import all_of, listing
from .rows import Conversation, Relevance, StageRow, text_id
from .stages import DoneStage, StageOptions, bullets, data_option, does

PROMPTS = "prompts.jsonl"


class NewPrompt(Struct, frozen=True, forbid_unknown_fields=True):
    """A prompt of prompts.jsonl; `users` are those who ask it, None for everybody."""

    id: NonEmpty
    prompt: NonEmpty
    users: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)] | None = None


def prompts_in(data: str | None) -> list[NewPrompt]:
    """The prompts that attributes of a run are selected for. DataError if the data have none."""
    folder, source = located(data, [PROMPTS])
    if not (found := _prompts(folder)):
        raise DataError(
            f"{source}: found no {PROMPTS}, expected the new prompts of the users. Add it: docs/chain.md has its keys."
        )
    return found


def _prompts(folder: Path) -> list[NewPrompt]:
    return each_if_there(folder / PROMPTS, lambda row, where: decoded(where, row, NewPrompt))


class ForPrompt(StageRow, frozen=True):
    """A user, a prompt, and attributes of the user. The id is `USER-PROMPT`."""

    cells = ("user_prompts",)
    prompt_id: str
    prompt: str
    attributes: tuple[str, ...]

    @property
    def question(self) -> str:
        return self.prompt

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that logs hold; `logged` reads them back."""
        return {"prompt_id": self.prompt_id, "prompt": self.prompt, "attributes": list(self.attributes)}


class Profile(ForPrompt, frozen=True):
    """A pair with all attributes of the user, of which a model selects."""

    stage = "select"


class Selected(ForPrompt, frozen=True):
    """Which of a user's attributes, each shown once, a model would let change its reply."""

    selected: tuple[str, ...] | None  # None where its reply could not be read

    @property
    def rows(self) -> list[Relevance]:
        """Rows of relevance.jsonl without votes, one per attribute that was shown."""
        return [Relevance(text_id(self.id, one), self.user_id, self.prompt, one) for one in self.attributes]


@dataclass(frozen=True)
class Pairings(Rows[ForPrompt]):
    """The pairs of one run."""

    made_by: str = "people"  # model and digest of the run whose attributes they are
    filtered_by: str = "none"  # the filter that attributes had to pass, and how many it dropped
    without: int = 0  # number of pairs without any attribute, which are left out
    of_sample: bool = False  # whether that run is on the bundled sample

    @property
    def demonstration(self) -> bool:
        return super().demonstration or self.of_sample


class PromptStage(DoneStage):
    """A stage about pairs of a user and a prompt, which goes on from a run of the stage before or from people."""

    row: type[ForPrompt]
    before: ClassVar[tuple[str, str]]  # the option that names that run, and its benchmark
    signed: tuple[str, ...] = ("attributes_of", "without_attributes")

    def signs(self, cases: Pairings, options: Any) -> dict[str, Any]:
        return {"attributes_of": cases.made_by, "without_attributes": cases.without}

    def load(self, options: Any, selection: Mapping[str, str]) -> Pairings:
        """The pairs that have attributes: of the run that an option names, else those of relevance.jsonl.

        Raises:
            DataError: there are no prompts or attributes, or the run is on other conversations.
        """
        option, benchmark = self.before
        folder, source = located(options.data, [PROMPTS, Relevance.file])
        run, filtered_by = None, "none"
        if place := getattr(options, option):
            run = earlier(place, benchmark)
            pairs, filtered_by = self.of_run(run, options)
        else:
            pairs, by_text = [], {one.prompt: one for one in _prompts(folder)}
            for rows in profiles(load(Relevance, options.data)):
                user, text = rows[0].user_id, rows[0].prompt
                asked = by_text.get(text, NewPrompt(f"p{digest_of((text,))[:8]}", text))
                pairs.append(self.pair(user, asked, [row.attribute for row in rows if self.is_told(row)]))
        kept = [pair for pair in pairs if pair.attributes]
        if not kept:
            raise DataError(
                f"{run.where if run else source}: found {len(pairs):,} pairs of a user and a prompt, none with an "
                "attribute, expected some. Check the earlier run, or the data."
            )
        (twice, times), *_ = Counter(pair.id for pair in kept).most_common(1)
        if times > 1:
            raise DataError(
                f"{folder / PROMPTS}: found the pair {short(twice)} of a user and a prompt {times} times, expected once. "
                "Name each user once in `users`, or give the prompts other ids."
            )
        made_by, without = f"{run.model} {run.digest}" if run else "people", len(pairs) - len(kept)
        return Pairings(
            tuple(in_turns(kept)), self.row, source, made_by=made_by, filtered_by=filtered_by, without=without,
            of_sample=run is not None and run.demonstration,
        )  # fmt: skip

    def pair(self, user: str, asked: NewPrompt, attributes: Sequence[str]) -> ForPrompt:
        return self.row(f"{user}-{asked.id}", user, asked.id, asked.prompt, tuple(attributes))

    @abstractmethod
    def of_run(self, run: Earlier, options: Any) -> tuple[list[ForPrompt], str]:
        """(the pairs, the filter that attributes had to pass or `none`) that a run of the stage before leads to."""

    def is_told(self, row: Relevance) -> bool:
        """Whether the model is told an attribute of the data, where no run is named."""
        return True


@dataclass(frozen=True, kw_only=True)
class SelectOptions(StageOptions):
    method: str = does("select")
    data: str | None = data_option(f"{PROMPTS} or {Relevance.file}")
    attributes: str | None = option(
        None, f"a run of {EXTRACT.name}, whose attributes are used: a log or a folder; those of {Relevance.file} if "
        "not given", place=True,
    )  # fmt: skip


def logged(run: Earlier) -> list[tuple[EarlierCase, dict[str, Any]]]:
    """(case, fields of its `ForPrompt`), by id: harnesses log in different orders, and sums depend on the order."""
    return [
        (case, {"id": case.id, "user_id": case.user_id, **case.facts, "attributes": tuple(case.facts["attributes"])})
        for case in sorted(run.cases, key=lambda case: case.id)
    ]


def selected(run: Earlier) -> list[Selected]:
    """What a run selects for each pair."""
    made = []
    for case, values in logged(run):
        numbers = chosen(case.answers[0], case.replies[0].text, len(values["attributes"]))
        shown = enumerate(values["attributes"], start=1)
        took = None if numbers is None else tuple(one for number, one in shown if number in numbers)
        made.append(Selected(**values, selected=took))
    return made


def chosen(answer: str, reply: str, attributes: int) -> set[int] | None:
    """The numbers that a reply lists, from 1; None where it cannot be read, or lists one that no attribute has."""
    return None if answer in REASONS else among(read_numbers(reply, False), attributes)


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
        "chosen": found,
        "selected": found / shown,
        "none": math.nan if numbers is None else float(not numbers),
    }


class Select(PromptStage):
    """Select the attributes of a user that should change the reply to a prompt."""

    label = LISTED
    method_of_stage = TextMethod(
        name="select", help="the numbers of the attributes that should change the reply",
        calls=("select",), per_case="one call for all attributes of a user and prompt",
        metrics=(
            Metric("listed"),
            *(Metric(name, higher_is_better=None, defined=False) for name in ("selected", "chosen", "none")),
        ),
        max_tokens=1024, read=_read, facts_of=lambda row: row.facts, measure=_measure,
    )  # fmt: skip
    stand_in = Profile("", "", "", "P", ("A", "B  B"))
    options = SelectOptions
    before = "attributes", EXTRACT.name
    judges = {"always_all": all_of, "always_none": lambda prompt: NONE}
    report_fields = {
        "headline": (
            Line("selected", strong=True, interval=True, ranked=True, meaning="mean share of the attributes selected"),
            Line("chosen", "attributes", unit=RATIO, ranked=True, meaning="mean number of attributes selected"),
            Line("none", "none selected", meaning="share of the prompts for which nothing is selected", ranked=True),
        ),
        "details": (Line("listed", meaning="share of the replies that are a list of these attributes"),),
        "asks": "Each case is a user and a new prompt. The model says which attributes of the user should change its "
        "reply.",
    }  # fmt: skip

    def of_run(self, run: Earlier, options: SelectOptions) -> tuple[list[ForPrompt], str]:
        # each text of a user once, in a seeded order, with the prompts of prompts.jsonl
        prompts, (folder, _) = prompts_in(options.data), located(options.data, [PROMPTS])
        if (folder / Conversation.file).is_file() and (here := load(Conversation, options.data)).digest != run.data:
            raise DataError(
                f"{run.where}: found a run on other conversations ({run.data}) than {here.source} has ({here.digest}), "
                "expected the same. Pass the data of the run."
            )
        own: dict[str, dict[str, str]] = {case.user_id: {} for case in run.cases}
        for one in extracted(run):
            own[one.user_id].setdefault(same_text(one.attribute), one.attribute)
        attributes = {user: sorted(of.values(), key=lambda one: digest_of((SEED, one))) for user, of in own.items()}
        pairs = [(user, asked) for asked in prompts for user in asked.users or own]
        return [self.pair(user, asked, attributes.get(user, [])) for user, asked in pairs], "none"

    def texts(self, run: Earlier) -> Iterator[tuple[Selected, dict[str, str]]]:
        for one in selected(run):
            yield one, {"About the user": bullets(one.attributes), "Selected": bullets(one.selected or ())}

    def prompt(self, case: Any, options: Any, call: str) -> str:
        return listing(case.attributes, case.question)


SELECT = Select()
