"""The model card: what it says and which runs it refuses, read back with huggingface_hub's own readers."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import pytest
import yaml
from msgspec import structs
from support.cards import MOSTLY_RIGHT, MOSTLY_RUN, load, update, with_ceiling
from support.commands import ran
from support.judges import readable
from support.sample_runs import GOLD, SAMPLE, run_of

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.rewards import TOTAL
from personafeedback_tasks.core.window import PromptCheck
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import CELLS
from personafeedback_tasks.reports import card as cards
from personafeedback_tasks.reports.card import update_card, write_eval_results
from personafeedback_tasks.reports.card_file import CardError, CardFile

REPORT = find("personafeedback").report
CARD = REPORT.card


def half_right(index: int) -> tuple[str, str]:
    """The control that knows nothing, and does not answer by place."""
    return GOLD if index % 2 else GOLD[::-1]


def refusing(index):
    return GOLD if index % 2 else ("refusal", "refusal")


# --- model-index -----------------------------------------------------------------------------------------------------


def test_every_measure_of_every_group_is_read_back_in_percent_with_its_interval(tmp_path):
    """Of the score and of both differences, each beside the signature of its control; tests/printed.txt has all fields."""
    path, run = tmp_path / "card.md", run_of(lambda index: GOLD if index % 5 else ("refusal", "A"))
    none = run_of(half_right, signature={"setting": "no_persona"})
    other = run_of(lambda index: GOLD if index % 7 else ("A", "A"), signature={"setting": "other_persona"})
    controls = {"no_persona": none, "other_persona": other}
    update(path, run, controls)
    report = make_report(run, SAMPLE, controls)
    found = {(result.dataset_config, result.metric_type): result for result in load(path).eval_results}
    measures = {"accuracy": "acc", "right_minus_wrong": "right_minus_wrong", "persona_gain": "persona_gain"}
    assert [*found] == [(name, kind) for name in report.groups for kind in measures]
    for (name, kind), result in found.items():
        group, args = report.groups[name], result.metric_args
        one = group.measures[measures[kind]]
        assert result.metric_value == round(100 * one.value, 2)
        assert args["interval_95"] == [round(100 * one.low, 2), round(100 * one.high, 2)]
        assert (args["stderr"], args["cases"], args["users"]) == (round(100 * one.stderr, 2), group.cases, one.users)
        assert args["signature"] == report.signature
        if kind == "accuracy":
            assert (args["refusals"], args["unreadable"]) == (group.reasons["refusal"], 0)
    assert "setting other_persona" in found["total", "right_minus_wrong"].metric_args["control"]
    assert "setting no_persona" in found["total", "persona_gain"].metric_args["control"]
    assert update(path, run, controls).startswith(f"{path}: nothing to change.")
    update(path, run)  # without the controls they are gone, and nothing is there twice
    assert [result.metric_type for result in load(path).eval_results] == ["accuracy"] * 9


def test_each_group_has_the_baseline_of_its_own_cases(tmp_path):
    run, texts = MOSTLY_RUN, REPORT.examine(SAMPLE, MOSTLY_RUN.cases)
    longest = {name: float(case.cell == "general_hard") for name, case in run.cases.items()}
    texts = replace(texts, baselines={**texts.baselines, "longest": longest})
    cards.update_card(run, make_report(run, SAMPLE, texts=texts), SAMPLE, CardFile(tmp_path / "card.md", run.name), {})
    found = {one.dataset_config: one.metric_args["baseline_longest"] for one in load(tmp_path / "card.md").eval_results}
    expected = {"general_hard": 100, "general": 33.33, "total": 16.67}
    assert found == {name: expected.get(name, 0) for name in found}


@pytest.mark.parametrize("cells", [CELLS, CELLS[-1:]])
def test_a_card_is_short_outside_of_what_it_folds_away(cells, tmp_path):
    """With every cell, both controls, refusals and a ceiling: the longest there is."""
    controls = {
        setting: run_of(signature={"setting": setting}, cells=cells) for setting in ("no_persona", "other_persona")
    }
    run = run_of(lambda index: ("refusal", "A") if index % 9 == 0 else GOLD, cells=cells)
    report = with_ceiling(run, controls, specific=0.9996, general=0.957, total=0.98)
    text = cards.section(run, report, SAMPLE, CARD, {})
    outside, _, folded = text.partition("<details>")
    assert len(outside.split()) <= 355, len(outside.split())
    assert outside.count("| :-- |") == 1
    assert "(contradictory labels): general 95.7" in outside
    assert "setting=persona," in folded


def test_the_hubs_file_of_results_has_the_score_of_each_group(tmp_path):
    entries = yaml.safe_load(write_eval_results(MOSTLY_RUN, MOSTLY_RIGHT, CARD, tmp_path).read_text("utf-8"))
    for one, (name, group) in zip(entries, MOSTLY_RIGHT.groups.items(), strict=True):
        acc = group.measures["acc"]
        task = "personafeedback" if name == "total" else f"personafeedback_{name}"
        assert (one["dataset"]["task_id"], one["value"]) == (task, round(100 * acc.value, 2))
        assert f"by {acc.users} users, {acc.n} cases;" in one["notes"]


# --- the section -----------------------------------------------------------------------------------------------------


def test_no_folder_of_this_machine_and_no_markup_of_others_gets_into_a_card(tmp_path):
    marker = "<!-- personafeedback: end persona -->"
    run = run_of(
        model="/home/someone/secret project/model",
        signature={"source": "/home/someone/data"},
        conditions={
            "chat template": "applied",
            "peft": "/home/someone/adapters/lora",
            "system instruction": f"Say ``` `A`\n\n{marker}\n# no heading",
        },
    )
    for _ in range(2):
        update(tmp_path / "README.md", run)
        text = (tmp_path / "README.md").read_text(encoding="utf-8")
        assert "/home" not in text
        assert "data a local copy | sha256" in text
        assert "peft=lora" in text
        assert text.splitlines().count(marker) == 1
        assert text.endswith(f"{marker}\n")
        assert "\n# no heading" not in text
    said = structs.replace(MOSTLY_RIGHT, verdict="<b>Best</b>", labels=["[worst](http://else)"])
    text = cards.section(MOSTLY_RUN, said, SAMPLE, CARD, {})
    assert r"\<b>Best" in text
    assert r"\[worst" in text


REWARD = {"method": "reward", "fingerprint": "conversations-0123456789ab"}

# --- other ways of asking --------------------------------------------------------------------------------------------


def reward_run(**kwargs):
    run = run_of(signature=REWARD, **kwargs)
    results = []
    for index, result in enumerate(run.results):
        values, rewards = {"acc": float(index % 4 > 0), "tie": 0.0}, {TOTAL: (float(index % 4), 0.5)}
        results.append(result.changed(answers=(), targets=(), values=values, rewards=rewards))
    return replace(run, results=results)


def test_a_reward_model_has_no_orders(tmp_path):
    update(tmp_path / "README.md", reward_run())
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "one response at a time" in text
    assert "orders" not in text
    assert "| total | 48 | **75.0** |" in text


# --- what should not be published ------------------------------------------------------------------------------------


def unfinished(run):
    """Without the last case of General hard."""
    last = max(case_id for case_id, row in run.cases.items() if row.cell == "general_hard")
    return run.part(run.cases.keys() - {last})


def without_replies(run, missing):
    """The run, so many of whose results got one empty reply each."""
    empty = [
        one.changed(answers=("no_response", one.answers[1]), unread=(("no_response", ""),))
        for one in run.results[:missing]
    ]
    return replace(run, results=[*empty, *run.results[missing:]])


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (run_of(signature={"demonstration": True}), "DEMONSTRATION on the bundled sample"),
        (unfinished(run_of()), r"PARTIAL: general_hard 7 of 8\."),
        (run_of(prompts=PromptCheck(16, 3, 2048)), "PROMPTS CUT: 3 prompts did not fit"),
        (run_of(lambda index: ("prompt_cut", "A") if index == 1 else GOLD), "PROMPTS CUT: 1 prompts did not fit"),
        (without_replies(run_of(), 2), r"MISSING REPLIES: 2\.1 % of the replies"),
        (run_of(signature={"counts": "any"}), r"The number of cases in the data was not checked \(counts=any\)"),
        (
            run_of(lambda index: GOLD if index else ("no_response", "truncated"), cells=["general_hard"]),
            r" 12.5 % of the replies are unreadable \(no_response 6.2 %, truncated 6.2 %\)",
        ),
    ],
)  # fmt: skip
def test_a_run_that_nobody_should_publish_is_refused_with_the_reason(run, sentence, tmp_path):
    with pytest.raises(CardError, match=sentence) as refused:
        update(tmp_path / "README.md", run)
    assert str(refused.value).startswith(f"{run.logs[0]}: found a run that should not be in a model card, expected ")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("control", "value"), [("unreadable", "no_persona"), ("partial", "other_persona")])
def test_a_gain_over_a_control_that_did_not_answer_is_refused(control, value, tmp_path):
    """A control's empty replies count as wrong: the whole score would seem to be the persona's gain."""
    setting = {"setting": value}
    other = run_of(lambda index: ("no_response",) * 2 if control == "unreadable" else GOLD, signature=setting)
    if control == "partial":
        other = replace(other, results=other.results[:5])
    with pytest.raises(CardError, match=f"control {value}"):
        update(tmp_path / "README.md", run_of(), {value: other})
    assert os.listdir(tmp_path) == []


def test_without_the_data_there_are_no_baselines_and_so_no_card(tmp_path):
    run = run_of()
    report = make_report(run, None, no_data="There is no folder 'gone'.")
    with pytest.raises(CardError, match="There is no folder 'gone'. So there are no baselines .*Pass --data."):
        update_card(run, report, None, CardFile(tmp_path / "README.md", run.name), {})
    assert os.listdir(tmp_path) == []


# --- from a log --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_card_has_the_numbers_of_a_log_under_the_name_that_the_user_gives(harness, part_log, real_part, tmp_path):
    log = part_log(harness, "readable", "personafeedback_general_hard")
    run, path = read_run(log), tmp_path / "README.md"
    ran("card", log, "--data", real_part, "--model-card", path, "--name", f"{run.model}=lab/mid-a")
    data, text = load(path), path.read_text(encoding="utf-8")
    (result,) = data.eval_results
    read = [
        sum(read_reply(readable(case_id, order)) == TWO.right[order] for order in TWO.names) / 2
        for case_id in run.cases
    ]
    assert (result.dataset_config, result.metric_args["cases"]) == ("general_hard", 40)
    assert result.metric_value == round(100 * math.fsum(read) / len(read), 2)
    assert data.model_name == "lab/mid-a"
    assert "# lab/mid-a" in text
    assert "Language of the data, in cases: Chinese 40." in text
    assert str(real_part) not in text
    assert run.model not in text
