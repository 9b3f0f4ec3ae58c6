"""Where a run is parted: over two ranks, and by a SIGKILL half-way. Neither may move a score, nor part the two orders
of a case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping

import pytest
from pytest_httpserver import HTTPServer
from support.judges import mixed, who_asks
from werkzeug import Request, Response

pytestmark = pytest.mark.slow

pytest.importorskip("lm_eval")

from lm_eval.evaluator import evaluate
from lm_eval.tasks import TaskManager
from support.lm_eval_runs import JudgeLM

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.personafeedback import scoring
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.orders import ORDERS
from personafeedback_tasks.replies.answers import read_reply
from personafeedback_tasks.runs.read import read_run

CASES = 40
CALLS = CASES * len(ORDERS)
TASK = "personafeedback_general_hard"
TABLES = ("results", "groups", "n-samples", "versions", "n-shot", "higher_is_better")


class Ranks:
    """Joins the threads of all ranks: each gives a value and gets everyone's."""

    def __init__(self, size):
        self.size = size
        self._values = [None] * size
        self._barrier = threading.Barrier(size, timeout=120)

    def exchange(self, rank, value):
        self._values[rank] = value
        self._barrier.wait()
        values = list(self._values)
        self._barrier.wait()
        return values

    def run(self, function):
        """`function(rank)` in one thread per rank; all results, or the first error."""
        results, errors = [None] * self.size, []

        def work(rank):
            try:
                results[rank] = function(rank)
            except threading.BrokenBarrierError:
                pass  # another rank failed
            except BaseException as error:
                errors.append(error)
                self._barrier.abort()

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in errors:
            raise error
        assert not self._barrier.broken
        return results


class RankLM(JudgeLM):
    """The judge of one rank. Communicates as lm-eval's models for several GPUs do."""

    def __init__(self, judge, ranks, rank):
        super().__init__(judge)
        self._ranks, self._rank, self._world_size = ranks, rank, ranks.size
        self.asked = set()

    def _reply(self, request, calls_per_order):
        self.asked.add(request.doc["id"])
        return super()._reply(request, calls_per_order)

    def all_gather(self, tensor):
        torch = pytest.importorskip("torch")
        return torch.stack(self._ranks.exchange(self.rank, tensor))

    def gather_object(self, obj, dst=0):
        values = self._ranks.exchange(self.rank, obj)
        return values if self.rank == dst else None

    def barrier(self):
        self._ranks.exchange(self.rank, None)


def load(task, data):
    metadata = {"data": str(data)}
    return TaskManager(include_path=str(task_configs()), include_defaults=False, metadata=metadata).load([task])


def evaluate_on(count, judge, task, data, limit=None):
    """The results of rank 0, and what each rank's model was asked."""
    ranks = Ranks(count)
    models = [RankLM(judge, ranks, rank) for rank in range(count)]
    loaded = [load(task, data) for _ in models]

    def work(rank):
        return evaluate(models[rank], loaded[rank], limit=limit, bootstrap_iters=2, log_samples=True)

    results, *others = ranks.run(work)
    assert others == [None] * (count - 1)
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
    one, (asked,) = evaluate_on(1, judge, task, data, limit)
    two, (asked_0, asked_1) = evaluate_on(2, judge, task, data, limit)
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
def test_two_ranks_give_the_scores_of_one_on_the_real_data(suffix, real_data):
    two, _ = check_two_ranks(mixed, f"personafeedback_general{suffix}", real_data)
    assert two["n-samples"][f"personafeedback_general_medium{suffix}"]["effective"] == 1321  # odd: the ranks differ


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


class Server:
    """OpenAI's chat completions and responses, as a scripted judge. Can stop answering after some requests."""

    def __init__(self, asked):
        self.seen: list[tuple[str, str]] = []
        self._asked = asked
        self._answers_left: float = float("inf")
        self._held = 0
        self._changed = threading.Condition()

    def reply(self, request: Request) -> Response:
        body = request.get_json()
        content = (body.get("messages") or body.get("input"))[-1]["content"]
        prompt = content if isinstance(content, str) else "".join(part["text"] for part in content)
        with self._changed:
            self.seen.append(self._asked[prompt])
            if self._answers_left <= 0:
                self._held += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._answers_left > 0, timeout=300)
                self._held -= 1
                return Response(status=503)  # whoever asked is dead
            self._answers_left -= 1
        message = {"role": "assistant", "content": mixed(*self._asked[prompt])}
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        completion = {
            "id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }  # fmt: skip
        return Response(json.dumps(completion), content_type="application/json")

    def answer_only(self, count: int) -> None:
        with self._changed:
            self._answers_left = count

    def wait_until_it_answers_no_more(self, process: subprocess.Popen, held: int) -> None:
        with self._changed:
            while not self._changed.wait_for(lambda: self._held >= held, timeout=1):
                assert process.poll() is None, "the run ended by itself"

    def answer_all_again(self) -> None:
        with self._changed:
            self._answers_left = float("inf")
            self._changed.notify_all()

    def take_seen(self) -> list[tuple[str, str]]:
        with self._changed:
            seen, self.seen = self.seen, []
        return seen


@pytest.fixture(scope="module")
def cases(real_data):
    return load_cases(real_data, "general", "hard")[:CASES]


@pytest.fixture(scope="module")
def server(cases):
    judge = Server(who_asks(cases))
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        http.expect_request("/v1/chat/completions", method="POST").respond_with_handler(judge.reply)
        judge.url = http.url_for("/v1")
        yield judge
        judge.answer_all_again()


@pytest.fixture(scope="module")
def expected(cases):
    return {c.id: scoring.as_dict(scoring.score_answers([read_reply(mixed(c.id, o)) for o in ORDERS])) for c in cases}


class Command:
    """A harness's command with its files in one folder."""

    def __init__(self, folder, data, url):
        self.folder = folder
        folder.mkdir()
        self._environment = {
            **os.environ, "PERSONAFEEDBACK_DATA": str(data), "HF_HUB_OFFLINE": "1",
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url,
        }  # fmt: skip

    def start(self, *arguments):
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen(
                [sys.executable, "-m", *arguments], env=self._environment, cwd=self.folder, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def run(self, *arguments):
        process = self.start(*arguments)
        try:
            assert process.wait(timeout=300) == 0, (self.folder / "output").read_text()[-3000:]
        finally:
            kill(process)

    def run_and_kill(self, server, *arguments, answered, held):
        """SIGKILL the command and all it started, once `answered` requests are answered and `held` more wait."""
        server.answer_only(answered)
        process = self.start(*arguments)
        try:
            server.wait_until_it_answers_no_more(process, held)
        finally:
            kill(process)
            server.answer_all_again()


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)


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


def test_the_log_of_a_retried_run_can_be_scored_again(inspect_logs, monkeypatch):
    from inspect_ai import score

    from personafeedback_tasks.inspect_harness.scorers import labels

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    _, retried, _ = inspect_logs
    again = score(retried, labels("personafeedback", "generate")(), action="overwrite", display="none")
    assert same(metrics(again), metrics(retried))
