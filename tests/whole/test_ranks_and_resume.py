"""Where a run is parted: over two ranks, and by a SIGKILL half-way. Neither may move a score, nor part the two orders
of a case."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from support.judges import mixed, who_asks
from support.killed import Command, serving

pytestmark = pytest.mark.slow

pytest.importorskip("lm_eval")

from support.lm_eval_runs import JudgeLM
from support.ranks import Ranked, evaluate_on

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import ORDERS
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import load_cases

CASES = 40
CALLS = CASES * len(ORDERS)
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


def on_ranks(count, judge, task, data, limit=None):
    """The results of rank 0, and what each rank's model was asked."""
    models = [RankLM(judge) for _ in range(count)]
    return evaluate_on(models, task, data, limit), [model.asked for model in models]


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
    pytest.importorskip("torch", reason="lm-eval counts requests over ranks with torch")
    one, (asked,) = on_ranks(1, judge, task, data, limit)
    two, (asked_0, asked_1) = on_ranks(2, judge, task, data, limit)
    assert asked_0.isdisjoint(asked_1)
    assert asked_0 | asked_1 == asked
    check_same(two, one)
    return two, asked_1


def silent_on_rank_1(data, *cell):
    """Says nothing about every other case of a cell, which is what rank 1 of 2 gets."""
    unanswered = {case.id for case in load_cases(str(data), *cell)[1::2]}
    return unanswered, lambda case_id, order: "" if case_id in unanswered else mixed(case_id, order)


@pytest.mark.parametrize("suffix", ["", "_mc"])
@pytest.mark.parametrize("limit", [None, 7, 3])
def test_two_ranks_give_the_scores_of_one(suffix, limit):
    two, _ = check_two_ranks(mixed, f"personafeedback{suffix}", "sample", limit)
    groups = {name for name in two["results"] if name not in two["samples"]}
    assert len(two["samples"]) == 6
    assert f"personafeedback{suffix}" in groups


@pytest.mark.parametrize("suffix", ["", "_mc"])
@pytest.mark.parametrize("limit", [41, 42])
def test_also_when_one_rank_gets_no_readable_reply(suffix, limit, real_data):
    unanswered, judge = silent_on_rank_1(real_data, "general", "hard")
    two, asked_1 = check_two_ranks(judge, f"{TASK}{suffix}", real_data, limit)
    assert asked_1 <= unanswered, "rank 1 was to get no readable reply"
    samples = logged(two)
    assert {row["invalid"] for (_, case_id), row in samples.items() if case_id in asked_1} == {1}
    assert 0.5 < two["results"][f"{TASK}{suffix}"]["invalid,none"] < 1
    assert 0 < two["results"][f"{TASK}{suffix}"]["first_rate,none"] < 1


@pytest.fixture(scope="module")
def cases(real_data):
    return load_cases(real_data, "general", "hard")[:CASES]


@pytest.fixture(scope="module")
def server(cases):
    with serving(who_asks(cases), mixed) as judge:
        yield judge


@pytest.fixture(scope="module")
def expected(cases):
    scored = {case.id: scoring.score_answers([read_reply(mixed(case.id, order)) for order in ORDERS]) for case in cases}
    return {case_id: {metric: values[metric] for metric in scoring.METRICS} for case_id, values in scored.items()}


def check_cases(found, expected):
    """`found`: (case, values) of every scored case, once each, in any order."""
    assert sorted(case_id for case_id, _ in found) == sorted(expected)
    for case_id, values in found:
        assert same({m: values[m] for m in scoring.METRICS}, expected[case_id]), case_id


def check_requests(before, after, expected):
    """What was answered before the kill is reused, all but what was under way; everything else is asked once."""
    print(f"{len(before)} requests before the kill, {len(after)} after it, {CALLS} in an undisturbed run")
    assert set(before) | set(after) == {(case_id, order) for case_id in expected for order in ORDERS}
    assert len(before) == len(set(before))
    assert len(after) == len(set(after)) < CALLS
    assert len(before) + len(after) < 2 * CALLS


