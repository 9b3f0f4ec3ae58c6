"""Runs of Inspect: its own eval() and its own command, with judges in place of a model."""

from __future__ import annotations

import os
from contextvars import copy_context
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest
import rich
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from inspect_ai._cli.main import inspect
from inspect_ai._display.core import active
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi

from support.judges import JUDGES


@modelapi(name="scripted")
class Scripted(ModelAPI):
    """Replies as a scripted judge does, from what travels in the message's metadata."""

    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), stop=None, **model_args):  # noqa: B008
        super().__init__(model_name, base_url, api_key, [], config)
        self.stop = stop

    async def generate(self, input, tools, tool_choice, config):
        reply = JUDGES[self.model_name](input[-1].metadata["case_id"], input[-1].metadata["call"])
        output = ModelOutput.from_content("scripted", reply, stop_reason=self.stop or "stop")
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output


def evaluate(task, model, tmp_path, **kwargs):
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path), display="none", score_display=False, **kwargs)
    assert log.status == "success", log.error
    return log


def metrics(log):
    """Name -> value in the table, without the two that say the same once more."""
    (table,) = log.results.scores
    found = {name: metric.value for name, metric in table.metrics.items()}
    same = {"acc": found.pop("accuracy"), "acc_stderr": found.pop("stderr")}
    assert found == pytest.approx(found | same, abs=0, nan_ok=True)
    return found


def command(*arguments: object, **environment: str) -> CompletedProcess[str]:
    """`inspect eval`, in this process. A model that it makes is kept: give each server as --model-base-url."""
    words = ["eval", *map(str, arguments), "--display", "plain"]
    with (
        patch.dict(os.environ, {"COLUMNS": "400", **environment}),
        patch.object(rich, "_console", None),
        patch.object(active, "_active_display", None),  # Inspect keeps the first one of a process
    ):
        # in a context of its own: Inspect leaves the model of the run in it, and the next task would take it for its own
        done = copy_context().run(CliRunner().invoke, inspect, words)
    return CompletedProcess(words, done.exit_code, done.output, str(done.exception or ""))
