"""People's votes on duels, and on pairs of the judge's exam, from a file."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common import tables
from ..common.errors import DataError
from ..common.strict_json import rows, short, short_list
from ..engine.duels import Duels

WON = {"reply": 1.0, "tie": 0.5, "other": 0.0}
"""Winner -> the vote for the reply."""

EXAM = {"better": 1.0, "worse": 0.0}
"""The same for the two texts of a pair of the exam, by their label, where a tie says nothing."""

_FIELDS = ("case", "winner")
PROBABILITY = "probability"

NAMED = " and ".join(map(repr, _FIELDS))
"""The fields that every row has, for error messages."""


@dataclass(frozen=True)
class People:
    """Votes of people, each in [0, 1] as in WON or EXAM.

    Attributes:
        duels: case id of the duel -> its votes.
        exam: case id of the exam -> its votes.
        likely: case id of a duel with votes -> the probability that it was drawn for these, in (0, 1]; empty if all had the same.
    """

    duels: Mapping[str, Sequence[float]]
    exam: Mapping[str, Sequence[float]]
    likely: Mapping[str, float] = field(default_factory=dict)


def human_votes(path: Path, duels: Duels, examined: Collection[str]) -> People:
    """The votes of a file. A case may have those of several people, one row each.

    Args:
        path: JSON Lines if its name ends in .jsonl, else CSV with a header. Each row has `case`, the id of the benchmark's case
            (`source` in the row of the duel), and `winner`: reply, other or tie of a duel, better or worse (by the label) of the exam's pair.
            `probability`: with which the duel was drawn, in (0, 1]; of all duels or of none. Other columns are left alone.
        examined: ids of the cases of the exam.

    Raises:
        DataError: a row is broken, or of a case that was not asked; there is no vote on a duel; or some have a probability and others none.
    """
    asked = {source: case_id for case_id, source in duels.sources.items()}
    known = {duel.case: duel.why for duel in duels.not_asked}
    of_duels: dict[str, list[float]] = {}
    of_exam: dict[str, list[float]] = {}
    likely: dict[str, float | None] = {}
    lines: Iterable[tuple[str, Mapping[str, Any]]]
    if path.suffix == ".jsonl":
        lines = ((f"{path}, line {number}", row) for number, row in rows(path))
    else:
        lines = tables.rows(path, (*_FIELDS, PROBABILITY), _FIELDS)
    for where, row in lines:
        for name in _FIELDS:
            if not isinstance(row.get(name), str):
                raise DataError(
                    f"{where}: found {name} = {short(row.get(name))}, expected a text. Give each row {NAMED}."
                )
        case, winner = row["case"].strip(), row["winner"].strip()
        if winner in EXAM:
            if case not in examined:
                raise DataError(
                    f"{where}: found a vote for the {winner} text of {short(case)}, expected a case that the exam has. Leave it "
                    "out, or run the exam on it."
                )
            of_exam.setdefault(case, []).append(EXAM[winner])
            continue
        if winner not in WON:
            raise DataError(
                f"{where}: found winner = {short(winner)}, expected one of {', '.join(WON)}, or on the exam's pairs {' or '.join(EXAM)}."
            )
        if case in known:
            raise DataError(
                f"{where}: found a vote on {short(case)}, which nobody is asked about ({known[case]}). Leave it out."
            )
        if case not in asked:
            raise DataError(
                f"{where}: found the case {short(case)}, expected one of the duels, such as {short_list(list(asked)[:3])}: the "
                "`source` of its row."
            )
        chance = _probability(row.get(PROBABILITY), where)
        if likely.setdefault(asked[case], chance) != chance:
            raise DataError(
                f"{where}: found probability = {short(chance)} for {short(case)}, which has {short(likely[asked[case]])} in an earlier row, expected the "
                "same. Give each row of a duel the probability with which it was drawn."
            )
        of_duels.setdefault(asked[case], []).append(WON[winner])
    known_chances = {case_id: chance for case_id, chance in likely.items() if chance is not None}
    if known_chances and (without := len(likely) - len(known_chances)):
        raise DataError(
            f"{path}: found {len(known_chances):,} duels with a probability and {without:,} without, expected it for all or for none. Duels that were drawn "
            "at random and those of --ask-people go into files of their own."
        )
    if not of_duels:
        raise DataError(f"{path}: found no vote on a duel in it, expected rows with {NAMED}.")
    return People(of_duels, of_exam, known_chances)


def by_source(people: People, duels: Duels, others: Duels) -> People:
    """The votes on some duels, under the ids that the same duels have in another folder; without those that it does not have."""
    id_there = {source: case_id for case_id, source in others.sources.items()}
    ids = {case_id: id_there[source] for case_id, source in duels.sources.items() if source in id_there}
    return People(
        {ids[case_id]: votes for case_id, votes in people.duels.items() if case_id in ids},
        people.exam,
        {ids[case_id]: chance for case_id, chance in people.likely.items() if case_id in ids},
    )


def _probability(value: object, where: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        chance = float(value) if isinstance(value, (str, float, int)) and not isinstance(value, bool) else math.nan
    except ValueError:
        chance = math.nan
    if not 0 < chance <= 1:
        raise DataError(
            f"{where}: found probability = {short(value)}, expected a number above 0, at most 1, such as 0.25. Fix it."
        )
    return chance
