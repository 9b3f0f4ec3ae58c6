"""`personafeedback verdict --risk`: a judge that abstains below a certainty."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from itertools import product
from math import exp, log1p
from pathlib import Path
from unittest.mock import patch

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")
pytest.importorskip("scipy")

from inspect_ai.model import Logprob, Logprobs, ModelAPI, ModelOutput, modelapi
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback
from support.duel_folders import write_duels
from support.inspect_runs import evaluate
from support.judges import JUDGES, OTHER
from support.logs import inspect_log, lm_eval_log
from support.outcomes import answering, changed, scored_case
from support.outputs import faults
from support.releases import write_release

from personafeedback_tasks.analysis.abstaining import AGREEMENT, Opinion, abstaining, examined, opinions
from personafeedback_tasks.analysis.cascade import Examinee, abstained, cascade
from personafeedback_tasks.choice.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.common.risk import parts_of
from personafeedback_tasks.engine.duels import Duels
from personafeedback_tasks.engine.outcome import ScoredCase
from personafeedback_tasks.engine.stopping import StopState
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports.abstaining_text import blocks, sentence, why_not
from personafeedback_tasks.runs.read import read_run
from personafeedback_tasks.runs.run import Run, RunError

same = pytest.approx

USERS, CASES = 42, 3


def careful(case_id: str, order: str) -> str:
    """Of a user's three cases it says the first text in one, and picks in the others, wrongly in one of 40 cases."""
    number = int(case_id.rpartition(":")[2])
    letter = CHOSEN_LETTER[order]
    return "A" if number % CASES == 0 else OTHER[letter] if number % 40 == 1 else letter


