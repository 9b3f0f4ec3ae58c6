"""lm-eval from end to end on real data: its own evaluator and command, with judges in place of a model."""

from __future__ import annotations

import importlib
import inspect
import json

import pytest
from lm_eval.tasks import TaskManager
from support.judges import JUDGES, KNOWN, METRICS
from support.lm_eval_runs import (
    CELLS,
    GROUPS,
    MEMSYCO,
    METHODS,
    PREFEVAL,
    RECENTER,
    SWAP,
    WRITE,
    CallLM,
    JudgeLM,
    command,
    evaluate,
)
from support.releases import CASES

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.lm_eval_harness.task import _warn_of_remark
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import WORDINGS
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS
from personafeedback_tasks.stats import estimates


def value(results, task, metric):
    return results["results"][task][f"{metric},none"]


def test_the_task_manager_finds_exactly_the_names_that_are_promised():
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False)
    assert set(manager.all_groups) == GROUPS | {
        "recenter",
        *(f"{name}{suffix}" for name in ("memsyco", "personafeedback_swap") for suffix in METHODS),
    }
    assert set(manager.all_subtasks) == CELLS | MEMSYCO | PREFEVAL | RECENTER | SWAP | WRITE
    assert manager.all_tags == ["personalization"]


def test_every_task_can_be_built_and_a_group_holds_the_cells_that_its_name_says():
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False, metadata={"data": "sample"})
    loaded = manager.load([f"personafeedback{suffix}" for suffix in METHODS])
    assert set(loaded["tasks"]) == CELLS
    assert {task.VERSION for task in loaded["tasks"].values()} == {TASK_VERSION}
    assert {task.config.num_fewshot for task in loaded["tasks"].values()} == {0}
    assert loaded["tasks"]["personafeedback_general_easy"].config.generation_kwargs == {
        "until": ["<|endoftext|>"], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0,
    }  # fmt: skip
    for name in GROUPS:
        suffix = next((suffix for suffix in ("_mc", "_cot") if name.endswith(suffix)), "")
        words = set(name.removesuffix(suffix).split("_")[1:])
        group = manager.load([name])["groups"][name]
        expected = [f"personafeedback_{cell}{suffix}" for cell in PAPER_COUNTS if words <= {*cell.split("_")}]
        assert [task.task_name for task in group.get_all_tasks()] == expected
        assert group.version == TASK_VERSION


@pytest.mark.parametrize("judge", KNOWN)
def test_known_judges_get_exactly_their_known_scores(judge, real_part):
    results = evaluate(judge, "personafeedback_general", real_part)
    for difficulty, count in CASES.items():
        task = f"personafeedback_general_{difficulty}"
        assert {m: value(results, task, m) for m in METRICS} == pytest.approx(KNOWN[judge], abs=0, nan_ok=True)
        assert results["n-samples"][task] == {"original": count, "effective": count}
    for metric in ("acc", "acc_both", "invalid"):
        assert value(results, "personafeedback_general", metric) == KNOWN[judge][metric]
    assert {k.partition(",")[0] for k in results["groups"]["personafeedback_general"] if ",none" in k} == {
        name + suffix for name in ("acc", "acc_both", "invalid") for suffix in ("", "_stderr")
    }


@pytest.mark.parametrize(("judge", "symmetric"), [("gold", 1), ("anti_gold", 0), ("always_first", 0.5)])
def test_the_log_likelihood_tasks_know_the_same_answers(judge, symmetric, real_part):
    results = evaluate(judge, "personafeedback_general_hard_mc", real_part)
    task = "personafeedback_general_hard_mc"
    assert {m: value(results, task, m) for m in METRICS} == pytest.approx(KNOWN[judge])
    assert value(results, task, "acc_sym") == symmetric


def test_cot_asks_for_reasons_first_gives_them_room_and_reads_the_last_line_under_all_options(real_part):
    lm = CallLM(
        lambda _, name, call: f"Response A is warm. Response B is long.\n\nAnswer: {JUDGES['gold'](name, call)}"
    )
    task = "personafeedback_general_hard_cot"
    options = {"prompt": "v2", "hide": "Name,Preference.Travel"}
    results = evaluate(lm, task, real_part, limit=40, log_samples=True, metadata=options)
    assert value(results, task, "acc") == 1
    alias = results["results"][task]["alias"]
    assert alias.endswith("(prompt v2, without Name, without Preference.Travel)")
    config = results["configs"][task]
    assert config["generation_kwargs"]["max_gen_toks"] == 4096
    assert config["metadata"]["personafeedback_tasks"]["method"] == "cot"
    cases = load_cases(real_part, "general", "hard")[:40]
    template = prompts.Template(method="cot", prompt="v2", hide=("Name", "Preference.Travel"))
    assert lm.prompts == [prompts.build(case, template, order) for case in cases for order in TWO.names]
    assert all(prompt.endswith(WORDINGS["v2"]["zh"].ask_cot) for prompt in lm.prompts)


