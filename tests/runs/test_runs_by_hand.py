"""Runs beside their data, writers, epochs, marks and advice, each rule by itself: on logs of the toy harness, and a small one of lm-eval."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("lm_eval")

from support import jsonl_harness
from support.duel_folders import write_duels
from support.judges import JUDGES
from support.logs import lm_eval_log
from support.outcomes import changed

from personafeedback_tasks.engine.duels import Duels, NotAsked
from personafeedback_tasks.engine.outcome import Outcome
from personafeedback_tasks.engine.recorded import Key
from personafeedback_tasks.engine.signature import KEY
from personafeedback_tasks.engine.stopping import StopPlan, read_rule, user_order
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.runs import earlier
from personafeedback_tasks.runs import lm_eval_log as lm_eval_logs
from personafeedback_tasks.runs import log as logs
from personafeedback_tasks.runs import logged as replies_of
from personafeedback_tasks.runs.asked import checked, refuse_other_data
from personafeedback_tasks.runs.judged import Compared
from personafeedback_tasks.runs.logged import logged, with_tokens
from personafeedback_tasks.runs.marks import of_all_epochs
from personafeedback_tasks.runs.read import read_run, read_runs
from personafeedback_tasks.runs.run import RunError, signed
from personafeedback_tasks.runs.stopped import of_users, plan_in
from personafeedback_tasks.runs.unfinished import advice, perhaps
from personafeedback_tasks.runs.wrapping import PLAIN
from personafeedback_tasks.runs.written import of_writer

TASK = "personafeedback_general_hard"


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))


def toy(folder: Path, judge: str = "mixed", selection: str = "", **options: str) -> Path:
    return jsonl_harness.run(
        JUDGES[judge], judge, folder, "personafeedback", selection, **{"data": "sample", **options}
    )


# --- beside the data ----------------------------------------------------------------------------------------------------


def test_a_run_belongs_to_the_data_that_it_was_made_on(tmp_path):
    run, cases = read_run(toy(tmp_path, selection="hard")), load_cases("sample", difficulty="hard")
    refuse_other_data(run, cases)
    refuse_other_data(run, load_cases("sample"))  # that have more cells
    assert checked(run, cases).cases == run.cases
    name = min(run.cases)
    for changes, sentence in (
        ({"cells": {**run.cells, "general_hard": 9}}, "found 9 as the number of cases of general_hard, expected 8"),
        ({"cells": {**run.cells, "general_hard": 7}}, "found 7 as the number of cases of general_hard, expected 8"),
        ({"cases": {**run.cases, name: changed(run.cases[name], digest="x")}}, f"1 of 16 cases have other texts than in sample; the first is {name}, found x"),
        ({"cases": {**run.cases, name: changed(run.cases[name], user_id="x")}}, "1 of 16 cases belong to another user"),
        ({"cases": {**run.cases, name: changed(run.cases[name], cell="x")}}, "1 of 16 cases are in another cell"),
        ({"cases": {"x": changed(run.cases[name], case_id="x")}}, "1 of 1 cases have other texts than in sample; the first is x, found .*, expected no such case"),
    ):  # fmt: skip
        with pytest.raises(RunError, match=sentence):
            refuse_other_data(replace(run, **changes), cases)


def test_a_duel_is_on_another_set_than_the_benchmark(tmp_path):
    folder = write_duels(tmp_path / "duels", lambda case: "So.", difficulty="hard")
    run = read_run(toy(tmp_path, selection="hard", data=str(folder)))
    refuse_other_data(run, load_cases(folder, difficulty="hard"))
    with pytest.raises(
        RunError, match=r"found a run of .* with specific_hard 8, general_hard 8, expected one of .* with no manifest"
    ):
        refuse_other_data(run, load_cases("sample", difficulty="hard"))


# --- writers ------------------------------------------------------------------------------------------------------------


def test_a_writer_has_the_judges_values_and_what_needed_no_judge(tmp_path):
    run = read_run(toy(tmp_path, selection="general_hard"))
    duels = Duels(
        writer="acme/writer", against="chosen", models=("acme/writer",), sources={name: f"{name}!" for name in run.cases},
        not_asked=(
            NotAsked(case="t", cell="general_hard", user_id="u", why="tie"),
            NotAsked(case="e", cell="general_hard", user_id="u", why="empty"),
            NotAsked(case="o", cell="specific_hard", user_id="u", why="other_empty"),
        ),
    )  # fmt: skip
    found = of_writer(run, duels)
    assert found.model == "acme/writer"
    assert found.cells == {"general_hard": 10}  # of cells that the run asked alone
    assert {name: case.value("acc") for name, case in found.cases.items()} == {
        **{f"{name}!": case.value("acc") for name, case in run.cases.items()},
        "t": 0.5,
        "e": 0,
    }
    assert {case.digest for case in found.cases.values()} == {""}
    assert found.signature["set"]["counts"] == found.cells
    part = of_writer(replace(run, cells={"general_hard": 9}), duels)  # nobody knows which of the others belong to it
    assert part.cases.keys() == {f"{name}!" for name in run.cases}
    assert part.cells == {"general_hard": 9}


# --- epochs and advice --------------------------------------------------------------------------------------------------


def sample(case: str, epoch: int) -> Compared:
    made = object.__new__(Compared)
    object.__setattr__(made, "outcomes", [Outcome(case_id=case, epoch=epoch)])
    object.__setattr__(made, "where", f"sample {case}")
    return made


def test_cases_without_all_epochs_are_left_out(tmp_path):
    whole = [sample("a", 1), sample("a", 2)]
    assert of_all_epochs(tmp_path, whole, 2) == (whole, {})
    half = sample("b", 1)
    kept, left_out = of_all_epochs(tmp_path, [half, *whole, sample("c", 2)], 2)
    assert (kept, left_out) == (whole, {"without all 2 epochs of their case": 2})
    assert of_all_epochs(tmp_path, [], 2) == ([], {})
    with pytest.raises(RunError, match="found no case with all 2 epochs, expected 2 of each"):
        of_all_epochs(tmp_path, [half], 2)
    for epoch in (0, 3):
        with pytest.raises(RunError, match=f"sample a: found epoch {epoch} of a, expected 1 to 2"):
            of_all_epochs(tmp_path, [*whole, sample("a", epoch)], 2)


def test_advice_is_that_of_the_harness():
    assert advice("error") == "`inspect eval-retry LOG` resumes it."
    assert advice("error", "lm-eval 0.4.13").startswith("Start its command again: with the --use_cache FILE")
    assert advice("error") != advice("started")
    assert advice("started").startswith("If it still runs, wait for its end: ")
    for harness in ("inspect", "lm-eval"):
        assert perhaps(harness).endswith(advice("started", harness))


# --- signatures ---------------------------------------------------------------------------------------------------------


def test_a_signature_is_found_or_missed_by_name(tmp_path):
    run = read_run(toy(tmp_path, selection="hard"))
    assert signed({KEY: run.signature}, tmp_path) == [run.signature]
    assert signed({KEY: [run.signature] * 2}, tmp_path) == [run.signature] * 2
    for metadata in (None, {}, [KEY], {KEY: None}, {KEY: []}):
        with pytest.raises(RunError, match="found no signature of personafeedback-tasks"):
            signed(metadata, tmp_path)
    with pytest.raises(RunError, match="signature"):
        signed({KEY: "x"}, tmp_path)
    for changes, sentence in (
        ({"method": "x"}, "found the method 'x' in its signature, expected one of generate"),
        ({"benchmark": "x"}, "'x'"),
        ({"set": {"name": 7}}, "as set in its signature, expected"),
        ({"setting": 7}, "setting"),
    ):
        with pytest.raises(RunError, match=sentence):
            signed({KEY: {**run.signature, **changes}}, tmp_path)


# --- a log of lm-eval ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lm_eval(tmp_path_factory) -> Path:
    """The results of the group General, each of whose cells has a file of samples."""
    return lm_eval_log(tmp_path_factory.mktemp("lm_eval"), "mixed", "personafeedback_general", "sample")


def test_both_harnesses_read_to_the_same_cases(lm_eval, tmp_path):
    theirs, ours = read_run(lm_eval), read_run(toy(tmp_path, selection="general"))
    assert theirs.cases.keys() == ours.cases.keys() == {case.id for case in load_cases("sample", "general")}
    for name, case in theirs.cases.items():
        assert case[0].answers == ours.cases[name][0].answers
        assert dict(case[0].values) == pytest.approx(dict(ours.cases[name][0].values), nan_ok=True)
    assert theirs.cells == {"general_easy": 8, "general_medium": 8, "general_hard": 8}
    assert (theirs.partial, theirs.unchecked) == ({}, ())
    assert checked(theirs, load_cases("sample", "general")).cases == theirs.cases


def test_every_reply_comes_once_in_the_order_of_the_log(lm_eval, tmp_path):
    ours = read_run(toy(tmp_path, selection="general"))
    for run in (read_run(lm_eval), ours):
        found = list(logged(run))
        assert len({key for key, _ in found}) == len(found) == 2 * 24
        assert {key for key, _ in found} == {Key(name, order) for name in run.cases for order in run.method.calls}
        for key, reply in found:
            assert reply.text == JUDGES["mixed"](key.case_id, key.call)
    # A log that is read as one of two is asked for its own cases alone.
    other = read_run(toy(tmp_path / "other", selection="specific"))
    assert len(list(logged(replace(ours, logs=(*ours.logs, *ours.logs))))) == 2 * 24
    assert len(list(logged(replace(ours, logs=(*ours.logs, *other.logs))))) == 4 * 24


def test_a_file_of_samples_is_read_with_the_results_beside_it(lm_eval, tmp_path):
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in lm_eval.parent.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (hard,) = folder.glob("samples_*hard*.jsonl")
    alone = read_run(hard)
    assert alone.cells == {"general_hard": 8}
    assert alone.cases.keys() == {name for name, case in read_run(lm_eval).cases.items() if case.cell == "general_hard"}
    assert len(read_runs([folder])) == 1
    hard.unlink()
    with pytest.raises(
        RunError, match=f"found no {re.escape(hard.name)} beside it, only those of other cells. Restore it."
    ):
        read_run(folder / lm_eval.name)
    (easy,) = folder.glob("samples_*easy*.jsonl")
    assert read_run(easy).cells == {"general_easy": 8}  # which needs no other


def test_a_chat_is_logged_as_a_prompt_or_as_its_messages():
    turns = [
        {"role": "system", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "image"}]},
    ]
    row = {"doc": {"id": "c"}, "arguments": {"gen_args_0": {"arg_0": "plain", "arg_1": {"until": ["x"]}}}}
    assert lm_eval_logs._asked("w", row, PLAIN).calls == [(("", "plain"),)]
    row["arguments"] = {"gen_args_0": {"arg_0": [json.dumps(turns)], "arg_1": {}}, "gen_args_1": {"arg_0": turns}}
    said = (("system", "a"), ("user", "b{'type': 'image'}"))
    assert lm_eval_logs._asked("w", row, PLAIN).calls == [said, said]


# --- runs that stop -------------------------------------------------------------------------------------------------------


def test_a_log_says_whose_cases_are_whose(tmp_path):
    plan = plan_in(tmp_path, {"rule": "5", "cases_of_users": [2, 1]}, ["a", "b", "c"])
    assert (plan.rule.written, plan.cases) == ("5", (("a", "b"), ("c",)))
    some = plan_in(tmp_path, {"rule": "5", "cases_of_users": [2, 3]}, ["a", "b", "c"])
    assert [len(ids) for ids in some.cases] == [2, 3]
    assert some.cases[1][0] == "c"
    for noted in ({"rule": "5", "cases_of_users": 3}, {"rule": "soon", "cases_of_users": [3]}, {"rule": "5"}, "5"):
        with pytest.raises(RunError, match="as its stop rule, expected a rule and the cases of each user"):
            plan_in(tmp_path, noted, ["a", "b", "c"])


def test_users_count_in_the_order_that_is_drawn(tmp_path):
    run = read_run(toy(tmp_path, "gold", selection="hard"))
    order = user_order(case.user_id for case in run.cases.values())
    own = [tuple(name for name, case in run.cases.items() if case.user_id == user) for user in order]
    rule = read_rule("acc:50")
    (kept,) = of_users([run], StopPlan(rule, tuple(own)))
    assert kept.stopped is not None
    assert kept.cases.keys() == {name for ids in own[: kept.stopped.users] for name in ids}
    (limited,) = of_users([run], StopPlan(rule, (*own, ("not asked",))))
    assert limited.cases == kept.cases


# --- tokens, earlier runs, model arguments --------------------------------------------------------------------------------


def test_each_setting_has_the_tokens_of_its_own_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(replies_of, "counted_by", lambda tokenizer: lambda texts: [len(text) for text in texts])
    path = toy(tmp_path, "always_first", selection="general_hard", setting="persona,no_persona")
    _, *lines, _ = map(json.loads, path.read_text("utf-8").splitlines())
    persona, without = (with_tokens(run, "some") for run in read_runs([path]))
    for run, place in ((persona, slice(0, 2)), (without, slice(2, 4))):
        calls = {line["document"]["id"]: line["calls"][place] for line in lines}
        asked = {name: sum(len(text) for call in own for text in call["prompt"]) for name, own in calls.items()}
        assert (run.usage.calls, run.usage.input) == (2 * len(lines), sum(asked.values()))
        assert run.usage.output == 2 * len(lines)  # letters
    assert persona.usage.input > without.usage.input
    assert with_tokens(read_runs([path])[0], None).tokenizer == ""


def test_a_task_goes_on_from_a_whole_run_alone(tmp_path, monkeypatch):
    path = jsonl_harness.run(lambda case, call: "[]", "some", tmp_path, "recenter_extract", data="sample")
    found = earlier.find(str(path), "recenter_extract")
    assert {reply.text for case in found.cases for reply in case.replies} == {"[]"}
    with pytest.raises(RunError, match=r"found no run of recenter_select \(runs: recenter_extract\)"):
        earlier.find(str(path), "recenter_select")
    unfinished = [replace(run, status="cancelled") for run in read_runs([path])]
    monkeypatch.setattr(earlier, "opened", lambda paths: unfinished)
    with pytest.raises(RunError, match="expected a whole run"):
        earlier.find(str(path), "recenter_extract")
