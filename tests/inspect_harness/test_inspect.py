"""Inspect from end to end on real data: its own eval() and command, with judges in place of a model."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from itertools import product
from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai._util.registry import registry_lookup
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.inspect_runs import command, evaluate, inspect_eval, metrics
from support.judges import JUDGES, KNOWN, METRICS

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.signature import KEY
from personafeedback_tasks.inspect_harness import hooks
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION, PAPER_COUNTS
from personafeedback_tasks.stats.estimates import clustered_stderr, mean

ROOT = Path(__file__).parents[2]
NAMES = {
    "personafeedback",
    *(f"personafeedback_{word}" for word in ("specific", "general", "easy", "medium", "hard")),
    *(f"personafeedback_{cell}" for cell in PAPER_COUNTS),
}


def test_the_page_of_the_tasks_has_the_prompt_and_the_revision_that_are_used():
    page = " ".join((tasks.__doc__ or "").split())
    case = next(case for case in load_cases("sample") if case.language == "en")
    *fixed, ask = re.split(
        r"<(persona|question|response_[AB])>.*?</\1>", prompts.build(case, prompts.Template(), TWO.names[0]), flags=re.S
    )
    for text in (fixed[0], ask):
        assert " ".join(text.split()) in page
    assert f"{HUB_ID} at {HUB_REVISION}: {sum(PAPER_COUNTS.values()):,} cases" in page


def test_there_are_twelve_tasks():
    assert {name for name in vars(tasks) if name.startswith("personafeedback")} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_task_holds_the_cells_that_its_name_says(name):
    assert registry_lookup("task", f"personafeedback_tasks/{name}") is not None
    words = set(name.split("_")[1:])
    task = getattr(tasks, name)(data="sample")
    cells = {sample.metadata["cell"] for sample in task.dataset}
    assert cells == {cell for cell in PAPER_COUNTS if words <= {*cell.split("_")}}
    assert task.version == TASK_VERSION


@pytest.mark.slow
@pytest.mark.parametrize("data", ["sample", pytest.param("real_part", marks=pytest.mark.release)])
@pytest.mark.parametrize("judge", KNOWN)
def test_known_judges_get_exactly_their_known_scores(judge, data, request, tmp_path):
    data = data if data == "sample" else str(request.getfixturevalue(data))
    log = evaluate(tasks.personafeedback_general(data=data), f"scripted/{judge}", tmp_path)
    found = metrics(log)
    for key, expected in KNOWN[judge].items():
        for group in ("", "_general_easy", "_general_medium", "_general_hard"):
            assert found[f"{key}{group}"] == pytest.approx(expected, abs=0, nan_ok=True)


@pytest.mark.slow
def test_every_metric_per_cell_per_category_and_in_total_is_that_of_the_cases(tmp_path):
    log = evaluate(tasks.personafeedback(data="sample"), "scripted/mixed", tmp_path)
    cases, scores, expected = load_cases("sample"), {}, {}
    groups = {"": list(cases)}
    for case in cases:
        groups.setdefault(f"_{case.cell}", []).append(case)
        groups.setdefault(f"_{case.category}", []).append(case)
        answers = [read_reply(JUDGES["mixed"](case.id, order)) for order in TWO.names]
        scores[case.id] = scoring.score_answers(TWO.letters, answers)
    for (group, members), key in product(groups.items(), METRICS):
        values = [scores[case.id][key] for case in members]
        expected[f"{key}{group}"] = mean(values)
        expected[f"{key}{group}_stderr"] = clustered_stderr(values, [case.user_id for case in members])
    assert metrics(log) == pytest.approx(expected, abs=1e-12)
    assert log.results.headline.metric == "acc"
    one_cell = metrics(evaluate(tasks.personafeedback_general_hard(data="sample"), "scripted/mixed", tmp_path / "one"))
    assert {*one_cell} == {*METRICS, *(f"{key}_stderr" for key in METRICS)}, "each row once"
    assert next(iter(metrics(log))) == "acc"


def test_both_harnesses_give_the_same_cases_and_the_same_means(general_logs):
    log = read_eval_log(str(general_logs.inspect))
    results = json.loads(general_logs.lm_eval.read_text(encoding="utf-8"))
    files = general_logs.lm_eval.parent.glob("samples_*.jsonl")
    theirs = {row["doc"]["id"]: row for path in files for row in map(json.loads, path.read_bytes().splitlines())}
    ours = {sample.id: sample.scores["personafeedback"] for sample in log.samples}
    assert ours.keys() == theirs.keys()
    assert len(ours) == general_logs.cases
    for case_id, score in ours.items():
        for key in METRICS:
            assert score.value[key] == pytest.approx(theirs[case_id][key], abs=0, nan_ok=True), (case_id, key)
        assert score.answer == ", ".join(theirs[case_id]["filtered_resps"])
    found = metrics(log)
    for difficulty in ("easy", "medium", "hard"):
        for key in METRICS:
            leaf = results["results"][f"personafeedback_general_{difficulty}"][f"{key},none"]
            assert found[f"{key}_general_{difficulty}"] == pytest.approx(leaf, abs=1e-12)
    for key in ("acc", "acc_both", "invalid"):
        total = results["results"]["personafeedback_general"][f"{key},none"]
        assert found[key] == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"prompt": "v3", "hide": ["Name", "Preference.Travel"]}])
def test_the_transcript_shows_both_prompts_as_asked_and_the_metadata_no_long_text(options, tmp_path):
    log = evaluate(tasks.personafeedback_hard(data="sample", **options), "scripted/gold", tmp_path, limit=8)
    case_of = {case.id: case for case in load_cases("sample")}
    template = prompts.Template.strict(options)
    for sample in read_eval_log(log.location, resolve_attachments=True).samples:
        calls = [event for event in sample.events if event.event == "model"]
        asked = {call.input[-1].metadata["call"]: call.input[-1].text for call in calls}
        assert asked == {order: prompts.build(case_of[sample.id], template, order) for order in TWO.names}
        assert [choice.message.text for choice in sample.output.choices] == [TWO.right[o] for o in TWO.names]
        assert sample.metadata.keys() == {"cell", "user_id", "language", "digest", "settings"}
        assert sample.target == ["A", "B"]
    shown = "prompt v3, without Name, without Preference.Travel, " if options else ""
    assert log.eval.task == f"personafeedback_hard ({shown}demonstration)"


def cot(tmp_path, stop=None):
    model = get_model("scripted/reasoned", stop=stop, memoize=False)
    return evaluate(tasks.personafeedback_general_hard(data="sample", method="cot"), model, tmp_path)


def test_a_cot_log_is_scored_again_by_the_scorer_of_its_name(tmp_path):
    from inspect_ai import score
    from inspect_ai.log import write_eval_log

    from personafeedback_tasks.inspect_harness.scorers import scores
    from personafeedback_tasks.logs.errors import RunError
    from personafeedback_tasks.logs.read import read_run

    log = cot(tmp_path)
    by_name = registry_lookup("scorer", "personafeedback_tasks/personafeedback_cot")
    assert metrics(score(log, by_name(), action="overwrite", display="none")) == metrics(log)
    assert read_run(log.location).cases
    write_eval_log(
        score(log, scores("personafeedback", "generate")(), action="overwrite", display="none"), log.location
    )
    with pytest.raises(RunError, match="--scorer personafeedback_tasks/personafeedback_cot$"):
        read_run(log.location)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"settings": "persona"}, "settings='persona' is not an option. Did you mean setting? Use: counts, data, hide"),
        (
            {"category": "general"},
            "category='general' is not an option. Use: counts, data, hide",
        ),  # the name says "hard" alone
        (
            {"method": "mc"},
            "method must be one of generate, cot, logprobs, reward in Inspect, got 'mc'. Use lm-eval for mc, or leave method out.",
        ),
    ],
)
def test_an_unknown_option_is_refused(option, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        tasks.personafeedback_hard(data="sample", **option)


@pytest.mark.slow
def test_the_calls_and_the_unreadable_replies_of_every_epoch_are_counted(tmp_path, monkeypatch, caplog):
    said: list[str] = []
    monkeypatch.setattr(hooks, "_inform", said.append)
    evaluate(tasks.personafeedback_general_hard(data="sample"), "scripted/silent", tmp_path, epochs=2)
    assert "8 of 8 cases; 32 model calls" in said[0]
    assert "32 of 32 replies (100.0%) are unreadable" in caplog.text


@pytest.mark.slow
def test_the_warning_of_a_resumed_run_counts_the_replies_of_all_cases(monkeypatch, tmp_path, caplog):
    last = list(load_cases("sample", "general", "hard"))[-1].id
    failing = {last}

    def silent(case_id, order):
        if case_id in failing:
            raise RuntimeError("server down")
        return ""

    monkeypatch.setitem(JUDGES, "tired", silent)
    task = tasks.personafeedback_general_hard(data="sample")
    (log,) = inspect_eval(task, model="scripted/tired", log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "error"
    failing.clear()
    caplog.clear()
    (log,) = eval_retry(log.location, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert "16 of 16 replies (100.0%) are unreadable" in caplog.text


@pytest.mark.slow
def test_the_command_runs_by_path_says_once_what_it_asks_and_warns_of_unreadable_replies(tmp_path, caplog):
    done = command(
        f"{ROOT}/inspect_tasks/personafeedback.py@personafeedback_general", "-T", "data=sample", "-T", "setting=no_persona",
        "--model", "scripted/silent", "--limit", "8", "--log-dir", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    output = " ".join(done.stdout.split())
    assert output.count("16 model calls") == 1
    for part in ("personafeedback_general (no_persona, demonstration): 8 of ", "method generate", "sha256"):
        assert part in output, part
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "16 of 16 replies (100.0%) are unreadable" in warning
    assert "most common reason: no_response (16)" in warning
    (path,) = tmp_path.glob("*.eval")
    signature = read_eval_log(str(path), header_only=True).eval.metadata[KEY]
    assert signature["demonstration"] is True
    assert json.dumps(signature)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mistake", ["-T seting=persona", "-T data=/no/folder", "--model personafeedback/longst", "-M name=x"]
)
def test_a_mistake_is_one_sentence_on_the_command_line(mistake, tmp_path):
    """Inspect prints any other exception as hundreds of lines of traceback."""
    done = command(
        "personafeedback_tasks/personafeedback_general_hard", "-T", "data=sample", "--model", "personafeedback/longest",
        "--log-dir", tmp_path, *mistake.split(),
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr
    assert len((done.stdout + done.stderr).strip().splitlines()) <= 6
    assert re.search("Use|must be|There is no|none of its arguments", done.stdout + done.stderr)


def test_a_log_has_no_folder_of_this_machine_as_its_data_sets_location(tmp_path):
    data = shutil.copytree(str(load_cases("sample").release.root), tmp_path / "mine")
    log = evaluate(tasks.personafeedback_general_hard(data=str(data), counts="any"), "scripted/gold", tmp_path, limit=1)
    assert log.eval.dataset.location == "mine"
    assert read_run(log.location).cases


def test_a_judge_says_whose_tasks_it_judges():
    judge = get_model("personafeedback/longest").api
    with pytest.raises(
        OptionError, match="personafeedback/longest reads only prompts in the form of personafeedback's"
    ):
        asyncio.run(judge.generate([ChatMessageUser(content="Why?")], [], "auto", GenerateConfig()))
