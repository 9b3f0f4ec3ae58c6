"""PrefEval through both harnesses and every command, on its sample."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from personafeedback_tasks.inspect_tasks.prefeval import prefeval
from support.commands import personafeedback
from support.inspect_runs import evaluate, metrics
from support.lm_eval_runs import command as lm_eval_command
from support.models import FOUR, register
from support.stored import check_stored

from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.baselines import judges
from personafeedback_tasks.pairwise.benchmark import ChoiceOptions
from personafeedback_tasks.pairwise.scoring import p_chosen, score_answers, score_symmetric
from personafeedback_tasks.parsing.letters import readers
from personafeedback_tasks.prefeval.data import load
from personafeedback_tasks.prefeval.record import PREFEVAL
from personafeedback_tasks.stats.estimates import mean

SAMPLE = Path(str(files("personafeedback_tasks.prefeval") / "sample"))
SETTINGS = ("persona", "no_persona", "other_persona")
REPLIES = (
    "{right}", "Answer: {right}", "My choice:\n{right}", "**{other}**", "A", "D", "", "I cannot help with that.",
    "A or B.", "<think>Perhaps {other}</think>{right}",
)  # fmt: skip


def noisy(case_id: str, call: str) -> str:
    """Right, wrong, biased and unreadable replies; which one depends on case and order alone."""
    number = int(hashlib.sha256(f"{case_id} {call}".encode()).hexdigest(), 16)
    right = FOUR.right[call]
    other = FOUR.letters[(FOUR.letters.index(right) + 1 + number % 3) % 4]
    return REPLIES[number // 3 % len(REPLIES)].format(right=right, other=other)


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    if judge == "told" and KNOWN[case_id] in prompt:  # this user's own preference; else the longest response
        return FOUR.right[call]
    if judge == "told":
        judge = "longest"
    return noisy(case_id, call) if judge == "noisy" else judges(FOUR)[judge](prompt)


KNOWN = {case.id: case.known for case in load("sample")}


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """Highest for the letter that it would say."""
    said = reply(judge, prompt, case_id, call)
    return [-0.5 if letter == said else -2.0 for letter in FOUR.letters]


register("four", reply, likelihoods)

read, read_last_line = readers(FOUR.letters)


def longest_by_hand() -> dict[str, float]:
    """Row -> `acc` of always picking the longest option, the first of equals, over all rotations; from the files."""
    found = {}
    for path in SAMPLE.glob("*.json"):
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8")), start=1):
            options, right = row["classification_task_options"], 0
            for turn in range(4):
                shown = [options[(place - turn) % 4] for place in range(4)]
                right += max(shown, key=len) == options[0]
            found[f"{path.stem}:{number}"] = right / 4
    return found


@pytest.mark.parametrize("order", FOUR.names)
@pytest.mark.parametrize("name", [*SETTINGS, "cot"])
def test_the_prompts_are_those_that_were_stored(name, order, request):
    case = next(case for case in load("sample") if case.id == "travel_hotel:1")
    options = ChoiceOptions(method="cot") if name == "cot" else ChoiceOptions(setting=name)
    shown = zip(FOUR.letters, FOUR.shown(case.responses, order), strict=True)
    texts = {f"response {letter}": text for letter, text in shown}
    texts |= {"preference": case.known, "another preference": case.other_known, "question": case.question}
    store = request.config.getoption("--store")
    check_stored(f"prefeval, {name}", PREFEVAL.prompt(case, options, order), texts, store)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_prompt_tells_the_preference_nothing_or_another_one(setting):
    options = ChoiceOptions(setting=setting)
    for case in load("sample"):
        texts = [PREFEVAL.prompt(case, options, order) for order in FOUR.names]
        texts += [json.dumps(PREFEVAL.conversation(case, options, side)) for side in FOUR.sides]
        for text in texts:
            assert (case.known in text, case.other_known in text) == (setting == "persona", setting == "other_persona")


def expected(read_one) -> dict[str, float]:
    """Metric -> mean over the sample, of the replies of `noisy`."""
    scores = [
        score_answers(FOUR.letters, [read_one(noisy(case.id, name), False) for name in FOUR.names], FOUR)
        for case in load("sample")
    ]
    printed = [metric.name for metric in PREFEVAL.methods["generate"].metrics_in("inspect")]
    return {name: mean(score[name] for score in scores) for name in printed}


def in_lm_eval(judge: str, task: str, folder: Path) -> Path:
    """The results file of a run."""
    done = lm_eval_command(
        "--model", "four", "--model_args", f"judge={judge}", "--tasks", task, "--metadata", '{"data": "sample"}',
        "--log_samples", "--output_path", folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return max(folder.rglob("results_*.json"))


@pytest.mark.slow
def test_both_harnesses_and_the_reports_of_their_logs_have_the_scores_of_the_replies(tmp_path):
    results = in_lm_eval("noisy", "prefeval", tmp_path / "lm-eval")
    log = Path(evaluate(prefeval(data="sample"), "four/noisy", tmp_path / "inspect").location)
    scores = expected(read)
    table = json.loads(results.read_text(encoding="utf-8"))["results"]["prefeval"]
    assert {name: table[f"{name},none"] for name in scores} == pytest.approx(scores)
    found = metrics(read_eval_log(str(log)))
    assert {name: found[name] for name in scores} == pytest.approx(scores)
    one, other = (read_run(path) for path in (results, log))
    assert {case: row.values for case, row in one.cases.items()} == {
        case: row.values for case, row in other.cases.items()
    }
    shown = personafeedback("report", results, "--out", tmp_path)
    assert shown.exit_code == 0, shown.output
    made = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["reports"][0]
    assert "errors_per_row" in {caveat["key"] for caveat in made["caveats"]}
    total = made["groups"]["total"]
    assert total["measures"]["acc"]["value"] == pytest.approx(scores["acc"])
    assert total["measures"]["longest"]["value"] == pytest.approx(mean(longest_by_hand().values()))
    for heading in ("All 4 orders of a case", "acc_all", "bias_fourth", "fourth_rate", "right is longest"):
        assert heading in (tmp_path / "report.md").read_text(encoding="utf-8"), heading
    ranked = personafeedback("rank", results, log, "--data", "sample", "--full")
    assert ranked.exit_code == 0, ranked.output
    assert "first_rate" in ranked.output


@pytest.mark.slow
def test_the_judges_score_what_an_independent_count_says(tmp_path):
    by_hand = longest_by_hand()
    assert 0.25 < mean(by_hand.values()) < 1
    log = evaluate(prefeval(data="sample"), "prefeval/longest", tmp_path)
    assert {sample.id: sample.scores["prefeval"].value["acc"] for sample in log.samples} == by_hand
    report = PREFEVAL.report.examine(load("sample"), by_hand.keys())
    assert {case: scores["longest"] for case, scores in report.baselines.items()} == by_hand
    log = evaluate(prefeval(data="sample"), "prefeval/first", tmp_path)
    values = [sample.scores["prefeval"].value for sample in log.samples]
    assert {(value["acc"], value["first_rate"], value["consistency"]) for value in values} == {(0.25, 1, 0)}


@pytest.mark.slow
def test_without_the_preference_a_model_that_needs_it_scores_what_its_shortcut_does(tmp_path):
    log = evaluate(prefeval(data="sample", setting=list(SETTINGS)), "four/told", tmp_path)
    done = personafeedback("report", log.location, "--json", "-")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["reports"][0]["groups"]["total"]["measures"]
    longest = mean(longest_by_hand().values())
    assert (found["acc"]["value"], found["acc_no_persona"]["value"]) == (1, pytest.approx(longest))
    assert found["persona_gain"]["value"] == found["right_minus_wrong"]["value"] == pytest.approx(1 - longest)


def test_cot_reads_the_last_line(tmp_path):
    found = metrics(evaluate(prefeval(data="sample", method="cot"), "four/noisy", tmp_path))
    scores = expected(read_last_line)
    assert {name: found[name] for name in scores} == pytest.approx(scores, nan_ok=True)


def test_log_likelihoods_of_four_letters_in_lm_eval(tmp_path):
    run = read_run(in_lm_eval("longest", "prefeval_mc", tmp_path))
    assert {case: row.value("acc") for case, row in run.cases.items()} == longest_by_hand()
    for case, row in run.cases.items():
        values = [[-0.5 if letter == answer else -2.0 for letter in "ABCD"] for answer in row.answers]
        assert row.value("acc_sym") == score_symmetric(values, FOUR), case
        assert row.value("p_chosen") == pytest.approx(p_chosen(values, FOUR))
