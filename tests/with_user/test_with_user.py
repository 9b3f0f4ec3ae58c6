"""Other tasks with a user: the task around them, what reaches the model, and what it changes."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai.log import ProvenanceData, invalidate_samples, list_eval_logs, read_eval_log, write_eval_log
from support import jsonl_harness, subject
from support import memory_judge as memory_judge  # a model of this name
from support.commands import personafeedback, ran
from support.documents import run_as_printed
from support.environments import CHECKOUT
from support.inspect_runs import NO_PROVIDERS, command
from support.lm_eval_runs import command as lm_eval_command
from support.shown import faults

from personafeedback_tasks import api
from personafeedback_tasks.analysis.other_tasks import costs_of, costs_of_models
from personafeedback_tasks.core.system import NEUTRAL
from personafeedback_tasks.logs import log
from personafeedback_tasks.logs.other_tasks import SampleResult, TaskRun
from personafeedback_tasks.personafeedback.release import locate
from personafeedback_tasks.personafeedback.system import message, told_by

TASKS = Path(__file__).with_name("tasks.py")


def run(task, setting, folder, model="subject/8", *options):
    """Run with_user by its command; the log."""
    done = command(
        "personafeedback_tasks/with_user", "-T", f"task={TASKS}@{task}", "-T", f"setting={setting}", "-T", "data=sample",
        *options, "--model", model, "--log-dir", folder / f"{task} {setting}",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = list_eval_logs(str(folder / f"{task} {setting}"))
    return read_eval_log(log.name)


def costs(*arguments) -> list[dict]:
    done = ran("cost", *arguments, "--json", "-")
    made = json.loads(done.stdout)
    assert faults(made, "cost") == []
    return made["costs"]


def scores(log):
    return {(score.name, name): metric.value for score in log.results.scores for name, metric in score.metrics.items()}


@pytest.mark.slow
@pytest.mark.parametrize("task", ["capitals", "sums", "tools", "dicts"])
def test_the_task_is_its_own_but_for_one_message(task, tmp_path):
    done = command(f"{TASKS}@{task}", "--model", "subject/8", "--log-dir", tmp_path / "plain")
    assert done.returncode == 0, done.stdout + done.stderr
    plain = read_eval_log(list_eval_logs(str(tmp_path / "plain"))[0].name)
    subject.ASKED.clear()
    without = run(task, "no_persona", tmp_path)
    assert scores(without) == scores(plain), "to the last digit"
    assert without.eval.config.epochs == plain.eval.config.epochs
    asked = sorted(subject.ASKED)
    subject.ASKED.clear()
    told = run(task, "persona", tmp_path)
    texts = {message(persona) for persona in locate("sample").others.personas.values()}
    assert {call[0][0] for call in subject.ASKED} == {"system"}
    assert {call[0][1] for call in subject.ASKED} <= texts
    if task in ("capitals", "sums"):  # whose next call does not depend on the reply before
        assert sorted(call[1:] for call in subject.ASKED) == asked
    assert told.eval.metadata["with_user"]["setting"] == "persona"


def test_users_are_the_samples_own_or_drawn_by_their_ids():
    others = locate("sample").others
    drawn, again = ([told_by("persona", data="sample")(number, {}) for number in range(200)] for _ in range(2))
    assert drawn == again
    assert {told.user for told in drawn} == others.personas.keys()
    own = told_by("persona", data="sample")(1, {"user_id": "Iris_s04"})
    assert (own.user, own.text) == ("Iris_s04", message(others.personas["Iris_s04"]))
    other = told_by("other_persona", data="sample")(1, {"user_id": "Iris_s04"})
    assert (other.user, other.text) == ("Iris_s04", message(others.of("Iris_s04")))
    assert told_by("other_persona", "Iris_s04", "sample")(1, {}).text == other.text
    padding = told_by("padding", "Iris_s04", "sample")(1, {}).text
    assert len(padding) == len(own.text)
    assert padding.startswith(NEUTRAL["en"][:50])
    assert told_by("padding", "林晓_s05", "sample")(1, {}).text.startswith(NEUTRAL["zh"][:50])
    assert told_by("no_persona", data="sample")(1, {}) is None
    assert told_by("persona", data="sample")(1, {"user_id": ["Iris_s04"]}) == drawn[1], "no user of the data"
    assert told_by("persona", "Iris", "sample")(1, {}) == told_by("persona", "Iris_s04", "sample")(1, {})


@pytest.mark.slow
def test_a_solver_that_drops_the_message_makes_the_run_void(tmp_path, caplog):
    command(
        "personafeedback_tasks/with_user", "-T", f"task={TASKS}@drops", "-T", "data=sample", "--model", "subject/8", "--log-dir", tmp_path,
    )  # fmt: skip
    assert "VOID: the message about the user is missing in 1 of 1 calls of the main model" in caplog.text
    run("drops", "no_persona", tmp_path)
    (cost,) = costs(tmp_path)
    assert "missing in 8 of 8 calls" in cost["void"]
    assert cost["by_sample"] is cost["after"] is None
    assert cost["harmed"] == cost["helped"] == []
    shown = personafeedback("cost", tmp_path, "--out", tmp_path / "out")
    assert "VOID" in shown.output
    assert "harmed:" not in shown.output
    before_table, _, after = (tmp_path / "out" / "cost.html").read_text("utf-8").partition("<table>")
    assert "missing in 8 of 8 calls" in before_table
    assert "No sample changed" not in after
    assert costs_of_models([tmp_path], (), {}, print) == {}, "nor is it a cost beside a gain"
    assert (
        "found a run of with_user, expected one of the benchmark's tasks" in personafeedback("report", tmp_path).output
    )


@pytest.mark.parametrize(("solver", "missed"), [("before", 0), ("behind_two", 1), ("as_text", 1), ("grader", 0)])
def test_the_message_stands_first_or_right_behind_an_agents_own(solver, missed, tmp_path):
    logged = run("placed", "persona", tmp_path, "subject/8", "-T", f"where={solver}")
    run("placed", "no_persona", tmp_path, "subject/8", "-T", f"where={solver}")
    (cost,) = costs(tmp_path)
    assert (cost["void"] is not None) == bool(missed), logged.eval.task


@pytest.mark.slow
def test_a_run_that_is_interrupted_and_retried_costs_the_same(tmp_path, monkeypatch):
    """A run of a task with tools stops at its fourth sample; the retry goes on, with the persona."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        run("tools", "no_persona", folder)
    run("tools", "persona", whole)
    monkeypatch.setattr(subject, "DIES_AT", 4)
    words = ("-T", f"task={TASKS}@tools", "-T", "data=sample", "--model", "subject/8", "--log-dir", broken / "first")
    command("personafeedback_tasks/with_user", *words, "--max-samples", 1)
    monkeypatch.setattr(subject, "DIES_AT", 0)
    (stopped,) = list_eval_logs(str(broken / "first"))
    assert read_eval_log(stopped.name).status == "error"
    with NO_PROVIDERS:
        (retried,) = eval_retry(stopped.name, log_dir=str(broken / "again"), display="none")
    assert retried.status == "success", retried.error
    (expected,), (found,) = costs(whole), costs(broken)
    assert {**found, "logs": expected["logs"]} == expected


