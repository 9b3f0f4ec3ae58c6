"""Users and new prompts, paired: what a model selects attributes for, and what it then replies to.

The attributes are those of a run of the stage before, or people's of relevance.jsonl. Of a run, those of a user are taken from all
conversations, each text once, in a seeded order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..engine.cases import digest_of
from ..engine.earlier import Earlier
from .control import SEED, profiles
from .data import Rows, file_name, in_turns, load, located
from .filter.judge import FilterJudge
from .histories import PROMPTS, NewPrompt, prompts
from .made import Extracted, Selected, extracted, selected
from .rows import Extraction, Relevance, StageRow

EVERYDAY, SENSITIVE = "everyday", "sensitive"


@dataclass(frozen=True)
class Pairing(StageRow):
    """A user, a prompt, and attributes of the user."""

    cells = (EVERYDAY, SENSITIVE)
    asked: NewPrompt
    attributes: tuple[str, ...]

    @property
    def question(self) -> str:
        return self.asked.prompt

    @property
    def cell(self) -> str:
        return SENSITIVE if self.asked.sensitive else EVERYDAY

    @property
    def content(self) -> tuple[Any, ...]:
        return self.id, self.user_id, self.asked.prompt, self.asked.sensitive, self.attributes

    @property
    def facts(self) -> dict[str, Any]:
        """What a log says of it, see `made.py`."""
        return {
            "prompt_id": self.asked.id, "prompt": self.asked.prompt, "sensitive": self.asked.sensitive, "topic": self.asked.topic,
            "attributes": list(self.attributes),
        }  # fmt: skip


@dataclass(frozen=True)
class Profile(Pairing):
    """All attributes of the user, of which a model selects."""

    stage = "select"


@dataclass(frozen=True)
class Informed(Pairing):
    """The attributes that a reply may use."""

    stage = "respond"


@dataclass(frozen=True)
class Pairings(Rows[Pairing]):
    """The pairs of one run.

    Attributes:
        made_by: the run whose attributes they are: its model and digest; empty where they are people's.
        filtered_by: the filter that attributes had to pass, and how many it dropped; empty without one.
        without: pairs without any attribute, which are not among these.
    """

    made_by: str = field(default="", kw_only=True)
    filtered_by: str = field(default="", kw_only=True)
    without: int = field(default=0, kw_only=True)


def to_select(data: str | None, run: Earlier | None, passes: FilterJudge | None = None) -> Pairings:
    """Every user with attributes and every prompt of the data for that user.

    Args:
        run: of `recenter_extract`; None for the attributes of relevance.jsonl, each with the prompts that it has there.
        passes: a filter of extraction. An attribute that it drops in one conversation may be there from another.

    Raises:
        DataError: the data have no prompts, or no attributes.
    """
    folder, source = located(data, [PROMPTS, file_name(Relevance)])
    asked = prompts(folder)
    if run is None:
        pairs = [(user, prompt, [row.attribute for row in rows]) for user, prompt, rows in _judged(data, asked)]
        return _pairings(Profile, pairs, source)
    own: dict[str, dict[str, str]] = {}
    noted = extracted(run)
    kept = noted if passes is None else [one for one in noted if not passes.drops(_noted(one))]
    for one in kept:
        own.setdefault(one.user_id, {}).setdefault(" ".join(one.attribute.casefold().split()), one.attribute)
    users = dict.fromkeys(case.user_id for case in run.cases)
    whose = _whose(folder, asked, users) if asked else [(user, prompt) for user, prompt, _ in _judged(data, asked)]
    attributes = {user: sorted(own.get(user, {}).values(), key=lambda one: digest_of((SEED, one))) for user in users}
    pairs = [(user, prompt, attributes[user]) for user, prompt in whose if user in users]
    return _pairings(Profile, pairs, source, run, _dropped(passes, len(noted) - len(kept)))


def to_reply(data: str | None, run: Earlier | None, passes: FilterJudge | None = None) -> Pairings:
    """Every pair of a user and a prompt for which an attribute was selected.

    Args:
        run: of `recenter_select`; None for the attributes of relevance.jsonl that most people found relevant.
        passes: a filter of relevance.
    """
    folder, source = located(data, [file_name(Relevance)])
    if run is None:
        judged = _judged(data, prompts(folder))
        return _pairings(
            Informed,
            [(user, prompt, [row.attribute for row in rows if row.judgment]) for user, prompt, rows in judged],
            source,
        )
    kept = {
        one.id: [of for of in one.selected or () if passes is None or not passes.drops(_chosen(one, of))]
        for one in selected(run)
    }
    pairs = [(one.user_id, _asked(one), kept[one.id]) for one in selected(run)]
    dropped = sum(len(one.selected or ()) - len(kept[one.id]) for one in selected(run))
    return _pairings(Informed, pairs, source, run, _dropped(passes, dropped))


def _noted(one: Extracted) -> Extraction:
    return Extraction(one.id, one.user_id, one.conversation, one.attribute, one.why, one.source)


def _chosen(one: Selected, attribute: str) -> Relevance:
    return Relevance(one.id, one.user_id, one.prompt, attribute)


def _dropped(passes: FilterJudge | None, count: int) -> str:
    return f"{passes.signature}, {count:,} dropped" if passes else ""


def _asked(one: Selected) -> NewPrompt:
    return NewPrompt(one.prompt_id, one.prompt, one.sensitive, one.topic)


def _whose(folder: Path, asked: Sequence[NewPrompt], users: Iterable[str]) -> list[tuple[str, NewPrompt]]:
    known = set(users)
    return [(user, prompt) for prompt in asked for user in prompt.users or known if user in known]


def _judged(data: str | None, asked: Sequence[NewPrompt]) -> list[tuple[str, NewPrompt, list[Relevance]]]:
    """(user, prompt, the rows about them in a seeded order) of relevance.jsonl, whether people agree or not."""
    by_text: Mapping[str, NewPrompt] = {prompt.prompt: prompt for prompt in asked}
    return [
        (rows[0].user_id, by_text.get(text := rows[0].prompt, NewPrompt(f"p{digest_of((text,))[:8]}", text)), rows)
        for rows in profiles(load(Relevance, data))
    ]


def _pairings(
    kind: type[Pairing],
    pairs: Iterable[tuple[str, NewPrompt, Sequence[str]]],
    source: str,
    run: Earlier | None = None,
    filtered_by: str = "",
) -> Pairings:
    rows = [kind(f"{user}-{prompt.id}", user, prompt, tuple(attributes)) for user, prompt, attributes in pairs]
    kept = [row for row in rows if row.attributes]
    if not kept:
        found = f"{len(rows):,} pairs of a user and a prompt, none with an attribute"
        raise DataError(
            f"{run.where if run else source}: found {found}, expected some. Look at the run before, or at the data."
        )
    return Pairings(
        tuple(in_turns(kept)),
        kind,
        source,
        made_by=f"{run.model} {run.digest}" if run else "",
        filtered_by=filtered_by,
        without=len(rows) - len(kept),
    )
