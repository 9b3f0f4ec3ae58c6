"""Runs of lm-eval: its own evaluator and its own command, with judges in place of a model."""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib.metadata import version
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

from lm_eval import evaluator, simple_evaluate
from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from lm_eval.tasks._index import TaskIndex
from lm_eval.utils import setup_logging

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.pairwise.orders import TWO, rotations
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS
from support.judges import JUDGES

SUBSETS = ["", "_specific", "_general", "_easy", "_medium", "_hard"]
METHODS = {"": "generate", "_mc": "mc", "_cot": "cot"}
GROUPS = {f"personafeedback{subset}{suffix}" for subset in SUBSETS for suffix in METHODS}
CELLS = {f"personafeedback_{cell}{suffix}" for cell in PAPER_COUNTS for suffix in METHODS}
WRITE = {f"personafeedback_write{part}" for part in (*SUBSETS, *(f"_{cell}" for cell in PAPER_COUNTS))}
SWAP = {
    f"personafeedback_swap_general_{difficulty}{suffix}"
    for difficulty in ("easy", "medium", "hard")
    for suffix in METHODS
}
MEMSYCO = {
    f"memsyco{part}{suffix}" for part in ("_objective_fact_judgment", "_memory_evidence_conflict") for suffix in METHODS
}
PREFEVAL = {"prefeval", "prefeval_cot", "prefeval_mc"}
RECENTER = {
    f"recenter_{name}"
    for name in ("extraction", "relevance", "relevance_select", "response", "extract", "select", "respond")
}


class FakeLM(LM):
    """A model of lm-eval that fails at what no task may ask it."""

    def generate_until(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")

    loglikelihood = loglikelihood_rolling = generate_until


def calls_of(document: dict[str, Any]) -> list[str]:
    """Of a case, in the order in which lm-eval asks them."""
    orders = TWO if len(document["targets"]) == 2 else rotations(4)
    others = document.get("settings", [""])[1:]
    return [*orders.names, *(f"{setting} {order}" for setting in others for order in orders.names)]


class CallLM(FakeLM):
    """Answers as functions of (prompt, case id, call) do; the log-likelihoods are of each letter.

    Attributes:
        prompts: all that it was asked.
    """

    def __init__(self, reply, likelihoods=None, calls=()):
        super().__init__()
        self.reply, self.likelihoods, self.calls, self.prompts = reply, likelihoods, calls, []

    def _asked(self, request, per_call=1):
        prompt, document = request.args[0], request.doc
        self.prompts.append(prompt)
        return prompt, document["id"], (self.calls or calls_of(document))[request.idx // per_call]

    def generate_until(self, requests, disable_tqdm=False):
        return [self.reply(*self._asked(request)) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        found = []
        for request in requests:
            letters = len(request.doc["targets"])
            found.append((self.likelihoods(*self._asked(request, letters))[request.idx % letters], False))
        return found


class JudgeLM(CallLM):
    """Replies as a scripted judge does; for `_mc`, the log-likelihood of the letter that it would say is higher."""

    def __init__(self, judge):
        def likelihoods(prompt, case_id, call):
            said = judge(case_id, call)
            return [-0.5 if letter == said else -1.5 for letter in "AB"]

        super().__init__(lambda prompt, case_id, call: judge(case_id, call), likelihoods, TWO.names)


NO_TORCH = patch.object(evaluator, "set_torch_seed")
"""lm-eval imports torch for a seed that a judge does not use: two seconds."""


def _version_alone(storage: dict[str, Any]) -> None:
    """In place of lm-eval's `add_env_info`, which lists the packages of the environment beside."""
    storage["lm_eval_version"] = version("lm_eval")


NO_ENVIRONMENT = patch.multiple(evaluator, add_env_info=_version_alone, get_git_commit_hash=str)
"""Nor does it ask Git for its commit."""


_build = TaskIndex.build


@cache
def _index_of_ours() -> dict[str, Any]:
    return _build([task_configs()])


def _index(paths: list[Path]) -> dict[str, Any]:
    return _index_of_ours() if paths == [task_configs()] else _build(paths)


class OurTasks(TaskManager):
    """Without lm-eval's own tasks, and with an index of ours that a process makes once: their YAML files take most of a short run's time."""

    def __init__(self, **kwargs: Any) -> None:
        with patch.object(TaskIndex, "build", staticmethod(_index)):
            super().__init__(**kwargs, include_defaults=False)


def evaluate(judge, task, data, **kwargs):
    """The results of a judge by its name, of a model, or of one that lm-eval makes of its name and `model_args`."""
    metadata = {"data": str(data), **kwargs.pop("metadata", {})}
    manager = OurTasks(include_path=str(task_configs()), metadata=metadata)
    lm = JudgeLM(JUDGES[judge]) if judge in JUDGES else judge
    with NO_TORCH, NO_ENVIRONMENT:
        return simple_evaluate(lm, tasks=task.split(","), task_manager=manager, bootstrap_iters=2, **kwargs)


def command(*arguments: object, **environment: str) -> CompletedProcess[str]:
    """`lm_eval run` with our tasks, in this process: to start one takes it ten seconds or more."""
    setup_logging()  # lm-eval does this once, with the stderr of that moment
    words = ["lm_eval", "run", "--include_path", str(task_configs()), *map(str, arguments)]
    out, err, logger = io.StringIO(), io.StringIO(), logging.getLogger("lm_eval")
    handler, status = logging.StreamHandler(err), 0
    logger.addHandler(handler)
    with (
        patch.dict(os.environ, environment),
        patch.object(sys, "argv", words),
        patch("lm_eval.tasks.TaskManager", OurTasks),
        NO_TORCH,
        NO_ENVIRONMENT,
        patch.object(evaluator, "add_tokenizer_info"),  # imports transformers
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli_evaluate()
        except SystemExit as end:
            status = end.code
        except Exception:
            status = 1
            traceback.print_exc()
        finally:
            logger.removeHandler(handler)
    return CompletedProcess(words, status, out.getvalue(), err.getvalue())
