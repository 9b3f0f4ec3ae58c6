"""Users and new prompts, paired: what a model selects attributes for, and what it then replies to.

The attributes are those of a run of the stage before, or people's of relevance.jsonl. Of a run, those of a user are taken from all
conversations, each text once, in a seeded order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..common.errors import DataError
from ..core.cases import digest_of
from ..core.earlier import Earlier
from .control import SEED, profiles
from .data import Rows, file_name, in_turns, load, located
from .filter.folder import Filter
from .histories import CONVERSATIONS, PROMPTS, ForPrompt, NewPrompt, conversations, prompts
from .made import extracted, selected
from .rows import Relevance


class Profile(ForPrompt):
    """All attributes of the user, of which a model selects."""

    stage = "select"


class Informed(ForPrompt):
    """The attributes that a reply may use."""

    stage = "respond"


@dataclass(frozen=True)
class Pairings(Rows[ForPrompt]):
    """The pairs of one run.

    Attributes:
        made_by: the run whose attributes they are: its model and digest; empty where they are people's.
        filtered_by: the filter that attributes had to pass, and how many it dropped; empty without one.
        without: pairs without any attribute, which are not among these.
    """

    made_by: str = field(default="", kw_only=True)
    filtered_by: str = field(default="", kw_only=True)
    without: int = field(default=0, kw_only=True)


def to_select(data: str | None, run: Earlier | None) -> Pairings:
    """Every user with attributes and every prompt of the data for that user.

    Args:
        run: of `recenter_extract`; None for the attributes of relevance.jsonl, each with the prompts that it has there.

    Raises:
        DataError: the data have no prompts, there are no attributes, or the run is on other conversations.
    """
    folder, source = located(data, [PROMPTS, file_name(Relevance)])
    asked = prompts(folder)
    if run is None:
        pairs = [(user, prompt, [row.attribute for row in rows]) for user, prompt, rows in _judged(data, asked)]
        return _pairings(Profile, pairs, source)
    if (folder / CONVERSATIONS).is_file() and (here := conversations(data).digest) != run.data:
        raise DataError(
            f"{run.where}: found a run on other conversations ({run.data}) than {source} has ({here}), expected the same. Pass the data of "
            "the run."
        )
    own: dict[str, dict[str, str]] = {}
    for one in extracted(run):
        own.setdefault(one.user_id, {}).setdefault(" ".join(one.attribute.casefold().split()), one.attribute)
    users = dict.fromkeys(case.user_id for case in run.cases)
    whose = _whose(folder, asked, users) if asked else [(user, prompt) for user, prompt, _ in _judged(data, asked)]
    attributes = {user: sorted(own.get(user, {}).values(), key=lambda one: digest_of((SEED, one))) for user in users}
    pairs = [(user, prompt, attributes[user]) for user, prompt in whose if user in users]
    return _pairings(Profile, pairs, source, run)


def to_reply(data: str | None, run: Earlier | None, passes: Filter | None = None) -> Pairings:
    """Every pair of a user and a prompt for which an attribute was selected.

    Args:
        run: of `recenter_select`; None for the attributes of relevance.jsonl that most people found relevant.
        passes: a filter; attributes that it finds irrelevant are left out.
    """
    folder, source = located(data, [file_name(Relevance)])
    if run is None:
        judged = _judged(data, prompts(folder))
        return _pairings(
            Informed,
            [(user, prompt, [row.attribute for row in rows if row.judgment]) for user, prompt, rows in judged],
            source,
        )
    chosen = [(one, one.selected or ()) for one in selected(run)]
    kept = [
        (one, [of for of in own if passes is None or not passes.drops(Relevance(one.id, one.user_id, one.prompt, of))])
        for one, own in chosen
    ]
    pairs = [(one.user_id, NewPrompt(one.prompt_id, one.prompt, one.sensitive), attributes) for one, attributes in kept]
    dropped = sum(len(own) for _, own in chosen) - sum(len(attributes) for _, attributes in kept)
    return _pairings(Informed, pairs, source, run, f"{passes.signature}, {dropped:,} dropped" if passes else "")


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
    kind: type[ForPrompt],
    pairs: Iterable[tuple[str, NewPrompt, Sequence[str]]],
    source: str,
    run: Earlier | None = None,
    filtered_by: str = "",
) -> Pairings:
    rows = [
        kind(f"{user}-{asked.id}", user, asked.id, asked.prompt, asked.sensitive, tuple(attributes))
        for user, asked, attributes in pairs
    ]
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
