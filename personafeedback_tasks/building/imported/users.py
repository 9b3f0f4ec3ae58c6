"""A team's own users: profiles of a file, and each user's history of texts, into persona/ and memory/."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from ...common.errors import DataError, OptionError
from ...common.records import broken, json_lines, rows, short
from .. import screening
from . import sources


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
        OptionError: there is no such folder.
    """
    contacts, found = list[str](), OwnUsers()
    for number, row in rows(path):
        where = f"{path}, line {number}"
        user = sources.user(row, "user_id", where)
        profile = (
            sources.profile(row, "profile", where)
            if "profile" in row
            else {k: v for k, v in row.items() if k != "user_id"}
        )
        if not profile:
            raise broken(where, "a user_id alone", "a profile")
        file = Path("persona") / f"{user}.json"
        if file in found.files:
            raise broken(where, f"the user_id {short(user)} again", "each user once")
        found.files[file] = json.dumps(profile, ensure_ascii=False, indent=1) + "\n"
        found.people += 1
        contacts += screening.contacts(profile, where)
        if history is not None:
            contacts += _add_history(found, user, history)
    if history is not None:
        _refuse_of_nobody(found, history, path)
    screening.refuse(contacts)
    return found


def _add_history(found: OwnUsers, user: str, history: Path) -> list[str]:
    # Returns the contacts in it.
    path = history / f"{user}.jsonl"
    if not path.is_file():
        found.without.append(user)
        return []
    lines, contacts = screening.pieces(path)
    found.files[Path("memory") / path.name] = "".join(json_lines(lines))
    found.pieces += len(lines)
    return contacts


def _refuse_of_nobody(found: OwnUsers, history: Path, users: Path) -> None:
    if not history.is_dir():
        raise OptionError(f"--history must be a folder with <user_id>.jsonl, got {history}.")
    for path in sorted(history.glob("*.jsonl")):
        if Path("persona") / f"{path.stem}.json" not in found.files:
            raise DataError(
                f"{path}: found the history of {short(path.stem)}, expected a user_id of {users}. Rename it, or add the user."
            )
