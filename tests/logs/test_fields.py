"""What a harness records about a run: its conditions, and caches that models share."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from lm_eval.models.api_models import JsonChatStr
from support.commands import personafeedback, ran
from support.judges import readable, who_asks
from support.lm_eval_runs import JudgeLM
from support.logs import bent, inspect_log, lm_eval_log
from support.servers import run, serving

from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.names import signature_line
from personafeedback_tasks.logs.read import read_run, read_runs
from personafeedback_tasks.personafeedback.cases import load_cases

HARD = "personafeedback_general_hard"


def changed(log: Path, change, to: Path) -> Path:
    """A copy of a run of lm-eval with another results file."""
    return bent(log, to, lambda results, rows: change(results))


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    return lm_eval_log(tmp_path_factory.mktemp("log"), "readable", HARD, "sample")


OTHERWISE = {
    "until": lambda results: results["configs"][HARD]["generation_kwargs"].update(until=["\n\n"]),
    "a_new_argument": lambda results: results["configs"][HARD]["generation_kwargs"].update(a_new_argument=1),
    "note": lambda results: results["configs"][HARD]["metadata"].update(note="second"),
    "a_new_field": lambda results: results.update(a_new_field=3),
    "model type": lambda results: results["config"].update(model="vllm"),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_runs_that_differ_in_one_condition_are_two_rows(name, log, tmp_path):
    """A field or key that nobody has listed is a condition."""
    other = changed(log, OTHERWISE[name], tmp_path / "other")
    (tmp_path / "first").mkdir()
    changed(log, lambda results: None, tmp_path / "first" / "run")
    said: list[str] = []
    runs = read_runs([tmp_path], said.append)
    assert said == []
    assert len(runs) == 2
    assert all(name in run.label for run in runs)  # a reader of two rows sees which is which
    shown = personafeedback("report", tmp_path, "--data", "sample").output
    assert all(run.label in shown for run in runs)
    assert [*runs[0].other_conditions(runs[1])] == [name]
    assert f"{name}=" in personafeedback("compare", log, other, "--data", "sample").output


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_long_value_is_shown_short_and_only_the_same_value_is_equal(harness, log, tmp_path):
    log = log if harness == "lm-eval" else inspect_log(tmp_path / "log", "readable", HARD, "sample")
    runs = []
    for place, end in enumerate("aab"):
        arguments = {"an_argument": {"x": "y" * 10_000 + end}}

        def change(header, rows, arguments=arguments):
            (header["config"] if harness == "lm-eval" else header["eval"]).update(model_args=arguments)

        runs.append(read_run(bent(log, tmp_path / str(place), change)))
    same, again, other = runs
    assert max(len(signature_line(run)) for run in runs) < 1_500
    assert "an_argument=" in signature_line(same) == signature_line(again) != signature_line(other)
    assert same.same == again.same != other.same
    assert [*same.other_conditions(other)] == ["an_argument"]


HARMLESS = {
    "num_concurrent": lambda results: results["config"].update(model_args={"num_concurrent": 9, "timeout": 3}),
    "secrets": lambda results: results["config"].update(
        model_args={"api_key": "S3CRET", "hf_token": "S3CRET", "header": {"Authorization": "S3CRET"}, "auth": "S3CRET"}
    ),
    "a number": lambda results: results["configs"][HARD]["generation_kwargs"].update(temperature=0),
    "order": lambda results: results["configs"][HARD].update(
        generation_kwargs=dict(reversed(results["configs"][HARD]["generation_kwargs"].items()))
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_runs_that_differ_in_what_is_harmless_are_the_same(name, log, tmp_path):
    other = changed(log, HARMLESS[name], tmp_path / "other")
    assert read_run(other).same == read_run(log).same
    assert "S3CRET" not in personafeedback("report", "--full", other, "--data", "sample").output


def test_secrets_within_an_argument_are_not_shown(log, tmp_path):
    def change(results):
        results["config"]["model_args"] = {
            "extra_body": {"api_key": "S3CRET", "mode": "fast"},
            "think_end_token": "</t>",
        }

    found = read_run(changed(log, change, tmp_path / "other")).conditions
    assert found["extra_body"] == {"mode": "fast"}
    assert found["think_end_token"] == "</t>"


@pytest.mark.slow
def test_conditions_in_a_header_of_inspect(tmp_path):
    """As `inspect eval` takes them: -M, --metadata, and each option of a model."""
    first = read_run(inspect_log(tmp_path / "a", "gold", HARD, "sample", max_connections=3, max_retries=2))
    asked = {"model_args": {"stop": "length"}, "system_message": "Be brief.", "frequency_penalty": 0.5}
    second = read_run(inspect_log(tmp_path / "b", "gold", HARD, "sample", **asked))
    assert first.other_conditions(second).keys() == {"stop", "system_message", "frequency_penalty"}


@pytest.mark.slow
def test_a_model_of_ones_own_is_asked_as_the_task_says(tmp_path):
    """In Inspect the arguments of a task come before those of its model."""
    from inspect_ai.model import GenerateConfig, get_model
    from personafeedback_tasks.inspect_tasks import personafeedback as tasks
    from support.inspect_runs import evaluate

    from personafeedback_tasks.logs.data import opened

    model = get_model("scripted/gold", config=GenerateConfig(temperature=1, top_p=0.5, logit_bias={7: 1}))
    log = evaluate(tasks.personafeedback_general_hard(data="sample"), model, tmp_path)
    (run,) = opened([log.location])
    assert (run.conditions["temperature"], run.conditions["top_p"]) == (0, 0.5)
    assert {event.config.temperature for event in log.samples[0].events if event.event == "model"} == {0}


class ChatLM(JudgeLM):
    """A judge behind a server for chats, which applies the template itself."""

    tokenizer_name = "none"

    def chat_template(self, chat_template=False):
        return ""

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return JsonChatStr(json.dumps(chat_history))


@pytest.mark.slow
def test_equal_decoding_in_two_harnesses_is_no_difference(tmp_path):
    """And a true one is named, under one name: `compare` and `rank` say so."""
    one = lm_eval_log(tmp_path / "one", ChatLM(readable), HARD, "sample", apply_chat_template=True)
    same = inspect_log(tmp_path / "same", "readable", HARD, "sample")
    other = inspect_log(
        tmp_path / "other", "readable", HARD, "sample", temperature=1, max_tokens=16, system_message="Hm."
    )
    plain = lm_eval_log(tmp_path / "plain", "readable", HARD, "sample")
    first = read_run(one)
    assert first.other_conditions(read_run(same)) == {}
    assert first.other_conditions(read_run(other)) == {
        "new tokens": ("1024", "16"), "system text": ("not set", "Hm."), "temperature": ("0", "1")
    }  # fmt: skip
    assert read_run(same).other_conditions(read_run(plain)) == {"chat template": ("applied", "not applied")}
    for command in ("compare", "rank"):
        assert "onditions" not in personafeedback(command, one, same, "--data", "sample").output
        said = personafeedback(command, one, other, "--data", "sample").output
        assert "temperature" in said
        assert "new tokens" in said
        assert "system text" in said
    control = inspect_log(tmp_path / "none", "readable", HARD, "sample", setting="no_persona")
    hot = inspect_log(tmp_path / "hot", "readable", HARD, "sample", setting="no_persona", temperature=1)
    names = ("--name", "scripted/readable=judge", "--name", f"{first.model}=judge", "--data", "sample")
    assert "under the same conditions" in personafeedback("report", "--full", one, control, *names).output
    assert "temperature=0; and temperature=1" in personafeedback("report", "--full", one, hot, *names).output


# --- one cache file for two models ------------------------------------------------------------------------------------


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Runs lm_eval with a cache on a served model, and gives its results file."""
    pytest.importorskip("sqlitedict")
    monkeypatch.chdir(tmp_path)

    def ask(name: str, judge, arguments: str = "", *others: str) -> Path:
        server.judge = judge
        given = f"model={name},base_url={server.url}/chat/completions{arguments}"
        words = ["--model", "local-chat-completions", "--apply_chat_template", "--tasks", HARD, "--log_samples"]
        place = tmp_path / f"run{len([*tmp_path.iterdir()])}"
        words += ["--model_args", given, "--use_cache", "cache/shared", "--output_path", place, *others]
        run("lm_eval", *words, data="sample", url=server.url)
        return next(place.rglob("results_*.json"))

    with serving(right, who_asks(load_cases("sample", "general", "hard"))) as server:
        yield ask


