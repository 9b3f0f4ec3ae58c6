"""What becomes of a run when the server misbehaves: every fault, in every way in which a harness asks an API.

A reply is correct, wrong or unreadable. An API error is none of these: the harness asks again, or the run fails. Only
waits are shortened here; what is asked again, how often, and what is made of a reply is left to the harnesses.
"""

from __future__ import annotations

import json
import logging
import math
import threading
from collections import Counter
from typing import Any

import inspect_ai
import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import _retry
from lm_eval.models import api_models
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support import judges
from support.lm_eval_runs import evaluate
from support.servers import as_json, run, serving
from tenacity import wait_none
from werkzeug import Response

from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import LETTERS, REASONS
from personafeedback_tasks.personafeedback.cases import load_cases

pytestmark = pytest.mark.slow

TASK = "personafeedback_general_hard"
LIMIT = 4
CALLS = 2 * LIMIT
LOGGERS = [logging.getLogger(name) for name in ("lm_eval", "personafeedback_tasks")]  # lm-eval hands no record on

BACKENDS = {  # name: (model, arguments of the model); lm-eval asks in other code if it asks one at a time
    "lm chat": ("local-chat-completions", {"num_concurrent": 4}),
    "lm chat, 1": ("local-chat-completions", {"num_concurrent": 1}),
    "lm anthropic": ("anthropic-chat", {"num_concurrent": 4}),
    "lm anthropic, 1": ("anthropic-chat", {"num_concurrent": 1}),
    "inspect chat": ("openai/gpt-4o", {"responses_api": False}),
    "inspect responses": ("openai/gpt-4o", {"responses_api": True}),
    "inspect anthropic": ("anthropic/claude-haiku-4-5", {}),
}

# The outcome where one call meets the fault, and every other call is answered rightly:
#   recovers   the call is made again, and the run is as if nothing had happened
#   fails      the run ends with an error and without a score
#   readable   the reply counts as any other
#   (reason)   the reply is unreadable for this reason, and the run warns
# fmt: off
OUTCOMES = {fault: dict(zip(BACKENDS, outcomes, strict=True)) for fault, *outcomes in [
    #                lm-eval                                              Inspect
    #                chat         chat, 1      anthropic    anthropic, 1  chat         responses    anthropic
    ("429",          "recovers",  "recovers",  "recovers",  "recovers",   "recovers",  "recovers",  "recovers"),
    ("retry-after",  "recovers",  "recovers",  "recovers",  "recovers",   "recovers",  "recovers",  "recovers"),
    ("500s",         "recovers",  "recovers",  "recovers",  "recovers",   "recovers",  "recovers",  "recovers"),
    ("hang",         "recovers",  "recovers",  "recovers",  "recovers",   "recovers",  "recovers",  "recovers"),
    ("drop",         "recovers",  "recovers",  "recovers",  "recovers",   "recovers",  "recovers",  "recovers"),
    ("not JSON",     "recovers",  "recovers",  "recovers",  "recovers",   "fails",     "fails",     "fails"),
    ("200 error",  "no_response", "no_response", "recovers", "fails",     "fails",     "fails",     "fails"),
    ("null",       "no_response", "no_response", "fails",   "fails",  "no_response", "no_response", "no_response"),
    ("cut: null",  "no_response", "no_response", "fails",   "fails",    "truncated",   "truncated",   "truncated"),
    ("cut: text", *["invalid_response_format"] * 4,                     "truncated",   "truncated",   "truncated"),
    ("cut: letter",  "readable",  "readable",  "readable",  "readable",   "readable",  "readable",  "readable"),
]}
# fmt: on
STAYS = ["429", "500s", "hang", "drop", "not JSON", "200 error"]


def at_release(fault: str, backend: str) -> Any:
    """One way of asking in each harness is tried with every change, the others before a release."""
    first = backend in ("lm chat", "inspect chat")
    return pytest.param(fault, backend, marks=() if first else pytest.mark.release)


def misbehave(fault: str, good: Response, over: threading.Event) -> Response:
    """The response under the fault, in place of the good one."""
    text, error = good.get_data(), {"type": "api_error", "message": "out of order", "code": None, "param": None}
    if fault in ("429", "retry-after", "500s", "200 error"):
        status = {"500s": 500, "200 error": 200}.get(fault, 429)
        bad = as_json({"type": "error", "error": error}, status)
        bad.headers.update({"Retry-After": "1"} if fault == "retry-after" else {})
        return bad
    if fault == "hang":
        over.wait(20)
        return good
    if fault in ("drop", "not JSON"):
        bad = Response(text[:50], content_type="application/json")
        if fault == "drop":  # the head promises the whole body, then the connection is closed
            bad.headers["Content-Length"] = str(len(text))
        return bad
    body = good.get_json()
    change_reply(body, cut=fault.startswith("cut"), null=fault.endswith("null"), partial=fault == "cut: text")
    return as_json(body)


