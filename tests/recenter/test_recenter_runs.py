"""The recenter tasks from end to end: on a server that speaks OpenAI's protocol, on a tiny model, on two ranks, and killed half-way."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from support.killed import serving
from support.lm_eval_runs import command
from support.ranks import Ranked, evaluate_on
from support.recenter import TASKS, ScriptedLM, asked, in_inspect, reply, same, says
from support.servers import run

from personafeedback_tasks.core.benchmark import benchmarks


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Task -> metric -> value, in both harnesses without a server."""
    found = {}
    for name, (benchmark, method) in TASKS.items():
        folder = tmp_path_factory.mktemp(name)
        found[name], _ = in_inspect(benchmarks()[benchmark], says(name), folder, method)
    return found


@pytest.fixture(scope="module")
def server():
    with serving(asked(), reply) as judge:
        yield judge


def test_lm_eval_on_a_server(server, expected, tmp_path):
    server.take_seen()
    run(
        "lm_eval", "--model", "local-chat-completions", "--model_args",
        f"model=judge,base_url={server.url}/chat/completions,num_concurrent=4", "--tasks", "recenter,recenter_relevance_select",
        "--metadata", '{"data": "sample"}', "--apply_chat_template", "--log_samples", "--output_path", tmp_path,
        data="sample", url=server.url,
    )  # fmt: skip
    (path,) = tmp_path.rglob("results_*.json")
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    for name, numbers in expected.items():
        benchmark, method = TASKS[name]
        found = {key.partition(",")[0]: value for key, value in results[name].items()}
        for metric in (
            *(one.name for one in benchmarks()[benchmark].methods[method].metrics_in("lm-eval")),
            *benchmarks()[benchmark].corpus,
        ):
            assert same(found[metric], numbers[metric]), (name, metric)
    assert sorted(server.take_seen()) == sorted(asked().values())


@pytest.mark.torch
def test_a_tiny_model_answers_every_task(tiny_model, tmp_path):
    done = command(
        "--model", "hf", "--model_args", f"pretrained={tiny_model},dtype=float32", "--device", "cpu", "--tasks",
        "recenter,recenter_relevance_select", "--limit", "2", "--apply_chat_template", "--gen_kwargs", "max_gen_toks=8",
        "--output_path", tmp_path, "--log_samples", RECENTER_DATA="sample",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = tmp_path.rglob("results_*.json")
    counts = json.loads(path.read_text(encoding="utf-8"))["n-samples"]
    assert {name: counts[name]["effective"] for name in TASKS} == dict.fromkeys(TASKS, 2)


class RankLM(Ranked, ScriptedLM):
    """The scripted model of one rank."""


@pytest.mark.parametrize("name", ["recenter_relevance_select", "recenter_response"])
@pytest.mark.parametrize("limit", [None, 3])
def test_two_ranks_give_the_scores_of_one(name, limit):
    pytest.importorskip("torch", reason="lm-eval counts requests over ranks with torch")
    benchmark, method = TASKS[name]
    models = [RankLM(benchmarks()[benchmark].methods[method], says(name)) for _ in range(3)]
    one = evaluate_on(models[:1], name, "sample", limit)["results"][name]
    two = evaluate_on(models[1:], name, "sample", limit)["results"][name]
    assert one.keys() == two.keys()
    assert all(one[key] == two[key] or same(two[key], one[key]) for key in one)
