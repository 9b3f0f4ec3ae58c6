"""Fixtures that more than one test module uses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENT_VARIABLE = "PERSONAFEEDBACK_DATA"
REAL_DATA = os.environ.get(ENVIRONMENT_VARIABLE, "")
"""As it is when the session starts; the tests themselves run without it."""

Rows = Sequence[Mapping[str, Any]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store-prompts", action="store_true", help="write the rendered prompts that test_prompts.py compares with"
    )


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


@pytest.fixture(autouse=True)
def _no_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The General half of the real release."""
    folder = Path(REAL_DATA).expanduser()
    if not REAL_DATA or not folder.is_dir():
        pytest.skip(f"real data: set {ENVIRONMENT_VARIABLE} to a folder in the release's layout")
    return folder.resolve()


@pytest.fixture
def make_release(tmp_path: Path) -> Callable[..., Path]:
    """`write_release` into a new folder at each call."""
    made: list[Path] = []

    def make(cells: Mapping[str, Rows], personas: Mapping[str, Any]) -> Path:
        made.append(write_release(tmp_path / f"release{len(made)}", cells, personas))
        return made[-1]

    return make
