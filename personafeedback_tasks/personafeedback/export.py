"""Cases -> the JSONL that RewardBench reads, for reward models that ship their own code; and some of a set's cases as a set.

RewardBench takes the whole conversation from `chosen` and `rejected`, reads turns by position and has no system
turn: so the persona comes before the question, and both contain every turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from ..common.errors import DataError
from ..common.strict_json import cut
from ..engine.conversation import without_system
from .cases import PersonaCases
from .conversations import SIDES, check, conversation
from .manifest import FILE, LONGEST_NAME
from .prompts import Template
from .release import cell_file

NOTICE = "{} test data. Do not train on it: benchmark data must never be in training corpora."
"""In every row, so that a row that leaks into a corpus can be found."""


def rewardbench(cases: PersonaCases, template: Template) -> Iterator[dict[str, Any]]:
    """One row per case.

    Yields:
        prompt: the turns before the response.
        chosen, rejected: the same turns, and the response.
        split, notice: that this is test data.
        id, cell, user_id, digest: of the case, see `PersonaCase`.
    """
    check(template)
    named = cases.named_set
    notice = NOTICE.format(named.name if named else "PersonaFeedback (arXiv 2506.12915)")
    for case in cases:
        chosen, rejected = (without_system(conversation(case, template, side)) for side in SIDES)
        yield {
            "prompt": chosen[:-1],
            "chosen": chosen,
            "rejected": rejected,
            "split": "test",
            "notice": notice,
            "id": case.id,
            "cell": case.cell,
            "user_id": case.user_id,
            "digest": case.digest,
        }


def part_of_set(cases: PersonaCases, ids: Collection[str]) -> dict[str, str]:
    """Path in a folder -> content, of the rows and the manifest of some cases of a set of duels; the personas are `duel.people`'s.

    Raises:
        DataError: the cases are of no set.
    """
    root, manifest = cases.release.root, cases.release.manifest
    if manifest is None or manifest.duel is None:
        raise DataError(f"{cases.source}: found no set of duels, expected a folder that `personafeedback duel` wrote.")
    contents, counts = {}, {}
    for cell, of_cell in cases.cells.items():
        numbers = [int(case.id.rpartition(":")[2]) for case in of_cell if case.id in ids]
        if numbers:
            path = cell_file(root, of_cell[0].category, of_cell[0].difficulty)
            lines = path.read_text("utf-8").split("\n")  # a text may have other ends of lines, such as U+2028
            contents[path.relative_to(root).as_posix()] = "".join(
                f"{lines[number - 1]}\n" for number in sorted(numbers)
            )
            counts[cell] = len(numbers)
    part = replace(
        manifest,
        name=cut(f"part of {manifest.name}", LONGEST_NAME),
        counts=counts,
        duel=replace(manifest.duel, not_asked=()),
    )
    return {FILE: part.content(root), **contents}