def by_hand(folder) -> dict[str, dict[str, float]]:
    """Setting -> sample -> value, from the log's bytes."""
    found = {}
    for path in folder.rglob("*.eval"):
        with zipfile.ZipFile(path) as archive:
            setting = json.loads(archive.read("header.json"))["eval"]["metadata"]["with_user"]["setting"]
            for name in archive.namelist():
                if name.startswith("samples/"):
                    sample = json.loads(archive.read(name))
                    values = found.setdefault(setting, {}).setdefault(str(sample["id"]), [])
                    values.append({"C": 1.0, "I": 0.0}[next(iter(sample["scores"].values()))["value"]])
    return {name: {key: sum(of) / len(of) for key, of in values.items()} for name, values in found.items()}


@pytest.mark.slow
def test_several_tasks_stand_in_one_table_with_what_an_independent_script_finds(tmp_path, monkeypatch):
    for task in ("capitals", "tools"):
        for setting in ("persona", "no_persona", "padding"):
            run(task, setting, tmp_path)
    made = costs(tmp_path)
    assert sorted((one["task"], one["setting"]) for one in made) == [
        (task, setting) for task in ("capitals", "tools") for setting in ("padding", "persona")
    ]
    for one in made:
        values = {}
        for setting in (one["setting"], "no_persona"):
            values |= by_hand(tmp_path / f"{one['task']} {setting}")
        before, after = values["no_persona"], values[one["setting"]]
        assert sorted(one["harmed"]) == sorted(name for name in before if after[name] < before[name])
        assert sorted(one["helped"]) == sorted(name for name in before if after[name] > before[name])
        assert one["before"] == pytest.approx(sum(before.values()) / len(before))
        assert one["by_sample"]["value"] == pytest.approx(sum(after.values()) / len(after) - one["before"])
        assert one["by_user"] is not None, "users repeat"
        if one["setting"] == "padding":
            assert one["harmed"] == one["helped"] == []
    for user in ("Iris", "林晓_s05"):
        run("capitals", "persona", tmp_path / "one" / user, "subject/8", "-T", f"user={user}")
    found = costs(tmp_path / "capitals no_persona", tmp_path / "one")
    assert [one["told"] for one in found] == ["Iris_s04", "林晓_s05"], "one row for each profile"
    shutil.rmtree(tmp_path / "one")
    ran("cost", tmp_path, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "cost.html").read_text("utf-8")
    assert "Scores between 0 and 1 are in percent" in page
    assert page.count('<details class="sample harmed">') == sum(len(one["harmed"]) for one in made)
    for one in made:
        if one["by_user"]["low"] is not None:
            low, high = (round(100 * one["by_user"][end], 1) + 0.0 for end in ("low", "high"))
            assert f"<td>{low:+.1f} to {high:+.1f}</td>" in page
    assert "ANSWER: " in page
    assert "Hm." not in page, "nobody is shown a model's thinking"
    assert page.count("<h3>without: ") == page.count("<h3>with: ") == sum(one["samples"] for one in made)
    assert json.loads((tmp_path / "out" / "cost.json").read_text("utf-8"))["costs"] == made
    stands_beside_the_gain(tmp_path, made, monkeypatch)


