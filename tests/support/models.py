"""A model of one function, in both harnesses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from inspect_ai.model import modelapi
from lm_eval import models as models  # else the first one that is registered here would be the only one
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from personafeedback_tasks.pairwise.orders import TWO, Orders, rotations
from support import inspect_runs, lm_eval_runs
from support.inspect_runs import CallAPI
from support.lm_eval_runs import CallLM

FOUR = rotations(4)
Reply = Callable[[str, str, str, str], str]
"""(judge, prompt, case id, call) -> a reply."""
Likelihoods = Callable[[str, str, str, str], Sequence[float]]
"""The same -> the log-likelihood of each letter."""


def orders_of(call: str) -> Orders:
    return FOUR if "right_at" in call else TWO


def register(name: str, reply: Reply, likelihoods: Likelihoods | None = None) -> type[LM]:
    """`--model NAME --model_args judge=JUDGE` in lm-eval, `NAME/JUDGE` in Inspect.

    Returns:
        The class of lm-eval's model; a judge is its only argument.
    """

    @register_model(name)
    class InLmEval(CallLM):
        def __init__(self, judge: str = "") -> None:
            super().__init__(partial(reply, judge), likelihoods and partial(likelihoods, judge))

        @classmethod
        def create_from_arg_obj(cls, arguments, additional_config=None):
            return cls(**arguments)

    @modelapi(name=name)
    class InInspect(CallAPI):
        def __init__(self, model_name, base_url=None, api_key=None, config=None):
            super().__init__(model_name, partial(reply, model_name), likelihoods and partial(likelihoods, model_name))

    return InLmEval


def by_lm_eval(folder: Path, model: str, setting: Any, *arguments: object, task: str = "personafeedback") -> Path:
    """Run such a model by lm-eval's command, on the sample; the folder of its log."""
    done = lm_eval_runs.command(
        "--model", model, "--tasks", task, "--metadata", json.dumps({"setting": setting, "data": "sample"}),
        "--output_path", folder, "--log_samples", *arguments,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def by_inspect(folder: Path, model: str, setting: str, *arguments: object, task: str = "personafeedback") -> Path:
    """The same by Inspect's command."""
    done = inspect_runs.command(
        f"personafeedback_tasks/{task}", "-T", "data=sample", "-T", f"setting={setting}", "--model", model,
        "--log-dir", folder, *arguments,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
