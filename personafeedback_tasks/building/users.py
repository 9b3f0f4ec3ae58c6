"""A team's own users: profiles of a file, and each user's history of texts, into persona/ and memory/."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..common.outputs import json_lines
from ..common.records import broken, rows, short
from . import screening

LONGEST_USER = 200
"""Bytes of a user_id, which names a file."""


@dataclass
class OwnUsers:
    """Users to add, with their histories.

    Attributes:
        files: path below the build's folder -> content.
        people, pieces: number of users, and of pieces of history.
        without: users without a history.
    """

    files: dict[Path, str] = field(default_factory=dict)
    people: int = 0
    pieces: int = 0
    without: list[str] = field(default_factory=list)


def read_users(path: Path, history: Path | None) -> OwnUsers:
    """The users of a file, and their histories.

    Args:
        path: a JSON object per line: `user_id`, and either `profile` or the keys of the profile itself.
        history: folder with `<user_id>.jsonl`, one piece per line.

    Raises:
        DataError: a line is broken, a user occurs twice, a history has no user, or there are personal data.
    """
    contacts, found = list[str](), OwnUsers()
    for number, row in rows(path):
        where = f"{path}, line {number}"
        user = user_id(row.get("user_id"), where)
        own = profile_of(row.get("profile") or {key: row[key] for key in row if key != "user_id"}, where)
        file = Path("persona") / f"{user}.json"
        if file in found.files:
            raise broken(where, f"the user_id {short(user)} again", "each user once")
        found.files[file] = json.dumps(own, ensure_ascii=False, indent=1) + "\n"
        found.people += 1
        contacts += screening.contacts(own, where)
        if history is None:
            continue
        pieces = history / f"{user}.jsonl"
        if not pieces.is_file():
            found.without.append(user)
            continue
        lines, hits = screening.pieces(pieces)
        found.files[Path("memory") / pieces.name] = "".join(json_lines(lines))
        found.pieces += len(lines)
        contacts += hits
    for pieces in sorted(history.glob("*.jsonl")) if history else ():
        if Path("persona") / f"{pieces.stem}.json" not in found.files:
            raise DataError(
                f"{pieces}: found the history of {short(pieces.stem)}, expected a user_id of {path}. Rename it, or add the user."
            )
    screening.refuse(contacts)
    return found


def user_id(value: Any, where: str) -> str:
    """A user's id, which names a file. Raises DataError for one that cannot."""
    name = str(value) if isinstance(value, (str, int)) else ""
    if not name.isprintable() or not name.strip(". ") or "/" in name or len(name.encode()) > LONGEST_USER:
        raise broken(where, f"user_id = {short(value)}", f"the name of a file, of at most {LONGEST_USER} bytes")
    return name


def profile_of(value: Any, where: str) -> dict[str, Any]:
    """A profile as a release has it: an object; a text is the value of `Profile`. Raises DataError for anything else."""
    profile = {"Profile": value.strip()} if isinstance(value, str) and value.strip() else value
    if not profile or not isinstance(profile, dict):
        raise broken(where, f"the profile {short(value)}", "a text or an object that describes the user")
    return profile