def right(case_id: str, call: str) -> str:
    return {"chosen_first": "A", "rejected_first": "B"}[call]


def wrong(case_id: str, call: str) -> str:
    return {"chosen_first": "B", "rejected_first": "A"}[call]


@pytest.mark.slow
def test_two_models_or_conditions_with_one_cache_file_are_refused_and_a_resumed_run_is_not(asked):
    one, two = asked("right", right, "", "--limit", "4"), asked("wrong", wrong)
    for line in (("rank", one, two), ("report", one.parents[2]), ("compare", one, two)):
        text = personafeedback(*line, "--data", "sample").output
        assert str(one) in text
        assert str(two) in text
        assert "one cache file per model" in text
    said = ran("report", two, "--data", "sample")
    assert "Replies may come from a cache (shared)" in " ".join(said.output.split())
    other, again = asked("right", wrong, ",revision=abc"), asked("right", wrong, ",max_retries=2")
    with pytest.raises(RunError, match="revision not set and abc"):
        read_runs([one, other])
    assert [run.cache for run in read_runs([one, again])] == ["cache/shared"] * 2


@pytest.mark.slow
def test_a_letter_that_two_models_always_give_is_no_sign_of_a_shared_cache(asked):
    def first(case_id: str, call: str) -> str:
        return "A"

    logs = [asked("a", first), asked("b", first)]
    assert all(run.cache for run in read_runs(logs))
    ran("rank", *logs, "--data", "sample")


# --- what models are called -------------------------------------------------------------------------------------------


def test_a_model_is_called_without_providers_and_folders_and_two_of_one_name_are_told_apart(tmp_path):
    from personafeedback_tasks.logs.run import short_name

    for model, shown in {
        "/home/a/checkpoints/step-100/": "step-100",
        "hf//home/a/step-100": "step-100",
        "openai-api/local/acme/model": "acme/model",
        "vllm/Qwen/Qwen3-8B": "Qwen/Qwen3-8B",
        "openai/gpt-4o": "openai/gpt-4o",
        "Qwen/Qwen3-8B": "Qwen/Qwen3-8B",
    }.items():
        assert short_name(model) == shown
    log = lm_eval_log(tmp_path / "one", "gold", HARD, "sample")
    other = shutil.copytree(tmp_path / "one", tmp_path / "two")
    for folder, place in ((tmp_path / "one", "/home/a/step-100"), (other, "/home/b/step-100")):
        (results,) = folder.rglob("results_*.json")
        stored = json.loads(results.read_bytes())
        stored["config"]["model_args"] = {"pretrained": place}
        results.write_text(json.dumps(stored), encoding="utf-8")
    alone = personafeedback("report", log, "--data", "sample").stdout
    assert alone.startswith("step-100 (")
    assert "/home" not in alone
    both = personafeedback("rank", tmp_path / "one", other, "--data", "sample").stdout
    assert "step-100 (/home/a/step-100)" in both
    assert "step-100 (/home/b/step-100)" in both
