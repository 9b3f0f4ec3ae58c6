"""A run that is parted over two ranks. It may not move a score, nor part the two orders of a case."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest
from lm_eval.evaluator import evaluate
from support.judges import mixed
from support.lm_eval_runs import JudgeLM, OurTasks

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.personafeedback.cases import load_cases

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch", reason="lm-eval counts requests over ranks with torch")

TASK = "personafeedback_general_hard"
TABLES = ("results", "groups", "n-samples", "versions", "n-shot", "higher_is_better")


class RankLM(JudgeLM):
    """The judge of one rank, each in a thread: each gives a value and gets everyone's."""

    def __init__(self, judge, rank, values, together):
        super().__init__(judge)
        self._rank, self._world_size = rank, len(values)
        self.values, self.together, self.asked = values, together, set()

    def _asked(self, request, *per_call):
        self.asked.add(request.doc["id"])
        return super()._asked(request, *per_call)

    def exchange(self, value=None):
        self.values[self.rank] = value
        self.together.wait()
        values = list(self.values)
        self.together.wait()
        return values

    barrier = exchange

    def all_gather(self, tensor):
        return torch.stack(self.exchange(tensor))

    def gather_object(self, obj, dst=0):
        values = self.exchange(obj)
        return values if self.rank == dst else None


def evaluate_on(size, judge, task, data, limit):
    """The results of rank 0 of so many, and what each rank was asked."""
    values, together = [None] * size, threading.Barrier(size, timeout=600)
    models = [RankLM(judge, rank, values, together) for rank in range(size)]
    manager = OurTasks(include_path=str(task_configs()), metadata={"data": str(data)})
    tasks = [manager.load([task]) for _ in models]

    def work(rank):
        try:
            return evaluate(models[rank], tasks[rank], limit=limit, bootstrap_iters=2, log_samples=True)
        except BaseException:
            together.abort()
            raise

    with ThreadPoolExecutor(size) as threads:
        ranks = [threads.submit(work, rank) for rank in range(size)]
        for done in as_completed(ranks):
            done.result()
    results, *others = [done.result() for done in ranks]
    assert others == [None] * (size - 1)
    return results, [model.asked for model in models]


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


def check_two_ranks(judge, task, data, limit=None):
    """The results of rank 0 of two, and what rank 1 was asked: every metric and every sample is that of one rank alone."""
    expected, (asked,) = evaluate_on(1, judge, task, data, limit)
    found, (first, second) = evaluate_on(2, judge, task, data, limit)
    assert first.isdisjoint(second)
    assert first | second == asked
    for table in TABLES:
        assert same(found.get(table, {}), expected.get(table, {})), (table, found.get(table), expected.get(table))
    assert same(logged(found), logged(expected))
    return found, second


@pytest.mark.parametrize(("suffix", "limit"), [("", None), ("", 7), ("_mc", 3)])
def test_two_ranks_give_the_scores_of_one(suffix, limit):
    two, _ = check_two_ranks(mixed, f"personafeedback{suffix}", "sample", limit)
    assert len(two["samples"]) == 6
    assert f"personafeedback{suffix}" in two["results"].keys() - two["samples"].keys()


@pytest.mark.parametrize(("suffix", "limit"), [("", 7), ("_mc", None)])
def test_also_when_one_rank_gets_no_readable_reply(suffix, limit):
    """Every other case of a cell is what rank 1 of 2 gets."""
    unanswered = {case.id for case in load_cases("sample", "general", "hard")[1::2]}

    def judge(case_id, order):
        return "" if case_id in unanswered else mixed(case_id, order)

    two, asked_1 = check_two_ranks(judge, f"{TASK}{suffix}", "sample", limit)
    assert asked_1 <= unanswered, "rank 1 was to get no readable reply"
    samples = logged(two)
    assert {row["invalid"] for (_, case_id), row in samples.items() if case_id in asked_1} == {1}
    assert 0.5 < two["results"][f"{TASK}{suffix}"]["invalid,none"] < 1
    assert 0 < two["results"][f"{TASK}{suffix}"]["first_rate,none"] < 1
