"""A server on loopback that speaks OpenAI's chat completions and writes what a function of the prompt says."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


class TextsServer:
    """Counts what it is asked, and can be told to stop answering.

    Args:
        write: prompt -> the reply; or (status, message) for an error; or (reply, finish reason).
        by_model: it takes the model's name, too.

    Attributes:
        seen: the prompts, in the order in which they came.
    """

    def __init__(self, write, by_model=False):
        self.write, self.by_model, self.seen = write, by_model, []
        self._left: float = float("inf")
        self._held = 0
        self._changed = threading.Condition()

    def reply(self, request: Request) -> Response:
        body = request.get_json()
        prompt = body["messages"][-1]["content"]
        with self._changed:
            self.seen.append(prompt)
            if self._left <= 0:
                self._held += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._left > 0, timeout=120)
                self._held -= 1
                return Response(status=503)  # whoever asked is dead
            self._left -= 1
            self._changed.notify_all()
        written = self.write(prompt, body["model"]) if self.by_model else self.write(prompt)
        if isinstance(written, tuple) and isinstance(written[0], int):
            error = {"error": {"message": written[1], "code": "refused"}}
            return Response(json.dumps(error), status=written[0], content_type="application/json")
        text, finish = written if isinstance(written, tuple) else (written, "stop")
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
        completion = {
            "id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }  # fmt: skip
        return Response(json.dumps(completion), content_type="application/json")

    def answer_only(self, count: float) -> None:
        with self._changed:
            self._left = count
            self._changed.notify_all()

    def wait_until_all_wait(self, process) -> int:
        """Until nothing has come for a second, so that every answer has arrived. Returns how many requests wait for theirs."""
        with self._changed:
            while not self._held or self._changed.wait(timeout=1):
                assert process.poll() is None, "the run ended by itself"
                if not self._held:
                    self._changed.wait(timeout=1)
            return self._held


@contextmanager
def texts_server(write, by_model=False):
    """A `TextsServer` with its `url`."""
    server = TextsServer(write, by_model)
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        http.expect_request("/v1/chat/completions", method="POST").respond_with_handler(server.reply)
        server.url = http.url_for("/v1")
        yield server
        server.answer_only(float("inf"))
