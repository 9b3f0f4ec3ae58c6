"""Folders of duels, as `personafeedback duel` writes them: the sample's cases with a reply in place of the chosen response."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from personafeedback_tasks.personafeedback.cases import Case, load_cases
from support.releases import write_set

_FOLDERS = {"specific": "spedific"}


def write_duels(
    root: Path, reply: Callable[[Case], str], writer: str = "acme/writer", against: str = "chosen", **options: str
) -> Path:
    """A folder of duels on the bundled sample.

    Args:
        reply: what the writer says in a case; an empty one, or one that equals the other side, is not asked.
        against: `chosen`, `rejected`, or a model, whose texts are then the rejected ones.
        options: `category` and `difficulty`, as `load_cases` takes them.
    """
    rows: dict[str, list[dict[str, str]]] = {}
    not_asked, personas = [], {}
    for case in sorted(load_cases("sample", **options), key=lambda case: (case.cell, int(case.id.split(":")[1]))):
        said, other = reply(case), case.chosen if against == "chosen" else case.rejected
        why = "empty" if not said.strip() else "tie" if said == other else ""
        if why:
            not_asked.append({"case": case.id, "cell": case.cell, "user_id": case.user_id, "why": why})
            continue
        personas[case.user_id] = case.persona.profile
        cell = f"{_FOLDERS.get(case.category, case.category)}/{case.difficulty}"
        rows.setdefault(cell, []).append(
            {"user_id": case.user_id, "question": case.question, "chosen": said, "reject": other, "source": case.id}
        )
    duel = {"writer": writer, "against": against, "not_asked": not_asked}
    return write_set(
        root, rows, personas, name=f"duel of {writer} against {against}", annotators=None, generator=writer, duel=duel
    )  # fmt: skip
