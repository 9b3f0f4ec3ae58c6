"""Test data among the pairs to train on: persons under whatever id, and responses, one by one and near copies included."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...common.errors import DataError
from ...common.files import write
from ...common.strict_json import cut
from ...common.text import nfkc
from ...personafeedback.cases import CaseSet
from ..folder import Folder
from ..rows import TRAIN, Person
from ..texts.similar import Seen

Row = dict[str, Any]
"""`prompt`, `chosen` and `rejected` as lists of turns, as TRL's RewardTrainer reads them; and `id`, `kind`, `user_id`."""

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


class Copy(NamedTuple):
    """A line of FILE: a pair to train on that has test data.

    Attributes:
        id, user_id: of the row.
        side: the response that is a copy: `chosen` or `rejected`; `both` for a pair whose texts are those of a test pair.
        copy_of: the test pair.
        text: the response; both, one after the other, for `both`.
    """

    id: str
    user_id: str
    side: str
    copy_of: str
    text: str


def plain(text: str) -> str:
    """A text without what re-spacing or another encoding of the same letters changes."""
    return "".join(nfkc(text).casefold().split())


def copies(rows: Sequence[Row], tested: Iterable[tuple[str, tuple[str, str]]]) -> list[Copy]:
    """The rows with a response of a test pair, or with one that is nearly the same, in whatever order and spacing.

    Args:
        tested: (what the pair is, its two responses).
    """
    pairs: dict[frozenset[str], str] = {}
    what_of: dict[str, str] = {}
    responses = Seen(COPY)
    for what, texts in tested:
        letters = [plain(text) for text in texts]
        pairs.setdefault(frozenset(letters), what)
        for text in letters:
            if len(text) >= SHORT and text not in what_of:
                what_of[text] = what
                responses.add(text, text)
    found = []
    for row in rows:
        texts_of = {side: row[side][-1]["content"] for side in SIDES}
        letters = [plain(text) for text in texts_of.values()]
        if whole := pairs.get(frozenset(letters)):
            found.append(Copy(row["id"], row["user_id"], "both", whole, "\n\n".join(texts_of.values())))
            continue
        for (side, text), short in zip(texts_of.items(), (len(one) < SHORT for one in letters), strict=True):
            if not short and (copied := responses.like(text)) is not None:
                found.append(Copy(row["id"], row["user_id"], side, what_of[copied], text))
    return found


def refuse(folder: Folder, found: Sequence[Copy]) -> None:
    """Raise DataError if there are copies; all of them are in FILE then.

    Raises:
        FileError: it cannot be written.
    """
    path = folder.root / FILE
    if not found:
        path.unlink(missing_ok=True)
        return
    write(path, [json.dumps(one._asdict(), ensure_ascii=False) + "\n" for one in found])
    named = "; ".join(
        f"{cut(one.id, 200)} is {cut(one.copy_of, 200)}"
        if one.side == "both"
        else f"the {one.side} response of {cut(one.id, 200)} is one of {cut(one.copy_of, 200)}"
        for one in found[:NAMED]
    )
    raise DataError(
        f"Found {len({one.id for one in found}):,} pairs to train on with responses of test data, the same or nearly the same text: {named}. All of them "
        f"are in {path}. Nothing is written to train on: a score of a model that was trained on test data means nothing. If these persons were tested, set their "
        "split back to test; or remove these answers or labels, or these rows of HelpSteer2."
    )


def refuse_test_personas(folder: Folder) -> None:
    """Raise DataError if a person is in both splits under two ids: such a person would be trained on and tested."""
    test = {plain(folder.persona(one.user_id).values): one.user_id for one in folder.people() if one.split != TRAIN}
    for one in folder.people(TRAIN):
        if other := test.get(plain(folder.persona(one.user_id).values)):
            raise DataError(
                f"{folder.root / 'persona' / one.user_id}.json: found the persona of the test person {other!r} again, expected another person. Give "
                "both one split in people.csv, or drop one."
            )


def refuse_people(folder: Folder, cases: CaseSet) -> None:
    """Raise DataError if a training person has the persona of somebody in a data set, under whatever id."""
    known = {plain(persona.values): user for user, persona in cases.release.others.personas.items()}
    same = [
        f"{cut(one.user_id, 100)} is {cut(user, 100)}"
        for one in folder.people(TRAIN)
        if (user := known.get(plain(folder.persona(one.user_id).values)))
    ]
    if same:
        raise DataError(
            f"{folder.path(Person)}: found {len(same):,} training persons who are users of {cases.source}: {'; '.join(same[:5])}. Nothing is "
            "written: a model that was trained on a user proves nothing of that user. Set their split to test, or drop them."
        )


def of_benchmark(cases: CaseSet) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of a release, for `copies`."""
    return ((f"{case.id} of {cases.source}", (case.chosen, case.rejected)) for case in cases)
