"""What a change of the release must do to the results, and what it must leave alone. The judges see prompts only."""

from __future__ import annotations

import hashlib
import json
import math
import random

import pytest
from support.judges import MIXTURE, OTHER

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from lm_eval.api.model import LM
from support.lm_eval_runs import evaluate as evaluate_lm_eval

from personafeedback_tasks.pairwise.scoring import METRICS
from personafeedback_tasks.personafeedback.cases import load_cases

TASK = "personafeedback_general_hard"
same = pytest.approx


def number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def mixed(prompt: str) -> str:
    """Any kind of reply, the unreadable ones included. The letter leans to A: a position bias."""
    letter = "AAB"[number(prompt) % 3]
    return MIXTURE[number(prompt) // 3 % len(MIXTURE)].format(gold=letter, other=OTHER[letter])


def readable(prompt: str) -> str:
    return "AAB"[number(prompt) % 3]


def log_likelihood(prompt: str, letter: str) -> float:
    return -float(number(f"{prompt} {letter}") % 20)  # one pair in twenty is tied


JUDGES = {"mixed": mixed, "readable": readable}


class TextLM(LM):
    """Replies to the text of a prompt: the same text, the same reply."""

    def __init__(self, judge):
        super().__init__()
        self.judge = JUDGES[judge]
        self.prompts = []

    def generate_until(self, requests, disable_tqdm=False):
        self.prompts += [request.args[0] for request in requests]
        return [self.judge(request.args[0]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        self.prompts += [request.args[0] for request in requests]
        return [(log_likelihood(r.args[0], r.args[1].strip()), False) for r in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")


class Run:
    """The results of one run: `cases` maps an id to (answers, value of every metric), `totals` a name to a value."""

    def __init__(self, cases, totals, prompts=()):
        self.cases, self.totals, self.prompts = cases, totals, prompts


def lm_eval(data, judge="mixed", task=TASK) -> Run:
    lm = TextLM(judge)
    results = evaluate_lm_eval(lm, task, data, log_samples=True, metadata={"counts": "any"})
    names = [*METRICS, "acc_sym"] if task.endswith("_mc") else METRICS
    cases = {
        sample["doc"]["id"]: (list(sample["filtered_resps"]), {name: sample[name] for name in names})
        for sample in results["samples"][task]
    }
    table = results["results"][task]
    return Run(cases, {key: value for key, value in table.items() if "," in key and value != "N/A"}, lm.prompts)


@pytest.fixture(scope="session")
def rows(real_part_folder):
    """80 rows of the real cell, in the order of the file."""
    return [json.loads(line) for line in (real_part_folder / "data/general/hard.jsonl").read_bytes().splitlines()]


@pytest.fixture(scope="session")
def personas(real_part_folder, rows):
    users = dict.fromkeys(row["user_id"] for row in rows)
    return {user: json.loads((real_part_folder / "persona" / f"{user}.json").read_bytes()) for user in users}


@pytest.fixture(scope="session")
def mixed_run(real_part_folder):
    return lm_eval(real_part_folder)


@pytest.fixture
def write(make_release, personas):
    return lambda rows, profiles=personas: make_release({"general/hard": rows}, profiles)


class same_cases:
    """Equal, where nan equals nan."""

    def __init__(self, cases):
        self.cases = cases

    def __eq__(self, other):
        return self.cases.keys() == other.keys() and all(
            answers == other[id_][0] and values == same(other[id_][1], abs=0, rel=0, nan_ok=True)
            for id_, (answers, values) in self.cases.items()
        )

    def __repr__(self):
        return "the same cases"


# --- chosen and rejected exchanged -----------------------------------------------------------------------------------


def with_labels_swapped(rows):
    return [{**row, "chosen": row["reject"], "reject": row["chosen"]} for row in rows]


def mirrors(one: Run, two: Run) -> None:
    """Assert of each case and of the totals what follows when both prompts and both replies change their places.

    A readable reply picks one response or the other, so what picked the chosen one now picks the rejected one: per
    case acc + acc' is the share of readable replies, 1 - invalid. A pair that is readable and consistent picks one of
    the two responses twice: acc_both + acc_both' is consistency, and 0 where that is undefined.
    """
    assert list(one.cases) == list(two.cases)
    for id_, (answers, values) in one.cases.items():
        mirrored_answers, mirrored = two.cases[id_]
        assert mirrored_answers == answers[len(answers) // 2 :] + answers[: len(answers) // 2]
        assert values["acc"] + mirrored["acc"] == 1 - values["invalid"]
        both = values["acc_both"] + mirrored["acc_both"]
        assert both == (0 if math.isnan(values["consistency"]) else values["consistency"])
        for name in ("consistency", "first_rate", "invalid"):
            assert mirrored[name] == same(values[name], abs=0, rel=0, nan_ok=True)
        if "acc_sym" in values:
            assert values["acc_sym"] + mirrored["acc_sym"] == 1


@pytest.mark.parametrize("judge", JUDGES)
def test_swapping_the_labels_mirrors_every_metric_in_lm_eval(judge, write, rows, real_part_folder, mixed_run):
    one = mixed_run if judge == "mixed" else lm_eval(real_part_folder, judge)
    two = lm_eval(write(with_labels_swapped(rows)), judge)
    mirrors(one, two)
    assert sorted(two.prompts) == sorted(one.prompts)
    acc, mirrored = one.totals["acc,none"], two.totals["acc,none"]
    assert acc + mirrored == same(1 - one.totals["invalid,none"], abs=1e-12)
    for name in ("consistency", "first_rate", "invalid"):
        assert two.totals[f"{name},none"] == one.totals[f"{name},none"]
    assert one.totals["first_rate,none"] > 0.55, "without a bias its mirror would say nothing"
    pairs = sum(not math.isnan(values["consistency"]) for _, values in one.cases.values())
    both = one.totals["acc_both,none"] + two.totals["acc_both,none"]
    assert both == same(one.totals["consistency,none"] * pairs / len(rows), abs=1e-12)
    if judge == "readable":
        assert one.totals["invalid,none"] == 0
        assert two.totals["acc_stderr,none"] == same(one.totals["acc_stderr,none"], rel=1e-12)


def test_swapping_the_labels_mirrors_every_metric_of_the_log_likelihoods(write, rows, real_part_folder):
    one = lm_eval(real_part_folder, task=f"{TASK}_mc")
    two = lm_eval(write(with_labels_swapped(rows)), task=f"{TASK}_mc")
    mirrors(one, two)
    assert one.totals["acc_sym,none"] + two.totals["acc_sym,none"] == same(1, abs=1e-12)
    assert {values["acc_sym"] for _, values in one.cases.values()} == {0, 0.5, 1}
    assert one.totals["invalid,none"] > 0, "no pair was tied"


# --- other names for the users ---------------------------------------------------------------------------------------


def with_users_renamed(rows, personas):
    """New names sort in another order than the old ones, and some hold what file names may hold."""
    names = {user: f"{number(user) % 997} Nutzerin 用户.{place}" for place, user in enumerate(personas)}
    assert sorted(personas, key=names.get) != sorted(personas)
    renamed = [{**row, "user_id": names[row["user_id"]]} for row in rows]
    return renamed, {names[user]: personas[user] for user in names if user in {row["user_id"] for row in rows}}


def test_renaming_the_users_changes_nothing_in_lm_eval(write, rows, personas, mixed_run):
    run = lm_eval(write(*with_users_renamed(rows, personas)))
    assert list(run.cases) == list(mixed_run.cases)
    assert run.prompts == mixed_run.prompts
    assert run.cases == same_cases(mixed_run.cases)
    assert run.totals == same(mixed_run.totals, abs=0, rel=0, nan_ok=True)
    assert run.totals["acc_stderr,none"] > 0


# --- other orders of the lines ---------------------------------------------------------------------------------------


def by_texts(run: Run, data):
    """The cases of a run under their texts, where their ids say something else."""
    texts = {case.id: (case.user_id, case.question, case.chosen, case.rejected) for case in load_cases_of(data)}
    assert texts.keys() == run.cases.keys()
    return {texts[id_]: result for id_, result in run.cases.items()}


def load_cases_of(data):
    return load_cases(data, "general", "hard", counts="any")


ORDERS = {
    "reversed": lambda rows: rows[::-1],
    "sorted by question": lambda rows: sorted(rows, key=lambda row: row["question"]),
    "shuffled": lambda rows: random.Random(7).sample(rows, len(rows)),
}


@pytest.mark.parametrize("order", ORDERS)
def test_reordering_the_lines_changes_no_case_and_no_total_in_lm_eval(order, write, rows, real_part_folder, mixed_run):
    data = write(ORDERS[order](rows))
    run = lm_eval(data)
    assert run.prompts != mixed_run.prompts
    assert sorted(run.prompts) == sorted(mixed_run.prompts)
    assert by_texts(run, data) == same_cases(by_texts(mixed_run, real_part_folder))
    assert run.totals == same(mixed_run.totals, rel=1e-12)
