"""A run that is parted over two ranks. It may not move a score, nor part the two orders of a case."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.judges import mixed
from support.lm_eval_runs import JudgeLM
from support.ranks import Ranked, evaluate_on

from personafeedback_tasks.personafeedback.cases import load_cases

pytestmark = pytest.mark.slow

TASK = "personafeedback_general_hard"
TABLES = ("results", "groups", "n-samples", "versions", "n-shot", "higher_is_better")


class RankLM(Ranked, JudgeLM):
    """The judge of one rank."""

    def __init__(self, judge):
        super().__init__(judge)
        self.asked = set()

    def _reply(self, request, calls_per_order):
        self.asked.add(request.doc["id"])
        return super()._reply(request, calls_per_order)


def logged(results):
    """(task, case) -> its logged sample. A rank with fewer requests asks its last one again: such replies are equal."""
    samples = {}
    for task, rows in results["samples"].items():
        for row in rows:
            key = task, row["doc"]["id"]
            assert key not in samples
            replies = [reply for reply, *again in row["resps"] if set(again) <= {reply}]
            samples[key] = {**row, "resps": replies}
    return samples


def same(found, expected):
    """Equal, nan to nan and numbers up to the order of a sum."""
    if isinstance(expected, Mapping):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, float):
        return found == pytest.approx(expected, abs=1e-12, rel=0, nan_ok=True)
    return found == expected


def check_same(found, expected):
    """Every metric of every leaf and group, and every logged sample."""
    for table in TABLES:
        assert found.get(table, {}).keys() == expected.get(table, {}).keys()
        for name, values in expected.get(table, {}).items():
            assert same(found[table][name], values), (table, name, found[table][name], values)
    samples, expected_samples = logged(found), logged(expected)
    assert samples.keys() == expected_samples.keys()
    for key, row in expected_samples.items():
        assert same(samples[key], row), (samples[key], row)


def check_two_ranks(judge, task, data, limit=None):
    """The results of rank 0 of two, and what rank 1 was asked."""
    pytest.importorskip("torch", reason="lm-eval counts requests over ranks with torch")
    alone, first, second = (RankLM(judge) for _ in range(3))
    one, two = evaluate_on([alone], task, data, limit), evaluate_on([first, second], task, data, limit)
    assert first.asked.isdisjoint(second.asked)
    assert first.asked | second.asked == alone.asked
    check_same(two, one)
    return two, second.asked


@pytest.mark.parametrize(("suffix", "limit"), [("", None), ("", 7), ("_mc", 3)])
def test_two_ranks_give_the_scores_of_one(suffix, limit):
    two, _ = check_two_ranks(mixed, f"personafeedback{suffix}", "sample", limit)
    assert len(two["samples"]) == 6
    assert f"personafeedback{suffix}" in two["results"].keys() - two["samples"].keys()


@pytest.mark.parametrize(("suffix", "limit"), [("", 41), ("_mc", 42)])
def test_also_when_one_rank_gets_no_readable_reply(suffix, limit, real_data):
    """Every other case of a cell is what rank 1 of 2 gets."""
    unanswered = {case.id for case in load_cases(str(real_data), "general", "hard")[1::2]}

    def judge(case_id, order):
        return "" if case_id in unanswered else mixed(case_id, order)

    two, asked_1 = check_two_ranks(judge, f"{TASK}{suffix}", real_data, limit)
    assert asked_1 <= unanswered, "rank 1 was to get no readable reply"
    samples = logged(two)
    assert {row["invalid"] for (_, case_id), row in samples.items() if case_id in asked_1} == {1}
    assert 0.5 < two["results"][f"{TASK}{suffix}"]["invalid,none"] < 1
    assert 0 < two["results"][f"{TASK}{suffix}"]["first_rate,none"] < 1