def stands_beside_the_gain(folder, made, monkeypatch):
    """`rank --cost`: a row of the model, and a picture for each task. The profile wins PersonaFeedback for it, 100 points."""
    monkeypatch.setattr(log, "READERS", (jsonl_harness.READER, *log.READERS))
    for setting, right in (("persona", "chosen_first"), ("no_persona", "rejected_first")):
        jsonl_harness.run(
            lambda case, call, right=right: "A" if call == right else "B", "subject/8", folder / "gain" / setting, "personafeedback", "hard",
            data="sample", setting=setting,
        )  # fmt: skip
    tasks = [word for task in ("capitals", "tools") for setting in ("persona", "no_persona", "padding") for word in ("--cost", folder / f"{task} {setting}")]  # fmt: skip
    refused = personafeedback("rank", folder / "gain", *tasks[:2])
    assert "without a message, expected one" in " ".join(refused.output.split())
    done = ran("rank", folder / "gain", *tasks, "--out", folder / "ranked")
    written = (folder / "ranked" / "ranking.json").read_text("utf-8")
    assert api.rank(folder / "gain", cost=tasks[1::2]).to_json() == written, "the same from Python"
    (row,) = json.loads(written)["balance"]
    assert (row["model"], row["values"]["persona gain"]["value"]) == ("subject/8", 1)
    for one in made:
        if one["setting"] == "persona":
            lost, changes = row["values"][f"cost on {one['task']}"], (one["by_sample"], one["by_user"])
            assert lost["value"] == pytest.approx(-one["by_sample"]["value"])
            assert lost["high"] - lost["low"] == pytest.approx(
                max(change["high"] - change["low"] for change in changes)
            )
    assert len(row["values"]) == 3, "padding is no cost of a user"
    page = (folder / "ranked" / "ranking.html").read_text("utf-8")
    assert page.count('<figure class="plane">') == 2
    assert "cost on a task: the points of its own score" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["task=nothing_of_this_name"], "task='nothing_of_this_name': found 0 tasks, expected one"),
        ([f"task={TASKS}@nothing"], "cannot be loaded"),
        ([f"task={TASKS}@empty"], "cannot be loaded (ValueError: The specified dataset is empty"),
        ([f"task={TASKS}@source"], "makes its samples while it runs"),
        ([f"task={TASKS}@capitals", "setting=nobody"], "setting must be one of persona, no_persona, other_persona, padding"),
        ([f"task={TASKS}@capitals", "user=Nobody"], "found no such user in"),
        ([f"task={TASKS}@capitals", "setting=other_persona"], "setting=other_persona needs the user whom a sample is about"),
        ([f"task={TASKS}@capitals", "count=many"], "cannot be loaded (TypeError"),
        ([], "task must be one task, such as -T task=FILE.py@task"),
        ([f"task={TASKS}@capitals", "usr=Iris_s04"], "usr is no option of with_user or of task="),
        ([f"task={TASKS}@capitals", "data=7"], "There is no folder '7'"),
        ([f"task={TASKS}@capitals", f"data={TASKS.parent}"], "found no persona, expected"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(options, message, tmp_path):
    given = [word for option in options for word in ("-T", option)]
    data = [] if any(option.startswith("data=") for option in options) else ["-T", "data=sample"]
    done = command("personafeedback_tasks/with_user", *given, *data, "--model", "subject/8", "--log-dir", tmp_path)
    said = " ".join((done.stdout + done.stderr).split())
    assert message in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("task", "refused"), [("sums", True), ("capitals", False)])
