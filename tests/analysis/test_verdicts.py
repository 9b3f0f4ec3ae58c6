"""Planted judges of `benchmarks/verdicts.py`: each gets its own verdict, by its picks and through both harnesses, and docs/validity.md has the table."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from personafeedback_tasks.inspect_tasks.personafeedback import personafeedback_general_hard
from support.commands import ran
from support.inspect_runs import evaluate
from support.lm_eval_runs import CallLM
from support.logs import lm_eval_log

from personafeedback_tasks.analysis.persona_use import COUNTING
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from verdicts import PLACE, PLANTED, SETTINGS, Data, estimates, verdict

SEEDS = 12


@pytest.fixture(scope="module")
def hard(real_data) -> Data:
    return Data(load_cases(real_data, "general", "hard"))


@pytest.mark.parametrize("name", PLANTED)
def test_each_judge_gets_its_own_verdict(name, hard):
    judge, own = PLANTED[name]
    found = Counter(verdict(hard, judge(np.random.default_rng(seed), hard)) for seed in range(1000, 1000 + SEEDS))
    assert sum(found[one] for one in own) >= 0.9 * SEEDS
    assert "uses" in own or found["uses"] <= 0.1 * SEEDS


def test_the_page_quotes_each_judge_with_rates_that_are_promised():
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$", (ROOT / "docs/validity.md").read_text("utf-8"), re.M
    )
    assert [(name, own) for name, own, *_ in rows] == [(name, " or ".join(own)) for name, (_, own) in PLANTED.items()]
    for _, own, right, uses in rows:
        assert float(right) >= 95
        assert "uses" in own or float(uses) <= 2.5


CALLS = [f"{setting} {order}".removeprefix("persona ") for setting in SETTINGS for order in TWO.names]


@pytest.mark.release
@pytest.mark.parametrize("name", PLANTED)
def test_both_harnesses_give_each_judge_its_verdict_from_the_same_numbers(name, hard, real_data, tmp_path):
    judge, own = PLANTED[name]
    rights = judge(np.random.default_rng(1), hard)
    replies = {}
    for place, case in enumerate(hard.cases):
        for call, right in zip(CALLS, np.concatenate([rights[setting][place] for setting in SETTINGS]), strict=True):
            chosen = TWO.right[call.split()[-1]]
            other = {"A": "B", "B": "A"}[chosen]
            replies[case.id, call] = "I cannot answer that." if np.isnan(right) else chosen if right else other
    file = tmp_path / "replies.jsonl"
    file.write_text(
        "".join(json.dumps({"id": id_, "call": call, "reply": reply}) + "\n" for (id_, call), reply in replies.items())
    )
    settings = ",".join(SETTINGS)
    task = personafeedback_general_hard(data=str(real_data), setting=settings)
    logs = {
        "inspect": evaluate(
            task, "personafeedback/replay", tmp_path / "logs", model_args={"replies": str(file)}
        ).location,
        "lm-eval": lm_eval_log(
            tmp_path / "lm",
            CallLM(lambda prompt, case_id, call: replies[case_id, call]),
            "personafeedback_general_hard",
            real_data,
            metadata={"setting": settings},
        ),
    }
    expected = estimates(hard, rights)
    for harness, log in logs.items():
        done = ran("report", "--data", real_data, log, "--out", tmp_path / harness)
        (report,) = json.loads((tmp_path / harness / "report.json").read_text("utf-8"))["reports"]
        assert (report["use"] or PLACE) in own
        if report["use"]:
            found = report["groups"]["general_hard"]["measures"]["excess_over_counting"]
            assert found["value"] == pytest.approx(expected.differences[COUNTING].value, abs=1e-12)
            assert found["low"] == pytest.approx(expected.differences[COUNTING].low, abs=1e-12)
            assert report["use"] == verdict(hard, rights)
            assert "excess over counting" in done.stdout
            assert "consistency" in done.stdout
            alike = np.all([rights[name][:, 0] == rights[name][:, 1] for name in ("persona", "other_persona")], axis=0)
            gap = rights["persona"][alike].mean() - rights["other_persona"][alike].mean()
            assert report["groups"]["general_hard"]["measures"]["same_pick"]["value"] == pytest.approx(gap, abs=1e-12)
            assert report["groups"]["general_hard"]["measures"]["same_pick"]["n"] == alike.sum()
