"""A server on loopback that speaks OpenAI's chat completions and writes what a function of the prompt says."""

from __future__ import annotations

import json
import re
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
        batches: the prompts of each batch, of those that came through the batch interface.
    """

    def __init__(self, write, by_model=False):
        self.write, self.by_model, self.seen = write, by_model, []
        self.batches, self._files = [], {}
        self._left: float = float("inf")
        self._held = 0
        self._changed = threading.Condition()

    def reply(self, request: Request) -> Response:
        return self._written(request.get_json())

    def files(self, request: Request) -> Response:
        """An upload, or what came of a batch."""
        if request.method == "POST":
            name = f"in-{len(self._files)}"
            self._files[name] = request.files["file"].read()
            return _json(
                {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"}
            )
        return Response(self._files[request.path.split("/")[-2]], content_type="application/octet-stream")

    def batch(self, request: Request) -> Response:
        """A batch, which is done when somebody asks for it."""
        if request.method == "POST":
            given = request.get_json()["input_file_id"]
            lines = [json.loads(line) for line in self._files[given].splitlines()]
            self.batches.append([line["body"]["messages"][-1]["content"] for line in lines])
            name, done = f"batch-{len(self.batches)}", []
            for line in lines:
                body = json.loads(self._written(line["body"]).get_data())
                done.append(
                    {
                        "id": "r",
                        "custom_id": line["custom_id"],
                        "error": None,
                        "response": {"status_code": 200, "request_id": "r", "body": body},
                    }
                )
            self._files[f"out-{name}"] = "\n".join(map(json.dumps, done)).encode()
        else:
            name = request.path.split("/")[-1]
        return _json({
            "id": name, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h", "created_at": 1, "input_file_id": "in",
            "status": "completed", "output_file_id": f"out-{name}", "request_counts": {"total": 1, "completed": 1, "failed": 0},
        })  # fmt: skip

    def _written(self, body: dict) -> Response:
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
        return _json(completion)

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


def _json(document: dict) -> Response:
    return Response(json.dumps(document), content_type="application/json")


@contextmanager
def texts_server(write, by_model=False):
    """A `TextsServer` with its `url`."""
    server = TextsServer(write, by_model)
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        http.expect_request("/v1/chat/completions", method="POST").respond_with_handler(server.reply)
        http.expect_request(re.compile("/v1/files.*")).respond_with_handler(server.files)
        http.expect_request(re.compile("/v1/batches.*")).respond_with_handler(server.batch)
        server.url = http.url_for("/v1")
        yield server
        server.answer_only(float("inf"))
