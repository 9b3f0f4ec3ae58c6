"""A real language model, built on the spot, in lm-eval's `hf`."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
pytest.importorskip("transformers")

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
