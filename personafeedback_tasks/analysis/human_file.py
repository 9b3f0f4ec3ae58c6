"""People's votes on duels, and on pairs of the judge's exam, from a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class People:
    """Votes of people, each in [0, 1] as in WON or EXAM.

    Attributes:
        duels: case id of the duel -> its votes.
        exam: case id of the exam -> its votes.
    """

    duels: Mapping[str, Sequence[float]]
    exam: Mapping[str, Sequence[float]]


def human_votes(path: Path, duels: Duels, examined: Collection[str]) -> People:
    """The votes of a file. A case may have those of several people, one row each.

    Args:
        path: JSON Lines if its name ends in .jsonl, else CSV with a header. Each row has `case`, the id of the benchmark's case
            (`source` in the row of the duel), and `winner`: reply, other or tie of a duel, better or worse (by the label) of the exam's pair.
            Other columns are left alone.
        examined: ids of the cases of the exam.

    Raises:
        DataError: a row is broken, or of a case that was not asked; or there is no vote on a duel.
    """
    asked = {source: case_id for case_id, source in duels.sources.items()}
    known = {duel.case: duel.why for duel in duels.not_asked}
    of_duels: dict[str, list[float]] = {}
    of_exam: dict[str, list[float]] = {}
    lines: Iterable[tuple[str, Mapping[str, Any]]]
    if path.suffix == ".jsonl":
        lines = ((f"{path}, line {number}", row) for number, row in rows(path))
    else:
        lines = tables.rows(path, _FIELDS, _FIELDS)
    for where, row in lines:
        for name in _FIELDS:
            if not isinstance(row.get(name), str):
                raise DataError(
                    f"{where}: found {name} = {short(row.get(name))}, expected a text. Give each row {_named()}."
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
        of_duels.setdefault(asked[case], []).append(WON[winner])
    if not of_duels:
        raise DataError(f"{path}: found no vote on a duel in it, expected rows with {_named()}.")
    return People(of_duels, of_exam)


def _named() -> str:
    return " and ".join(map(repr, _FIELDS))