def test_a_template_that_refuses_two_system_messages_is_refused_before_the_run(task, refused, tmp_path, monkeypatch):
    """A sample of `sums` has a system message of its own."""
    monkeypatch.setattr(subject, "SYSTEM_MESSAGES", 1)
    words = ("-T", f"task={TASKS}@{task}", "-T", "data=sample", "--model", "subject/8", "--log-dir", tmp_path)
    done = command("personafeedback_tasks/with_user", *words, "--limit", 2)
    said = " ".join((done.stdout + done.stderr).split())
    assert ("its chat template refuses sample sum 1 with 2 system messages" in said) == refused
    assert "Traceback" not in said
    assert bool(list(tmp_path.glob("*.eval"))) != refused


@pytest.mark.slow
def test_what_does_not_fit_is_refused_in_one_sentence(tmp_path):
    run("dicts", "persona", tmp_path / "dicts")
    run("dicts", "no_persona", tmp_path / "dicts")
    run("other_metric", "persona", tmp_path / "metric")
    run("capitals", "persona", tmp_path / "alone")
    run("capitals", "no_persona", tmp_path / "less", "subject/8", "-T", "count=20")
    run("graded", "persona", tmp_path / "graded")
    command(f"{TASKS}@capitals", "--model", "subject/8", "--log-dir", tmp_path / "plain")
    (tmp_path / "empty").mkdir()
    log = read_eval_log(next(iter((tmp_path / "alone").rglob("*.eval"))))
    log = invalidate_samples(log, [log.samples[0].uuid], ProvenanceData(author="Ann", reason="the server broke"))
    write_eval_log(log, str(tmp_path / "invalidated.eval"))
    for arguments, expected in (
        ([tmp_path / "invalidated.eval"], "found samples that were invalidated, expected none. `inspect eval-retry"),
        ([tmp_path / "less", "--value", "write"], "--value write: found no run with a number of this name, expected"),
        ([tmp_path / "dicts"], "found 2 numbers in its scores, expected one. Pass --value with one of right, short"),
        ([tmp_path / "metric"], "found no accuracy or mean of exact in its results, expected"),
        ([tmp_path / "graded"], "the mean over its samples. The task's metric is no mean"),
        ([tmp_path / "alone"], "without a message, expected one"),
        ([tmp_path / "less"], "Found no run with a message about a user"),
        ([tmp_path / "alone", tmp_path / "less"], "found options of the task {}, and"),
        ([tmp_path / "plain"], "found no run of with_user in it"),
        ([tmp_path / "empty"], "found no run of with_user in it. Make them: inspect eval"),
        ([TASKS], "found no complete log of a run"),
    ):
        done = personafeedback("cost", *arguments)
        assert done.exit_code == 1, arguments
        said = " ".join(done.output.split())
        assert expected in said, said
        assert "Traceback" not in said
    for name in ("x.eval", "y.eval"):
        shutil.copy(next((tmp_path / "plain").glob("*.eval")), tmp_path / "dicts" / name)
    beside = ran("cost", tmp_path / "dicts", "--value", "right")
    assert beside.stderr.count("Skipped logs of other runs: x.eval, y.eval\n") == 1, "one line for all of them"
    by_right, by_short = (costs(tmp_path / "dicts", "--value", name)[0] for name in ("right", "short"))
    assert (by_right["value"], by_short["value"]) == ("right", "short")


