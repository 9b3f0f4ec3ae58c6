"""Both harnesses against a server on loopback that speaks the providers' protocols, through the harnesses' commands."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from inspect_ai._util import logger
from support.judges import METRICS, mixed, who_asks
from support.logs import opened
from support.servers import run, serving

from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats import estimates

pytestmark = pytest.mark.slow

TASK, CASES = "personafeedback_general_hard", load_cases("sample", "general", "hard")
LOOPED = dict(zip((case.id for case in CASES), ("我的" * 40, "我的" * 40 + "B", "," * 20_000), strict=False))


def judge(case_id: str, order: str) -> str:
    # Anthropic's API never sends empty text, and lm-eval's client for it fails on it.
    return mixed(case_id, order) or "..."


def looping(case_id: str, order: str) -> str:
    """The same judge, caught in a loop in the first order of some cases."""
    said = judge(case_id, order)
    return LOOPED.get(case_id, said) if order == TWO.names[0] else said


def check(found: dict[str, dict], mean: float, server, said) -> None:
    """Every case has the values of the replies that were said, and the mean is theirs."""
    replies = {case.id: [said(case.id, order) for order in TWO.names] for case in CASES}
    expected = {
        name: scoring.score_answers(TWO.letters, [read_reply(reply) for reply in both])
        for name, both in replies.items()
    }
    assert found.keys() == expected.keys()
    for name, values in found.items():
        ours = {key: expected[name][key] for key in METRICS}
        assert {key: values[key] for key in ours} == pytest.approx(ours, abs=0, nan_ok=True), name
    assert mean == pytest.approx(estimates.mean(values["acc"] for values in expected.values()), abs=1e-12)
    assert len(server.bodies) == 2 * len(CASES)


@pytest.mark.parametrize(
    ("model", "path", "said"),
    [("local-chat-completions", "/chat/completions", looping), ("anthropic-chat", "/messages", judge)],
)
def test_lm_eval(model, path, said, tmp_path):
    with serving(said, who_asks(CASES)) as server:
        run(
            "lm_eval", "--model", model, "--model_args", f"model=judge,base_url={server.url}{path},num_concurrent=4",
            "--tasks", TASK, "--apply_chat_template", "--log_samples", "--output_path", str(tmp_path),
            data="sample", url=server.url,
        )  # fmt: skip
    (log,) = tmp_path.rglob("results_*.json")
    header, rows = opened(log)
    check({row["doc"]["id"]: row for row in rows}, header["results"][TASK]["acc,none"], server, said)
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
def test_inspect(model, arguments, said, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logger, "_warned", [])  # it warns once in a process
    with serving(said, who_asks(CASES)) as server:
        run(
            "inspect_ai", f"personafeedback_tasks/{TASK}", "--model", model, *arguments, "--log-dir", str(tmp_path),
            data="sample", url=server.url,
        )  # fmt: skip
    (log,) = tmp_path.glob("*.eval")
    header, samples = opened(log)
    (table,) = header["results"]["scores"]
    found = {sample["id"]: sample["scores"]["personafeedback"]["value"] for sample in samples}
    check(found, table["metrics"]["accuracy"]["value"], server, said)
    assert {body.get("max_tokens") or body["max_output_tokens"] for body in server.bodies} == {1024}
    if model.startswith("openai") or version("inspect_ai") == "0.3.280":
        assert {body["temperature"] for body in server.bodies} == {0}
    else:  # Anthropic's API refuses it since 2026-10-21: its default is used, and Inspect says so
        assert not any("temperature" in body for body in server.bodies)
        assert any("temperature" in record.getMessage() for record in caplog.records if record.levelname == "WARNING")
