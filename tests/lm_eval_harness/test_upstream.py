"""The tasks in lm-eval's style that `benchmarks/upstream.py` writes: our prompts and `acc`, without our package."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from support.lm_eval_runs import NO_ENVIRONMENT, NO_TORCH, FakeLM, evaluate

from personafeedback_tasks.personafeedback.cells import CELLS
from personafeedback_tasks.personafeedback.release import locate

UPSTREAM = Path(__file__).parents[2] / "benchmarks" / "upstream.py"


class ByPrompt(FakeLM):
    """Prefers a letter by the prompt alone."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def letter(self, prompt):
        self.seen.append(prompt)
        return "AB"[hashlib.sha256(prompt.encode()).digest()[0] % 2]

    def generate_until(self, requests, disable_tqdm=False):
        return [f"{self.letter(request.args[0])}." for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-0.5 if self.letter(r.args[0]) == r.args[1].strip() else -1.5, False) for r in requests]


@pytest.mark.slow
@pytest.mark.parametrize(("end", "metric"), [("", "exact_match,letter"), ("_mc", "acc,none")])
def test_prompts_and_accuracy_are_those_of_our_tasks(end, metric, tmp_path, monkeypatch):
    runpy.run_path(str(UPSTREAM))["main"](tmp_path / "personafeedback")
    for path in (tmp_path / "personafeedback").iterdir():
        assert "personafeedback_tasks" not in path.read_text("utf-8")
    monkeypatch.setenv("PERSONAFEEDBACK_DATA", str(locate("sample").root))
    names = [f"personafeedback_{cell}{end}" for cell in CELLS]
    theirs, ours = ByPrompt(), ByPrompt()
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    with NO_TORCH, NO_ENVIRONMENT:
        found = simple_evaluate(theirs, tasks=names, task_manager=manager, bootstrap_iters=0)["results"]
    expected = evaluate(ours, ",".join(names), "sample")["results"]
    assert sorted(theirs.seen) == sorted(ours.seen)
    for name in names:
        assert found[name][metric] == expected[name]["acc,none"]
    assert 0 < sum(found[name][metric] for name in names) < len(names)