@pytest.mark.release
def test_planted_harm_is_found_as_such():
    """The interval over samples covers the planted change in 95 of 100 simulated runs, for no harm and for 8 points of it."""
    for harm in (0, 0.08):
        covered = excluded = 0
        for seed in range(400):
            runs = [
                TaskRun(
                    task="t", model="m", setting=setting, told="", value="v", conditions={}, missed=(0, 1), path=Path("x"), program="Inspect",
                    samples={
                        str(n): SampleResult(
                            id=str(n), value=float(subject.right(n, setting, harm, str(seed))), asked="", target="", replies=(), user=f"{n % 50}"
                        )
                        for n in range(200)
                    },
                )
                for setting in ("persona", "no_persona")
            ]  # fmt: skip
            (cost,) = costs_of(runs)
            for estimate in (cost.entry.by_sample, cost.entry.by_user):
                covered += estimate.low <= -harm <= estimate.high
                excluded += estimate.high < 0
        assert 0.925 <= covered / 800 <= 0.98, (harm, covered / 800)
        assert (excluded / 800 > 0.8) if harm else (excluded / 800 < 0.05), (harm, excluded / 800)


TOY = """
task: toy_sums
dataset_path: json
dataset_kwargs:
  data_files: {test: FOLDER/data.jsonl}
test_split: test
output_type: generate_until
doc_to_text: "Question {{q}}"
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 8}
metric_list:
  - metric: exact_match
"""


