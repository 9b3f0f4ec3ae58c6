"""A prompt that the model does not see whole: refused before the first call, or counted, and then every output is void."""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from inspect_ai.log import read_eval_log
from lm_eval.api.instance import Instance
from support import inspect_runs, lm_eval_runs
from support.commands import personafeedback
from support.judges import who_asks
from support.logs import opened
from support.servers import as_json, serving
from werkzeug import Request

from personafeedback_tasks.core.window import KEY, UNKNOWN, PromptCheck
from personafeedback_tasks.lm_eval_harness.window import check_prompts
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.personafeedback.cases import load_cases

TASK = "personafeedback_general_hard"
SMALLEST = re.compile(
    r"(\d[\d,]*) of ([\d,]+) prompts do not fit into the window of ([\d,]+) tokens .* max_length=(\d+)"
)


@pytest.fixture
def asked():
    """Prompt -> the letter that is right."""
    letters = {"chosen_first": "A", "rejected_first": "B"}
    return {text: letters[call] for text, (_, call) in who_asks(load_cases("sample", "general", "hard")).items()}


@pytest.fixture
def completions(httpserver, tiny_model, asked):
    """A server that is right where it sees a prompt whole, and says A else; `httpserver.texts` has what it saw."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    httpserver.texts = []

    def answer(request: Request):
        body = request.get_json()
        given = body["prompt"]
        texts = [given] if isinstance(given, str) else [tokenizer.decode(ids) for ids in given]
        httpserver.texts += texts
        choices = []
        for index, text in enumerate(texts):
            whole = next((prompt for prompt in asked if prompt in text), None)
            choice = {"index": index, "text": asked[whole] if whole else "A"}
            if body.get("echo"):
                size = len(tokenizer(text).input_ids) + 1
                value = -1.0 if whole and text.removeprefix(whole).strip() == asked[whole] else -2.0
                choice["logprobs"] = {"token_logprobs": [value] * size, "top_logprobs": [{"x": -1.0}] * size}
            choices.append(choice)
        return as_json({"choices": choices})

    httpserver.expect_request("/v1/completions", method="POST").respond_with_handler(answer)
    return httpserver


def lm_eval(task, model, arguments, *flags, folder=None):
    out = ["--output_path", folder, "--log_samples"] if folder else []
    words = ("--model", model, "--model_args", arguments, "--tasks", task, *flags, *out)
    return lm_eval_runs.command(*words, PERSONAFEEDBACK_DATA="sample")


def refused(*arguments):
    """(prompts, window, the smallest that would do) of a run that is refused."""
    done = lm_eval(*arguments)
    assert done.returncode == 1
    cut, *numbers = (int(number.replace(",", "")) for number in SMALLEST.search(done.stderr).groups())
    assert 0 < cut <= numbers[0]
    return numbers


UNCHECKED = patch("personafeedback_tasks.lm_eval_harness.task.check_prompts", return_value=UNKNOWN)


def acc(folder):
    run = read_run(folder)
    return sum(run.values("acc").values()) / len(run.cases)


# --- lm-eval, before the first call -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", "_mc"])
def test_local_completions_is_refused_with_the_smallest_window_that_would_do(suffix, completions, tiny_model, tmp_path):
    """One token less than it says, and the server would see a prompt without its beginning."""
    task, address = f"{TASK}{suffix}", completions.url_for("/v1/completions")
    judge = f"model=judge,base_url={address},tokenizer={tiny_model},tokenizer_backend=huggingface,num_concurrent=4"
    asked, window, smallest = refused(task, "local-completions", judge + (",max_length=1000" if suffix else ""))
    assert (asked, window) == (16, 1000 if suffix else 2048)
    refused(task, "local-completions", f"{judge},max_length={smallest - 1}")
    assert completions.texts == []

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = lm_eval(task, "local-completions", f"{judge},max_length={smallest}", folder=whole)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"all prompts fit into {smallest:,} tokens" in done.stderr
    assert read_run(whole).prompts == PromptCheck(16, 0, smallest)
    with UNCHECKED:
        lm_eval(task, "local-completions", f"{judge},max_length={smallest - 1}", folder=cut)
    assert acc(cut) < acc(whole) == 1


def checked(kind, words, arguments, request="generate_until", labels=1, **told):
    """The check of one prompt by a class that is derived from `kind`, and whose tokens are words."""
    own = {"max_length": 10, "tok_encode": lambda self, text: text.split(), "template": lambda self: None}
    model = type(f"Derived{kind}", (type(kind, (), {**own, **told}),), {})()
    prompt = " ".join(["wörterbuch"] * words)
    requests = [Instance(request_type=request, doc={}, arguments=(prompt, one), idx=0) for one in arguments]
    return check_prompts("t", requests, labels, model.template)


@pytest.mark.parametrize(
    ("told", "cut", "source"),
    [
        ({}, 0, ""),
        ({"config": SimpleNamespace(max_position_embeddings=9)}, 1, "the positions that the model was made for"),
        ({"config": SimpleNamespace(max_position_embeddings=10)}, 0, ""),
        ({"config": SimpleNamespace(max_position_embeddings=9), "backend": "seq2seq"}, 0, ""),
        ({"truncation": True, "tokenizer": SimpleNamespace(model_max_length=9)}, 1, "its tokenizer's, with truncation=True"),
        ({"truncation": True, "tokenizer": SimpleNamespace(model_max_length=10)}, 0, ""),
    ],
)  # fmt: skip
def test_a_long_max_length_gives_hf_no_more_positions_and_hides_no_truncation(told, cut, source):
    found = checked("HFLM", 10, [{"max_gen_toks": 4}], **{"max_length": 100, **told})
    assert found.cut == cut
    assert f"window of 9 tokens ({source})" in found.refusal if cut else not found.refusal


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", "_mc"])
def test_hf_is_refused_with_the_smallest_window_that_would_do_and_runs(suffix, tiny_model, tmp_path):
    pytest.importorskip("torch")
    from lm_eval.models.huggingface import HFLM

    task, hf, read = f"{TASK}{suffix}", f"pretrained={tiny_model},dtype=float32", []
    flags = [] if suffix else ["--apply_chat_template", "--gen_kwargs", "max_gen_toks=2"]
    batches = ["--batch_size", "auto", "--max_batch_size", "2"] if suffix else ["--batch_size", "4"]
    ask = HFLM._model_call if suffix else HFLM._model_generate

    def seen(self, *args, **kwargs):
        ids = kwargs["context"] if "context" in kwargs else args[0]
        read.extend(map(self.tokenizer.decode, ids))
        return ask(self, *args, **kwargs)

    one = [*flags, "--limit", "1"]
    with patch.object(HFLM, ask.__name__, seen):
        *_, smallest = refused(task, "hf", f"{hf},max_length=300", *one, "--use_cache", tmp_path / "cache")
        refused(task, "hf", f"{hf},max_length={smallest - 1}", *one)
        assert read == []
        for size in (smallest, smallest - 1):
            with UNCHECKED:
                lm_eval(task, "hf", f"{hf},max_length={size}", *one)
    beginnings = tuple(text[:12] for text in who_asks(load_cases("sample", "general", "hard")))
    whole = [text.startswith(beginnings if suffix else "<|user|>") for text in read]
    half = len(whole) // 2
    assert all(whole[:half])
    assert not all(whole[half:])

    done = lm_eval(task, "hf", hf, *flags, *batches, folder=tmp_path / "out")
    assert "all prompts fit into 8,192 tokens" in done.stderr
    assert ("chat template applied" in done.stderr) is not bool(suffix)
    (results,) = (tmp_path / "out").rglob("results_*.json")
    header, rows = opened(results)
    assert len(rows) == 8
    assert read_run(results).prompts.cut == 0
    for row in rows if suffix else ():  # the two log-likelihoods of each order
        (a1, _), (b1, _), (a2, _), (b2, _) = [(float(x), y) for x, y in row["filtered_resps"]]
        assert row["acc"] == ((a1 > b1) + (b2 > a2)) / 2
        assert row["acc_sym"] == scoring.score_symmetric([(a1, b1), (a2, b2)])
    name = "acc_sym" if suffix else "acc"
    assert header["results"][task][f"{name},none"] == pytest.approx(sum(row[name] for row in rows) / 8)


@pytest.mark.parametrize(("kind", "room", "with_label"), [("VLLM", 10, 9), ("SGLangLM", 10, 10), ("HFLM", 10, 11)])
def test_each_backend_has_its_own_rule(kind, room, with_label):
    """For backends that cannot run here, by the rules in their sources."""
    for new in (0, 4):
        assert checked(kind, room - new, [{"max_gen_toks": new}]).cut == 0
        assert checked(kind, room - new + 1, [{"max_gen_toks": new}]).cut == 1
    assert checked(kind, with_label - 1, [" A", " B"], "loglikelihood", 2).cut == 0
    assert checked(kind, with_label, [" A", " B"], "loglikelihood", 2).cut == 1


def test_a_class_that_nobody_knows_is_not_guessed():
    assert checked("Mine", 3, [{"max_gen_toks": 0}]).cut is None


def test_what_nobody_can_know_is_a_caveat_in_every_output(completions, tmp_path):
    """Texts, and not tokens: what does not fit, the server cuts or refuses."""
    address = (
        f"model=judge,base_url={completions.url_for('/v1/completions')},tokenizer_backend=None,tokenized_requests=False"
    )
    own, other = tmp_path / "persona", tmp_path / "other_persona"
    for folder in (own, other):
        told = json.dumps({"setting": folder.name})
        done = lm_eval(TASK, "local-completions", address, "--metadata", told, folder=folder)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "prompts NOT CHECKED" in done.stderr
        assert read_run(folder).prompts == PromptCheck(16, None, None)
    for command in (["report", "--full", own], ["rank", own], ["compare", own, other]):
        shown = " ".join(personafeedback(*command).stdout.split())
        assert "Prompts not checked" in shown, command
        assert "PROMPTS CUT" not in shown


# --- Inspect ----------------------------------------------------------------------------------------------------------


def chat(window=None, refuses=False, count=lambda text: len(text) // 3):
    """A chat server; its tokens are parts of three characters. It cuts without a word, or refuses, what is longer than its window."""

    def judge(prompt, model):
        if not refuses or count(prompt) <= window:
            return "A"
        said = f"This model's maximum context length is {window} tokens. The answer is A."
        return as_json({"error": {"message": said, "code": "context_length_exceeded", "type": "invalid"}}, 400)

    def usage(prompt, reply):
        read = min(count(prompt), window or count(prompt))
        return {"prompt_tokens": read, "completion_tokens": 1, "total_tokens": read + 1}

    return serving(judge, usage=usage)


def inspect(folder, *arguments):
    words = (f"personafeedback_tasks/{TASK}", "-T", "data=sample", "--log-dir", folder, *arguments)
    return inspect_runs.command(*words, CUT_API_KEY="none")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "cut"),
    [({}, 0), ({"window": 800}, 8), ({"window": 800, "refuses": True}, 8), ({"count": lambda text: 9}, None)],
)
def test_a_server_that_cuts_or_refuses_prompts_makes_the_run_void(server, cut, tmp_path, caplog):
    with chat(**server) as started:
        done = inspect(tmp_path, "--model", "openai-api/cut/m", "--model-base-url", started.url)
    assert done.returncode == 0, done.stdout[-2000:]
    shown = " ".join(personafeedback("report", tmp_path, "--full").stdout.split())
    assert ("Prompts not checked" in shown) == (cut is None)
    assert ("PROMPTS CUT" in shown) == bool(cut)  # the server always says A: what is left measures place
    warned = " ".join(f"{done.stdout} {caplog.text}".split())  # a test before it may have changed where logs go
    assert ("void" in warned or "prompt_cut" in warned) == bool(cut)
    if cut:
        assert f"PROMPTS CUT: {cut} prompts" in shown
        assert "--max-model-len" in warned
        assert "--max-tokens" not in warned
    if server.get("refuses"):
        answers = [answer for case in read_run(tmp_path).cases.values() for answer in case.answers]
        assert answers.count("prompt_cut") == cut


@pytest.mark.slow
def test_hf_of_inspect_is_refused_beyond_its_positions_and_where_its_tokenizer_would_cut(tiny_model, tmp_path):
    pytest.importorskip("accelerate")
    short = tmp_path / "short"
    shutil.copytree(tiny_model, short)
    config = json.loads((short / "config.json").read_bytes())

    def run(positions, name, *more):
        (short / "config.json").write_text(json.dumps({**config, "max_position_embeddings": positions}))
        return inspect(
            tmp_path / name, "--model", f"hf/{name}", "-M", f"model_path={short}", "-M", "device=cpu", "-M", "do_sample=false",
            "--limit", "1", "--max-tokens", "2", "--temperature", "1", *more,
        )  # fmt: skip

    done = run(600, "few")
    found = re.search(r"2 of 2 prompts do not fit into the window of 600 tokens .* at least ([\d,]+)\.", done.stdout)
    smallest = int(found[1].replace(",", ""))
    (path,) = (tmp_path / "few").glob("*.eval")
    log = read_eval_log(str(path))
    assert (log.status, log.eval.metadata[KEY]) == ("error", {"asked": 2, "cut": 2, "window": 600})
    assert not any(event.event == "model" for sample in log.samples for event in sample.events)
    run(smallest, "enough")
    assert read_run(tmp_path / "enough").prompts == PromptCheck(2, 0, smallest)
    truncated = run(9000, "truncated", "-M", 'tokenizer_call_args={"truncation": true, "max_length": 300}').stdout
    assert "2 of 2 prompts do not fit into the window of 300 tokens (tokenizer_call_args)" in " ".join(
        truncated.split()
    )
