"""Releases of the benchmark: the real one, and small ones written on the spot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENVIRONMENT_VARIABLE = "PERSONAFEEDBACK_DATA"

Rows = Sequence[Mapping[str, Any]]


def write_release(root: Path, cells: Mapping[str, Rows], personas: Mapping[str, Any]) -> Path:
    """Write a release: `cells` maps "spedific/mid" to its rows, `personas` a user id to a profile."""
    (root / "persona").mkdir(parents=True)
    (root / "data").mkdir()
    for name, rows in cells.items():
        path = root / "data" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
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
