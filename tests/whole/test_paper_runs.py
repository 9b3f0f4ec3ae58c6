"""Commands of `personafeedback paper --models` and the loop of docs/models.md, run as printed: tiny models, a Hub on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.release, pytest.mark.slow, pytest.mark.torch]
pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")

from inspect_ai.log import read_eval_log
from pytest_httpserver import HTTPServer
from support import classifiers
from support.documents import DOCS, block, needs_checkout
from support.hub import Hub

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.conversations import SIDES, conversation
from personafeedback_tasks.personafeedback.paper.models import MODELS
from personafeedback_tasks.personafeedback.prompts import Template as Options
from personafeedback_tasks.runs.read import read_run

PROGRAMS = Path(sys.executable).parent
OUR_TASKS = f'--include_path "{task_configs()}"'
"""Instead of `personafeedback register`, which changes the environment of all tests."""


@pytest.fixture
def hub(tmp_path):
    with HTTPServer(host="127.0.0.1") as server:
        yield Hub(server, tmp_path / "hf")


@pytest.fixture(scope="module")
def reward_model(tmp_path_factory):
    """Rewards long texts."""
    options = Options()
    texts = [turn["content"] for c in load_cases("sample") for side in SIDES for turn in conversation(c, options, side)]
    return classifiers.longest_classifier(tmp_path_factory.mktemp("reward"), texts)


def environment(hub: Hub | None) -> dict[str, str]:
    own = {"PERSONAFEEDBACK_DATA": "sample", "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    return {**(hub.environment() if hub else {**os.environ, "HF_HUB_OFFLINE": "1"}), **own}


def run(lines: str, folder: Path, hub: Hub | None = None) -> str:
    """What bash lines print. They run in a folder of their own."""
    done = subprocess.run(
        ["bash", "-ec", lines],
        cwd=folder,
        env=environment(hub),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def command(name: str, program: str, *flags: str) -> str:
    """The command of a model, with what makes it short."""
    (model,) = [model for model in MODELS if model.name == name]
    (line,) = [line for line in model.commands() if line.startswith(program)]
    return " ".join([line, *flags])


def the_log(folder: Path):
    (path,) = (folder / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    assert log.status == "success", log.error
    return log, read_run(path)


# --- one command of each kind -----------------------------------------------------------------------------------------


def test_an_open_model_runs_in_lm_eval_and_in_inspect(hub, tiny_model, tmp_path):
    hub.push("Qwen/Qwen2.5-0.5B-Instruct", tiny_model)
    short = "--limit 1 --gen_kwargs max_gen_toks=4 --batch_size 1"  # `auto` tries how much fits, for minutes on a CPU
    run(command("Qwen2.5-0.5B-Instruct", "lm_eval run --model hf", short, OUR_TASKS), tmp_path, hub)
    made = read_run(tmp_path / "results" / "Qwen__Qwen2.5-0.5B-Instruct")
    assert len(made.cells) == 6
    run(command("Qwen2.5-0.5B-Instruct", "inspect", "--limit 1 --max-tokens 4 --display plain"), tmp_path, hub)
    log, _ = the_log(tmp_path)
    assert (log.eval.model, log.eval.model_args) == ("hf/Qwen/Qwen2.5-0.5B-Instruct", {"do_sample": False})


def test_a_plain_reward_model_scores_the_cases(hub, reward_model, tmp_path):
    hub.push("Skywork/Skywork-Reward-Llama-3.1-8B", reward_model)
    run(command("Skywork-Reward-Llama-3.1-8B", "inspect", "--display plain"), tmp_path, hub)
    log, _ = the_log(tmp_path)
    assert log.results.scores[0].metrics["acc"].value == 0.5  # of the sample, the longer response is chosen in half


OWN = """
from types import SimpleNamespace
import torch
from transformers import OPTForSequenceClassification
from transformers.models.opt.modeling_opt import LLAMA_INPUTS_DOCSTRING
from transformers.utils import add_start_docstrings_to_model_forward
class Own(OPTForSequenceClassification):
    @add_start_docstrings_to_model_forward(LLAMA_INPUTS_DOCSTRING)
    def forward(self, **inputs):
        score = super().forward(**inputs).logits
        rewards = score * torch.linspace(-1, 1, {outputs})
        return SimpleNamespace(score=score, rewards=rewards, logits=score)
