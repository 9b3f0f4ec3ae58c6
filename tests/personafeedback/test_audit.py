"""The audit: what it finds is what was planted, and on the real General half what independent counting found."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import personafeedback, ran
from support.releases import row_of as row
from support.releases import write_release, write_set

from personafeedback_tasks.common.outputs import SCHEMA
from personafeedback_tasks.personafeedback.audit import AUDIT_VERSION, MEANINGS, audit
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.report import examine

PERSONAS = {"u1": {"Name": "Ann", "Personality": {"Judging_or_Perceiving": "J"}}, "u2": {"Name": "李雷"}}
CELLS = ("general/easy", "general/medium", "general/hard")


CLEAN = {cell: [row("u1", 10 * n), row("u2", 10 * n), row("u1", 10 * n + 1)] for n, cell in enumerate(CELLS)}
"""Three rows in each cell of General. The two users ask the same questions: only a user's own rows are repeats."""


def load(root: Path, **options):
    return load_cases(root, **{"category": "general", "counts": "any", **options})


def ids(found) -> dict[str, tuple[str, ...]]:
    return {name: tuple(case.id for case in found.found(name)) for name in MEANINGS if found.found(name)}


# --- the real General half -------------------------------------------------------------------------------------------


def test_the_real_repeats_and_what_they_leave(real_data):
    """No two Hard pairs contradict each other; of those that another cell has too, people labeled some otherwise there."""
    cases = load_cases(real_data, "general")
    found = audit(cases)
    assert [len(rows) for rows in found.repeats] == 537 * [2]
    cells = {name: Counter(case.cell for case in found.found(name)) for name in MEANINGS}
    assert cells["repeat"] == {"general_easy": 190, "general_medium": 180, "general_hard": 370}
    assert cells["contradiction"] == {"general_easy": 84, "general_medium": 83, "general_hard": 167}
    of_all, of_hard = (
        examine(cases, {case.id for case in cases if case.cell in cells}) for cells in (cases.cells, ["general_hard"])
    )
    assert (of_all.ceiling, of_hard.ceiling) == ({"general": (3841 - 167) / 3841}, {"general": 1})
    assert of_hard.label_note.startswith("Of 537 pairs in these cells that the data have twice, in any cells, 68.9 %")


# --- clean and planted -----------------------------------------------------------------------------------------------


def swapped(one: dict[str, str]) -> dict[str, str]:
    return {**one, "chosen": one["reject"], "reject": one["chosen"]}


EASY, HARD = CLEAN["general/easy"][0], CLEAN["general/hard"][0]
CHANGE = row(question=EASY["question"], chosen=EASY["reject"], reject="a third response.")


@pytest.mark.parametrize(
    ("planted", "expected"),
    [  # rows added at the end of a cell -> the finding's ids; line 4 is the first row added
        pytest.param({}, {}, id="clean"),
        pytest.param({"general/hard": [EASY]}, {"repeat": ("general_easy:1", "general_hard:4")}, id="same"),
        pytest.param(
            {"general/medium": [EASY], "general/hard": [EASY]},
            {"repeat": ("general_easy:1", "general_medium:4", "general_hard:4")},
            id="three times",
        ),
        pytest.param(
            {"general/medium": [swapped(HARD)]},
            {"contradiction": ("general_medium:4", "general_hard:1")},
            id="opposite",
        ),
        pytest.param(
            {"general/medium": [HARD], "general/easy": [swapped(HARD)]},
            {"contradiction": ("general_easy:4", "general_medium:4", "general_hard:1")},
            id="two against one",
        ),
        pytest.param({"general/hard": [CHANGE]}, {}, id="another opponent"),
        pytest.param({"general/hard": [{**EASY, "user_id": "u2"}]}, {}, id="another user"),
        pytest.param({"general/hard": [{**EASY, "question": "question 0? "}]}, {}, id="another question by a space"),
    ],
)
def test_a_planted_repeat_adds_exactly_its_ids(make_release, planted, expected):
    clean = {cell: [row("u1", 10 * n), row("u1", 10 * n + 1), row("u2", 90 + n)] for n, cell in enumerate(CELLS)}
    cells = {cell: [*rows, *planted.get(cell, [])] for cell, rows in clean.items()}
    found = audit(load(make_release(cells, PERSONAS)))
    assert ids(found) == expected
    assert found.flagged == {id_ for wrong in expected.values() for id_ in wrong}
    assert expected or set(found.ceilings(found.cases.cells).values()) == {1.0}


# --- the ceiling -----------------------------------------------------------------------------------------------------


def pair_of(case) -> tuple[str, ...]:
    return (case.user_id, case.question, *sorted((case.chosen, case.rejected)))