def rows() -> list[dict[str, str]]:
    return [
        {
            "user_id": f"u{number // CASES}", "question": f"What suits me, number {number}?", "chosen": f"Read book {number}, as you like.",
            "reject": f"Watch film {number}, as others do.",
        }
        for number in range(USERS * CASES)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A release of 42 users with three cases each, and duels of replies that are the better text in all of them."""
    root = tmp_path_factory.mktemp("abstaining")
    personas = {f"u{number}": {"Name": f"N{number}"} for number in range(USERS)}
    write_release(root / "release", {"general/hard": rows()}, personas)
    options = {"category": "general", "difficulty": "hard", "counts": "any"}
    write_duels(
        root / "duels", lambda case: case.chosen + "\u2028Yes.", against="rejected", data=root / "release", **options
    )
    return root


@modelapi(name="sure")
class Sure(ModelAPI):
    """`careful` with log-probabilities of both letters, one apart as those of lm-eval's scripted judges."""

    async def generate(self, input, tools, tool_choice, config):
        letter = careful(input[-1].metadata["case_id"], input[-1].metadata["call"])
        output = ModelOutput.from_content(self.model_name, letter)
        likely = [Logprob(token=name, logprob=-log1p(exp(-1)) - (name != letter)) for name in (letter, OTHER[letter])]
        output.choices[0].logprobs = Logprobs(content=[likely[0].model_copy(update={"top_logprobs": likely})])
        return output


def first_token_log(folder, judge, task, data, **options):
    """What Inspect leaves of a run with `method=logprobs`."""
    return Path(
        evaluate(getattr(tasks, task)(data=str(data), method="logprobs", **options), f"sure/{judge}", folder).location
    )


RUNS = {
    "inspect": (inspect_log, ""), "lm_eval": (lm_eval_log, ""), "mc": (lm_eval_log, "_mc"), "logprobs": (first_token_log, ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def logs(data, tmp_path_factory):
    """(harness, `release` or `duels`) -> the log of the judge."""
    root = tmp_path_factory.mktemp("logs")
    with patch.dict(JUDGES, {"careful": careful}):
        found = {}
        for (name, (harness, method)), of in product(RUNS.items(), ("release", "duels")):
            counts = {"counts": "any"}
            options = {"metadata": counts} if harness is lm_eval_log else counts
            task = f"personafeedback_general_hard{method}"
            found[name, of] = harness(root / name / of, "careful", task, data / of, **options)
    return found


def verdict(data, log, exam, risk, path):
    done = personafeedback("verdict", log, "--exam", exam, "--risk", risk, "--data", data / "duels", "--json", path)
    assert done.exit_code == 0, done.output
    document = json.loads(path.read_text("utf-8"))
    assert faults(document, "verdict") == []
    return document["verdicts"][0]["abstaining"], " ".join(done.stdout.split())


@pytest.mark.slow
def test_a_judge_of_known_certainty_in_both_harnesses(data, logs, tmp_path):
    """A third of the duels is left to people, and what is promised is what the exam's users give by hand."""
    found = {}
    for name in RUNS:
        exam, log = logs[name, "release"], logs[name, "duels"]
        found[name], printed = verdict(data, log, exam, 0.2, tmp_path / "v.json")
        assert "84 duels are decided, 42 are left for people." in printed
        # 42 users: 6 give the order, 6 show, and 30 chose
        assert (
            "had no part in choosing the threshold: 12 of the 42 users of these duels. The other 30 had a part in choosing it"
            in printed
        )
        assert (found[name]["users"], found[name]["users_who_chose"]) == (42, 30)
        if name in ("inspect", "lm_eval"):
            refused, _ = verdict(data, log, exam, 0.02, tmp_path / "v.json")
            why = {key: promise["why_not"] for key, promise in refused["promises"].items()}
            assert why["answered_and_wrong"] == "It needs 49 users to choose a threshold by, and the exam has 30."
            assert (
                why["wrong_among_answered"] == "In the exam of 30 users, no threshold that accepts a verdict keeps it."
            )
    assert found["inspect"] == found["lm_eval"]
    assert [found[name]["certainty"] for name in RUNS] == ["agreement", "agreement", "p_chosen", "p_chosen"]
    exam = read_run(logs["inspect", "release"])
    _, choosing, shown = parts_of([case.user_id for case in exam.cases.values()])
    lost = {user: 0 for user in (*choosing, *shown)}
    for case in exam.cases.values():
        if case.value("acc") == 0 and case.user_id in lost:
            lost[case.user_id] += 1
    loss = sum(lost[user] for user in choosing) / CASES
    assert loss > 0
    for made in found.values():
        first, second = made["promises"]["answered_and_wrong"], made["promises"]["wrong_among_answered"]
        assert first["bound"] == same((loss + 1) / (30 + 1))
        assert (first["exam_users"], first["accepted"], first["left"]) == (30, 84, 42)
        assert first["wrong"]["value"] == same(sum(lost[user] for user in shown) / CASES / len(shown))
        assert second["wrong"]["value"] == same(sum(lost[user] for user in shown) / 2 / len(shown))
        assert second["p"] <= 0.05
        for promise in (first, second):
            assert promise["coverage"]["value"] == same(2 / 3)
            assert promise["rate"]["value"] == same(1 - 3 / 84)  # of duels 1, 41 and 121
        assert promise["threshold"] == same(1.0 if made["certainty"] == AGREEMENT else 1 / (1 + 2.718281828**-1))


@pytest.mark.slow
def test_certainty_is_the_share_of_the_calls_of_all_epochs(logs):
    run = read_run(logs["inspect", "duels"])
    (case_id, case), *_ = run.cases.items()
    for said, opinion in (
        ((0, 0, 0, 0), Opinion(True, 1.0)), ((0, 0, 0, 1), Opinion(True, 0.75)), ((1, 1, 0, 1), Opinion(False, 0.75)), ((0, 1, 0, 1), Opinion(False, 0.0)),
    ):  # fmt: skip
        picks = [OTHER[target] if wrong else target for target, wrong in zip(case[0].targets * 2, said, strict=True)]
        epochs = [replace(case[0], answers=tuple(picks[:2])), replace(case[0], answers=tuple(picks[2:]), epoch=2)]
        assert opinions(replace(run, cases={case_id: ScoredCase(epochs)}), AGREEMENT) == {case_id: opinion}


@pytest.mark.slow
def test_the_cells_of_an_exam_weigh_as_those_of_the_duels(logs):
    """Two thirds of the exam are easy and one third of the duels: each of its hard cases counts four times an easy one."""
    exam = read_run(logs["inspect", "release"])
    cells = {case_id: "general_hard" if place % 3 == 0 else "general_easy" for place, case_id in enumerate(exam.cases)}
    mixed = {case_id: changed(case, cell=cells[case_id]) for case_id, case in exam.cases.items()}
    judged = examined(replace(exam, cases=mixed), AGREEMENT, ["general_hard"] * 6 + ["general_easy"] * 3)
    weight = {cells[case_id]: weight for case_id, weight in zip(mixed, judged.weights, strict=True)}
    assert weight["general_hard"] == same(4 * weight["general_easy"])
    only = examined(replace(exam, cases=mixed), AGREEMENT, ["general_hard"])
    assert len(only.users) == sum(cell == "general_hard" for cell in cells.values())


@pytest.mark.slow
def test_what_is_refused(logs):
    exam, log = logs["inspect", "release"], logs["inspect", "duels"]
    for risk in ("10", "0", "1"):
        done = personafeedback("verdict", log, "--exam", exam, "--risk", risk)
        assert done.exit_code != 0
        assert f"--risk must be a share above 0 and below 1, such as 0.1 for 10 %, got {risk}." in done.stderr
    run, examined = read_run(log), read_run(exam)
    few = {case_id: case for case_id, case in examined.cases.items() if int(case.user_id[1:]) < 29}
    with pytest.raises(ValueError, match="found an exam of 29 users in the cells of the duels, expected at least 30"):
        abstaining(run, replace(examined, cases=few), 0.2, False)
    ended = StopState("5", 35, 42, "above", (0.1, 0.6))
    with pytest.raises(
        ValueError, match="found an exam that stopped after 35 of 42 users.*keeps no promise.*without stop=5"
    ):
        abstaining(run, replace(examined, stopped=ended), 0.2, False)
    withdrawn = abstaining(run, examined, 0.2, True)
    for promise in withdrawn.promises:
        assert (promise.accepted, promise.left) == (0, len(run.cases))
        assert sentence(withdrawn, promise).endswith(
            "People's votes show that the judge errs differently here than in its exam."
        )
    assert len(blocks(withdrawn)) == 1
    assert all(promise.accepted for promise in abstaining(run, examined, 0.2, False).promises)
    silent = {case_id: answering(case, ("", "")) for case_id, case in examined.cases.items()}
    nothing = abstaining(run, replace(examined, cases=silent), 0.2, False)
    said = [why_not(nothing, promise) for promise in nothing.promises]
    assert said == ["In the exam of 30 users, no threshold that accepts a verdict keeps it."] * 2
    assert set(opinions(replace(run, cases=silent), AGREEMENT).values()) == {Opinion(False, 0.0)}


@pytest.mark.slow
def test_a_second_judge_decides_what_the_first_leaves(data, logs, tmp_path):
    """The first one decides 84 duels at half of the risk, three of them wrongly; the second one, without errors, the other 42."""
    exam, log = logs["inspect", "release"], logs["inspect", "duels"]
    done = personafeedback("export", "--abstained", log, "--exam", exam, "--risk", 0.2, "--out", tmp_path / "rest")
    assert done.exit_code == 0, done.output
    assert f"wrote {tmp_path / 'rest'}: 42 of 126 duels, on which scripted/careful abstains" in done.output
    first = [case_id for case_id, opinion in opinions(read_run(log), AGREEMENT).items() if opinion.certainty < 1]
    asked = load_cases(tmp_path / "rest", "general", "hard")
    assert [case.extra["source"] for case in asked] == first  # the duels of a release have its ids
    counts = {"metadata": {"counts": "any"}}
    task = "personafeedback_general_hard"
    second = lm_eval_log(tmp_path / "second", "gold", task, tmp_path / "rest", **counts)
    its_exam = lm_eval_log(tmp_path / "its_exam", "gold", task, data / "release", **counts)
    arguments = ("verdict", log, "--then", second, "--exam", exam, "--exam", its_exam)
    done = personafeedback(*arguments, "--risk", 0.2, "--json", tmp_path / "c.json")
    assert done.exit_code == 0, done.output
    alone = personafeedback("verdict", log, "--then", second, "--exam", exam, "--risk", 0.2)
    assert alone.exit_code == 1
    assert f"{exam}: found the exam of another judge than in" in alone.output
    assert alone.output.endswith("--then needs the exam of each judge: pass --exam twice.\n")
    document = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert faults(document, "verdict") == []
    found = document["cascade"]
    assert [(judge["asked"], judge["accepted"], judge["calls"], judge["unseen"]) for judge in found["judges"]] == [
        (126, 84, 252, 0), (42, 42, 84, 0),
    ]  # fmt: skip
    assert (found["left"], found["rate"]["value"]) == (0, same(1 - 3 / 126))
    assert found["bound"] == same(sum(judge["bound"] for judge in found["judges"]))
    assert found["bound"] <= 0.2
    assert found["judges"][1]["bound"] == same(1 / 31)
    assert found["coverage"]["value"] == 1
    assert found["accuracy"]["value"] == same(1 - found["wrong"]["value"])
    assert "0 are left for people." in " ".join(done.stdout.split())
    assert (found["users"], found["users_who_chose"]) == (42, 30)
    low = personafeedback(*arguments, "--risk", 0.02)  # no judge may decide anything
    assert "126 are left for people." in " ".join(low.stdout.split())


# --- two judges, by hand ------------------------------------------------------------------------------------------------

EVERY = range(1, USERS * CASES + 1)


def run_by(model, says, numbers, prefix="general_hard"):
    """A judge's run on cases with these numbers."""
    cases = {}
    for number in numbers:
        case_id = f"{prefix}:{number}"
        picks = tuple(says(case_id, order) for order in ORDERS)
        cases[case_id] = scored_case(
            case_id, "general_hard", f"u{(number - 1) // CASES}", tuple(CHOSEN_LETTER[order] for order in ORDERS), [picks]
        )  # fmt: skip
    signature = {"benchmark": "personafeedback", "method": "generate"}
    return Run(model, "h", "", signature, {}, {"general_hard": len(cases)}, cases, (Path(f"{model}.{prefix}"),))


def examinee(model, says, numbers, writer="w"):
    """A judge of duels, which have ids of their own, and that it had all cases in its exam."""
    run = run_by(model, says, numbers, "duel")
    sources = {case_id: case_id.replace("duel", "general_hard") for case_id in run.cases}
    return Examinee(
        run, run_by(model, says, EVERY), Duels(writer=writer, against="rejected", models=(writer,), sources=sources)
    )


def gold(case_id, order):
    return CHOSEN_LETTER[order]


def steps_of(found):
    return [(step.model, step.asked, step.accepted, step.calls, step.unseen) for step in found.steps]


def test_a_second_judge_pays_and_decides_for_the_duels_that_the_first_leaves():
    """The first one leaves every third of 126 duels. The second one has seen all but one of these, and others, which cost nothing."""
    first = examinee("cheap", careful, EVERY)
    second = examinee("dear", gold, [number for number in EVERY if number not in (2, 9)])
    found = cascade(first, second, 0.2)
    assert steps_of(found) == [("cheap", 126, 84, 252, 0), ("dear", 42, 41, 82, 1)]
    assert (found.left, found.users, found.chose) == (1, 42, 30)
    assert found.rate.value == same(1 - 3 / 125)  # the first is wrong in duels 1, 41 and 121
    assert found.bound == same(found.steps[0].threshold.bound + 1 / 31)
    assert (found.coverage.value, found.accuracy.value) == (1, same(1 - found.wrong.value))
    twice = replace(
        first.run,
        cases={name: ScoredCase([case[0], replace(case[0], epoch=2)]) for name, case in first.run.cases.items()},
    )
    assert [step.calls for step in cascade(replace(first, run=twice), second, 0.2).steps] == [504, 82]


def test_a_judge_whom_people_contradict_decides_nothing_and_the_other_sees_all():
    first, second = examinee("cheap", careful, EVERY), examinee("dear", gold, EVERY)
    without = cascade(replace(first, differs=True), second, 0.2)
    assert steps_of(without) == [("cheap", 126, 0, 252, 0), ("dear", 126, 126, 252, 0)]
    assert (without.left, without.bound) == (0, same(1 / 31))
    alone = cascade(first, replace(second, differs=True), 0.2)
    assert steps_of(alone) == [("cheap", 126, 84, 252, 0), ("dear", 42, 0, 84, 0)]
    assert alone.left == 42
    with pytest.raises(RunError, match="dear.duel: found duels of other against rejected, expected w against rejected"):
        cascade(first, examinee("dear", gold, EVERY, "other"), 0.2)


def test_the_duels_of_a_second_judge_are_those_below_the_threshold():
    first = examinee("cheap", careful, EVERY)
    assert abstained(first, 0.2) == [f"duel:{number}" for number in EVERY if number % CASES == 0]
    half = cascade(first, first, 0.2).steps[0].threshold.bound  # each judge may use half of the risk
    assert [len(abstained(first, risk)) for risk in (1.99 * half, 2.01 * half)] == [USERS * CASES, USERS]


@pytest.mark.slow
@pytest.mark.parametrize("agree", [True, False])
def test_judges_that_people_contradict_decide_nothing_in_a_cascade(data, logs, tmp_path, agree):
    """Both judges see all duels and find the replies better; so do people, or they find nine of ten worse."""
    exam, log = logs["inspect", "release"], logs["inspect", "duels"]
    with patch.dict(JUDGES, {"better": lambda case_id, order: CHOSEN_LETTER[order]}):
        task, counts = "personafeedback_general_hard", {"counts": "any"}
        second = inspect_log(tmp_path / "second", "better", task, data / "duels", **counts)
        its_exam = inspect_log(tmp_path / "its_exam", "better", task, data / "release", **counts)
    lines = [
        f"general_hard:{number},{'reply' if agree or number % 10 == 0 else 'other'}\n" for number in range(1, 127) for _ in range(2)
    ]  # fmt: skip
    (tmp_path / "votes.csv").write_text("".join(["case,winner\n", *lines]))
    arguments = ("verdict", log, "--then", second, "--exam", exam, "--exam", its_exam, "--risk", 0.2)
    done = personafeedback(*arguments, "--human", tmp_path / "votes.csv", "--json", tmp_path / "c.json")
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert faults(document, "verdict") == []
    (tmp_path / "one.csv").write_text("".join(["case,winner\n", *lines[::2]]))  # one vote on each duel
    done_by_one = personafeedback(*arguments, "--human", tmp_path / "one.csv").stdout
    for name in ("careful", "better"):
        said = f"People's votes do not test whether scripted/{name} errs on these replies as in its exam. No duel has the votes of two people"
        assert said in " ".join(done_by_one.split())
    steps = [(judge["accepted"], judge["differs"]) for judge in document["cascade"]["judges"]]
    assert steps == ([(84, False), (42, False)] if agree else [(0, True), (0, True)])
    assert ("it decides nothing." in done.stdout) is not agree
    assert f"{0 if agree else 126} are left for people." in " ".join(done.stdout.split())
    done = personafeedback("export", "--abstained", log, "--exam", exam, "--risk", 0.2, "--out", tmp_path / "rest")
    assert done.exit_code == 0, done.output
    (next_command,) = (line for line in done.stdout.splitlines() if line.startswith("  personafeedback verdict "))
    with patch.dict(JUDGES, {"better": lambda case_id, order: CHOSEN_LETTER[order]}):
        some = inspect_log(tmp_path / "some", "better", task, tmp_path / "rest", **counts)
    arguments = ("verdict", log, "--then", some, "--exam", exam, "--exam", its_exam, "--risk", 0.2)
    printed = [{"DUEL_RUN": some, "RUN": its_exam}.get(word, word) for word in shlex.split(next_command)[1:]]
    assert list(map(str, printed)) == list(map(str, arguments))
    done = personafeedback(*arguments, "--human", tmp_path / "votes.csv")
    assert done.exit_code == 0, done.output
    assert (
        "do not test whether scripted/better errs on these replies as in its exam. It has seen only the duels"
        in " ".join(done.stdout.split())
    )


def test_options_that_do_not_go_together(tmp_path):
    for arguments, said in (
        (("verdict", tmp_path, "--exam", tmp_path, "--then", tmp_path), "--then goes with --risk and one run of duels"),
        (("export", "--abstained", tmp_path, "--out", tmp_path / "x"), "--abstained needs --exam and --risk"),
        (
            (
                "export",
                "--abstained",
                tmp_path,
                "--exam",
                tmp_path,
                "--risk",
                0.2,
                "--category",
                "general",
                "--out",
                "x",
            ),
            "leave out --format, --category and --difficulty",
        ),
        (("export", "--out", tmp_path / "x"), "export needs --format rewardbench, or --abstained"),
    ):
        done = personafeedback(*arguments)
        assert done.exit_code == 1
        assert said in done.stderr
