"""Replies that the server left out, with the status 200: a run with more than a few says so before anything else."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from support.commands import personafeedback, ran
from support.judges import readable, who_asks
from support.releases import write_hard
from support.servers import as_json, run, serving
from support.shown import sentences
from werkzeug import Response

from personafeedback_tasks.analysis import void
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases

pytestmark = pytest.mark.slow

HARD, CASES = "personafeedback_general_hard", 24
FIRST = "MISSING REPLIES: 12.5 % of the replies"
EVERY = 8
"""One reply in so many is left out."""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return write_hard(tmp_path_factory.mktemp("data") / "set", CASES)


def left_out(good: Response, how: str) -> Response:
    """What the server sends in place of a whole answer."""
    if how == "error":
        return as_json({"error": {"message": "out of order", "type": "api_error", "code": None, "param": None}})
    body = good.get_json()
    (choice,) = body["choices"]
    if how == "no choice":
        body["choices"] = []
    elif how == "no choices":
        del body["choices"]
    else:
        choice["message"]["content"] = None
        if how.startswith("thinking"):
            choice["message"]["reasoning_content"] = "Ann is a baker."
        if how.endswith("cut"):
            choice["finish_reason"] = "length"
    return as_json(body)


def asked(harness: str, how: str, data: Path, folder: Path, monkeypatch) -> Path:
    """The output of a harness's own command, with a server that leaves out one reply in EVERY."""
    number = count(1)

    def sends(response: Response, who: tuple) -> Response:
        return left_out(response, how) if next(number) % EVERY == 0 else response

    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with serving(readable, who_asks(load_cases(data, "general", "hard"))) as server:
        server.sends = sends
        if harness == "lm_eval":
            arguments = [
                "--model", "local-chat-completions", "--apply_chat_template", "--tasks", HARD, "--log_samples",
                "--model_args", f"model=judge,base_url={server.url}/chat/completions,num_concurrent=4",
                "--output_path", str(folder),
            ]  # fmt: skip
        else:
            arguments = [f"personafeedback_tasks/{HARD}", "--model", "openai-api/local/judge", "--log-dir", str(folder)]
        run(harness, *arguments, data=data, url=server.url)
    return folder


@pytest.mark.parametrize(
    ("harness", "how"),
    [
        ("lm_eval", "error"), ("inspect_ai", "null"),
        *(pytest.param(*one, marks=pytest.mark.release)
          for one in [("lm_eval", "no choices"), ("lm_eval", "null"), ("inspect_ai", "no choice")]),
    ],
)  # fmt: skip
def test_replies_that_the_server_left_out_come_first_everywhere(harness, how, data, tmp_path, monkeypatch):
    log = asked(harness, how, data, tmp_path / "log", monkeypatch)
    found = read_run(log)
    assert void.missing_share(found) == 1 / EVERY
    done = ran("report", "--full", log, "--data", data, "--out", tmp_path / "out")
    assert done.stdout.split("\n! ")[1].startswith(f"{FIRST} have no text at all")  # below the name of the report
    document = json.loads((tmp_path / "out" / "report.json").read_bytes())["reports"][0]
    assert sentences(document)[0].startswith(FIRST)
    assert ("--use_cache" in sentences(document)[0]) == (harness == "lm_eval")  # options of its own harness
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.index("MISSING REPLIES") < page.index("<table")


@pytest.mark.parametrize("how", ["thinking", "cut"])
def test_thinking_without_an_answer_is_not_a_server_that_left_a_reply_out(how, data, tmp_path, monkeypatch):
    log = asked("inspect_ai", how, data, tmp_path / "log", monkeypatch)
    found = read_run(log)
    reasons = [reason for result in found.results for reason, _ in result.unread]
    assert reasons == ["truncated" if "cut" in how else "no_response"] * (2 * CASES // EVERY)
    assert void.missing_share(found) == 0
    assert "MISSING REPLIES" not in personafeedback("report", "--full", log, "--data", data).output
