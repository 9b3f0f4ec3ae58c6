"""Which texts a vote or a label is about: digests of the persona, the question and both answers as they were shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ...common.errors import DataError
from ...common.strict_json import short
from ...common.text import nfc
from ...engine.cases import digest_of
from ..folder import Folder, command
from ..rows import Answer, Origin, Pair, Person, Question, Shown, Tiered, Vote
from ..texts.told import Told

NAMED = 5
"""Edited texts that an error names; it counts the others."""

P = TypeVar("P", Pair, Tiered)

Digests = tuple[str, ...]
"""Digests (12 hex digits) of the persona, the question and the two answers in the order of their ids; empty where none were recorded."""


def digests(persona: str, question: str, answers: Mapping[str, str]) -> Digests:
    """The digests of texts, whichever side an answer was shown on.

    Spaces at the ends of lines, the kind of line break and how Unicode composes a letter change nothing: annotators do not see them.

    Args:
        answers: id -> text.
    """
    texts = (persona, question, *(answers[name] for name in sorted(answers)))
    return tuple(digest_of(["\n".join(map(str.rstrip, nfc(text).strip().splitlines()))]) for text in texts)


class ShownTexts:
    """The digests of a build's pairs, as its files are now."""

    def __init__(self, folder: Folder):
        self._folder = folder
        self._questions = {one.id: one.question for one in folder.read(Question)}
        self._answers = {one.id: one.text for one in folder.read(Answer)}
        self._personas: dict[str, str] = {}

    def of(self, pair: Pair | Tiered) -> Digests:
        """The digests of a pair. A text that is no longer there counts as an empty one.

        Raises:
            DataError: its persona is broken.
        """
        answers = {name: self._answers.get(name, "") for name in _answers(pair)}
        return digests(self._persona(pair.user_id), self._questions.get(pair.question_id, ""), answers)

    def _persona(self, user: str) -> str:
        if user not in self._personas:
            there = (self._folder.root / "persona" / f"{user}.json").is_file()
            self._personas[user] = self._folder.persona(user).text if there else ""
        return self._personas[user]


def _answers(pair: Pair | Tiered) -> tuple[str, str]:
    return (pair.first, pair.second) if isinstance(pair, Pair) else (pair.chosen, pair.rejected)


def refuse_edited_votes(folder: Folder) -> None:
    """Raise DataError if a pair that was sent out or voted on has other texts now, and no newer pack or vote is about these.

    Pairs whose question or person was dropped are not checked.
    """
    sent, voted = _recorded(folder.read(Shown)), _recorded(folder.read(Vote))
    texts = ShownTexts(folder)
    edited = []
    for pair in _kept(folder, folder.read(Pair)):
        known = sent.get(pair.id) or voted.get(pair.id)
        if known and texts.of(pair) not in known:
            edited.append(_Edited(pair.id, pair, known[-1], texts.of(pair)))
    if not edited:
        return
    _refuse_unanswerable(folder, {one.pair.question_id for one in edited})
    by_pack = any(one.id in sent for one in edited)
    again = command("packs", folder.root) if by_pack else f"{command('votes', folder.root)} --votes-by MODEL"
    raise DataError(
        f"{folder.root}: found {len(edited):,} pairs with other texts than people {'were sent' if by_pack else 'voted on'}: {_said(edited)}. Put "
        f"them back; or have these pairs voted on again with `{again}`: votes on the old texts then no longer count."
    )


def refuse_edited_labels(folder: Folder, tiered: Iterable[Tiered]) -> None:
    """Raise DataError if a label is about other texts than its pair has now. A label that a team wrote itself names no texts."""
    texts = ShownTexts(folder)
    labels = [_Edited(one.pair_id, one, one.texts, texts.of(one)) for one in _kept(folder, tiered) if one.texts]
    if edited := [one for one in labels if one.before != one.now]:
        raise DataError(
            f"{folder.path(Tiered)}: found {len(edited):,} labels that are about other texts than the files have now: {_said(edited)}. Put them "
            f"back; or remove these lines; or have the pairs voted on: {command('packs', folder.root)}"
        )


class _Edited(NamedTuple):
    """A pair, and the digests of its texts as they were shown and as they are."""

    id: str
    pair: Pair | Tiered
    before: Digests
    now: Digests


def _recorded(rows: Iterable[Shown] | Iterable[Vote]) -> dict[str, list[Digests]]:
    """Pair -> what packs or votes say of its texts, the newest last."""
    found: dict[str, list[Digests]] = {}
    for one in rows:
        found.setdefault(one.pair_id, []).append(one.texts)
    return found


def _kept(folder: Folder, pairs: Iterable[P]) -> list[P]:
    """The rows whose question and person were not dropped."""
    users = {one.user_id for one in folder.read(Person) if one.keep != "no"}
    dropped = {one.id for one in folder.read(Question) if one.keep == "no" or one.user_id not in users}
    return [pair for pair in pairs if pair.question_id not in dropped]


def _refuse_unanswerable(folder: Folder, questions: set[str]) -> None:
    """Raise DataError if an answer was written for the text that was edited: to vote again would not help."""
    Told(folder).refuse_edited(
        [one for one in folder.questions() if one.id in questions],
        [one for one in folder.read(Answer) if one.question_id in questions],
        {one.id: one for one in folder.read(Origin)},
    )


def _said(edited: Sequence[_Edited]) -> str:
    """The texts that are not as they were, each with the number of its pairs."""
    parts: Counter[str] = Counter()
    for one in edited:
        names = (
            f"the persona of {short(one.pair.user_id)}",
            f"the question {short(one.pair.question_id)}",
            *(f"the answer {short(name)} of pair {one.id}" for name in sorted(_answers(one.pair))),
        )
        if not one.before:
            parts["(nothing recorded what was shown)"] += 1
        parts.update(name for name, old, new in zip(names, one.before, one.now, strict=False) if old != new)
    named = [f"{name}{f' ({count:,} pairs)' if count > 1 else ''}" for name, count in parts.most_common(NAMED)]
    return ", ".join([*named, *([f"and {len(parts) - NAMED:,} more"] if len(parts) > NAMED else [])])
