"""What a change of the release must do to the results, and what it must leave alone. The judges see prompts only."""

from __future__ import annotations

import hashlib
import json
import math
import random
from typing import NamedTuple

import pytest
from support.judges import METRICS, MIXTURE, OTHER
from support.lm_eval_runs import evaluate
from support.models import register

from personafeedback_tasks.personafeedback.cases import load_cases

TASK = "personafeedback_general_hard"
same = pytest.approx


def number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def mixed(prompt: str) -> str:
    """Any kind of reply, the unreadable ones included. The letter leans to A: a position bias."""
    letter = readable(prompt)
    return MIXTURE[number(prompt) // 3 % len(MIXTURE)].format(gold=letter, other=OTHER[letter])


def readable(prompt: str) -> str:
    return "AAB"[number(prompt) % 3]


Judge = register(
    "by_text",
    lambda judge, prompt, case_id, call: {"mixed": mixed, "readable": readable}[judge](prompt),
    lambda judge, prompt, case_id, call: [-float(number(f"{prompt} {letter}") % 20) for letter in "AB"],  # ties, too
)


class Run(NamedTuple):
    cases: dict  # of each case, by its texts: the answers, and the value of every metric
    totals: dict  # of the table
    prompts: list


def run_of(data, judge="mixed", task=TASK) -> Run:
    results = evaluate(Judge(judge), task, data, log_samples=True, metadata={"counts": "any"})
    names = [*METRICS, "acc_sym"] if task.endswith("_mc") else METRICS
    of_id = {case.id: case for case in load_cases(data, "general", "hard", counts="any")}
    cases, prompts = {}, []
    for sample in results["samples"][task]:
        case = of_id[sample["doc"]["id"]]
        values = {name: sample[name] for name in names}
        cases[case.question, *sorted(case.responses)] = [*sample["filtered_resps"]], values
        prompts += [prompt for prompt, *_ in sample["arguments"]]
    totals = {key.removesuffix(",none"): value for key, value in results["results"][task].items()}
    return Run(cases, {name: value for name, value in totals.items() if isinstance(value, float)}, prompts)


@pytest.fixture(scope="module")
def rows(real_part_folder):
    """80 rows of the real cell, in the order of the file."""
    return [json.loads(line) for line in (real_part_folder / "data/general/hard.jsonl").read_bytes().splitlines()]


@pytest.fixture(scope="module")
def personas(real_part_folder, rows):
    users = dict.fromkeys(row["user_id"] for row in rows)
    return {user: json.loads((real_part_folder / "persona" / f"{user}.json").read_bytes()) for user in users}


@pytest.mark.parametrize(("judge", "task"), [("mixed", TASK), ("readable", TASK), ("mixed", f"{TASK}_mc")])
def test_swapping_the_labels_mirrors_every_metric(judge, task, make_release, rows, personas, real_part_folder):
    """What follows when both prompts and both replies change their places.

    A readable reply picks one response or the other, so what picked the chosen one now picks the rejected one: per case acc + acc' is
    the share of readable replies, 1 - invalid. A pair that is readable and consistent picks one of the two responses twice:
    acc_both + acc_both' is consistency, and 0 where that is undefined.
    """
    swapped = [{**row, "chosen": row["reject"], "reject": row["chosen"]} for row in rows]
    data = make_release({"general/hard": swapped}, personas)
    one, two = (run_of(folder, judge, task) for folder in (real_part_folder, data))
    assert sorted(two.prompts) == sorted(one.prompts)
    assert one.cases.keys() == two.cases.keys()
    for texts, (answers, values) in one.cases.items():
        mirrored_answers, mirrored = two.cases[texts]
        half = len(answers) // 2
        assert mirrored_answers == answers[half:] + answers[:half]
        assert values["acc"] + mirrored["acc"] == 1 - values["invalid"]
        both = values["acc_both"] + mirrored["acc_both"]
        assert both == (0 if math.isnan(values["consistency"]) else values["consistency"])
        for name in ("consistency", "first_rate", "invalid"):
            assert mirrored[name] == same(values[name], abs=0, rel=0, nan_ok=True)
        if "acc_sym" in values:
            assert values["acc_sym"] + mirrored["acc_sym"] == 1
    assert one.totals["acc"] + two.totals["acc"] == same(1 - one.totals["invalid"], abs=1e-12)
    for name in ("consistency", "first_rate", "invalid"):
        assert two.totals[name] == same(one.totals[name], rel=1e-12)
    assert (one.totals["invalid"] > 0) == (judge == "mixed")
    if judge == "readable":
        assert one.totals["first_rate"] > 0.55, "without a bias its mirror would say nothing"
        assert two.totals["acc_stderr"] == same(one.totals["acc_stderr"], rel=1e-12)


def test_other_names_of_users_and_another_order_of_lines_change_nothing(make_release, rows, personas, real_part_folder):
    """New names sort in another order than the old ones, and some hold what file names may hold."""
    names = {user: f"{number(user) % 997} Nutzerin 用户.{place}" for place, user in enumerate(personas)}
    assert sorted(personas, key=names.get) != sorted(personas)
    renamed = [{**row, "user_id": names[row["user_id"]]} for row in random.Random(7).sample(rows, len(rows))]
    data = make_release({"general/hard": renamed}, {names[user]: profile for user, profile in personas.items()})
    one, two = run_of(real_part_folder), run_of(data)
    assert two.prompts != one.prompts
    assert sorted(two.prompts) == sorted(one.prompts)
    assert one.cases.keys() == two.cases.keys()
    for texts, (answers, values) in one.cases.items():
        assert two.cases[texts] == (answers, same(values, abs=0, rel=0, nan_ok=True))
    assert two.totals == same(one.totals, rel=1e-12)
    assert two.totals["acc_stderr"] > 0
