"""Texts that a model writes: each once, whatever fails; through a provider's real SDK. See also test_build_generation.py, where a run is killed."""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import BatchConfig, _retry
from support.servers import serving
from tenacity import wait_none

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.inspect_harness import generation
from personafeedback_tasks.inspect_harness.generation import GenerationError, generate, spent

pytestmark = pytest.mark.slow

MODEL = "openai/gpt-4o"


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch):
    monkeypatch.setattr(_retry, "wait_exponential_jitter", lambda **_: wait_none())
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("INSPECT_CACHE_DIR", raising=False)


def write(prompt, model):
    if "withheld" in prompt:
        return "", "content_filter"
    if "broken" in prompt:
        return 400, "this text is not for me"
    return (f"<{prompt}>", "length") if "long" in prompt else f"<{prompt}>"


def asked(server, folder, *prompts, **options):
    named = {f"r{number}": prompt for number, prompt in enumerate(prompts)}
    return generate(named, MODEL, folder, step="answers", model_args={"base_url": server.url}, **options)


def test_a_text_that_fails_costs_that_text_and_is_asked_again(tmp_path):
    ended = []
    with serving(write) as server:
        texts, failures = asked(
            server, tmp_path, "same", "same", "broken", "long", "withheld", came=lambda: ended.append(1)
        )
        withheld = {"r4": ("", False, True)}
        assert (
            texts
            == {"r0": ("<same>", False, False), "r1": ("<same>", False, False), "r3": ("<long>", True, False)}
            | withheld
        )
        assert failures.keys() == {"r2"}
        assert "this text is not for me" in failures["r2"]
        assert len(ended) == 5
        assert Counter(server.prompts) == {"same": 2, "broken": 1, "long": 1, "withheld": 1}
        (log,) = (tmp_path / "logs" / "answers").glob("*.eval")
        assert [sample.id for sample in read_eval_log(str(log)).samples] == ["r0", "r1", "r2", "r3", "r4"]

        server.judge = lambda prompt, model: f"now <{prompt}>"
        again = asked(server, tmp_path, "same", "same", "broken", "long", "withheld")
        assert again == (
            {**texts, "r2": ("now <broken>", False, False), "r4": ("now <withheld>", False, False)},
            {},
        )
        assert Counter(server.prompts) == {"same": 2, "broken": 2, "long": 1, "withheld": 2}
        assert asked(server, tmp_path, "edited") == ({"r0": ("now <edited>", False, False)}, {})
        (tmp_path / "logs" / "answers" / "killed.eval").write_bytes(b"half a file")
        usage, without = spent(tmp_path)  # what comes from the cache costs nothing
        billed = [[of[name] for _, of in server.billed] for name in ("prompt_tokens", "completion_tokens")]
        assert ([usage[MODEL].input, usage[MODEL].output], without) == ([*map(sum, billed)], 1)
    assert "INSPECT_CACHE_DIR" not in os.environ


def test_a_dead_server_is_an_error(tmp_path):
    with serving(write) as server:
        url = server.url
    with pytest.raises(GenerationError) as error:
        generate(
            {"u1:q": "Hello"},
            MODEL,
            tmp_path,
            step="questions",
            model_args={"base_url": url, "max_retries": 0},
        )
    for said in (MODEL, "1 requests of `questions`", "'u1:q' failed with: Connection error.", "run the step again"):
        assert said in str(error.value)


def test_a_server_that_only_fails_is_not_asked_for_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(generation, "PATIENCE", 4)
    prompts = [f"text {number}" for number in range(40)]
    with serving(lambda prompt, model: (400, "no")) as server:
        with pytest.raises(GenerationError, match="40 requests"):
            asked(server, tmp_path, *prompts)
        assert 4 <= len(server.prompts) < 30
        server.judge = lambda prompt, model: (400, "no") if prompt == "text 7" else write(prompt, model)
        texts, failures = asked(server, tmp_path, *prompts)
    assert len(texts) == 39
    assert failures.keys() == {"r7"}


def test_batches_pass_through_to_the_provider(tmp_path):
    with serving(write) as server:
        prompts = [f"text {number}" for number in range(7)]
        texts, failures = asked(server, tmp_path, *prompts, batch=BatchConfig(size=3, send_delay=0.1, tick=0.01))
    assert {name: text for name, (text, *_) in texts.items()} == {f"r{n}": f"<text {n}>" for n in range(7)}
    assert failures == {}
    assert sorted(chain(*server.batches)) == prompts
    assert len(server.batches) <= 3


def test_a_model_that_does_not_start_is_named(tmp_path, monkeypatch):
    with pytest.raises(OptionError, match="'nobody/x' could not be started.*openai/gpt-4o"):
        generate({"a": "Hello"}, "nobody/x", tmp_path, step="answers")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(OptionError, match="OPENAI_API_KEY,"):
        generate({"a": "Hello"}, MODEL, tmp_path, step="answers")
    assert generate({}, MODEL, tmp_path, step="answers") == ({}, {})
