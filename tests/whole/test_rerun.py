"""The command of a card, run as printed: it asks the same model the same again, in lm-eval and in Inspect."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.torch]
pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from support import inspect_runs, lm_eval_runs
from support.as_printed import run_as_printed
from support.judges import mixed
from support.servers import as_json, providers

from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports.rerun import commands
from personafeedback_tasks.runs.read import read_run, read_runs
from personafeedback_tasks.runs.signature_line import model_of, without_folder

ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "ACME_API_KEY": "none"}


def completions(request):
    """OpenAI's completions: some letter, and some log-probability of every token; which ones depends on the prompt alone."""
    body = request.get_json()
    prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
    choices = []
    for index, prompt in enumerate(prompts):
        number = zlib.crc32(str(prompt).encode())
        choice = {"index": index, "text": "AB"[number % 2], "finish_reason": "stop"}
        if isinstance(prompt, list):
            values = [-(number % 997) / 100] * (len(prompt) + 1)
            choice["logprobs"] = {"token_logprobs": values, "top_logprobs": [{"x": value} for value in values]}
        choices.append(choice)
    return as_json({"id": "c", "object": "text_completion", "created": 1, "model": body["model"], "choices": choices})


@pytest.fixture
def address(httpserver):
    providers(httpserver, load_cases("sample"), mixed, ("persona", "other_persona"))
    httpserver.expect_request("/v1/completions", method="POST").respond_with_handler(completions)
    return httpserver.url_for("/v1")


@pytest.fixture
def again(monkeypatch):
    """Runs the command of a card, with the data and the address where it asks for them."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)

    def run(runs, folder: Path, address: str) -> None:
        monkeypatch.chdir(folder)
        run_as_printed(_filled_in(runs, address), monkeypatch)

    return run


def _filled_in(runs, address: str) -> list[str]:
    *comments, line = commands(runs).split("\n")
    for name, value in (("FOLDER", "sample"), ("URL", address)):
        assert any(comment.startswith(f"# {name}: ") for comment in comments) == (name in line)
        line = line.replace(name, value)
    return [*comments, line]


def check_same(one, two) -> None:
    """Everything but when and where."""
    assert (model_of(one), one.signature, one.cells) == (model_of(two), two.signature, two.cells)
    conditions, again = (
        {name: without_folder(str(value)) for name, value in run.conditions.items()} for run in (one, two)
    )
    assert conditions == again
    assert one.cases == two.cases
    assert len(two.cases) == 8


@pytest.mark.parametrize(
    ("task", "model", "arguments", "flags"),
    [
        ("", "hf", "pretrained={tiny},dtype=float32,max_length=8000", ["--apply_chat_template", "--gen_kwargs", "max_gen_toks=4"]),
        ("", "local-chat-completions", "model=judge,base_url={url}/chat/completions", ["--apply_chat_template", "--metadata", '{"setting": "persona", "prompt": "v1"}']),
        ("", "local-completions", "model=judge,base_url={url}/completions,tokenizer_backend=None,tokenized_requests=False", []),
        ("_mc", "local-completions", "model=judge,base_url={url}/completions,tokenizer={tiny},tokenizer_backend=huggingface,max_length=8000", []),
    ],
)  # fmt: skip
def test_lm_eval(task, model, arguments, flags, tiny_model, address, again, tmp_path):
    done = lm_eval_runs.command(
        "--model", model, "--model_args", arguments.format(tiny=tiny_model, url=address), "--tasks", f"personafeedback_general_hard{task}",
        *flags, "--log_samples", "--output_path", tmp_path / "first", PERSONAFEEDBACK_DATA="sample",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    run = read_run(tmp_path / "first")
    assert run.conditions["chat template"] == ("applied" if "--apply_chat_template" in flags else "not applied")
    (tmp_path / tiny_model.name).symlink_to(tiny_model)
    again([run], tmp_path, f"{address}/{'chat/' if 'chat' in model else ''}completions")
    check_same(run, read_run(tmp_path / "results"))


def test_inspect_asks_the_run_and_its_control_in_one_command(address, again, tmp_path):
    first = []
    for setting in ("persona", "other_persona"):
        done = inspect_runs.command(
            "personafeedback_tasks/personafeedback_general_hard", "--model", "openai-api/acme/judge", "--model-base-url", address,
            "--log-dir", tmp_path / setting, "-T", f"setting={setting}", PERSONAFEEDBACK_DATA="sample", **ENVIRONMENT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        first.append(read_run(tmp_path / setting))
    assert "# Set first: ACME_API_KEY\n" in commands(first)
    again(first, tmp_path, address)
    second = read_runs([tmp_path / "logs"])
    assert [run.signature["setting"] for run in second] == ["persona", "other_persona"]
    for one, two in zip(first, second, strict=True):
        check_same(one, two)
