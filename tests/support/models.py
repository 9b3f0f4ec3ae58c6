"""A model of one function, in both harnesses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import Logprob, Logprobs, ModelAPI, ModelOutput, ModelUsage, TopLogprob, modelapi
from lm_eval import models as models  # else the first one that is registered here would be the only one
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from personafeedback_tasks.pairwise.orders import TWO, Orders, rotations
from support import inspect_runs, lm_eval_runs
from support.lm_eval_runs import FakeLM

FOUR = rotations(4)
Reply = Callable[[str, str, str, str], str]
"""(judge, prompt, case id, call) -> a reply."""
Likelihoods = Callable[[str, str, str, str], Sequence[float]]
"""The same -> the log-likelihood of each letter."""


def orders_of(call: str) -> Orders:
    return FOUR if "right_at" in call else TWO


def _calls(document: dict[str, Any]) -> list[str]:
    """Of a case, in the order in which lm-eval asks them."""
    orders = TWO if len(document["targets"]) == 2 else FOUR
    others = document.get("settings", [""])[1:]
    return [*orders.names, *(f"{setting} {order}" for setting in others for order in orders.names)]


def register(name: str, reply: Reply, likelihoods: Likelihoods | None = None) -> type[LM]:
    """`--model NAME --model_args judge=JUDGE` in lm-eval, `NAME/JUDGE` in Inspect. It takes as many tokens as a prompt has characters.

    Returns:
        The class of lm-eval's model; a judge is its only argument.
    """

    @register_model(name)
    class InLmEval(FakeLM):
        def __init__(self, judge: str = "") -> None:
            super().__init__()
            self.judge = judge

        @classmethod
        def create_from_arg_obj(cls, arguments, additional_config=None):
            return cls(**arguments)

        def generate_until(self, requests, disable_tqdm=False):
            return [reply(self.judge, r.args[0], r.doc["id"], _calls(r.doc)[r.idx]) for r in requests]

        def loglikelihood(self, requests, disable_tqdm=False):
            found = []
            for r in requests:
                call, letter = divmod(r.idx, len(r.doc["targets"]))
                found.append((likelihoods(self.judge, r.args[0], r.doc["id"], _calls(r.doc)[call])[letter], False))
            return found

    @modelapi(name=name)
    class InInspect(ModelAPI):
        async def generate(self, input, tools, tool_choice, config):
            about, prompt = input[-1].metadata, input[-1].text
            asked = self.model_name, prompt, about["case_id"], about["call"]
            output = ModelOutput.from_content(name, reply(*asked))
            if config.logprobs:
                likely = [
                    TopLogprob(token=of, logprob=value) for of, value in zip("ABCD", likelihoods(*asked), strict=False)
                ]
                output.choices[0].logprobs = Logprobs(content=[Logprob(**dict(likely[0]), top_logprobs=likely)])
            output.usage = ModelUsage(input_tokens=len(prompt), output_tokens=1, total_tokens=len(prompt) + 1)
            return output

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