class LmEval:
    """`lm_eval run` on the server, and what it logs."""

    def __init__(self, folder, data, url):
        self._command, self._folder, self._url = Command(folder, data, url), folder, url

    def arguments(self, name, *more, concurrent=4):
        return (
            "lm_eval", "run", "--model", "local-chat-completions", "--model_args",
            f"model=judge,base_url={self._url}/chat/completions,num_concurrent={concurrent},max_length=8192",
            "--include_path", str(task_configs()), "--tasks", TASK, "--limit", str(CASES), "--apply_chat_template",
            "--log_samples", "--output_path", str(self._folder / name), *more,
        )  # fmt: skip

    def run(self, *arguments):
        self._command.run(*arguments)

    def run_and_kill(self, server, *arguments, **when):
        self._command.run_and_kill(server, *arguments, **when)

    def logged(self, name):
        """(case, logged row) of every row, and the row of results."""
        (path,) = (self._folder / name).rglob("samples_*.jsonl")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert all(len(row["resps"]) == len(ORDERS) for row in rows)
        (path,) = (self._folder / name).rglob("results_*.json")
        return [(row["doc"]["id"], row) for row in rows], json.loads(path.read_text(encoding="utf-8"))["results"][TASK]


@pytest.fixture(scope="module")
def lm_eval(server, real_data, tmp_path_factory):
    return LmEval(tmp_path_factory.mktemp("lm_eval") / "run", real_data, server.url)


@pytest.fixture(scope="module")
def undisturbed(lm_eval, server):
    server.take_seen()
    lm_eval.run(*lm_eval.arguments("undisturbed"))
    assert len(server.take_seen()) == CALLS
    return lm_eval.logged("undisturbed")


@pytest.mark.release
@pytest.mark.tried("runs that were killed half-way and resumed: every case scored once")
@pytest.mark.parametrize("concurrent", [1, 4])
def test_lm_eval_killed_and_run_again_with_use_cache(concurrent, lm_eval, undisturbed, server, expected, tmp_path):
    samples, table = undisturbed
    check_cases(samples, expected)
    name = f"resumed{concurrent}"
    arguments = lm_eval.arguments(name, "--use_cache", str(tmp_path / "cache"), concurrent=concurrent)
    server.take_seen()
    lm_eval.run_and_kill(server, *arguments, answered=CALLS // 2, held=concurrent)
    before = server.take_seen()
    with pytest.raises(ValueError, match="not enough values to unpack"):
        lm_eval.logged(name)
    lm_eval.run(*arguments)
    check_requests(before, server.take_seen(), expected)
    resumed, resumed_table = lm_eval.logged(name)
    check_cases(resumed, {case_id: {m: row[m] for m in scoring.METRICS} for case_id, row in samples})
    assert same(resumed_table, table)


@pytest.fixture(scope="module")
def inspect_logs(server, expected, real_data, tmp_path_factory):
    """The logs of an undisturbed run and of one that was killed half-way and retried, with its requests."""
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log

    folder = tmp_path_factory.mktemp("inspect")
    command = Command(folder / "run", real_data, server.url)

    def arguments(name):
        return (
            "inspect_ai", "eval", f"personafeedback_tasks/{TASK}", "--model", "openai/gpt-4o", "--limit", str(CASES),
            "--log-dir", str(folder / name), "--display", "plain",
        )  # fmt: skip

    server.take_seen()
    command.run(*arguments("undisturbed"))
    (undisturbed,) = (folder / "undisturbed").glob("*.eval")
    assert len(server.take_seen()) == CALLS
    command.run_and_kill(server, *arguments("killed"), answered=CALLS // 2, held=8)
    before = server.take_seen()
    (killed,) = (folder / "killed").glob("*.eval")
    part = read_run(killed)  # what `personafeedback report` sees of it
    assert sum(part.answered.values()) < CASES  # Inspect writes finished samples into it every now and then
    assert set(part.partial) == set(part.cells)
    command.run("inspect_ai", "eval-retry", str(killed), "--log-dir", str(folder / "retried"), "--display", "plain")
    (retried,) = (folder / "retried").glob("*.eval")
    return read_eval_log(str(undisturbed)), read_eval_log(str(retried)), (before, server.take_seen())


def values(log):
    return [(sample.id, sample.scores["personafeedback"].value) for sample in log.samples]


def metrics(log):
    return {s.name: {name: metric.value for name, metric in s.metrics.items()} for s in log.results.scores}


@pytest.mark.release
@pytest.mark.tried("runs that were killed half-way and resumed: every case scored once")
def test_inspect_killed_and_retried(inspect_logs, expected):
    undisturbed, retried, (before, after) = inspect_logs
    assert undisturbed.status == retried.status == "success"
    assert not any(sample.error for sample in retried.samples)
    check_cases(values(undisturbed), expected)
    check_cases(values(retried), dict(values(undisturbed)))
    assert same(metrics(retried), metrics(undisturbed))
    assert {sample.epoch for sample in retried.samples} == {1}
    for sample in retried.samples:
        answers = [read_reply(mixed(sample.id, order)) for order in ORDERS]
        assert sample.scores["personafeedback"].answer == ", ".join(answers)
    check_requests(before, after, expected)