@pytest.mark.slow
def test_lm_evals_runs_are_paired_by_document(tmp_path):
    rows = [{"q": f"{n} + {n}?", "a": str(2 * n)} for n in range(1, 31)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "toy.yaml").write_text(TOY.replace("FOLDER", str(tmp_path)), "utf-8")
    printed = ran("persona", "Iris_s04", "--data", "sample")
    assert printed.stdout.strip() == message(locate("sample").others.personas["Iris_s04"])
    padding = personafeedback("persona", "Iris_s04", "--data", "sample", "--setting", "padding").stdout
    for name, instruction in (("no", None), ("own", printed.stdout.strip()), ("padding", padding.strip())):
        told = [] if instruction is None else ["--system_instruction", instruction]
        done = lm_eval_command(
            "--model", "subject", "--tasks", "toy_sums", "--include_path", tmp_path, "--log_samples", "--output_path", tmp_path / name, *told,
            HF_DATASETS_CACHE=str(tmp_path / "cache"),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    made = {one["setting"]: one for one in costs(tmp_path / "no", tmp_path / "own", tmp_path / "padding")}
    assert made.keys() == {"persona", "padding"}
    right = {n: (subject.right(n, "", 0.08), subject.right(n, "persona", 0.08)) for n in range(1, 31)}
    assert made["persona"]["harmed"] == [str(n - 1) for n, (before, after) in right.items() if before and not after]
    assert made["persona"]["helped"] == [str(n - 1) for n, (before, after) in right.items() if after and not before]
    assert made["persona"]["harmed"], "something is planted"
    assert made["persona"]["by_user"] is None, "one profile for all"
    assert made["padding"]["harmed"] == made["padding"]["helped"] == []
    for name in ("no", "own"):  # the same of another model
        shutil.copytree(tmp_path / name, tmp_path / "other" / name)
    for path in (tmp_path / "other").rglob("results*.json"):
        results = json.loads(path.read_text("utf-8"))
        results["config"]["model_args"] = {"pretrained": "lab/other"}
        path.write_text(json.dumps(results), "utf-8")
    as_it_is = path.read_text("utf-8")
    of_task = results["configs"]["toy_sums"]["generation_kwargs"]
    for name, of, key, value in (
        ("generation of the task", of_task, "until", []),
        ("higher is better", results["higher_is_better"]["toy_sums"], "exact_match", False),
    ):
        before, of[key] = of[key], value
        path.write_text(json.dumps(results), "utf-8")
        assert f"found {name}" in personafeedback("cost", tmp_path / "other").output
        of[key] = before
    (samples,) = path.parent.glob("samples_*")
    files = {path: as_it_is, samples: samples.read_text("utf-8")}
    for file, whole in files.items():
        file.write_text(whole.replace("exact_match", "another"), "utf-8")
    assert "found the number " in personafeedback("cost", tmp_path / "other").output
    for file, whole in files.items():
        file.write_text(whole, "utf-8")
    both = costs(tmp_path / "no", tmp_path / "own", tmp_path / "other")
    assert sorted(one["model"] for one in both) == ["lab/other", made["persona"]["model"]]
    for name in ("Nobody", "../x", ""):
        assert "found no such user" in personafeedback("persona", name, "--data", "sample").output


@pytest.mark.slow
def test_the_lines_of_the_page_run_as_printed(tmp_path, monkeypatch):
    """Only model, data and the tasks that are not ours are others."""
    page = (CHECKOUT / "docs" / "cost.md").read_text("utf-8")
    assert len(page.split()) <= 700
    (tmp_path / "sums.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], "utf-8")
    (tmp_path / "toy.yaml").write_text(TOY.replace("FOLDER", str(tmp_path)), "utf-8")
    rows = [{"q": f"{n} + {n}?", "a": str(2 * n)} for n in range(1, 9)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    for name, value in (("MEMSYCO_DATA", "sample"), ("PERSONAFEEDBACK_DATA", "sample"), ("HF_DATASETS_CACHE", "cache")):
        monkeypatch.setenv(name, value)
    ours = {
        "USER_ID": "Iris_s04", "gsm8k": "toy_sums", "strict-match": "none",
        "hf --model_args pretrained=Qwen/Qwen3-8B": f"subject --include_path {tmp_path}", "openai/gpt-4o": "subject/8",
    }  # fmt: skip
    settings = re.search("for setting in (.*); do", page)[1].split()
    for line in "".join(re.findall(r"```bash\n(.*?)```", page, re.DOTALL)).replace("\\\n", "").splitlines():
        if line.startswith(("for ", "done", "git ", "export ")):
            continue
        if "memsyco" in line:
            line = line.replace("openai/gpt-4o", "memory/planted")
        for theirs, own in ours.items():
            line = line.replace(theirs, own)
        in_turn = settings if "$setting" in line else [""]
        run_as_printed([line.replace("$setting", setting) for setting in in_turn], monkeypatch)
    assert (tmp_path / "cost" / "cost.html").is_file()