def change_reply(body: dict, *, cut: bool, null: bool, partial: bool) -> None:
    """Take the text away, or put the beginning of a sentence, or leave it; `cut` says that the tokens ran out."""
    if "choices" in body:  # OpenAI's chat completions
        (choice,) = body["choices"]
        holder, nothing = choice["message"], None
        choice["finish_reason"] = "length" if cut else "stop"
    else:
        holder, nothing = body, []  # Anthropic's messages
        if "output" in body:  # OpenAI's responses
            (holder,) = body["output"]
            if cut:
                body["status"] = holder["status"] = "incomplete"
                body["incomplete_details"] = {"reason": "max_output_tokens"}
        elif cut:
            body["stop_reason"] = "max_tokens"
    if null:
        holder["content"] = nothing
    elif partial:
        text = "The response that serves this user better is"
        holder["content"] = text if nothing is None else [{**holder["content"][0], "text": text}]


class Faulty:
    """A server that is right, but for the first `times` calls of one order of the first case."""

    def __init__(self, server, cases) -> None:
        self.server, self.victim = server, (cases[0].id, TWO.names[0])
        self.fault, self.times, self.over = "", 0.0, threading.Event()
        server.sends = self.sends

    @property
    def calls(self) -> Counter:
        return Counter(self.server.seen)

    def sends(self, good: Response, who: tuple) -> Response:
        met = who == self.victim and self.calls[who] <= self.times
        return misbehave(self.fault, good, self.over) if met else good


@pytest.fixture
def faulty(monkeypatch, caplog):
    """The server, for clients in a hurry."""
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "none")
    monkeypatch.setattr(logging.getLogger("werkzeug"), "disabled", True)
    for logger in LOGGERS:
        monkeypatch.setattr(logger, "handlers", [*logger.handlers, caplog.handler])
    monkeypatch.setattr(api_models, "wait_exponential", lambda **_: wait_none())
    monkeypatch.setattr(_retry, "wait_exponential_jitter", lambda **_: wait_none())
    import anthropic._base_client  # each takes a second, also a worker that runs none of this
    import openai._base_client

    for client in (openai._base_client.BaseClient, anthropic._base_client.BaseClient):
        wait = client._calculate_retry_timeout
        monkeypatch.setattr(client, "_calculate_retry_timeout", lambda *args, wait=wait: wait(*args) / 20)
    cases = load_cases("sample", "general", "hard")[:LIMIT]
    with serving(judges.gold, judges.who_asks(cases)) as server:
        faulty = Faulty(server, cases)
        yield faulty
        faulty.over.set()


def run_lm_eval(model, arguments, url, *, attempts, timeout, folder):
    path = "/messages" if model == "anthropic-chat" else "/chat/completions"
    arguments = {"model": "m", "base_url": url + path, "max_retries": attempts, "timeout": timeout, **arguments}
    results = evaluate(model, TASK, "sample", model_args=arguments, limit=LIMIT, apply_chat_template=True)
    return [(row["doc"]["id"], row["acc"], row["filtered_resps"]) for row in results["samples"][TASK]]


def run_inspect(model, arguments, url, *, attempts, timeout, folder):
    (log,) = inspect_ai.eval(
        getattr(tasks, TASK)(data="sample"), model=model, model_args=arguments, limit=LIMIT, log_dir=str(folder),
        model_base_url=url.removesuffix("/v1") if model.startswith("anthropic") else url, max_retries=attempts - 1,
        attempt_timeout=timeout, display="log", score_display=False,
    )  # fmt: skip
    if log.status != "success":
        raise AssertionError if log.results else RuntimeError(log.error.message)
    scores = [(sample.id, sample.scores["personafeedback"]) for sample in log.samples]
    rows = [(name, score.value["acc"], score.answer.split(", ")) for name, score in scores]
    assert {score.reason for _, score in scores} - {None} == {a for *_, answers in rows for a in answers} - {*LETTERS}
    return rows


