"""PrefEval through both harnesses and every command, on its sample."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")

from inspect_ai import score as score_again
from inspect_ai.log import read_eval_log
from inspect_ai.model import Logprob, Logprobs, ModelAPI, ModelOutput, ModelUsage, TopLogprob, modelapi
from personafeedback_tasks.inspect_tasks.prefeval import prefeval
from support.commands import personafeedback
from support.inspect_runs import command as inspect_command
from support.inspect_runs import evaluate, metrics
from support.lm_eval_runs import command as lm_eval_command
from support.models import FOUR, register
from support.stored import check_stored

from personafeedback_tasks.common.statistics import mean
from personafeedback_tasks.inspect_harness.scorers import scores
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.baselines import judges
from personafeedback_tasks.pairwise.scoring import p_chosen, score_answers, score_symmetric
from personafeedback_tasks.pairwise.wording import ChoiceOptions
from personafeedback_tasks.parsing.letters import readers
from personafeedback_tasks.prefeval.data import load
from personafeedback_tasks.prefeval.record import PREFEVAL

SAMPLE = Path(str(files("personafeedback_tasks.prefeval") / "sample"))
SETTINGS = ("persona", "no_persona", "other_persona")
REPLIES = (
    "{right}", "Answer: {right}", "My choice:\n{right}", "**{other}**", "A", "D", "", "I cannot help with that.", "A or B.",
    "<think>Perhaps {other}</think>{right}",
)  # fmt: skip


def noisy(case_id: str, call: str) -> str:
    """Right, wrong, biased and unreadable replies; which one depends on case and order alone."""
    number = int(hashlib.sha256(f"{case_id} {call}".encode()).hexdigest(), 16)
    right = FOUR.right[call]
    other = FOUR.letters[(FOUR.letters.index(right) + 1 + number % 3) % 4]
    return REPLIES[number // 3 % len(REPLIES)].format(right=right, other=other)


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    return noisy(case_id, call) if judge == "noisy" else judges(FOUR)[judge](prompt)


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """Highest for the letter that it would say."""
    said = reply(judge, prompt, case_id, call)
    return [-0.5 if letter == said else -2.0 for letter in FOUR.letters]


register("four", reply, likelihoods)

read, read_last_line = readers(FOUR.letters)


def longest_by_hand() -> dict[str, float]:
    """Row -> `acc` of always picking the longest option, the first of equals, over all rotations; from the files alone."""
    found = {}
    for path in SAMPLE.glob("*.json"):
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8")), start=1):
            options, right = row["classification_task_options"], 0
            for turn in range(4):
                shown = [options[(place - turn) % 4] for place in range(4)]
                best = shown[0]
                for text in shown[1:]:
                    best = text if len(text) > len(best) else best
                right += best == options[0]
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
    for case in load("sample"):
        for side in (*FOUR.names, *FOUR.sides):
            if side in FOUR.names:
                text = PREFEVAL.prompt(case, ChoiceOptions(setting=setting), side)
            else:
                text = json.dumps(PREFEVAL.methods["reward"].conversation(case, ChoiceOptions(setting=setting), side))
            assert (case.known in text, case.other_known in text) == (setting == "persona", setting == "other_persona")


def expected(read_one) -> dict[str, float]:
    """Metric -> mean over the sample, of the replies of `noisy`."""
    scores = [
        score_answers([read_one(noisy(case.id, name), False) for name in FOUR.names], FOUR) for case in load("sample")
    ]
    printed = [metric.name for metric in PREFEVAL.methods["generate"].metrics_in("inspect")]
    return {name: mean(score[name] for score in scores) for name in printed}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Name -> log, of the harnesses' own commands: both with `noisy`, and controls."""
    root = tmp_path_factory.mktemp("prefeval")
    for setting in SETTINGS:
        metadata = json.dumps({"data": "sample", "setting": setting})
        done = lm_eval_command(
            "--model", "four", "--model_args", "judge=noisy", "--tasks", "prefeval", "--metadata", metadata, "--log_samples",
            "--output_path", root / f"lm-eval {setting}",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = inspect_command(
        "personafeedback_tasks/prefeval", "-T", "data=sample", "--model", "four/noisy", "--log-dir", root / "inspect"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        **{f"lm-eval {setting}": max((root / f"lm-eval {setting}").rglob("results_*.json")) for setting in SETTINGS},
        "inspect": next((root / "inspect").glob("*.eval")),
    }  # fmt: skip


@pytest.mark.slow
def test_both_harnesses_give_the_scores_of_the_replies(runs):
    scores = expected(read)
    results = json.loads(runs["lm-eval persona"].read_text(encoding="utf-8"))["results"]["prefeval"]
    assert {name: results[f"{name},none"] for name in scores} == pytest.approx(scores)
    found = metrics(read_eval_log(str(runs["inspect"])))
    assert {name: found[name] for name in scores} == pytest.approx(scores)
    assert found["acc_travel_hotel"] == pytest.approx(
        mean(
            score_answers([read(noisy(f"travel_hotel:{n}", name), False) for name in FOUR.names], FOUR)["acc"]
            for n in (1, 2, 3)
        )
    )
    one, other = (read_run(runs[name]) for name in ("lm-eval persona", "inspect"))
    assert {case: row[0].values for case, row in one.cases.items()} == {
        case: row[0].values for case, row in other.cases.items()
    }


@pytest.mark.parametrize("judge", ["longest", "first"])
def test_the_judges_score_what_an_independent_count_says(judge, tmp_path):
    log = evaluate(prefeval(data="sample"), f"prefeval/{judge}", tmp_path)
    by_hand = longest_by_hand()
    assert len(by_hand) == 12
    assert 0.25 < mean(by_hand.values()) < 1
    values = {sample.id: sample.scores["prefeval"].value for sample in log.samples}
    if judge == "longest":
        assert {case: value["acc"] for case, value in values.items()} == by_hand
        report = PREFEVAL.report.examine(load("sample"), by_hand.keys())
        assert {case: scores["longest"] for case, scores in report.baselines.items()} == by_hand
    else:
        assert {(value["acc"], value["first_rate"], value["consistency"]) for value in values.values()} == {
            (0.25, 1, 0)
        }


def test_cot_reads_the_last_line(tmp_path):
    log = evaluate(prefeval(data="sample", method="cot"), "four/noisy", tmp_path)
    found = metrics(log)
    assert {name: found[name] for name in expected(read_last_line)} == pytest.approx(
        expected(read_last_line), nan_ok=True
    )
    again = score_again(log, scores("prefeval", "cot")(), action="overwrite", display="none")
    assert metrics(again) == pytest.approx(found, nan_ok=True)


def test_log_likelihoods_of_four_letters_in_lm_eval(tmp_path):
    done = lm_eval_command(
        "--model", "four", "--model_args", "judge=longest", "--tasks", "prefeval_mc", "--metadata", '{"data": "sample"}',
        "--log_samples", "--output_path", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = read_run(max(tmp_path.rglob("results_*.json")))
    by_hand = longest_by_hand()
    assert {case: row.value("acc") for case, row in run.cases.items()} == by_hand
    for case, row in run.cases.items():
        values = [[-0.5 if letter == answer else -2.0 for letter in "ABCD"] for answer in row[0].answers]
        assert row.value("acc_sym") == score_symmetric(values, FOUR), case
        assert row.value("p_chosen") == pytest.approx(p_chosen(values, FOUR))
    shown = personafeedback("report", "--full", tmp_path, "--data", "sample")
    assert shown.exit_code == 0, shown.output
    assert "acc_sym" in shown.output


@modelapi(name="four-tokens")
class Tokens(ModelAPI):
    """Says the letter of `noisy`, half sure."""

    async def generate(self, input, tools, tool_choice, config):
        letter = read(noisy(**{"case_id": input[-1].metadata["case_id"], "call": input[-1].metadata["call"]}), False)
        first = letter if letter in FOUR.letters else "Well"
        top = [TopLogprob(token=first, logprob=-0.7), TopLogprob(token=" C", logprob=-1.6)]
        output = ModelOutput.from_content("four-tokens", first)
        output.choices[0].logprobs = Logprobs(content=[Logprob(token=first, logprob=-0.7, top_logprobs=top)])
        output.usage = ModelUsage()
        return output


def test_token_probabilities_of_four_letters_in_inspect(tmp_path):
    log = evaluate(prefeval(data="sample", method="logprobs"), "four-tokens/any", tmp_path)
    for sample in log.samples:
        said = [read(noisy(sample.id, name), False) for name in FOUR.names]
        answers = [
            letter if letter in FOUR.letters else "C" for letter in said
        ]  # the only letter among the likeliest tokens
        score = sample.scores["prefeval_logprobs"].value
        assert score["acc"] == score_answers(answers, FOUR)["acc"], sample.id
        assert 0 <= score["p_chosen"] <= 1
    assert read_run(log.location).method.name == "logprobs"


@pytest.mark.slow
def test_report_rank_compare_and_page_show_it(runs, tmp_path):
    shown = personafeedback("report", runs["lm-eval persona"], runs["lm-eval no_persona"], "--out", tmp_path)
    assert shown.exit_code == 0, shown.output
    made = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["reports"][0]
    assert "errors_per_row" in {caveat["key"] for caveat in made["caveats"]}
    total = made["groups"]["total"]
    assert total["measures"]["acc"]["value"] == pytest.approx(expected(read)["acc"])
    assert total["baselines"]["longest"]["value"] == pytest.approx(mean(longest_by_hand().values()))
    assert total["gain"]["value"] is None  # a fifth of the replies are unreadable, of the run and of its control
    for heading in ("All 4 orders of a case", "acc_all", "bias_fourth", "fourth_rate", "right is longest"):
        assert heading in (tmp_path / "report.md").read_text(encoding="utf-8"), heading
    assert "responses" in (tmp_path / "index.html").read_text(encoding="utf-8")
    ranked = personafeedback("rank", runs["lm-eval persona"], runs["inspect"], "--data", "sample", "--full")
    assert ranked.exit_code == 0, ranked.output
    assert "first_rate" in ranked.output
