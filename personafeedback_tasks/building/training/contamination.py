"""Test data among the pairs to train on: persons under whatever id, and responses, one by one and near copies included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...common.errors import DataError
from ...common.files import write
from ...common.records import cut, json_lines
from ...common.similar import Seen
from ...common.text import nfkc
from ...personafeedback.cases import PersonaCases
from ..folder import Folder
from ..rows import TEST, TRAIN, Person

TrainingPair = dict[str, Any]
"""`prompt`, `chosen` and `rejected` as lists of turns, as TRL's RewardTrainer reads them; and `id`, `kind`, `user_id`."""

Tested = tuple[str, tuple[str, str]]
"""(what a test pair is, its two responses)."""

COPY = 0.6
"""Likeness from which a response is a copy. Among 5,552 responses of the benchmark's General half no two of different users reach 0.2."""

SHORT = 60
"""Characters without spaces, about twelve English words, below which a response alone is no copy: two people may get one short answer.
Both responses of a test pair are, however short. 7 of those 5,552 responses are shorter.
"""

FILE = "training-copies.jsonl"
"""Beside training/, all files of which a trainer reads."""

NAMED = 5
"""Rows that the error names."""

SIDES = ("chosen", "rejected")


Copy = dict[str, str]
"""A line of FILE, a pair to train on that has test data: its `id` and `user_id`; `side`, the response that is a copy, or `both` for a pair
whose texts are those of a test pair; `copy_of`, the test pair; `text`, the response, or both, one after the other.
"""


def plain(text: str) -> str:
    """Canonical form of a text: no spaces, no case, one Unicode encoding."""
    return "".join(nfkc(text).casefold().split())


def copies(pairs: Sequence[TrainingPair], tested: Iterable[Tested]) -> list[Copy]:
    """The pairs with a response that is the same as one of a test pair, or nearly, in whatever order and spacing."""
    pair_of: dict[frozenset[str], str] = {}
    response_of: dict[str, str] = {}
    responses = Seen(COPY)
    for name, texts in tested:
        letters = [plain(text) for text in texts]
        pair_of.setdefault(frozenset(letters), name)
        for text in letters:
            if len(text) >= SHORT and text not in response_of:
                response_of[text] = name
                responses.add(text, text)
    copied = []
    for pair in pairs:
        by_side = {side: pair[side][-1]["content"] for side in SIDES}
        if whole := pair_of.get(frozenset(map(plain, by_side.values()))):
            copied.append(_copy(pair, "both", whole, "\n\n".join(by_side.values())))
            continue
        for side, text in by_side.items():
            if len(plain(text)) >= SHORT and (like := responses.like(text)) is not None:
                copied.append(_copy(pair, side, response_of[like], text))
    return copied


def _copy(pair: TrainingPair, side: str, copy_of: str, text: str) -> Copy:
    return {"id": pair["id"], "user_id": pair["user_id"], "side": side, "copy_of": copy_of, "text": text}


def refuse(folder: Folder, copied: Sequence[Copy]) -> None:
    """Raise DataError if there are copies, after all of them are written to FILE."""
    path = folder.root / FILE
    if not copied:
        path.unlink(missing_ok=True)
        return
    write(path, json_lines(copied))
    named = "; ".join(
        f"{cut(copy['id'], 200)} is {cut(copy['copy_of'], 200)}"
        if copy["side"] == "both"
        else f"the {copy['side']} response of {cut(copy['id'], 200)} is one of {cut(copy['copy_of'], 200)}"
        for copy in copied[:NAMED]
    )
    raise DataError(
        f"Found {len({copy['id'] for copy in copied}):,} pairs to train on with responses of test data, the same or nearly the same text: {named}. All of them "
        f"are in {path}. Nothing is written to train on: a score of a model that was trained on test data means nothing. If these persons were tested, set their "
        "split back to test; or remove these answers or labels."
    )


def refuse_test_personas(folder: Folder) -> None:
    """Raise DataError if a person is in both splits under two ids: such a person would be trained on and tested."""
    test = {_values(folder, person): person.user_id for person in folder.people(TEST)}
    for person in folder.people(TRAIN):
        if other := test.get(_values(folder, person)):
            raise DataError(
                f"{folder.persona_path(person.user_id)}: found the persona of the test person {other!r} again, expected another person. Give "
                "both one split in people.csv, or drop one."
            )


def _values(folder: Folder, person: Person) -> str:
    return plain(folder.persona(person.user_id).values)


def refuse_people(folder: Folder, trained: Iterable[Person], cases: PersonaCases) -> None:
    """Raise DataError if a training person has the persona of somebody in a data set, under whatever id."""
    known = {plain(persona.values): user for user, persona in cases.release.others.personas.items()}
    same = [
        f"{cut(person.user_id, 100)} is {cut(user, 100)}"
        for person in trained
        if (user := known.get(_values(folder, person)))
    ]
    if same:
        raise DataError(
            f"{folder.path(Person)}: found {len(same):,} training persons who are users of {cases.source}: {'; '.join(same[:5])}. Nothing is "
            "written: a score on users that the model was trained on means nothing. Set their split to test, or drop them."
        )


def of_benchmark(cases: PersonaCases) -> Iterator[Tested]:
    """The pairs of a release, for `copies`."""
    return ((f"{case.id} of {cases.source}", (case.chosen, case.rejected)) for case in cases)
