"""Commands that are killed half-way, and the server that they ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


class Server:
    """OpenAI's chat completions and responses, as a scripted judge. Can stop answering after some requests.

    Args:
        asked: prompt -> who asks it; judge: of these -> the reply.
        usage: (prompt, reply) -> what the reply says that it took.

    Attributes:
        seen: who asked.
        billed: (who, usage) of every request that was answered.
        failing: how many of the next requests get an error that is tried again.
    """

    def __init__(self, asked, judge, usage):
        self.seen: list[tuple[str, str]] = []
        self.billed: list[tuple[tuple[str, str], dict]] = []
        self.failing = 0
        self._asked, self._judge, self._usage = asked, judge, usage
        self._answers_left: float = float("inf")
        self._held = 0
        self._changed = threading.Condition()

    def reply(self, request: Request) -> Response:
        body = request.get_json()
        content = (body.get("messages") or body.get("input"))[-1]["content"]
        prompt = content if isinstance(content, str) else "".join(part["text"] for part in content)
        with self._changed:
            self.seen.append(self._asked[prompt])
            if self._answers_left <= 0:
                self._held += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._answers_left > 0, timeout=300)
                self._held -= 1
                return Response(status=503)  # whoever asked is dead
            self._answers_left -= 1
            if self.failing:
                self.failing -= 1
                return Response(status=429)
        message = {"role": "assistant", "content": self._judge(*self._asked[prompt])}
        usage = self._usage(prompt, message["content"])
        with self._changed:
            self.billed.append((self._asked[prompt], usage))
        completion = {
            "id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }  # fmt: skip
        return Response(json.dumps(completion), content_type="application/json")

    def answer_only(self, count: int) -> None:
        with self._changed:
            self._answers_left = count

    def wait_until_it_answers_no_more(self, process: subprocess.Popen, held: int) -> None:
        with self._changed:
            while not self._changed.wait_for(lambda: self._held >= held, timeout=1):
                assert process.poll() is None, "the run ended by itself"

    def answer_all_again(self) -> None:
        with self._changed:
            self._answers_left = float("inf")
            self._changed.notify_all()

    def take_seen(self) -> list[tuple[str, str]]:
        with self._changed:
            seen, self.seen = self.seen, []
        return seen


def ten(prompt, reply):
    return {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}


@contextmanager
def serving(asked, judge, usage=ten):
    """A `Server` on loopback, with its `url`."""
    server = Server(asked, judge, usage)
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        http.expect_request("/v1/chat/completions", method="POST").respond_with_handler(server.reply)
        server.url = http.url_for("/v1")
        yield server
        server.answer_all_again()


def mind_interrupts():
    """A shell lets what it runs in the background ignore SIGINT, and processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Command:
    """A harness's command with its files in one folder."""

    def __init__(self, folder, data, url, **environment):
        self.folder = folder
        folder.mkdir()
        self._environment = {
            **os.environ, "PERSONAFEEDBACK_DATA": str(data), "RECENTER_DATA": str(data), "HF_HUB_OFFLINE": "1",
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url,
            **environment,
        }  # fmt: skip

    def start(self, *arguments):
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen(
                [sys.executable, "-m", *arguments], env=self._environment, cwd=self.folder, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=mind_interrupts,
            )  # fmt: skip

    def run(self, *arguments):
        process = self.start(*arguments)
        try:
            assert process.wait(timeout=300) == 0, (self.folder / "output").read_text()[-3000:]
        finally:
            kill(process)

    def run_and_kill(self, server, *arguments, answered, held, by=signal.SIGKILL):
        """Send a signal to the command and all it started, once `answered` requests are answered and `held` more wait; wait until it ends."""
        server.answer_only(answered)
        process = self.start(*arguments)
        try:
            server.wait_until_it_answers_no_more(process, held)
            os.killpg(process.pid, by)
            process.wait(timeout=60)
        finally:
            kill(process)
            server.answer_all_again()


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