def test_a_logged_sample_shows_both_prompts_the_replies_and_the_reasons(real_part):
    """And the standard error is clustered by the users of these samples, over which the first ones are spread."""
    task = "personafeedback_general_hard"
    results = evaluate("mixed", task, real_part, log_samples=True)
    samples = results["samples"][task]
    expected = estimates.clustered_stderr([s["acc"] for s in samples], [s["doc"]["user_id"] for s in samples])
    assert value(results, task, "acc_stderr") == pytest.approx(expected, abs=1e-15)
    assert expected > 0
    assert len({sample["doc"]["user_id"] for sample in samples[:30]}) == 30
    case_of = {case.id: case for case in load_cases(real_part, "general", "hard")}
    reasons = set()
    for sample in samples[:60]:
        case = case_of[sample["doc"]["id"]]
        for order, arguments, (reply,) in zip(TWO.names, sample["arguments"], sample["resps"], strict=True):
            assert case.question in arguments[0]
            first, second = (case.chosen, case.rejected) if order == "chosen_first" else (case.rejected, case.chosen)
            assert arguments[0].index(first) < arguments[0].index(second)
            assert reply == JUDGES["mixed"](case.id, order)
        assert sample["acc"] == scoring.score_answers(TWO.letters, sample["filtered_resps"])["acc"]
        reasons |= set(sample["filtered_resps"])
    assert reasons == {"A", "B", "no_response", "truncated", "refusal", "invalid_response_format"}


def test_an_error_that_is_not_known_does_not_end_a_group():
    """Of one case a cell: lm-eval would pool nan and divide by 0, after all calls are made."""
    results = evaluate("gold", "personafeedback_hard", "sample", limit=1)["results"]
    assert results["personafeedback_general_hard"]["acc_stderr,none"] == "N/A"
    assert results["personafeedback_hard"]["acc,none"] == 1


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"pretrained": "x", "max_length": 5}, None),
        ({"setting": "rag!"}, "^setting must be one of persona, no_persona, other_persona, similar_persona, padding, rag, got 'rag!'."),
        ({"seting": "x"}, r"^seting='x' is not an option\. Use setting, or rename the key"),
        ({"Setting": "x"}, r"^Setting='x' is not an option\. Use setting, or rename the key"),
        ({"rag-filter": "x"}, r"^rag-filter='x' is not an option\. Use rag_filter, or rename the key"),
        ({"hidden": "x"}, r"^hidden='x' is not an option\. Use hide, or rename the key"),
    ],
)  # fmt: skip
def test_metadata_of_other_people_is_left_alone_and_ours_is_checked(metadata, told):
    metadata = {"data": "sample", **metadata}
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False, metadata=metadata)
    if told is None:
        assert manager.load(["personafeedback_general_easy"])
    else:
        with pytest.raises(OptionError, match=told):
            manager.load(["personafeedback_general_easy"])


def names_of_model_arguments():
    """Of the classes behind `--model` that can be imported; vLLM, which takes its engine's too, has no importable ones."""
    others = [
        "gpu_memory_utilization",
        "max_model_len",
        "quantization",
        "kv_cache_dtype",
        "tokenizer_mode",
        "lora_path",
    ]
    for name in ("huggingface", "openai_completions", "anthropic_llms", "api_models", "gguf", "sglang_causallms"):
        module = importlib.import_module(f"lm_eval.models.{name}")
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__module__ == module.__name__:
                others += inspect.signature(kind.__init__).parameters
    return {*others, "date", "api_key", "max_tokens", "temperature", "top_p", "task", "tasks", "notes"}


