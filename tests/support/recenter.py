"""The recenter tasks on the sample, asked by a scripted model in either harness, without processes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import Model, get_model, modelapi

from personafeedback_tasks.core.benchmark import Benchmark
from personafeedback_tasks.inspect_harness.tasks import build_task
from support.inspect_runs import CallAPI, inspect_eval
from support.lm_eval_runs import CallLM
from support.logs import lm_eval_log

Replies = Callable[[str, str], str]
"""(id of a document, call) -> what the model says."""


def same(found: float | str, expected: float) -> bool:
    if isinstance(found, str):  # lm-eval's word for an error that is not known
        return found == "N/A" and math.isnan(expected)
    return (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(expected, abs=1e-12)


def in_lm_eval(benchmark: Benchmark, replies: Replies, folder: Path, method: str = "generate", **told: Any):
    """(metric -> value, the results file)."""
    of_method = benchmark.methods[method]
    task = benchmark.task("", of_method.suffix)
    model = CallLM(lambda prompt, name, call: replies(name, call), calls=of_method.calls)
    log = lm_eval_log(folder / "out", model, task, "sample", metadata=told)
    found = json.loads(log.read_bytes())["results"][task]
    return {key.partition(",")[0]: math.nan if number == "N/A" else number for key, number in found.items()}, log


@modelapi(name="recenter-replies")
class ScriptedAPI(CallAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=None, replies=None):
        super().__init__(model_name, lambda prompt, name, call: replies(name, call))


def in_inspect(benchmark: Benchmark, replies: Replies | str | Model, folder: Path, method="generate", **told: Any):
    """(metric -> value, the log). `replies` may be the name of a judge, or a model."""
    model = replies
    if callable(replies) and not isinstance(replies, Model):
        model = get_model("recenter-replies/model", memoize=False, replies=replies)
    task = build_task(benchmark.name, "", {"data": "sample", "method": method, **told})
    (log,) = inspect_eval(task, model=model, display="none", score_display=False, log_dir=str(folder))
    assert log.status == "success", log.error
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}, Path(log.location)