def outcome(faulty, backend, fault, times, attempts, caplog, tmp_path) -> str:
    """Run, check what must hold under any fault, and say in a word of the table what became of it."""
    faulty.fault, faulty.times = fault, times
    model, arguments = BACKENDS[backend]
    run, timeout = run_lm_eval if backend.startswith("lm") else run_inspect, 1 if fault == "hang" else 60
    try:
        rows = run(model, arguments, faulty.server.url, attempts=attempts, timeout=timeout, folder=tmp_path)
    except AssertionError:
        raise
    except Exception:
        return "fails" if faulty.calls[faulty.victim] else "fails for another reason"
    assert {(name, order) for name, *_ in rows for order in TWO.names} == faulty.calls.keys()
    assert len(rows) == LIMIT
    right = [TWO.right[order] for order in TWO.names]
    ((acc, answers),) = [(acc, answers) for name, acc, answers in rows if name == faulty.victim[0]]
    assert all((acc, answers) == (1, right) for name, acc, answers in rows if name != faulty.victim[0])
    assert answers[1] == right[1]
    warnings = {record.getMessage() for record in caplog.records if "are unreadable" in record.getMessage()}
    if answers[0] == right[0]:
        assert (acc, warnings) == (1, set())
        assert faulty.calls[faulty.victim] > times or faulty.calls.total() == CALLS
        return "recovers" if faulty.calls[faulty.victim] > times else "readable"
    assert answers[0] in REASONS, "an error became a wrong answer"
    (warning,) = warnings
    assert acc == 0.5
    assert all(part in warning for part in (f"1 of {CALLS} replies (12.5%)", f"most common reason: {answers[0]} (1)"))
    return answers[0]


@pytest.mark.parametrize(("fault", "backend"), [at_release(f, b) for f in OUTCOMES for b in BACKENDS])
def test_a_fault_that_passes(fault, backend, faulty, caplog, tmp_path):
    times = 4 if fault == "500s" else 1
    assert outcome(faulty, backend, fault, times, 8, caplog, tmp_path) == OUTCOMES[fault][backend]


@pytest.mark.release  # with every change, the commands below try it
@pytest.mark.parametrize(
    ("fault", "backend"), [(f, b) for f in STAYS for b in BACKENDS if OUTCOMES[f][b] == "recovers"]
)
def test_an_error_that_stays_fails_the_run(fault, backend, faulty, caplog, tmp_path):
    assert outcome(faulty, backend, fault, math.inf, 2, caplog, tmp_path) == "fails"
    assert faulty.calls[faulty.victim] > 1


def run_command(harness, faulty, folder):
    arguments = {
        "lm_eval": (
            "--model", "local-chat-completions", "--model_args", f"model=m,base_url={faulty.server.url}/chat/completions",
            "--tasks", TASK, "--apply_chat_template", "--output_path", str(folder),
        ),
        "inspect_ai": (
            f"personafeedback_tasks/{TASK}", "--model", "openai/gpt-4o", "--max-retries", "0",  # default: for ever
            "--log-dir", str(folder),
        ),
    }[harness]  # fmt: skip
    return run(harness, *arguments, "--limit", str(LIMIT), data="sample", url=faulty.server.url)


def accuracies(folder):
    """The scores that a run left behind: none, where it failed."""
    for path in folder.rglob("results_*.json"):
        yield json.loads(path.read_text(encoding="utf-8"))["results"][TASK]["acc,none"]
    for log in map(read_eval_log, map(str, folder.rglob("*.eval"))):
        assert (log.status == "success") == (log.results is not None)
        for score in log.results.scores if log.results else ():
            yield score.metrics["accuracy"].value


@pytest.mark.parametrize("harness", ["lm_eval", "inspect_ai"])
def test_a_command_outlives_a_burst_of_errors(harness, faulty, tmp_path):
    faulty.fault, faulty.times = "500s", 2
    run_command(harness, faulty, tmp_path)
    assert list(accuracies(tmp_path)) == [1]
    assert faulty.calls.total() == CALLS + 2


@pytest.mark.parametrize("harness", ["lm_eval", "inspect_ai"])
def test_a_command_leaves_no_score_where_the_server_fails(harness, faulty, tmp_path):
    faulty.fault, faulty.times = "500s", math.inf
    if harness == "lm_eval":
        with pytest.raises(AssertionError, match="500"):  # its exit status is not 0
            run_command(harness, faulty, tmp_path)
    else:  # its exit status is 0 all the same; its log says "error", and it prints no metric
        assert "InternalServerError" in run_command(harness, faulty, tmp_path).stdout
    assert list(accuracies(tmp_path)) == []
    assert faulty.calls[faulty.victim] == 3
