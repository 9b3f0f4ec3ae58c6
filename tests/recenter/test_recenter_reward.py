"""`recenter_response` with `method=reward`: the reward of the personalized response minus that of the generic one, held against people."""

from __future__ import annotations

import json
import math

import pytest
from scipy.stats import spearmanr
from support.commands import personafeedback
from support.recenter import in_inspect, same

from personafeedback_tasks.common.statistics import mean
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.recenter import ratings
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.response import RESPONSE, SIDES
from personafeedback_tasks.recenter.rows import Response

ROWS = with_judgment(load(Response, "sample"))
REWARD = RESPONSE.methods["reward"]


def outcome(people, personalized, generic=0.0):
    return Result(targets=(repr(people), repr(6 - people)), rewards={"reward": (personalized, generic)})


def test_pairwise_accuracy_by_hand():
    """Right, wrong, no difference to the model; where people see none the row is left out."""
    outcomes = [outcome(4.5, 1.0), outcome(2.0, 0.1), outcome(1.0, 0.0), outcome(3.0, 9.0)]
    assert ratings.pairwise(outcomes) == (1 + 0 + 0.5) / 3
    said = [Result(targets=("5.0", "1.0"), answers=("4", "2")), Result(targets=("2.0", "4.0"), answers=("3", "3"))]
    assert ratings.pairwise(said) == (1 + 0.5) / 2
    assert math.isnan(ratings.pairwise([outcome(3.0, 1.0)]))


@pytest.mark.parametrize(
    ("people", "personalized", "acc", "tie"), [(4, 1, 1, 0), (4, 0, 0, 1), (3, 0, 1, 1), (2, 1, 0, 0), (3, -1, 1, 0)]
)
def test_a_row_by_hand(people, personalized, acc, tie):
    found = REWARD.against_targets({"reward": (float(personalized), 0.0)}, (repr(float(people)),))
    assert (found["acc"], found["tie"]) == (acc, tie)


def test_the_correlation_is_that_of_scipy_and_a_scale_of_its_own_changes_nothing():
    outcomes = [outcome(1 + number % 5, math.sin(number), 2.0) for number in range(40)]
    expected = spearmanr([math.sin(number) - 2 for number in range(40)], [1 + number % 5 for number in range(40)])
    assert ratings.spearman(outcomes) == pytest.approx(expected.statistic)
    scaled = [outcome(1 + number % 5, 1e6 * math.sin(number), 2e6) for number in range(40)]
    assert ratings.spearman(scaled) == pytest.approx(ratings.spearman(outcomes))


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    pytest.importorskip("torch")
    from support import classifiers

    options = RESPONSE.options(method="reward", data="sample")
    texts = [turn["content"] for row in ROWS for side in SIDES for turn in REWARD.conversation(row, options, side)]
    return classifiers.longest_classifier(tmp_path_factory.mktemp("model"), texts)


@pytest.mark.slow
@pytest.mark.torch
def test_a_reward_model_stands_beside_llm_judges(classifier, tmp_path):
    """One that counts characters: its reward grows with length alone, so that everything can be said without it."""
    found, log = in_inspect(RESPONSE, f"personafeedback-reward/{classifier}", tmp_path, method="reward")
    longer = [len(row.personalized) - len(row.generic) for row in ROWS]
    people = [row.judgment for row in ROWS]
    assert same(found["spearman"], spearmanr(longer, people).statistic)
    assert same(found["acc"], mean(float((by > 0) == (of > 3)) for by, of in zip(longer, people, strict=True)))
    decided = [(by, of) for by, of in zip(longer, people, strict=True) if of != 3]
    assert same(found["pairwise"], mean(0.5 if not by else float((by > 0) == (of > 3)) for by, of in decided))
    assert same(found["no_better"], mean(float(by <= 0) for by in longer))
    assert not [name for name in found if name.startswith("pearson")]  # neither response is the right one by itself
    run = read_run(log)
    assert run.method.name == "reward"
    in_inspect(RESPONSE, "recenter_response/always_4", tmp_path)
    done = personafeedback("report", log, "--data", "sample", "--out", tmp_path / "shown")
    assert done.exit_code == 0, done.output
    measures = json.loads((tmp_path / "shown" / "report.json").read_text("utf-8"))["reports"][0]["groups"]["total"][
        "measures"
    ]
    assert same(measures["spearman"]["value"], found["spearman"])
    assert measures["spearman"]["low"] < found["spearman"] < measures["spearman"]["high"]
    ranked = personafeedback("rank", tmp_path, "--data", "sample", "--full")
    assert ranked.exit_code == 0, ranked.output
    assert "pairwise" in ranked.output
    assert "recenter_response/always_4" in ranked.output
