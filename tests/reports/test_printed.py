"""What commands print and write for people, in one file that a reader can review: tests/printed.txt.

A change of a sentence, a column, a unit or a number shows there; what must hold of all of them is tested here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("rich")
pytest.importorskip("scipy")
pytest.importorskip("huggingface_hub")

from rich.cells import cell_len
from support import jsonl_harness
from support.cards import update
from support.commands import ran
from support.duel_folders import write_duels
from support.jsonl_harness import judged
from support.judges import JUDGES
from support.planted_judges import KNOWER, asked
from support.sample_runs import GOLD, run_of

from personafeedback_tasks.logs import log

STORED = Path(__file__).parents[1] / "printed.txt"
SCREEN = 24
"""Lines of a terminal."""


def any_answer(*replies: str) -> Callable[[str, str], str]:
    """A model whose reply depends on the case and the call alone."""
    return lambda case, call: replies[hashlib.sha256(f"{case} {call}".encode()).digest()[0] % len(replies)]


def made(root: Path) -> dict[str, tuple[object, ...]]:
    """Name -> a command on logs in a folder, which are made here."""
    for setting in ("persona", "other_persona", "no_persona"):
        judge = JUDGES["gold" if setting == "persona" else "readable"]
        jsonl_harness.run(
            judge, "a/knower", root / "knower" / setting, "personafeedback", "hard", data="sample", setting=setting
        )
    judged(root / "unread", "mixed")
    judged(root / "place", "always_first")
    jsonl_harness.run(any_answer("A", "A", "B"), "a/model", root / "cells", "personafeedback", data="sample")
    for setting in ("persona", "no_persona"):
        jsonl_harness.run(
            any_answer("A", "B"), "a/knower", root / "memory" / setting, "memsyco", data="sample", setting=setting
        )
    for name in ("a/model", "b/model"):
        replies = any_answer("accept", "reject", "Accept", name)
        jsonl_harness.run(replies, name, root / "extraction" / name, "recenter_extraction", data="sample")
    duels = write_duels(root / "duels", lambda case: case.rejected if case.id[-1] in "246" else "", difficulty="hard")
    judged(root / "votes", "readable", duels)
    judged(root / "calibration", "readable")
    several = [root / name for name in ("knower", "unread", "place", "cells")]
    return {
        "report": ("report", root / "knower"),
        "report --full": ("report", root / "knower", "--full", "--price", "2.5,10"),
        "report, void": ("report", root / "unread"),
        "report, by place": ("report", root / "place"),
        "report, several cells": ("report", root / "cells"),
        "report, memsyco": ("report", root / "memory", "--full"),
        "rank": ("rank", *several),
        "rank --full": ("rank", *several, "--full"),
        "rank --csv": ("rank", root / "knower", root / "unread", "--csv", "-"),
        "rank, gain and cost": ("rank", root / "knower", root / "memory"),
        "compare": ("compare", root / "extraction" / "a", root / "extraction" / "b"),
        "verdict": ("verdict", root / "votes", "--calibration", root / "calibration"),
        "plan": ("plan", "personafeedback", "-T", "data=sample", "-T", "setting=persona,no_persona", "--price", "2.5,10"),
        "audit": ("audit", "--data", "sample"),
    }  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("printed")


@pytest.fixture(scope="module")
def commands(root) -> Iterator[dict[str, tuple[object, ...]]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "READERS", (jsonl_harness.READER, *log.READERS))
        yield made(root)


def test_what_is_printed_is_what_was_stored(commands, root, request):
    printed = {name: ran(*command, COLUMNS="80").stdout for name, command in commands.items()}
    ran("report", root / "knower", "--out", root)
    printed["report.md"] = (root / "report.md").read_text("utf-8")
    for name, run, controls in (
        ("card", *asked(KNOWER)),
        ("card, no controls", run_of(lambda case: GOLD if case % 2 else ("refusal",) * 2, cells=["general_hard"]), {}),
    ):
        update(root / name, run, controls)
        printed[name] = (root / name).read_text("utf-8").partition("\n---\n")[2]
    text = "".join(f"=== {name} ===\n{shown.rstrip()}\n\n" for name, shown in printed.items())
    text = text.replace(str(root), "DIR")
    if request.config.getoption("--store"):
        STORED.write_text(text, "utf-8")
    assert text == STORED.read_text("utf-8"), (
        "Outputs changed. If they should, store them: pytest -n 0 tests/reports/test_printed.py --store"
    )


def test_a_report_fits_a_screen_and_says_the_same_in_a_pipe(commands):
    for name, command in commands.items():
        if name.startswith("report") and "--full" not in command:
            printed = ran(*command, COLUMNS="80", FORCE_COLOR="1").stdout
            shown = re.sub(r"\x1b\[[\d;?]*\w", "", printed).splitlines()
            assert len(shown) <= SCREEN, name
            assert max(map(cell_len, shown)) <= 80, name
            assert " ".join(shown).split() == ran(*command, COLUMNS="80").stdout.split(), name
