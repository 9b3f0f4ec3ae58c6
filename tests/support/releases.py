"""Releases of the benchmark: small ones written on the spot, and a part of the real one."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from personafeedback_tasks.personafeedback.cells import PAPER_COUNTS
from support.lines import write_lines

ENVIRONMENT_VARIABLE = "PERSONAFEEDBACK_DATA"

Rows = Sequence[Mapping[str, Any]]


def row_of(user: object = "u1", number: int = 0, **changes: object) -> dict[str, Any]:
    """A row; of different numbers, all texts differ."""
    texts = {"question": f"question {number}?", "chosen": f"chosen {number}", "reject": f"rejected {number}"}
    return {"user_id": user, **texts, **changes}


def write_release(root: Path, cells: Mapping[str, Rows], personas: Mapping[str, Any]) -> Path:
    """Write a release: `cells` maps "spedific/mid" to its rows, `personas` a user id to a profile."""
    (root / "persona").mkdir(parents=True)
    for name, rows in cells.items():
        write_lines(root / "data" / f"{name}.jsonl", rows)
    for user, profile in personas.items():
        (root / "persona" / f"{user}.json").write_bytes(json.dumps(profile, ensure_ascii=False).encode())
    return root


def write_set(root: Path, cells: Mapping[str, Rows], personas: Mapping[str, Any], **changed: Any) -> Path:
    """Write a release with a manifest that fits it; `changed` are other values of its keys."""
    folders = {"spedific": "specific", "mid": "medium"}
    names = {"_".join(folders.get(part, part) for part in cell.split("/")): len(rows) for cell, rows in cells.items()}
    manifest = {
        "format": 1, "name": "kitchen questions", "counts": names, "license": "CC-BY-4.0", "labels": "Two cooks voted.",
        "generator": "acme/model", "annotators": 2, "agreement": None, **changed,
    }  # fmt: skip
    write_release(root, cells, personas)
    (root / "set.json").write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
    return root


def write_hard(root: Path, cases: int) -> Path:
    """A set of six users with so many General Hard cases."""
    rows = [
        {"user_id": f"u{n % 6}", "question": f"q{n}?", "chosen": f"a good one {n}", "reject": f"a bad one {n}"}
        for n in range(cases)
    ]
    personas = {f"u{n}": {"Name": f"Ann{n}", "Job": "baker"} for n in range(6)}
    return write_set(root, {"general/hard": rows}, personas)


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
