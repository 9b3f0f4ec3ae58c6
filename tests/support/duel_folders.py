"""Folders of duels as `personafeedback duel` writes them, of replies to the cases of the sample or of a release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from personafeedback_tasks.common.files import write_all
from personafeedback_tasks.personafeedback.cases import PersonaCase, load_cases
from personafeedback_tasks.writing.duel import DuelPair, files, people


def write_duels(
    root: Path,
    reply: Callable[[PersonaCase], str],
    writer: str = "acme/writer",
    against: str = "chosen",
    other: Callable[[PersonaCase], str] | None = None,
    data: Path | str = "sample",
    **options: str,
) -> Path:
    """A folder of duels, in the order of the release's files.

    Args:
        reply: what the writer says in a case.
        against: `chosen`, `rejected`, or a model; other: what that model says.
        data: whose cases they are.
        options: `category`, `difficulty` and `counts`, as `load_cases` takes them.
    """
    cases = load_cases(data, **options)
    ordered = sorted(cases, key=lambda case: (case.cell, int(case.id.rpartition(":")[2])))
    pairs = [DuelPair(case, reply(case).strip(), other(case) if other else getattr(case, against)) for case in ordered]
    contents = people(cases.release.root) | files(pairs, writer, against)
    write_all({root / name: content for name, content in contents.items()})
    return root
