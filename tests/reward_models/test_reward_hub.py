"""Reward models of the Hub: which commit is loaded, what says so, and whose code runs. Real commands, a Hub on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.torch]
pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("inspect_ai")

from inspect_ai.log import read_eval_log
from pytest_httpserver import HTTPServer
from support import classifiers
from support.hub import Hub

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.conversations import SIDES, conversation
from personafeedback_tasks.personafeedback.prompts import Template as Options
from personafeedback_tasks.reward_models.classifier import RewardModel

NAME = "acme/model"


@pytest.fixture(scope="module")
def lengths():
    """The tokens, one a character, of the longer conversation of each case; a turn has two beside its text."""
    options = Options(setting="no_persona")
    turns = {case.id: [conversation(case, options, side) for side in SIDES] for case in sample()}
    return {id_: max(sum(len(turn["content"]) + 2 for turn in one) for one in both) for id_, both in turns.items()}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A function that makes a model which reads so many tokens, and rewards long texts (sign=1) or short ones (-1)."""

    def make(limit: int = 16384, sign: float = 1.0) -> Path:
        texts = [turn["content"] for case in sample() for side in SIDES for turn in conversation(case, Options(), side)]
        return classifiers.longest_classifier(tmp_path_factory.mktemp("model"), texts, limit, sign)

    return make


@pytest.fixture
def hub(tmp_path):
    with HTTPServer(host="127.0.0.1") as server:
        yield Hub(server, tmp_path / "hf")


def sample():
    return load_cases("sample", "general", "hard")


def inspect(hub: Hub, folder: Path, *arguments: str, **environment: str):
    """Run Inspect; the log that it wrote."""
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *arguments, "--display", "plain", "--log-dir", str(folder)],
        env={**hub.environment(), "PERSONAFEEDBACK_DATA": "sample", **environment}, cwd=hub.home.parent,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert folder.is_dir(), done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = folder.glob("*.eval")
    return read_eval_log(str(path))


TASK = ("personafeedback_tasks/personafeedback_general_hard", "-T", "method=reward", "-T", "setting=no_persona")


def evaluate(hub: Hub, folder: Path, *arguments: str, **environment: str):
    return inspect(hub, folder, "eval", *TASK, "--model", f"personafeedback-reward/{NAME}", *arguments, **environment)


def commits(log) -> set[str]:
    """What replies and scores say of the commit; both say the same."""
    scores = {one.scores["personafeedback_reward"].metadata["revision"] for one in log.samples if one.scores}
    replies = {
        choice.message.metadata["revision"] for one in log.samples if one.scores for choice in one.output.choices
    }
    assert scores == replies
    return scores


@pytest.mark.release
def test_a_branch_is_one_commit_for_every_file_and_a_run_that_is_resumed_after_it_moved_names_both(
    hub, model, lengths, tmp_path
):
    limit = sorted(lengths.values())[len(lengths) // 2]
    before = hub.push(NAME, model(limit), branch="v1")
    hub.push(NAME, model(sign=-1))  # main, which nobody asks for
    stopped = evaluate(hub, tmp_path / "stopped", "-M", "revision=v1", "--continue-on-fail")
    assert {one.id for one in stopped.samples if not one.error} == {id_ for id_, n in lengths.items() if n <= limit}
    assert stopped.status == "error"
    assert commits(stopped) == {before}
    assert {revision for _, revision, name in hub.asked if name != "config.json"} == {before}
    assert read_run(stopped.location).conditions_line == f"dtype=float32, revision={before}"

    after = hub.push(NAME, model(), branch="v1")
    resumed = inspect(hub, tmp_path / "resumed", "eval-retry", stopped.location)
    assert (resumed.status, len(resumed.samples)) == ("success", 8)
    assert commits(resumed) == {before, after}
    first, second = sorted([before, after])
    assert read_run(resumed.location).conditions_line == f"dtype=float32, revision={first} and {second}"

    again = evaluate(hub, tmp_path / "again", "-M", f"revision={after}", "--limit", "2", HF_HUB_OFFLINE="1")
    assert (again.status, commits(again)) == ("success", {after})


# --- code that comes with a model ------------------------------------------------------------------------------------

OWN = """
from transformers import OPTForSequenceClassification
class Own(OPTForSequenceClassification):
    def forward(self, **inputs):
        found = super().forward(**inputs)
        found.logits = 0 * found.logits + {reward}
        return found
"""
"""The same reward for everything: it says whose code ran."""

TRUST = ("-M", "trust_remote_code=true", "--limit", "1")


def with_code(
    folder: Path, name: object, file: str = "config.json", loader: str = "AutoModelForSequenceClassification"
) -> dict[str, str]:
    """The folder's file with a class in it, to push in its place."""
    config = json.loads((folder / file).read_text(encoding="utf-8"))
    config["auto_map"] = {loader: name}
    return {file.replace(".", "__"): json.dumps(config)}


def rewards(log) -> set[float]:
    assert log.status == "success", log.error
    return {float(choice.message.text) for one in log.samples for choice in one.output.choices}


@pytest.mark.parametrize("revision", [None, "main", "c" * 39, "g" * 40])
def test_only_a_full_commit_pins_code(revision):
    with pytest.raises(
        OptionError, match="needs a pinned commit, got revision=.* of acme/model, whose code can change"
    ):
        RewardModel(NAME, revision=revision, trust_remote_code=True)


@pytest.mark.release
def test_code_of_the_hub_runs_at_a_full_commit_alone(hub, model, tmp_path):
    folder = model()
    pinned = hub.push(NAME, folder, **with_code(folder, f"{NAME}--own.Own"), own__py=OWN.format(reward=1))
    hub.push(NAME, folder, **with_code(folder, "own.Own"), own__py=OWN.format(reward=2))
    log = evaluate(hub, tmp_path / "refused", *TRUST, "-M", "revision=main")
    assert "needs a pinned commit" in log.error.message
    assert hub.asked == []
    log = evaluate(hub, tmp_path / "pinned", *TRUST, "-M", f"revision={pinned}")
    assert (rewards(log), commits(log)) == ({1.0}, {pinned})
    assert {revision for _, revision, _ in hub.asked} == {pinned}
