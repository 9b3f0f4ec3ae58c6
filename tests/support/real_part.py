"""A part of the real General half: what is about logic is tried on these cases, and only constants on all of them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from personafeedback_tasks.personafeedback.cells import PAPER_COUNTS

CASES = {"easy": 45, "medium": 35, "hard": 40}
"""Difficulty -> cases; a mean over cells is not one over cases."""


def write_part(folder: Path, real_data: Path, cases: Mapping[str, int] = CASES) -> None:
    """Write so many rows of each cell, drawn once, as they are, and the personas of their users."""
    draw = random.Random(2)  # the first one with two Hard cases that the audit names
    (folder / "persona").mkdir(parents=True)
    (folder / "data" / "general").mkdir(parents=True)
    users = set()
    for difficulty, count in cases.items():
        name = f"data/general/{difficulty}.jsonl"
        lines = (real_data / name).read_bytes().splitlines(keepends=True)
        drawn = [lines[number] for number in sorted(draw.sample(range(len(lines)), count))]
        (folder / name).write_bytes(b"".join(drawn))
        users |= {json.loads(line)["user_id"] for line in drawn}
    for user in users:
        shutil.copy(real_data / "persona" / f"{user}.json", folder / "persona")


@contextmanager
def taken_for_the_release(cases: Mapping[str, int] = CASES) -> Iterator[None]:
    """Whole cells are those of the part. A card takes whole cells only, and partial ones are marked wherever they are shown."""
    with patch.dict(PAPER_COUNTS, {f"general_{difficulty}": count for difficulty, count in cases.items()}):
        yield