def best_judge(cases) -> float:
    """Try every judge that ignores the order: each is a choice of one response for every user, question and pair."""
    seen = sorted({pair_of(c) for c in cases})
    best = 0
    for choices in product((2, 3), repeat=len(seen)):
        picks = {pair: pair[choice] for pair, choice in zip(seen, choices, strict=True)}
        best = max(best, sum(picks[pair_of(c)] == c.chosen for c in cases))
    return best / len(cases)


PAIRS = [(one, other) for one in "xyz" for other in "xyz" if one != other]
SMALL = st.fixed_dictionaries(
    {
        f"{category}/{difficulty}": st.lists(
            st.tuples(st.sampled_from(["u1", "u2"]), st.sampled_from(PAIRS)), min_size=1, max_size=4
        )
        for category in ("general", "specific")
        for difficulty in ("easy", "medium", "hard")
    }
)
"""Releases of two users and one question: of each cell the users and pairs of responses."""


@pytest.mark.slow
@given(SMALL)
@settings(max_examples=60)
def test_the_ceiling_is_the_accuracy_of_the_best_judge_that_ignores_the_order(cells):
    rows = {
        cell: [
            {"user_id": user, "question": "q", "chosen": chosen, "reject": other} for user, (chosen, other) in of_cell
        ]
        for cell, of_cell in cells.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        found = audit(load_cases(write_release(Path(folder) / "r", rows, PERSONAS), counts="any"))
    for within in (found.cases.cells, ["general_easy"], ["specific_easy", "general_hard"]):
        ceilings = found.ceilings(within)
        for group, ceiling in ceilings.items():
            cases = [c for c in found.cases if c.cell in within and group in (c.category, "total")]
            assert ceiling == pytest.approx(best_judge(cases))
        assert ("total" in ceilings) == (len(ceilings) > 1) == (len(within) > 1)


@pytest.mark.parametrize(
    ("risks", "expected"),
    [  # Specific Hard: 2 cases. General: 2 Easy ones, one question with both labels, of which half can be right, and 4 Hard ones.
        ({"easy": 0.01, "hard": 0.3}, {"specific": 0.7, "general": 1 - (2 * 0.01 + 4 * 0.3) / 6, "total": 1 - (2 * 0.01 + 6 * 0.3) / 8}),
        ({"easy": 0.0, "hard": 0.1}, {"specific": 0.9, "general": 5 / 6, "total": 7 / 8}),
        ({"hard": 0.3}, {"specific": 1.0, "general": 5 / 6, "total": 7 / 8}),
        ({}, {"specific": 1.0, "general": 5 / 6, "total": 7 / 8}),
    ],
)  # fmt: skip
def test_the_ceiling_of_a_set_is_what_risk_and_contradictions_leave(tmp_path, risks, expected):
    cells = {
        "specific/hard": [row("u1", 1), row("u1", 2)],
        "general/easy": [row("u1", 3), swapped(row("u1", 3))],
        "general/hard": [row("u1", number) for number in range(4, 8)],
    }
    noise = {"noise": {"measure": "risk", "by_tier": risks}} if risks else {}
    cases = load_present(write_set(tmp_path / "set", cells, PERSONAS, **noise))
    found = examine(cases, {case.id for case in cases})
    assert found.ceiling == pytest.approx(expected)
    assert ("the majority of another nine annotators" in found.ceiling_note) == (risks.keys() == {"easy", "hard"})
    # a run on Hard alone needs the risk of Hard alone
    hard = examine(cases, {case.id for case in cases if case.difficulty == "hard"})
    assert ("the majority of another nine annotators" in hard.ceiling_note) == ("hard" in risks)


# --- JSON and the command --------------------------------------------------------------------------------------------


def test_the_json_is_the_audit(make_release, tmp_path):
    cells = {**CLEAN, "general/hard": [*CLEAN["general/hard"], EASY]}
    root, path = make_release(cells, PERSONAS), tmp_path / "audit.json"
    done = ran("audit", "--data", root, "--json", path)
    text = path.read_text("utf-8")
    document = json.loads(text)
    assert list(document) == sorted(document)
    found = audit(load(root))
    assert document["schema"] == SCHEMA
    assert document["audit_version"] == AUDIT_VERSION
    assert document["data"] == found.cases.revision
    assert document["findings"] == {
        "repeat": {
            "meaning": MEANINGS["repeat"],
            "cells": {"general_easy": 1, "general_hard": 1},
            "repeats": [["general_easy:1", "general_hard:4"]],
        },
        "contradiction": {"meaning": MEANINGS["contradiction"], "cells": {}, "repeats": []},  # looked for, not found
    }

    done = personafeedback("audit", "--data", root, "--json", "-")
    assert json.loads(done.stdout) == document
    assert "No file for specific_easy, specific_medium, specific_hard" in done.stderr
