"""The recenter tasks on the sample, asked by a scripted model in either harness, without processes."""

from __future__ import annotations

import json
import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import Model, ModelAPI, ModelOutput, get_model, modelapi
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.core.benchmark import Benchmark, benchmarks
from personafeedback_tasks.core.method import Method
from personafeedback_tasks.inspect_harness.tasks import build_task
from support.inspect_runs import inspect_eval

Replies = Callable[[str, str], str]
"""(id of a document, call) -> what the model says."""


def same(found: float | str, expected: float) -> bool:
    if isinstance(found, str):  # lm-eval's word for an error that is not known
        return found == "N/A" and math.isnan(expected)
    return (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(expected, abs=1e-12)


class ScriptedLM(LM):
    def __init__(self, method: Method, replies: Replies):
        super().__init__()
        self.method, self.replies = method, replies

    def generate_until(self, requests, disable_tqdm=False):
        return [self.replies(request.doc["id"], self.method.calls[request.idx]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")

    loglikelihood_rolling = loglikelihood


def in_lm_eval(benchmark: Benchmark, replies: Replies, folder: Path, method: str = "generate", **told: Any):
    """(metric -> value, the results file)."""
    of_method = benchmark.methods[method]
    task = benchmark.task("", of_method.suffix)
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False, metadata={"data": "sample", **told})
    results = simple_evaluate(
        ScriptedLM(of_method, replies), tasks=[task], task_manager=manager, bootstrap_iters=0, log_samples=True,
        evaluation_tracker=tracker,
    )  # fmt: skip
    rows = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=rows)
    for name, logged in rows.items():
        tracker.save_results_samples(task_name=name, samples=logged)
    found = {
        key.partition(",")[0]: math.nan if number == "N/A" else number
        for key, number in results["results"][task].items()
    }
    return found, max((folder / "out").rglob("results_*.json"))


class ScriptedAPI(ModelAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=None, replies=None, **model_args):
        super().__init__(model_name)
        self.replies = replies

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        return ModelOutput.from_content(self.model_name, self.replies(about["case_id"], about["call"]))


@modelapi(name="recenter-replies")
def api():
    return ScriptedAPI


def in_inspect(
    benchmark: Benchmark,
    replies: Replies | str | Model,
    folder: Path,
    method: str = "generate",
    **told: Any,
):
    """(metric -> value, the log). `replies` may be the name of a judge, or a model."""
    model = (
        replies
        if isinstance(replies, (str, Model))
        else get_model("recenter-replies/model", memoize=False, replies=replies)
    )
    task = build_task(benchmark.name, "", {"data": "sample", "method": method, **told})
    (log,) = inspect_eval(task, model=model, display="none", score_display=False, log_dir=str(folder))
    assert log.status == "success", log.error
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}, Path(log.location)


def changed_log(log: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of an Inspect log whose samples were changed."""
    copy = log.with_name(f"changed-{log.name}")
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("samples/"):
                sample = json.loads(content)
                change(sample)
                content = json.dumps(sample).encode()
            new.writestr(name, content)
    return copy


# --- every task ---------------------------------------------------------------------------------------------------------

TASKS = {
    "recenter_extraction": ("recenter_extraction", "generate"),
    "recenter_relevance": ("recenter_relevance", "generate"),
    "recenter_relevance_select": ("recenter_relevance", "select"),
    "recenter_response": ("recenter_response", "generate"),
}
"""Name -> (benchmark, method)."""

SAID = {
    ("recenter_extraction", "generate"): ["ACCEPT", "PROBLEMATIC", "**Problematic**", "Hm."],
    ("recenter_relevance", "generate"): ["YES", "NO", "Answer: yes", "..."],
    ("recenter_relevance", "select"): ["1", "1, 2", "NONE", "99", "[1]"],
    ("recenter_response", "generate"): ["1", "2", "3", "4/5", "Rating: 5", "Both."],
}


def says(name):
    """What the scripted model replies to the documents of a task: (id, call) -> text."""
    choices = SAID[TASKS[name]]
    return lambda document, call: random.Random(f"{document} {call}").choice(choices)


def asked():
    """Prompt -> (task, document, call), of every task on the sample."""
    found = {}
    for name, (benchmark, method_name) in TASKS.items():
        record = benchmarks()[benchmark]
        method, options = record.methods[method_name], record.options(method=method_name, data="sample")
        for document in method.documents(record.load(options, {})):
            for call in method.calls:
                found[record.prompt(document, options, call)] = name, document.id, call
    return found


def reply(name, document, call):
    return says(name)(document, call)
