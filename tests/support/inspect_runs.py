"""Runs of Inspect: its own eval() and its own command, with judges in place of a model."""

from __future__ import annotations

import os
import traceback
from contextlib import nullcontext
from contextvars import copy_context
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import inspect_ai
import pytest
import rich
from click.testing import CliRunner
from inspect_ai._cli.main import inspect
from inspect_ai._display.core import active
from inspect_ai._display.rich import display
from inspect_ai.log import _log
from inspect_ai.model import (
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    _assistant_internal,
    _model,
    modelapi,
)  # fmt: skip

from support.judges import JUDGES


class CallAPI(ModelAPI):
    """Answers as functions of (prompt, case id, call) do; the log-likelihoods are of each letter. It takes as many tokens as a prompt has
    characters."""

    def __init__(self, model_name, reply, likelihoods=None, stop=None):
        super().__init__(model_name)
        self.reply, self.likelihoods, self.stop = reply, likelihoods, stop

    async def generate(self, input, tools, tool_choice, config):
        about, prompt = input[-1].metadata, input[-1].text
        asked = prompt, about["case_id"], about["call"]
        output = ModelOutput.from_content(self.model_name, self.reply(*asked), stop_reason=self.stop or "stop")
        if config.logprobs:
            values = zip("ABCD", self.likelihoods(*asked), strict=False)
            likely = [TopLogprob(token=letter, logprob=value) for letter, value in values]
            output.choices[0].logprobs = Logprobs(content=[Logprob(**dict(likely[0]), top_logprobs=likely)])
        output.usage = ModelUsage(input_tokens=len(prompt), output_tokens=1, total_tokens=len(prompt) + 1)
        return output


@modelapi(name="scripted")
class Scripted(CallAPI):
    """`scripted/JUDGE`."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, **arguments):
        super().__init__(model_name, lambda prompt, case_id, call: JUDGES[model_name](case_id, call), **arguments)


NOT_LIVE = {"log_realtime": False}
"""For eval(): nobody watches, and to keep each event for a viewer takes half of the time of a run without a model."""

UNSEEN = patch.object(display, "tasks_results", return_value="")
"""The table of all metrics, which Inspect lays out for `display="none"`, too: a third of the time of a run on the sample."""

NO_PROVIDERS = patch.multiple(_assistant_internal, _HAS_OPENAI=False, _HAS_ANTHROPIC=False)
"""For judges: each sample has a place for what the providers' SDKs keep between calls, and to import these takes three seconds."""


def _in_words(*error: Any) -> tuple[str, str]:
    """In place of Inspect's `format_traceback`, which draws each error in color, too: a fifth of a second."""
    text = "".join(traceback.format_exception(*error))
    return text, text


_log.format_traceback = _model.format_traceback = _in_words


def inspect_eval(task, **kwargs):
    """Inspect's `eval()`, for judges that nobody watches."""
    with UNSEEN, NO_PROVIDERS:
        return inspect_ai.eval(task, **{"display": "none", **NOT_LIVE, **kwargs})


def evaluate(task, model, tmp_path, **kwargs):
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path), score_display=False, **kwargs)
    assert log.status == "success", log.error
    return log


def metrics(log):
    """Name -> value in the table, without the two that say the same once more."""
    (table,) = log.results.scores
    found = {name: metric.value for name, metric in table.metrics.items()}
    same = {"acc": found.pop("accuracy"), "acc_stderr": found.pop("stderr")}
    assert found == pytest.approx(found | same, abs=0, nan_ok=True)
    return found


def command(*arguments: object, live: bool = False, **environment: str) -> CompletedProcess[str]:
    """`inspect eval`, in this process. A model that it makes is kept: give each server as --model-base-url."""
    words = ["eval", *map(str, arguments), "--display", "plain", *([] if live else ["--no-log-realtime"])]
    asks_a_provider = any(word.startswith(("openai/", "anthropic/")) for word in words)
    with (
        nullcontext() if asks_a_provider else NO_PROVIDERS,
        patch.dict(os.environ, {"COLUMNS": "400", **environment}),
        patch.object(rich, "_console", None),
        patch.object(active, "_active_display", None),  # Inspect keeps the first one of a process
    ):
        # in a context of its own: Inspect leaves the model of the run in it, and the next task would take it for its own
        done = copy_context().run(CliRunner().invoke, inspect, words)
    return CompletedProcess(words, done.exit_code, done.output, str(done.exception or ""))