"""
"""Code as that of QRM and ArmoRM: it imports what transformers no longer has, and returns a score beside its aspects."""


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.runs == "patched reward"], ids=lambda model: model.name
)
def test_a_model_with_code_of_its_own_is_patched_in_a_copy(model, hub, reward_model, tmp_path):
    aspects = model.aspects.split(",")
    config = json.loads((reward_model / "config.json").read_text(encoding="utf-8"))
    config["auto_map"] = {"AutoModelForSequenceClassification": "modeling_custom.Own"}
    code = OWN.format(outputs=len(aspects))
    hub.push(model.id, reward_model, config__json=json.dumps(config), modeling_custom__py=code)
    download, patch, inspect = model.commands()
    run(f"{download}\n{patch}\n{inspect} --display plain", tmp_path, hub)
    log, made = the_log(tmp_path)
    values = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert values["acc"] == values[f"acc_{aspects[-1]}"] == 0.5
    assert {f"acc_{aspect}" for aspect in aspects} <= values.keys()
    assert "revision=local, trust_remote_code=true" in made.conditions_line


def test_the_outputs_of_qrm_and_armorm_are_as_many_as_their_code_has():
    assert [len(model.aspects.split(",")) for model in MODELS if model.aspects] == [5, 19]


@pytest.mark.parametrize("model", [model for model in MODELS if model.runs == "export"], ids=lambda model: model.name)
def test_the_cases_for_rewardbench_are_written(model, tmp_path):
    export, rewardbench = model.commands()
    run(export, tmp_path)
    (file,) = tmp_path.glob("*.jsonl")
    assert len(file.read_text(encoding="utf-8").splitlines()) == len(load_cases("sample"))
    assert rewardbench.startswith(f"rewardbench --model {model.id} --dataset {file.name} --load_json ")


# --- the loop of docs/models.md ---------------------------------------------------------------------------------------


def the_loop() -> tuple[str, str]:
    """(its first line, which writes the list of models; the loop itself)."""
    first, _, rest = block(DOCS / "models.md", "command 3").partition("\n")
    return first, rest


@needs_checkout
def test_the_loop_runs_every_model_once_and_resumes_after_a_failure_and_after_a_kill(tiny_model, tmp_path):
    """Two models: the first is killed half-way, then the second fails, then it runs, then nothing is left to do."""
    write_list, loop = the_loop()
    run(write_list, tmp_path)
    lines = (tmp_path / "models.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 7
    # The folders' names are relative, as a Hub id looks.
    for name in ("tiny/one", "tiny/two"):
        shutil.copytree(tiny_model, tmp_path / name)
    (tmp_path / "tiny/two/config.json").rename(tmp_path / "config.json")
    short = f"--limit 1 --gen_kwargs max_gen_toks=24 --batch_size 1 --include_path {task_configs()}"
    mine = [
        re.sub("pretrained=[^,]+", f"pretrained={name}", line) + f" {short}"
        # lm-eval keeps no sampled reply in its cache.
        for line, name in zip(
            (line for line in lines if "do_sample" not in line), ("tiny/one", "tiny/two"), strict=False
        )
    ]
    (tmp_path / "models.txt").write_text("\n".join(mine) + "\n", encoding="utf-8")

    kept = kill_half_way(loop, tmp_path)
    assert not results(tmp_path)

    said = run(loop, tmp_path)
    assert f"Cached requests: {kept}," in said
    assert "tiny/two failed" in said
    (first,) = results(tmp_path)
    assert first.parent.name == "tiny__one"
    assert len(read_run(first).cells) == 6

    (tmp_path / "config.json").rename(tmp_path / "tiny/two/config.json")
    said = run(loop, tmp_path)
    assert "failed" not in said
    assert sorted(path.parent.name for path in results(tmp_path)) == ["tiny__one", "tiny__two"]
    assert first in results(tmp_path)
    assert run(loop, tmp_path) == ""


def results(folder: Path) -> list[Path]:
    return list(folder.glob("results/*/results_*.json"))


def kill_half_way(loop: str, folder: Path) -> int:
    """SIGKILL the loop and all it started once some replies are in the cache; how many."""
    process = subprocess.Popen(
        ["bash", "-c", loop], cwd=folder, env=environment(None), start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    try:
        while cached(folder) < 3:
            assert process.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
    kept = cached(folder)
    assert 3 <= kept < 12
    return kept


def cached(folder: Path) -> int:
    found = 0
    for path in folder.glob("cache/*.db"):
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                found += database.execute("select count(*) from unnamed").fetchone()[0]
        except sqlite3.OperationalError:  # not made yet, or locked
            pass
    return found
