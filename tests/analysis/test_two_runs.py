"""Runs side by side, on logs of the toy harness: differences, controls and baselines, each counted plainly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from support import jsonl_harness
from support.judges import OTHER, chance

from personafeedback_tasks.analysis.control import with_controls
from personafeedback_tasks.analysis.pairs import pairs_of
from personafeedback_tasks.analysis.ranking import compare
from personafeedback_tasks.analysis.report import make_judges
from personafeedback_tasks.logs import log as logs
from personafeedback_tasks.logs.data import RunData
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.rows import Relevance
from personafeedback_tasks.reports import rank_text
from personafeedback_tasks.stats.clusters import Clusters
from personafeedback_tasks.stats.estimates import jackknife_stderr, paired_test

SAMPLE = {case.id: case for case in load_cases("sample")}
LABELS = {row.id: row.judgment for row in load(Relevance, "sample") if row.judgment is not None}
same = pytest.approx


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))


def judge(name: str, share: float):
    """Right in this share of the cases, in both orders."""

    def reply(case_id: str, order: str) -> str:
        return TWO.right[order] if chance(name, case_id) < share else OTHER[TWO.right[order]]

    return reply


def right_of(name: str, share: float) -> set[str]:
    return {case_id for case_id in SAMPLE if chance(name, case_id) < share}


def run(folder: Path, name: str, share: float, selection: str = "", model: str = "", **options: str) -> Run:
    where = folder / "-".join((name, selection, *options.values()))
    options = {"data": "sample", **options}
    return read_run(
        jsonl_harness.run(judge(name, share), model or name, where, "personafeedback", selection, **options)
    )


def relevance(folder: Path, name: str, share: float) -> Run:
    def reply(row: str, call: str) -> str:
        return "YES" if LABELS[row] == (chance(name, row) < share) else "NO"

    return read_run(jsonl_harness.run(reply, name, folder / name, "recenter_relevance", data="sample"))


# --- compare ------------------------------------------------------------------------------------------------------------


def test_a_comparison_counts_case_by_case(tmp_path):
    a, b = right_of("a", 0.8), right_of("b", 0.4)
    (pair,) = compare(run(tmp_path, "a", 0.8), run(tmp_path, "b", 0.4)).entry.pairs
    assert (pair.first, pair.second, [*pair.groups][-1], pair.measures) == (1, 2, "total", {})
    raw = []
    for name, gap in pair.groups.items():
        ids = [case_id for case_id, case in SAMPLE.items() if name in ("total", case.cell, *case.cell.split("_"))]
        assert gap.difference.value == same((len(a & set(ids)) - len(b & set(ids))) / len(ids))
        assert (gap.p < 0.05) is (gap.difference.low > 0) or name != "total"
        raw.append(paired_test([(i in a) - (i in b) for i in ids], [SAMPLE[i].user_id for i in ids])[1])
    found = [gap.p for gap in pair.groups.values()]
    assert found[:-1] == same(list(multipletests(raw[:-1], method="holm")[1]))
    assert found[-1] == same(raw[-1])
    assert pair.difference == pair.groups["total"].difference


def test_two_runs_of_one_name_are_named_by_what_differs(tmp_path):
    one, same_again = run(tmp_path, "a", 0.8), run(tmp_path, "b", 0.8, model="a")
    ranking = compare(one, same_again).entry
    (names,) = [column.texts for column in rank_text.short_table(ranking).columns if column.heading == "model"]
    assert sorted(names) == [f"a ({folder}/a.jsonl)" for folder in ("a-", "b-")]
    warm = replace(same_again, conditions={"temperature": 1})
    names = [run.apart for run in compare(one, warm).runs]
    assert sorted(names) == ["temperature=1", "temperature=not set"]


@pytest.mark.slow
def test_the_pairs_of_a_ranking_share_one_level():
    """Holm's correction over all pairs, whatever clusters there are beside the users."""
    rng, users = np.random.default_rng(1), [f"u{n % 12}" for n in range(60)]
    scores = [rng.binomial(1, share, 60).astype(float).tolist() for share in (0.9, 0.7, 0.65, 0.5)]
    for alike in (users, Clusters.of(users, [f"q{n // 2}" for n in range(60)])):
        pairs = pairs_of(scores, alike)
        assert [(pair.first, pair.second) for pair in pairs] == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
        gaps = [[x - y for x, y in zip(scores[p.first - 1], scores[p.second - 1], strict=True)] for p in pairs]
        raw = [paired_test(gap, alike) for gap in gaps]
        assert [pair.difference for pair in pairs] == [difference for difference, _ in raw]
        assert [pair.p for pair in pairs] == same(list(multipletests([p for _, p in raw], method="holm")[1]))
        assert any(p < 0.05 <= pair.p for pair, (_, p) in zip(pairs, raw, strict=True))


