"""Both harnesses against a server on loopback that speaks the providers' protocols, through the harnesses' commands."""

from __future__ import annotations

import json
import zlib
from importlib.metadata import version

import pytest
from support.judges import METRICS, mixed, who_asks
from support.servers import run, serving

from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats import estimates

pytestmark = pytest.mark.slow

LIMIT, TASK = 40, "personafeedback_general_hard"


def judge(case_id: str, order: str) -> str:
    # Anthropic's API never sends empty text, and lm-eval's client for it fails on it.
    return mixed(case_id, order) or "..."


def looping(case_id: str, order: str) -> str:
    """The same judge, caught in a loop once in ten replies; some of its loops are 20,000 characters long."""
    number = zlib.crc32(f"{case_id} {order}".encode())
    loops = ["我的" * 40, "我的" * 40 + "B", "," * 20_000]
    return loops[number // 10 % len(loops)] if number % 10 == 0 else judge(case_id, order)


@pytest.fixture
def cases(real_data):
    return load_cases(real_data, "general", "hard")[:LIMIT]


def check(found: dict[str, dict], mean: float, cases, said) -> None:
    """Every case has the values of the replies that were said, and the mean is theirs."""
    expected = {
        c.id: scoring.score_answers(TWO.letters, [read_reply(said(c.id, order)) for order in TWO.names]) for c in cases
    }
    assert found.keys() == expected.keys()
    for case_id, values in found.items():
        ours = {key: expected[case_id][key] for key in METRICS}
        assert {key: values[key] for key in ours} == pytest.approx(ours, abs=0, nan_ok=True), case_id
    assert mean == pytest.approx(estimates.mean(score["acc"] for score in expected.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("model", "path", "said"),
    [("local-chat-completions", "/chat/completions", looping), ("anthropic-chat", "/messages", judge)],
)
def test_lm_eval(model, path, said, cases, real_data, tmp_path):
    with serving(said, who_asks(cases)) as server:
        run(
            "lm_eval", "--model", model, "--model_args", f"model=judge,base_url={server.url}{path},num_concurrent=4",
            "--tasks", TASK, "--limit", str(LIMIT), "--apply_chat_template", "--log_samples", "--output_path", str(tmp_path),
            data=real_data, url=server.url,
        )  # fmt: skip
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    (results,) = tmp_path.rglob("results_*.json")
    mean = json.loads(results.read_text(encoding="utf-8"))["results"][TASK]["acc,none"]
    check({row["doc"]["id"]: row for row in rows}, mean, cases, said)
    assert len(server.bodies) == 2 * LIMIT
    assert {(body["max_tokens"], body["temperature"]) for body in server.bodies} == {(1024, 0)}
    assert all("<|endoftext|>" in (body.get("stop") or body["stop_sequences"]) for body in server.bodies)


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        ("openai/gpt-4o", (), looping),
        ("openai/gpt-4o", ("-M", "responses_api=true"), judge),
        ("anthropic/claude-haiku-4-5", (), judge),
    ],
)
def test_inspect(model, arguments, said, cases, real_data, tmp_path, caplog, monkeypatch):
    from inspect_ai._util import logger
    from inspect_ai.log import read_eval_log

    monkeypatch.setattr(logger, "_warned", [])  # it warns once in a process
    with serving(said, who_asks(cases)) as server:
        run(
            "inspect_ai", f"personafeedback_tasks/{TASK}", "--model", model, *arguments, "--limit", str(LIMIT), "--log-dir", str(tmp_path),
            data=real_data, url=server.url,
        )  # fmt: skip
    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    (table,) = log.results.scores
    found = {sample.id: sample.scores["personafeedback"].value for sample in log.samples}
    check(found, table.metrics["accuracy"].value, cases, said)
    assert len(server.bodies) == 2 * LIMIT
    assert {body.get("max_tokens") or body["max_output_tokens"] for body in server.bodies} == {1024}
    if model.startswith("openai") or version("inspect_ai") == "0.3.280":
        assert {body["temperature"] for body in server.bodies} == {0}
    else:  # Anthropic's API refuses it since 2026-10-21: its default is used, and Inspect says so
        assert not any("temperature" in body for body in server.bodies)
        assert any("temperature" in record.getMessage() for record in caplog.records if record.levelname == "WARNING")


def test_the_loops_are_among_the_replies(cases):
    replies = [looping(case.id, order) for case in cases for order in TWO.names]
    assert sum(reply.startswith("我的") for reply in replies) >= 4
    assert sum(len(reply) > 19_999 for reply in replies) >= 1
