"""A real language model, built on the spot: lm-eval's `hf`, and a `transformers serve` server on loopback."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.torch]
pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("lm_eval")

from support.lm_eval_runs import command


def lm_eval(*arguments):
    done = command(*arguments, PERSONAFEEDBACK_DATA="sample")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def results(folder):
    (path,) = folder.rglob("results_*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_hf_generates(tiny_model, tmp_path):
    done = lm_eval(
        "--model", "hf", "--model_args", f"pretrained={tiny_model},dtype=float32", "--device", "cpu",
        "--tasks", "personafeedback_general_hard", "--apply_chat_template", "--batch_size", "4",
        "--gen_kwargs", "max_gen_toks=8", "--output_path", str(tmp_path), "--log_samples",
    )  # fmt: skip
    assert "chat template applied" in done.stderr
    found = results(tmp_path)
    assert found["n-samples"]["personafeedback_general_hard"] == {"original": 8, "effective": 8}
    assert 0 <= found["results"]["personafeedback_general_hard"]["acc,none"] <= 1
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    assert all(row["arguments"]["gen_args_0"]["arg_0"].startswith("<|user|>") for row in rows)
    assert all(len(row["resps"]) == 2 for row in rows)


def test_hf_scores_the_letters_and_reads_the_two_log_likelihoods_of_each_order(tiny_model, tmp_path):
    from personafeedback_tasks.pairwise import scoring

    lm_eval(
        "--model", "hf", "--model_args", f"pretrained={tiny_model},dtype=float32", "--device", "cpu",
        "--tasks", "personafeedback_general_hard_mc", "--batch_size", "auto", "--max_batch_size", "2",
        "--output_path", str(tmp_path), "--log_samples",
    )  # fmt: skip
    (samples,) = tmp_path.rglob("samples_personafeedback_general_hard_mc_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 8
    for row in rows:
        (a1, _), (b1, _), (a2, _), (b2, _) = [(float(x), y) for x, y in row["filtered_resps"]]
        assert row["acc"] == ((a1 > b1) + (b2 > a2)) / 2
        assert row["acc_sym"] == scoring.score_symmetric([(a1, b1), (a2, b2)])
    table = results(tmp_path)["results"]
    mean = sum(row["acc_sym"] for row in rows) / len(rows)
    assert table["personafeedback_general_hard_mc"]["acc_sym,none"] == pytest.approx(mean)


@pytest.fixture
def served_model(tiny_model):
    """The model behind the OpenAI protocol, on a free port of loopback."""
    pytest.importorskip("fastapi", reason="needs transformers[serving]")
    pytest.importorskip("uvicorn", reason="needs transformers[serving]")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = shutil.which("transformers", path=Path(sys.executable).parent)
    server = subprocess.Popen(
        [command, "serve", str(tiny_model), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
        env={**os.environ, "HF_HUB_OFFLINE": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_up(f"{url}/health", server)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_until_up(url, server):
    for _ in range(120):
        assert server.poll() is None, "transformers serve ended by itself"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(1)
    pytest.fail(f"no answer from {url}")


@pytest.mark.release
def test_a_served_model_is_asked_over_the_real_protocol(tiny_model, served_model, tmp_path):
    lm_eval(
        "--model", "local-chat-completions",
        "--model_args", f"model={tiny_model},base_url={served_model}/v1/chat/completions",
        "--tasks", "personafeedback_general_hard", "--apply_chat_template", "--gen_kwargs", "max_gen_toks=4",
        "--limit", "2", "--output_path", str(tmp_path), "--log_samples",
    )  # fmt: skip
    found = results(tmp_path)
    assert found["n-samples"]["personafeedback_general_hard"]["effective"] == 2
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    assert all(isinstance(reply, str) for row in rows for (reply,) in row["resps"])
