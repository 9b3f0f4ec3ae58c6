"""Both harnesses against servers on loopback that speak the providers' protocols, through the harnesses' commands."""

from __future__ import annotations

import json
import zlib
from importlib.metadata import version
from pathlib import Path

import pytest
from support.judges import mixed
from support.servers import providers, run

pytestmark = pytest.mark.slow

from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import ORDERS
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats import estimates

LIMIT = 40


def judge(case_id: str, order: str) -> str:
    # Anthropic's API never sends empty text, and lm-eval's client for it fails on it.
    return mixed(case_id, order) or "..."


def looping(case_id: str, order: str) -> str:
    """The same judge, caught in a loop once in ten replies; some of its loops are 200,000 characters long."""
    number = zlib.crc32(f"{case_id} {order}".encode())
    loops = ["我的" * 40, "我的" * 40 + "B", "," * 200_000]
    return loops[number // 10 % len(loops)] if number % 10 == 0 else judge(case_id, order)


@pytest.fixture
def cases(real_data):
    return load_cases(real_data, "general", "hard")[:LIMIT]


@pytest.fixture
def server(httpserver, cases):
    return providers(httpserver, cases, judge)


def scores(cases, of=judge):
    return {c.id: scoring.score_answers([read_reply(of(c.id, order)) for order in ORDERS]) for c in cases}


@pytest.fixture
def expected(cases):
    return scores(cases)


def check(found: dict[str, dict], expected: dict[str, dict[str, float]]) -> None:
    assert found.keys() == expected.keys()
    for case_id, values in found.items():
        ours = {key: expected[case_id][key] for key in scoring.METRICS}
        assert {key: values[key] for key in ours} == pytest.approx(ours, abs=0, nan_ok=True), case_id


@pytest.mark.parametrize(
    ("model", "path"),
    [("local-chat-completions", "/v1/chat/completions"), ("anthropic-chat", "/v1/messages")],
)
def test_lm_eval(model, path, server, expected, real_data, tmp_path):
    pytest.importorskip("lm_eval")
    url = server.url_for("").rstrip("/")
    run(
        "lm_eval", "--model", model, "--model_args", f"model=judge,base_url={url}{path},num_concurrent=4",
        "--tasks", "personafeedback_general_hard", "--limit", str(LIMIT),
        "--apply_chat_template", "--log_samples", "--output_path", str(tmp_path), data=real_data, url=url,
    )  # fmt: skip
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    check({row["doc"]["id"]: row for row in rows}, expected)
    (results,) = tmp_path.rglob("results_*.json")
    table = json.loads(results.read_text(encoding="utf-8"))["results"]["personafeedback_general_hard"]
    assert table["acc,none"] == pytest.approx(estimates.mean(score["acc"] for score in expected.values()), abs=1e-12)
    assert len(server.seen) == 2 * LIMIT
    assert {(body["max_tokens"], body["temperature"]) for body in server.seen} == {(1024, 0)}
    assert all("<|endoftext|>" in (body.get("stop") or body["stop_sequences"]) for body in server.seen)


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        ("openai/gpt-4o", ()),
        ("openai/gpt-4o", ("-M", "responses_api=true")),
        ("anthropic/claude-haiku-4-5", ()),
    ],
)
def test_inspect(model, arguments, server, expected, real_data, tmp_path, caplog, monkeypatch):
    pytest.importorskip("inspect_ai")
    from inspect_ai._util import logger
    from inspect_ai.log import read_eval_log

    monkeypatch.setattr(logger, "_warned", [])  # it warns once in a process
    run(
        "inspect_ai", "personafeedback_tasks/personafeedback_general_hard", "--model", model, *arguments,
        "--limit", str(LIMIT), "--log-dir", str(tmp_path), data=real_data, url=server.url_for("").rstrip("/"),
    )  # fmt: skip
    (path,) = Path(tmp_path).glob("*.eval")
    log = read_eval_log(str(path))
    check({sample.id: sample.scores["personafeedback"].value for sample in log.samples}, expected)
    (table,) = log.results.scores
    mean = estimates.mean(score["acc"] for score in expected.values())
    assert table.metrics["accuracy"].value == pytest.approx(mean, abs=1e-12)
    assert len(server.seen) == 2 * LIMIT
    assert {body.get("max_tokens") or body["max_output_tokens"] for body in server.seen} == {1024}
    if model.startswith("openai") or version("inspect_ai") == "0.3.280":
        assert {body["temperature"] for body in server.seen} == {0}
    else:  # Anthropic's API refuses it since 2026-10-21: its default is used, and Inspect says so
        assert not any("temperature" in body for body in server.seen)
        assert any("temperature" in record.getMessage() for record in caplog.records if record.levelname == "WARNING")


@pytest.mark.parametrize("harness", ["lm_eval", "inspect_ai"])
def test_a_model_that_loops_hangs_no_run(harness, server, cases, real_data, tmp_path):
    pytest.importorskip(harness)
    replies = [looping(case.id, order) for case in cases for order in ORDERS]
    assert sum(reply.startswith("我的") for reply in replies) >= 4
    assert sum(len(reply) > 199_999 for reply in replies) >= 1
    server.judge = looping
    url = server.url_for("").rstrip("/")
    if harness == "lm_eval":
        arguments = [
            "--model", "local-chat-completions", "--apply_chat_template",
            "--model_args", f"model=judge,base_url={url}/v1/chat/completions,num_concurrent=4",
            "--tasks", "personafeedback_general_hard", "--log_samples", "--output_path", str(tmp_path),
        ]  # fmt: skip
    else:
        arguments = ["personafeedback_tasks/personafeedback_general_hard", "--model", "openai/gpt-4o"]
        arguments += ["--log-dir", str(tmp_path)]
    run(harness, *arguments, "--limit", str(LIMIT), data=real_data, url=url)
    if harness == "lm_eval":
        (samples,) = tmp_path.rglob("samples_*.jsonl")
        rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
        found = {row["doc"]["id"]: row for row in rows}
    else:
        from inspect_ai.log import read_eval_log

        (path,) = tmp_path.glob("*.eval")
        found = {sample.id: sample.scores["personafeedback"].value for sample in read_eval_log(str(path)).samples}
    check(found, scores(cases, looping))
