"""PrefEval: the loader of the authors' files, and runs on its sample through both harnesses and every command."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from personafeedback_tasks.inspect_tasks.prefeval import prefeval
from personafeedback_tasks.task_configs import generate
from support.commands import personafeedback
from support.documents import DOCS
from support.environments import CHECKOUT
from support.inspect_runs import evaluate, metrics
from support.models import FOUR, by_lm_eval, register
from support.stored import check_stored

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.asked import asked_for
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.baselines import judges
from personafeedback_tasks.pairwise.benchmark import ChoiceOptions
from personafeedback_tasks.pairwise.scoring import p_chosen, score_answers, score_symmetric
from personafeedback_tasks.parsing.letters import readers
from personafeedback_tasks.prefeval.data import COMMIT, INSIDE, REPOSITORY, ROWS, SAMPLE_ROWS, load
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


KNOWN = {case.id: case.known for case in load("sample")}


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    if judge == "told" and KNOWN[case_id] in prompt:  # this user's own preference; else the longest response
        return FOUR.right[call]
    return noisy(case_id, call) if judge == "noisy" else judges(FOUR)["longest"](prompt)


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """Highest for the letter that it would say."""
    said = reply(judge, prompt, case_id, call)
    return [-0.5 if letter == said else -2.0 for letter in FOUR.letters]


register("four", reply, likelihoods)


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
    by_lm_eval(folder, "four", "persona", "--model_args", f"judge={judge}", task=task)
    return next(folder.rglob("results_*.json"))


@pytest.mark.slow
def test_both_harnesses_and_the_reports_of_their_logs_have_the_scores_of_the_replies(tmp_path):
    results = in_lm_eval("noisy", "prefeval", tmp_path / "lm-eval")
    log = Path(evaluate(prefeval(data="sample"), "four/noisy", tmp_path / "inspect").location)
    scores = expected(readers(FOUR.letters)[0])
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
    assert report.baselines["longest"] == by_hand
    right = {case for case, value in by_hand.items() if value > 0}
    assert [ids for _, ids in report.subsets.values()] == [right, by_hand.keys() - right]
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
    scores = expected(readers(FOUR.letters)[1])
    assert {name: found[name] for name in scores} == pytest.approx(scores, nan_ok=True)


def test_log_likelihoods_of_four_letters_in_lm_eval(tmp_path):
    run = read_run(in_lm_eval("longest", "prefeval_mc", tmp_path))
    assert {case: row.value("acc") for case, row in run.cases.items()} == longest_by_hand()
    for case, row in run.cases.items():
        values = [[-0.5 if letter == answer else -2.0 for letter in "ABCD"] for answer in row.answers]
        assert row.value("acc_sym") == score_symmetric(values, FOUR), case
        assert row.value("p_chosen") == pytest.approx(p_chosen(values, FOUR))


OPTIONS = "classification_task_options"


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample, which is no sample any more."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "mcq"))


def change(folder, topic, edit):
    path = folder / f"{topic}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    edit(rows)
    path.write_text(json.dumps(rows), encoding="utf-8")


def test_each_row_is_a_user_of_its_own_and_another_one_is_the_next_of_its_topic_that_says_something_else(folder):
    cases = load("sample")
    assert {cell: len(of_cell) for cell, of_cell in cases.cells.items()} == SAMPLE_ROWS
    assert len({case.user_id for case in cases}) == len({case.id for case in cases}) == len(cases) == 12
    assert cases.demonstration
    raw = json.loads((SAMPLE / "travel_hotel.json").read_text(encoding="utf-8"))
    row = next(case for case in cases if case.id == "travel_hotel:2")
    assert (row.known, row.question, list(row.responses)) == (raw[1]["preference"], raw[1]["question"], raw[1][OPTIONS])
    assert row.other_known == raw[2]["preference"]
    assert [case.cell for case in cases[:4]] == list(SAMPLE_ROWS), "topics are mixed"
    change(folder, "travel_hotel", lambda rows: rows[1].update(preference=rows[0]["preference"]))
    changed = {case.id: case for case in load(str(folder), "any")}
    first, second, third = (changed[f"travel_hotel:{number}"] for number in (1, 2, 3))
    assert first.other_known == second.other_known == third.known
    assert third.other_known == first.known


def test_a_checkout_and_its_folder_are_the_same_data_and_the_copy_is_left_out_aloud(folder, tmp_path, caplog):
    shutil.copyfile(folder / "travel_hotel.json", folder / "travel_hotel copy.json")
    shutil.copytree(folder, tmp_path / "checkout" / INSIDE)
    alone, whole = load(str(folder), "any"), load(str(tmp_path / "checkout"), "any")
    assert (alone.digest, len(alone)) == (whole.digest, len(whole))
    copy = "'travel_hotel copy.json' is a copy of travel_hotel.json and was left out."
    assert [record.message for record in caplog.records] == [copy] * 2
    assert alone.digest == load("sample").digest, "equal data, equal digest"


def test_all_rows_must_be_there_unless_any_number_will_do(folder):
    sentence = r"found 0 cases of education_learning_styles, expected 31\. Get a complete copy, or pass counts=any"
    with pytest.raises(DataError, match=sentence):
        asked_for("prefeval", {"data": str(folder)})
    assert len(asked_for("prefeval", {"data": str(folder), "counts": "any"}).cases) == 12


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda rows: rows[1].pop("preference"), r"technology\.json, row 2: found .*, expected the texts preference"),
        (lambda rows: rows[1].update({OPTIONS: ["a", "a", "b", "c"]}), f"row 2: found .* different ones in {OPTIONS}"),
        (lambda rows: rows.append("a row"), "row 4: found 'a row', expected the texts"),
        (lambda rows: rows.clear(), r"found \[\], expected a JSON list of objects"),
        (lambda rows: [row.update(preference="x") for row in rows], "row 1: found no other preference in its topic"),
    ],
)  # fmt: skip
def test_a_broken_row_is_named(folder, edit, message):
    change(folder, "shop_technology", edit)
    with pytest.raises(DataError, match=message):
        load(str(folder), "any")


def test_other_files_and_folders_are_refused_with_where_to_get_the_data(folder, tmp_path, monkeypatch):
    (folder / "notes.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match=r"found .notes\.json., expected the files of these topics alone: education_"):
        load(str(folder), "any")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=f"found no file, expected .* at commit {COMMIT}"):
        load(str(tmp_path / "empty"))
    monkeypatch.delenv("PREFEVAL_DATA", raising=False)
    with pytest.raises(
        DataError, match=r"^No data are named, .* PrefEval \(CC BY-NC 4\.0\) is not bundled\. Set PREFEVAL_DATA"
    ):
        load()


@pytest.mark.slow
@pytest.mark.skipif(
    "PREFEVAL_DATA" not in os.environ, reason="PREFEVAL_DATA names no checkout of the authors' repository"
)
def test_the_authors_files_have_a_thousand_rows():
    cases = load()
    assert {cell: len(of_cell) for cell, of_cell in cases.cells.items()} == ROWS
    assert sum(ROWS.values()) == len(cases) == 1000
    assert cases.digest == "2c0205793c27"


def test_the_pages_have_the_pinned_commit_and_the_command_that_writes_the_yaml_files(tmp_path):
    page = (DOCS / "prefeval.md").read_text(encoding="utf-8")
    assert f"git clone https://github.com/{REPOSITORY} && git -C PrefEval checkout {COMMIT}" in page
    command = "python -m personafeedback_tasks.task_configs.generate prefeval FOLDER"
    assert command in (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    generate.main(["prefeval", str(tmp_path / "new")])
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written == {path.name: path.read_bytes() for path in (CHECKOUT / "task_configs" / "prefeval").iterdir()}