@pytest.mark.slow
def test_no_argument_of_a_model_is_taken_for_a_misspelt_option():
    pytest.importorskip("torch")  # the arguments of `hf` are read from its class
    names = names_of_model_arguments()
    assert {"pretrained", "dtype", "model", "max_length", "revision", "trust_remote_code", "tokenizer"} < names
    assert {"base_url", "num_concurrent", "device", "batch_size", "tokenizer_backend", "auth_token"} < names
    assert find("personafeedback").options.read(dict.fromkeys(names, "x")) == find("personafeedback").options()


def test_a_yaml_file_of_another_version_says_so(tmp_path):
    for path in task_configs().glob("personafeedback/*yaml"):
        text = path.read_text(encoding="utf-8").replace(f'version: "{TASK_VERSION}"', 'version: "0.9"')
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False, metadata={"data": "sample"})
    with pytest.raises(ValueError, match=r"has task version 0\.9, the installed .* Pass --include_path"):
        manager.load(["personafeedback_general_easy"])


def test_a_cached_request_of_another_prompt_is_never_used(real_part, tmp_path, monkeypatch):
    from lm_eval.caching import cache

    monkeypatch.setattr(cache, "PATH", str(tmp_path))
    task = "personafeedback_general_hard"

    def prompts_asked(**metadata):
        lm = JudgeLM(JUDGES["gold"])
        evaluate(lm, task, real_part, limit=5, cache_requests=True, metadata=metadata)
        return lm.prompts

    first = prompts_asked()
    assert prompts_asked() == first
    assert len(list(tmp_path.iterdir())) == 1, "the second run did not use the cache"
    assert not set(prompts_asked(setting="no_persona")) & set(first)
    wording = WORDINGS["v1"]["zh"]
    monkeypatch.setitem(WORDINGS["v1"], "zh", type(wording)(**{**vars(wording), "ask": "哪个更好？"}))
    assert all(prompt.endswith("哪个更好？") for prompt in prompts_asked())


def test_the_command_says_what_it_asks_and_warns_of_unreadable_replies(real_data, tmp_path):
    _warn_of_remark.cache_clear()  # once per process, and another test may have been it
    done = command(
        "--model", "dummy", "--tasks", "personafeedback_general", "--limit", "10", "--output_path", tmp_path, "--log_samples",
        "--metadata", '{"setting": "no_persona"}', PERSONAFEEDBACK_DATA=str(real_data),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    opening = [line for line in done.stderr.splitlines() if "model calls" in line]
    assert len(opening) == 3  # lm-eval runs leaves: one line each
    assert all(
        part in opening[-1]
        for part in (
            "personafeedback_general_hard (no_persona): 10 of 1,010 cases", "20 model calls",
            "setting no_persona", "method generate", "sha256", "chat template not applied",
        )
    )  # fmt: skip
    assert done.stderr.count("lm-eval's Groups table cannot") == 1
    assert "20 of 20 replies (100.0%) are unreadable" in done.stderr
    assert "--apply_chat_template" in done.stderr
    assert "| - personafeedback_general_hard (no_persona)" in done.stdout
    (results,) = tmp_path.rglob("results_*.json")
    config = json.loads(results.read_text(encoding="utf-8"))["configs"]["personafeedback_general_hard"]
    assert config["metadata"]["setting"] == "no_persona"


def test_a_key_among_the_model_arguments_is_in_nothing_that_is_logged_of_our_tasks(tmp_path):
    """lm-eval itself logs --model_args once, under `config`, and adds them to the metadata of every task."""
    done = command(
        "--model", "dummy", "--tasks", "personafeedback_hard", "--limit", "2",
        "--model_args", "api_key=sk-hunter2,max_length=9000", "--metadata", '{"setting": "no_persona"}',
        "--output_path", str(tmp_path), "--log_samples", PERSONAFEEDBACK_DATA="sample",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.rglob("results_*.json")
    results = json.loads(path.read_bytes())
    assert "hunter2" in json.dumps(results["config"]), "the key did not reach lm-eval"
    assert "hunter2" not in json.dumps({key: value for key, value in results.items() if key != "config"})
    samples = list(tmp_path.rglob("samples_*.jsonl"))
    assert len(samples) == 2
    assert not any("hunter2" in path.read_text(encoding="utf-8") for path in samples)
    for config in results["configs"].values():
        assert config["metadata"].keys() == {
            "version",
            "config_source",
            "setting",
            "personafeedback_tasks",
            "personafeedback_tasks_prompts",
        }
        assert config["metadata"]["setting"] == "no_persona"
