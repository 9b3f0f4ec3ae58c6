"""Reward models of the Hub: which commit is loaded, and whose code runs. Real commands, a Hub on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
pytest.importorskip("transformers")

from inspect_ai.log import read_eval_log
from pytest_httpserver import HTTPServer
from support import classifiers
from support.hub import Hub

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template as Options
from personafeedback_tasks.personafeedback.prompts import conversation
from personafeedback_tasks.reward_models.classifier import RewardModel

NAME = "acme/model"


@pytest.fixture
def hub(tmp_path):
    with HTTPServer(host="127.0.0.1") as server:
        yield Hub(server, tmp_path / "hf")


def model(folder: Path, sign: int = 1) -> Path:
    """A model that rewards long texts, or short ones (-1)."""
    cases = load_cases("sample", "general", "hard")
    turns = [turn for case in cases for side in TWO.sides for turn in conversation(case, Options(), side)]
    return classifiers.longest_classifier(folder, [turn["content"] for turn in turns], sign=sign)


def evaluate(hub: Hub, folder: Path, *arguments: str, **environment: str):
    """The log of a run of one case in a process of its own."""
    done = subprocess.run(
        [
            sys.executable, "-m", "inspect_ai", "eval", "personafeedback_tasks/personafeedback_general_hard",
            "-T", "method=reward", "--model", f"personafeedback-reward/{NAME}", "--limit", "1", "--display", "plain",
            "--log-dir", str(folder), *arguments,
        ],
        env={**hub.environment(), "PERSONAFEEDBACK_DATA": "sample", **environment}, cwd=hub.home.parent,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert folder.is_dir(), done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = folder.glob("*.eval")
    return read_eval_log(str(path))


def found(log) -> tuple[list[float], set[str]]:
    """(rewards, the commits that replies and scores name) of a run."""
    assert log.status == "success", log.error
    (sample,) = log.samples
    replies = [choice.message for choice in sample.output.choices]
    named = {reply.metadata["revision"] for reply in replies}
    return [float(reply.text) for reply in replies], named | {
        sample.scores["personafeedback_reward"].metadata["revision"]
    }


@pytest.mark.release
def test_a_branch_is_one_commit_for_every_file(hub, tmp_path):
    before = hub.push(NAME, model(tmp_path / "long"), branch="v1")
    hub.push(NAME, model(tmp_path / "short", sign=-1))  # main, which nobody asks for
    log = evaluate(hub, tmp_path / "first", "-M", "revision=v1")
    rewards, commits = found(log)
    assert min(rewards) > 0
    assert commits == {before}
    assert {revision for _, revision, name in hub.asked if name != "config.json"} == {before}
    assert read_run(log.location).same["conditions"] == f"dtype=float32, revision={before}"
    hub.push(NAME, model(tmp_path / "moved", sign=-1), branch="v1")
    again = evaluate(hub, tmp_path / "again", "-M", f"revision={before}", HF_HUB_OFFLINE="1")
    assert found(again) == (rewards, {before})


OWN = """
from transformers import OPTForSequenceClassification
class Own(OPTForSequenceClassification):
    def forward(self, **inputs):
        found = super().forward(**inputs)
        found.logits = 0 * found.logits + {reward}
        return found
"""
"""The same reward for everything: it says whose code ran."""


def with_code(folder: Path, name: str, reward: int) -> dict[str, str]:
    """Files to push beside those of the folder: a class, and config.json that names it."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["auto_map"] = {"AutoModelForSequenceClassification": name}
    return {"config__json": json.dumps(config), "own__py": OWN.format(reward=reward)}


@pytest.mark.parametrize("revision", [None, "main", "c" * 39, "g" * 40])
def test_only_a_full_commit_pins_code(revision):
    sentence = "needs a pinned commit, got revision=.* of acme/model, whose code can change"
    with pytest.raises(OptionError, match=sentence):
        RewardModel(NAME, revision=revision, trust_remote_code=True)


@pytest.mark.release
def test_code_of_the_hub_runs_at_a_full_commit_alone(hub, tmp_path):
    folder = model(tmp_path / "model")
    pinned = hub.push(NAME, folder, **with_code(folder, f"{NAME}--own.Own", 1))
    hub.push(NAME, folder, **with_code(folder, "own.Own", 2))
    log = evaluate(hub, tmp_path / "pinned", "-M", "trust_remote_code=true", "-M", f"revision={pinned}")
    assert found(log) == ([1.0, 1.0], {pinned})
    assert {revision for _, revision, _ in hub.asked} == {pinned}
