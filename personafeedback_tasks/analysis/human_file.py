"""People's votes on duels, from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..common import tables
from ..common.errors import DataError
from ..common.records import short, short_list
from ..core.duels import Duels

WON = {"reply": 1.0, "tie": 0.5, "other": 0.0}
"""Winner -> the vote for the reply."""

_FIELDS = ("case", "winner")

NAMED = " and ".join(map(repr, _FIELDS))
"""The fields that every row has, for error messages."""


def human_votes(path: Path, duels: Duels) -> Mapping[str, Sequence[float]]:
    """The votes of a file: case id of the duel -> its votes as in WON, one row for each person.

    Args:
        path: CSV with a header. Each row has `case`, the id of the
            benchmark's case (`source` in the row of the duel), and `winner`: reply, other or tie; other columns are
            ignored.

    Raises:
        DataError: a row is broken, or of a case that was not asked; or there is no vote.
    """
    asked = {source: case_id for case_id, source in duels.sources.items()}
    known = {duel.case: duel.why for duel in duels.not_asked}
    votes: dict[str, list[float]] = {}
    for where, row in tables.rows(path, _FIELDS, _FIELDS):
        for name in _FIELDS:
            if not isinstance(row.get(name), str):
                raise DataError(
                    f"{where}: found {name} = {short(row.get(name))}, expected a text. Give each row {NAMED}."
                )
        case, winner = row["case"].strip(), row["winner"].strip()
        if winner not in WON:
            raise DataError(f"{where}: found winner = {short(winner)}, expected one of {', '.join(WON)}.")
        if case in known:
            raise DataError(
                f"{where}: found a vote on {short(case)}, which nobody is asked about ({known[case]}). Leave it out."
            )
        if case not in asked:
            raise DataError(
                f"{where}: found the case {short(case)}, expected one of the duels, such as {short_list(list(asked)[:3])}: the "
                "`source` of its row."
            )
        votes.setdefault(asked[case], []).append(WON[winner])
    if not votes:
        raise DataError(f"{path}: found no vote on a duel in it, expected rows with {NAMED}.")
    return votes
