"""The label ceiling of a set whose set.json has the risk that other annotators would decide otherwise, and what reports and cards say of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.outcomes import results_of
from support.releases import write_set
from support.sample_runs import signature_of
from support.shown import as_json, markdown

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.pairwise.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.pairwise.scoring import score_answers
from personafeedback_tasks.personafeedback.audit import audit, label_ceilings, repeated_labels
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.record import examine
from personafeedback_tasks.reports import blocks, card_text, report_text

GOLD = tuple(CHOSEN_LETTER[order] for order in ORDERS)
PERSONAS = {f"u{number}": {"Name": f"Ada {number}"} for number in range(4)}
ANOTHER_NINE = (
    "Label ceiling: the majority of another nine annotators like those who voted would have at most this {} over the cells of the run, as "
    "estimated from the votes (shortcuts that all annotators take are not in it; contradictory labels are): {}"
)
AUDITED = "Label ceiling: an order-blind judge has at most this {} over the cells of the run (contradictory labels): {}"


def row(user, question, chosen="a soup", reject="some bread"):
    return {"user_id": f"u{user}", "question": question, "chosen": chosen, "reject": reject}


CELLS = {
    "specific/hard": [row(user, f"Dinner {user}?") for user in range(2)],
    "general/easy": [row(user, f"Lunch {user}?") for user in range(4)],
    "general/hard": [row(user, f"Supper {user}?") for user in range(4)],
}


def noise(**risks):
    return {
        "measure": "risk that another nine like these would decide otherwise",
        "by_tier": risks,
    }


def cases_of(folder, cells=CELLS, **changed):
    return load_present(write_set(folder, cells, PERSONAS, **changed))


def report_of(cases):
    """Of a run on these cases that was always right."""
    results = [
        result
        for case in cases
        for result in results_of(
            case.id, case.cell, case.user_id, GOLD, [GOLD], [score_answers(GOLD)], digest=case.digest
        )
    ]
    signature = signature_of(source=cases.source, data=cases.digest, set=cases.named_set)
    counts = {cell: len(of_cell) for cell, of_cell in cases.cells.items()}
    run = Run(
        model="acme/model", harness="lm-eval 0.4.13", date="2026-11-21T12:00:00+00:00", signature=signature, conditions={}, cells=counts,
        results=results, logs=(Path("results_2026.json"),),
    )  # fmt: skip
    return make_report(run, cases)


def card_of(report, cases):
    return card_text.section(report, cases, find("personafeedback").report.card)


def test_the_ceiling_is_what_the_mean_risk_of_the_cases_leaves(tmp_path):
    """Specific: 2 Hard. General: 4 Easy and 4 Hard. All ten: 4 Easy and 6 Hard."""
    cases = cases_of(tmp_path / "set", noise=noise(easy=0.01, hard=0.08))
    expected = {"specific": 1 - 0.08, "general": 1 - (0.01 + 0.08) / 2, "total": 1 - (4 * 0.01 + 6 * 0.08) / 10}
    assert label_ceilings(audit(cases)) == pytest.approx(expected)
    report = report_of(cases)
    assert as_json(report)["ceiling"] == pytest.approx(expected)
    assert ANOTHER_NINE.format("acc", "specific 92.0, general 95.5, total 94.8.") in markdown(report)
    assert "label ceiling of these cells: specific 92.0 %, general 95.5 %, total 94.8 %" in blocks.markdown(
        report_text.short(report)
    )
    assert ANOTHER_NINE.format("acc", "specific 92.0, general 95.5, total 94.8.") in card_of(report, cases)


def test_contradictory_labels_count_where_they_leave_less(tmp_path):
    """One of two General questions has both labels, so that half of its four rows can be right at most, and three of four in all."""
    both = [row(0, "Lunch?"), row(0, "Lunch?", chosen="some bread", reject="a soup")]
    cells = {"general/easy": both, "specific/hard": [row(1, "Dinner?"), row(2, "Dinner?")]}
    cases = cases_of(tmp_path / "set", cells, noise=noise(easy=0.01, hard=0.3))
    assert audit(cases).ceilings == {"specific": 1.0, "general": 0.5, "total": 0.75}
    assert label_ceilings(audit(cases)) == pytest.approx({"specific": 0.7, "general": 0.5, "total": 0.75})


@pytest.mark.parametrize("changed", [{}, {"noise": noise(hard=0.08)}], ids=["without noise", "not of every tier"])
def test_without_a_risk_of_every_tier_the_ceiling_is_that_of_the_audit(tmp_path, changed):
    cells = {**CELLS, "general/easy": [row(0, "Lunch?"), row(0, "Lunch?", chosen="some bread", reject="a soup")]}
    cases = cases_of(tmp_path / "set", cells, **changed)
    assert label_ceilings(audit(cases)) == audit(cases).ceilings == {
        "specific": 1.0, "general": 5 / 6, "total": 7 / 8,
    }  # fmt: skip
    report = report_of(cases)
    assert AUDITED.format("acc", "general 83.3, total 87.5.") in markdown(report)
    assert AUDITED.format("acc", "general 83.3, total 87.5.") in card_of(report, cases)


def test_hard_has_no_ceiling_of_its_own_but_labels_given_twice(real_data):
    """No two Hard pairs contradict each other; of those that another cell has too, people labeled some otherwise there."""
    cases = load_cases(real_data, "general", counts="any")
    audited = audit(cases)
    assert audited.within(["general_hard"]).ceilings == {"general": 1.0}
    assert repeated_labels(audited, ["general_hard"]).startswith(
        "Of 537 pairs in these cells that the data have twice, in any cells, 68.9 %"
    )
    hard = examine(cases, {case.id for case in cases if case.cell == "general_hard"})
    assert set(hard.ceiling.values()) == {1.0}
    assert "68.9 %" in hard.label_note
    assert examine(cases, {case.id for case in cases}).ceiling["general"] == pytest.approx(0.9565, abs=1e-4)