def f1(name: str, share: float) -> float:
    """The harmonic mean of precision and recall, from the counts."""
    said = {row for row, label in LABELS.items() if label == (chance(name, row) < share)}
    hits = sum(LABELS[row] for row in said)
    return 2 * hits / (len(said) + sum(LABELS.values()))


def test_measures_that_are_no_mean_over_cases_are_compared_too(tmp_path):
    one, other = relevance(tmp_path, "a", 0.9), relevance(tmp_path, "b", 0.6)
    ranking = compare(one, other).entry
    (pair,) = ranking.pairs
    difference = pair.measures["f1"]
    cases, measure = [(one.cases[i], other.cases[i]) for i in sorted(one.cases)], one.benchmark.corpus["f1"]
    users, of_case = [case.user_id for case, _ in cases], RunData().texts(one).prompts
    both = Clusters.of(users, [of_case[case_id] for case_id in sorted(one.cases)])

    def gap(pairs):
        return measure([case for case, _ in pairs]) - measure([case for _, case in pairs])

    assert difference.stderr == same(jackknife_stderr(gap, cases, both)), "users share prompts"
    assert difference.stderr != same(jackknife_stderr(gap, cases, users))
    assert difference.value == same(f1("a", 0.9) - f1("b", 0.6))
    assert difference.low < difference.value < difference.high
    assert "acc" not in pair.measures
    assert {"precision", "recall", "kappa"} <= pair.measures.keys()
    _, of_all, _ = rank_text.of_two(ranking)
    shown = dict(zip(of_all.labels, of_all.columns[0].texts, strict=True))
    assert [text for label, text in shown.items() if "F1" in label] == [f"{100 * difference.value:+.1f}"]


# --- controls -----------------------------------------------------------------------------------------------------------


def test_controls_find_their_runs(tmp_path):
    a, b = run(tmp_path, "a", 0.8), run(tmp_path, "b", 0.8)
    of_a = run(tmp_path, "a", 0.8, setting="no_persona")
    half = run(tmp_path, "a", 0.8, "general", setting="no_persona")
    found = [a, b, half, of_a]
    rows = with_controls(found)
    # The control with the most cases in common is taken; one that is not used is a row of its own.
    assert [(row.model, beside) for row, beside in rows] == [("a", {"no_persona": found[3]}), ("b", {}), ("a", {})]
    assert rows[2][0] is found[2]


def test_a_run_of_several_settings_that_got_no_reply_keeps_its_controls(tmp_path):
    """Else it would be advised to ask for those, and found to lack its own cases."""
    both = [replace(run(tmp_path, "a", 0.8, setting=told), results=()) for told in ("persona", "no_persona")]
    ((_, beside),) = with_controls(both)
    assert list(beside) == ["no_persona"]
    assert len(with_controls([run(tmp_path, "a", 0.8), both[1]])) == 2


# --- baselines -----------------------------------------------------------------------------------------------


def test_a_baseline_has_every_measure_of_a_run(tmp_path):
    mine = relevance(tmp_path, "a", 0.9)
    found = make_judges(mine, RunData().texts(mine))
    share = sum(LABELS.values()) / len(LABELS)
    yes = {name: one.value for name, one in found.baselines["always YES"].items()}
    assert yes["acc"] == yes["precision"] == same(share)
    assert (yes["recall"], yes["f1"], yes["over_selection"]) == same((1, 2 * share / (1 + share), 1 / share))
    assert yes["kappa"] == 0
    assert found.agreement
