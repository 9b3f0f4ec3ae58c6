"""The audit: what it finds is what was planted, and on the real General half what independent counting found."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from itertools import permutations, product
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
from personafeedback_tasks.personafeedback.cells import CELLS as CELL_ORDER
from personafeedback_tasks.personafeedback.report import examine

PERSONAS = {"u1": {"Name": "Ann", "Personality": {"Judging_or_Perceiving": "J"}}, "u2": {"Name": "李雷"}}


def test_the_real_repeats_and_what_they_leave(real_data):
    """No two Hard pairs contradict each other; of those that another cell has too, people labeled some otherwise there."""
    cases = load_cases(real_data, "general")
    found = audit(cases)
    assert [len(rows) for pairs in found.repeats.values() for rows in pairs] == 537 * [2]
    cells = {name: Counter(case.cell for case in found.found(name)) for name in MEANINGS}
    assert cells["repeat"] == {"general_easy": 190, "general_medium": 180, "general_hard": 370}
    assert cells["contradiction"] == {"general_easy": 84, "general_medium": 83, "general_hard": 167}
    of_all, of_hard = (
        examine(cases, {case.id for case in cases if case.cell in cells}) for cells in (cases.cells, ["general_hard"])
    )
    assert (of_all.ceiling, of_hard.ceiling) == ({"general": (3841 - 167) / 3841}, {"general": 1})
    assert of_hard.label_note.startswith("Of 537 pairs in these cells that the data have twice, in any cells, 68.9 %")


def swapped(one: dict[str, str]) -> dict[str, str]:
    return {**one, "chosen": one["reject"], "reject": one["chosen"]}


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


ROWS = [
    {"user_id": user, "question": question, "chosen": chosen, "reject": other}
    for user, question in (("u1", "q"), ("u1", "q "), ("u2", "q"))
    for chosen, other in permutations("xyz", 2)
]
SMALL = st.fixed_dictionaries(
    {cell.replace("_", "/"): st.lists(st.sampled_from(ROWS), min_size=1, max_size=4) for cell in CELL_ORDER}
)
"""Releases of two users; one of them asks the same question with a space, too: texts are compared as they are."""


@pytest.mark.slow
@given(SMALL)
@settings(max_examples=60)
def test_repeats_are_the_rows_of_a_pair_and_the_ceiling_is_the_best_judge_that_ignores_the_order(rows):
    with tempfile.TemporaryDirectory() as folder:
        found = audit(load_cases(write_release(Path(folder) / "r", rows, PERSONAS), counts="any"))
    of_pair = defaultdict(list)
    for case in sorted(found.cases, key=lambda case: (CELL_ORDER.index(case.cell), case.line)):
        of_pair[pair_of(case)].append(case)
    several = [cases for cases in of_pair.values() if len(cases) > 1]
    labels = [{case.chosen for case in cases} for cases in several]
    for name, count in (("repeat", 1), ("contradiction", 2)):
        expected = [case for cases, of in zip(several, labels, strict=True) for case in cases if len(of) == count]
        assert found.found(name) == expected
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


def test_the_json_is_the_audit(make_release, tmp_path):
    easy, medium, hard = ([row("u1", 10 * n), row("u2", 10 * n), row("u1", 10 * n + 1)] for n in range(3))
    cells = {"general/easy": easy, "general/medium": medium, "general/hard": [*hard, easy[0]]}
    root, path = make_release(cells, PERSONAS), tmp_path / "audit.json"
    done = ran("audit", "--data", root, "--json", path)
    text = path.read_text("utf-8")
    document = json.loads(text)
    assert list(document) == sorted(document)
    found = audit(load_cases(root, "general", counts="any"))
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
