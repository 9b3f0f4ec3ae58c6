"""Users and new prompts, paired: a model selects attributes for each pair, and then replies.

The attributes are those of a run of the stage before, or people's of relevance.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from ..common.errors import DataError
from ..common.records import NonEmpty
from ..core.benchmark import always
from ..core.cases import digest_of
from ..core.earlier import Earlier, EarlierCase
from ..core.report import Shown
from .data import Rows, each_if_there, in_turns, load, located, profiles
from .rows import Relevance, StageRow, record
from .stages import DoneStage, bullets

PROMPTS = "prompts.jsonl"
EVERYDAY, SENSITIVE = "everyday", "sensitive"


@dataclass(frozen=True)
class NewPrompt:
    """A prompt of prompts.jsonl; `users` are those who ask it, None for everybody."""

    id: NonEmpty
    prompt: NonEmpty
    sensitive: bool = False
    users: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)] | None = None


@dataclass(frozen=True)
class ForPrompt(StageRow):
    """A user, a prompt, and attributes of the user. The id is `USER-PROMPT`."""

    cells = (EVERYDAY, SENSITIVE)
    prompt_id: str
    prompt: str
    sensitive: bool
    attributes: tuple[str, ...]

    @property
    def question(self) -> str:
        return self.prompt

    @property
    def cell(self) -> str:
        return SENSITIVE if self.sensitive else EVERYDAY

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that logs hold; `logged` reads them back."""
        return {
            "prompt_id": self.prompt_id, "prompt": self.prompt, "sensitive": self.sensitive, "attributes": list(self.attributes),
        }  # fmt: skip


P = TypeVar("P", bound=ForPrompt)


@dataclass(frozen=True)
class Pairings(Rows[ForPrompt]):
    """The pairs of one run.

    Attributes:
        made_by: model and digest of the run whose attributes they are, or `people`.
        filtered_by: the filter that attributes had to pass, and how many it dropped; or `none`.
        without: number of pairs without any attribute, which are left out.
    """

    made_by: str = field(default="people", kw_only=True)
    filtered_by: str = field(default="none", kw_only=True)
    without: int = field(default=0, kw_only=True)


class PromptStage(DoneStage):
    """A stage about users and prompts, which goes on from a run of the stage before."""

    signed = {"attributes_of": always, "without_attributes": always}

    def signs(self, cases: Pairings, options: Any) -> dict[str, Any]:
        return {"attributes_of": cases.made_by, "without_attributes": cases.without}


def located_prompts(data: str | None) -> tuple[list[NewPrompt], Path, str]:
    """(the prompts in the order of their file, none without one; their folder, its name in a signature)."""
    folder, source = located(data, [PROMPTS, Relevance.file])
    return each_if_there(folder / PROMPTS, lambda row, where: record(where, row, NewPrompt)), folder, source


def judged_pairs(data: str | None, asked: Sequence[NewPrompt]) -> list[tuple[str, NewPrompt, list[Relevance]]]:
    """(user, prompt, the rows about them in a seeded order) of relevance.jsonl, whether people agree or not."""
    by_text = {prompt.prompt: prompt for prompt in asked}
    return [
        (rows[0].user_id, by_text.get(text := rows[0].prompt, NewPrompt(f"p{digest_of((text,))[:8]}", text)), rows)
        for rows in profiles(load(Relevance, data))
    ]


def pairings(
    kind: type[ForPrompt],
    pairs: Iterable[tuple[str, NewPrompt, Sequence[str]]],
    source: str,
    run: Earlier | None = None,
    filtered_by: str = "none",
) -> Pairings:
    """The pairs that have attributes, from (user, prompt, attributes). Raises DataError if none has.

    Args:
        run: whose attributes they are; None for people's.
    """
    rows = [
        kind(f"{user}-{asked.id}", user, asked.id, asked.prompt, asked.sensitive, tuple(attributes))
        for user, asked, attributes in pairs
    ]
    kept = [row for row in rows if row.attributes]
    if not kept:
        raise DataError(
            f"{run.where if run else source}: found {len(rows):,} pairs of a user and a prompt, none with an attribute, expected some. "
            "Look at the run before, or at the data."
        )
    made_by = f"{run.model} {run.digest}" if run else "people"
    return Pairings(
        tuple(in_turns(kept)), kind, source, made_by=made_by, filtered_by=filtered_by, without=len(rows) - len(kept)
    )


def logged(run: Earlier) -> list[tuple[EarlierCase, dict[str, Any]]]:
    """(case, fields of its `ForPrompt`), by id: harnesses log in different orders, and sums depend on the order."""
    return [
        (case, {"id": case.id, "user_id": case.user_id, **case.facts, "attributes": tuple(case.facts["attributes"])})
        for case in sorted(run.cases, key=lambda case: case.id)
    ]


def shown_for_prompts(made: Sequence[P], labels: tuple[str, str], texts: Callable[[P], dict[str, str]]) -> Shown:
    """For a report: each prompt, the user's attributes, and `texts`: heading -> what the model wrote."""
    return Shown(
        questions={one.id: one.prompt for one in made},
        question="Prompt",
        texts={one.id: {"About the user": bullets(one.attributes), **texts(one)} for one in made},
        labels=labels,
    )
