"""From logs to a report: the same numbers from either harness, a row for each thing that was asked, and its warnings."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import Counter

import pytest
from inspect_ai.log import read_eval_log
from support.commands import personafeedback, ran
from support.judges import JUDGES, readable
from support.logs import inspect_log
from support.shown import as_json, markdown, words

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.logs.caveat import VOID
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import LETTERS, REASONS, excerpt, read_reply
from personafeedback_tasks.personafeedback.audit import MEANINGS, audit
from personafeedback_tasks.personafeedback.baselines import BASELINES
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats.estimates import paired, share

same = pytest.approx


def named(report, name):
    return report.groups[name]


@pytest.fixture(scope="session")
def general(real_part_folder):
    return load_cases(real_part_folder, "general", counts="any")


@pytest.fixture
def part_logs(part_log, real_part):
    """Three cells, by each harness."""
    return {harness: part_log(harness, "mixed", "personafeedback_general") for harness in ("lm-eval", "inspect")}


def test_both_harnesses_give_the_same_report(general_logs):
    general = load_cases(general_logs.data, "general")
    logs = (general_logs.lm_eval, general_logs.inspect)
    one, two = (as_json(make_report(read_run(log), general)) for log in logs)
    for report in (one, two):
        for key in ("signature", "short_signature", "model", "name", "label"):
            del report[key]
        # of tokens that a server counts, which Inspect alone has
        report["caveats"] = [one for one in report["caveats"] if one["key"] != "prompts_not_checked"]
        for caveat in report["caveats"]:
            caveat["sentence"], *_ = caveat["sentence"].partition("not the model.")  # then: its harness's own options
    mine, its = ([cost["calls"] for cost in report.pop("costs")] for report in (one, two))  # lm-eval counts no tokens
    assert mine == its
    assert one == two
    assert one["groups"].keys() == {"general_easy", "general_medium", "general_hard", "general"}
    assert one["groups"]["general"]["reasons"].keys() == {
        "no_response", "truncated", "refusal", "invalid_response_format"
    }  # fmt: skip


def test_a_report_shows_five_of_the_replies_that_it_could_not_read(part_logs, general):
    for log in part_logs.values():
        made = make_report(read_run(log), general)
        said_by = {(case.id, JUDGES["mixed"](case.id, order)) for case in general for order in TWO.names}
        reason_of = {(case_id, excerpt(reply)): read_reply(reply) for case_id, reply in said_by}
        assert len(made.unread) == 5
        assert {one.reason for one in made.unread} == set(reason_of.values()) & set(REASONS)
        assert all(reason_of[one.case, one.reply] == one.reason for one in made.unread)


def _answers(case):
    return [read_reply(JUDGES["mixed"](case.id, order)) for order in TWO.names]


@pytest.mark.parametrize("name", ["general_hard", "general"])
def test_every_number_of_a_group_follows_from_the_answers(name, part_logs, general):
    group = named(make_report(read_run(part_logs["inspect"]), general), name)
    cases = [case for case in general if name in (case.cell, case.category)]
    answers = {case.id: _answers(case) for case in cases}
    complete = [pair for pair in answers.values() if all(answer in LETTERS for answer in pair)]
    replies = [answer for pair in answers.values() for answer in pair]
    readable = [answer for answer in replies if answer in LETTERS]

    assert (group.cases, group.of, group.replies) == (len(cases), len(cases), 2 * len(cases))
    assert group.reasons == Counter(answer for answer in replies if answer not in LETTERS)
    assert group.measures["consistency"].value == same(
        complete.count(["A", "B"]) / len(complete) + complete.count(["B", "A"]) / len(complete)
    )
    assert group.measures["bias_first"].value == same(complete.count(["A", "A"]) / len(complete))
    assert group.measures["bias_second"].value == same(complete.count(["B", "B"]) / len(complete))
    sides = ("consistency", "bias_first", "bias_second")
    assert sum(group.measures[side].value for side in sides) == same(1)
    assert group.measures["invalid"].value == same(1 - len(readable) / len(replies))

    def correct(case):
        return [answer == TWO.right[order] for answer, order in zip(answers[case.id], TWO.names, strict=True)]

    def acc(members):
        return share([sum(correct(case)) / 2 for case in members], [case.user_id for case in members])

    assert group.measures["acc"] == acc(sorted(cases, key=lambda case: case.id))
    of_readable = [
        sum(correct(case)) / sum(answer in LETTERS for answer in answers[case.id])
        for case in cases
        if any(answer in LETTERS for answer in answers[case.id])
    ]
    assert group.measures["acc_readable"].value == same(sum(of_readable) / len(of_readable))
    found = audit(general)
    flagged = {case.id for name in MEANINGS for case in found.found(name)}
    assert 0 < len([case for case in cases if case.id in flagged]) < len(cases)
    for subset, members in {
        "not_flagged": [case for case in cases if case.id not in flagged],
        "chosen_longer": [case for case in cases if len(case.chosen) > len(case.rejected)],
        "chosen_shorter": [case for case in cases if len(case.chosen) < len(case.rejected)],
    }.items():
        expected = acc(sorted(members, key=lambda case: case.id))
        found = group.measures[subset]
        assert (found.value, found.low, found.high, found.n) == same(
            (expected.value, expected.low, expected.high, len(members)), nan_ok=True
        )
    for baseline, judge in BASELINES.items():
        assert group.measures[baseline].value == same(sum(map(judge, cases)) / len(cases))


# --- what is a run ---------------------------------------------------------------------------------------------------


@pytest.fixture
def hard_logs(part_log, real_part):
    """One whole cell in every form that the issue of a row depends on."""
    task = "personafeedback_general_hard"
    return {
        "persona": part_log("lm-eval", "mixed", task),
        "readable": part_log("lm-eval", "readable", task),
        "no_persona": part_log("lm-eval", "anti_gold", task, metadata={"setting": "no_persona"}),
        "mc": part_log("lm-eval", "mixed", f"{task}_mc"),
        "partial": part_log("lm-eval", "mixed", task, limit=30),
    }


def test_a_run_of_whole_cells_is_not_partial_and_a_cell_begun_is(hard_logs, general, real_part, tmp_path):
    assert read_run(hard_logs["persona"]).partial == {}
    assert read_run(hard_logs["partial"]).partial == {"general_hard": (30, 40)}
    report = make_report(read_run(hard_logs["partial"]), general)
    severities = [caveat.severity for caveat in report.caveats]
    assert {*severities[: severities.count(VOID)]} == {VOID}  # the judge is silent in one reply of ten
    assert any(said.startswith("PARTIAL: general_hard 30 of 40") for said in words(report))
    done = personafeedback("report", "--full", hard_logs["partial"], "--data", real_part, "--out", tmp_path)
    assert "PARTIAL" in done.stdout
    for name in ("report.md", "report.html", "report.json"):
        assert "partial" in (tmp_path / name).read_text(encoding="utf-8").lower()
    assert "partial" not in markdown(make_report(read_run(hard_logs["persona"]), general)).lower()


@pytest.mark.slow
def test_a_run_on_rows_with_faults_is_split_by_them(make_release, tmp_path):
    """Four people were asked about six responses, of which 0, 1, ... 5 found the rejected one uncomfortable: half of them count."""
    none = {"uncomfortable": 0}
    rows = [
        {
            "user_id": f"u{number % 2}", "question": f"q{number}", "chosen": f"c{number}", "reject": "r",
            "faults": {"asked": 4, "chosen": none, "reject": {"uncomfortable": number}},
        }
        for number in range(6)
    ]  # fmt: skip
    data = make_release({"general/hard": rows}, {"u0": {"Name": "Ann"}, "u1": {"Name": "Bo"}})
    log = inspect_log(tmp_path / "logs", "mixed", "personafeedback_general_hard", data, counts="any")
    report = make_report(read_run(log), load_cases(data, "general", "hard", "any"))
    replies = [
        (read_reply(JUDGES["mixed"](f"general_hard:{number + 1}", order)), order)
        for number in (2, 3, 4, 5)
        for order in TWO.names
    ]
    found = report.overall.measures["rejected is uncomfortable"]
    assert found.n == 4
    assert found.value == same(sum(answer == TWO.right[order] for answer, order in replies) / len(replies))
    (shown,) = re.findall(r"rejected is uncomfortable \(%\) .*\n.*\n\| general hard \| ([\d.]+) ", markdown(report))
    assert shown == f"{100 * found.value:.1f}"
    assert "chosen is uncomfortable" not in report.overall.measures


# --- folders as they are ---------------------------------------------------------------------------------------------


def test_a_folder_has_a_row_for_each_thing_that_a_model_was_asked(hard_logs, real_part, tmp_path):
    """The control is paired with its run alone: the log-likelihoods of the same model have none."""
    for name in ("persona", "no_persona", "mc"):
        shutil.copytree(hard_logs[name].parent, tmp_path / "logs" / name)
    ran("report", "--full", tmp_path / "logs", "--data", real_part, "--out", tmp_path / "out")
    stored = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["reports"]
    methods = {re.search(r"setting (\S+) \| method (\S+)", report["signature"]).groups(): report for report in stored}
    assert methods.keys() == {("persona", "generate"), ("persona", "mc")}
    asked = methods["persona", "generate"]
    assert "setting no_persona" in asked["beside"]["no_persona"]
    assert "persona_gain" in asked["groups"]["general_hard"]["measures"]
    assert methods["persona", "mc"]["beside"] == {}


# --- the control -----------------------------------------------------------------------------------------------------


def test_the_persona_gain_is_paired_and_clustered_by_user(hard_logs, general):
    report = make_report(read_run(hard_logs["readable"]), general, {"no_persona": read_run(hard_logs["no_persona"])})
    gain = named(report, "general_hard").measures["persona_gain"]
    cases = sorted((case for case in general if case.cell == "general_hard"), key=lambda case: case.id)
    picks = [[read_reply(readable(case.id, order)) for order in TWO.names] for case in cases]
    acc = [sum(pick == TWO.right[o] for pick, o in zip(pair, TWO.names, strict=True)) / 2 for pair in picks]
    assert gain == paired(acc, [case.user_id for case in cases])  # the control picks the rejected response


# --- what is missing or broken ---------------------------------------------------------------------------------------


def test_without_data_it_prints_what_it_can_and_names_what_it_cannot(hard_logs, tmp_path):
    done = personafeedback("report", "--full", hard_logs["persona"], "--data", tmp_path)
    assert done.exit_code == 1
    shutil.copytree(hard_logs["persona"].parent, tmp_path / "log")
    (results,) = (tmp_path / "log").glob("results_*.json")
    text = results.read_text(encoding="utf-8")
    source = read_run(results).signature.source
    results.write_text(text.replace(json.dumps(source)[1:-1], "/gone"), encoding="utf-8")
    done = ran("report", "--full", results)
    words = " ".join(done.stdout.split())
    assert "no baselines and nothing else from the texts" in words
    assert "longest" not in words
    assert re.search(r"95 %.* interval", words)
    assert "The number of cases in the data was not checked" not in words  # Table 2 says it
    results.write_text(
        results.read_text(encoding="utf-8")
        .replace('"counts": "checked"', '"counts": "any"')
        .replace('"metadata": {', '"metadata": {"counts": "any", '),
        encoding="utf-8",
    )
    words = " ".join(personafeedback("report", "--full", results).stdout.split())
    assert "no baselines and nothing else from the texts" in words
    assert "The number of cases in the data was not checked (counts=any)." in words


def test_answers_to_other_texts_are_refused(hard_logs, make_release, real_part):
    rows = [json.loads(line) for line in (real_part / "data/general/hard.jsonl").read_bytes().splitlines()]
    rows[16]["question"] += "?"
    personas = {row["user_id"]: json.loads((real_part / f"persona/{row['user_id']}.json").read_bytes()) for row in rows}
    other = make_release({"general/hard": rows}, personas)
    done = personafeedback("report", "--full", hard_logs["persona"], "--data", other)
    assert done.exit_code == 1
    assert "1 of 40 cases have other texts" in done.output
    assert "general_hard:17" in done.output


@pytest.mark.slow
def test_a_report_warns_of_few_users_and_of_no_spread(tmp_path, make_release):
    log = inspect_log(tmp_path / "eight", "mixed", "personafeedback_hard", "sample")
    report = make_report(read_run(log), load_cases("sample"))
    for said in ("Only 8 users: 95 % intervals are rough.", "DEMONSTRATION on the bundled sample"):
        assert any(caveat.startswith(said) for caveat in words(report))
    for judge, said in (("gold", "This close to 0 or 100 %"), ("always_first", "All cases have the same score")):
        log = inspect_log(tmp_path / judge, judge, "personafeedback_hard", "sample")
        report = make_report(read_run(log), load_cases("sample"))
        assert any(caveat.startswith(said) for caveat in words(report))
        assert math.isnan(report.overall.measures["acc"].low) == (judge == "always_first")
    row = {"user_id": "u", "question": "q", "chosen": "c", "reject": "r"}
    one = make_release({"general/hard": [row, {**row, "question": "p"}]}, {"u": {"Name": "Li"}})
    log = inspect_log(tmp_path / "one", "mixed", "personafeedback_general_hard", one, counts="any")
    report = make_report(read_run(log), load_cases(one, "general", "hard", "any"))
    assert any(caveat.startswith("Only one user: no standard error") for caveat in words(report))
    assert math.isnan(report.overall.measures["acc"].low)


# --- what Inspect does beyond one pass -------------------------------------------------------------------------------


def test_a_header_never_reaches_the_signature(tmp_path):
    log = inspect_log(
        tmp_path, "gold", "personafeedback_hard", "sample", limit=2, top_p=0.5, max_retries=3,
        extra_headers={"Authorization": "Bearer secret"},
    )  # fmt: skip
    assert b"secret" in json.dumps(read_eval_log(str(log)).plan.config.extra_headers).encode()
    report = make_report(read_run(log), load_cases("sample"))
    assert "secret" not in json.dumps(as_json(report))
    assert "top_p=0.5" in report.signature
    assert "max_retries" not in report.signature


@pytest.mark.slow
def test_epochs_are_averaged_per_case(tmp_path):
    log = inspect_log(tmp_path, "mixed", "personafeedback_hard", "sample", epochs=3)
    once = inspect_log(tmp_path / "once", "mixed", "personafeedback_hard", "sample")
    cases = load_cases("sample", difficulty="hard")
    three, one = (make_report(read_run(path), cases).overall for path in (log, once))
    assert three.cases == one.cases
    assert three.replies == 3 * one.replies
    assert three.measures["acc"] == one.measures["acc"]  # the judge repeats itself
