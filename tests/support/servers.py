"""A server on loopback that speaks the providers' protocols: OpenAI's chat completions, responses and batches, Anthropic's messages."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

Usage = dict[str, Any]


def as_json(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value), status, content_type="application/json")


def in_threes(prompt: str, reply: str) -> Usage:
    """Tokens of three characters."""
    read, written = len(prompt) // 3, len(reply) // 3 + 1
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


class ModelServer:
    """Replies as a function says, and can stop answering.

    Args:
        judge: the prompt and the model, or who asks it, where that is known -> the reply; or (reply, finish reason); or (status, message); or a response.
        asked: prompt -> who asks it.
        usage: (prompt, reply) -> what the reply says that it took.

    Attributes:
        prompts, bodies, seen: of each request, in the order in which they came: its prompt, all of it, and who asked.
        billed: (who, usage) of every request that was answered.
        batches: the prompts of each batch, of those that came through the batch interface.
        failing: how many of the next requests get an error that is tried again.
        sends: (response, who) -> the response that is sent in its place.
    """

    def __init__(self, judge: Callable[..., Any], asked: Mapping[str, tuple] | None, usage: Callable) -> None:
        self.judge, self.sends, self.failing = judge, lambda response, who: response, 0
        self.prompts: list[str] = []
        self.bodies: list[dict] = []
        self.seen: list[tuple] = []
        self.billed: list[tuple[tuple, Usage]] = []
        self.batches: list[list[str]] = []
        self._asked, self._usage = asked, usage
        self._files: dict[str, bytes] = {}
        self._answers_left, self._held = float("inf"), 0
        self._changed = threading.Condition()

    def serve(self, http: HTTPServer) -> None:
        for path, answer in (
            ("/v1/(chat/completions|responses|messages)", lambda request: self._answer(request.get_json(), request.path)),
            ("/v1/files.*", self._file),
            ("/v1/batches.*", self._batch),
        ):  # fmt: skip
            http.expect_request(re.compile(path)).respond_with_handler(answer)
        self.url = http.url_for("/v1")

    def _answer(self, body: dict, path: str) -> Response:
        content = (body.get("messages") or body.get("input"))[-1]["content"]
        prompt = content if isinstance(content, str) else "".join(part["text"] for part in content)
        who = (prompt, body["model"]) if self._asked is None else self._asked[prompt]
        with self._changed:
            self.prompts.append(prompt)
            self.bodies.append(body)
            self.seen.append(who)
            if self._answers_left <= 0:
                self._held += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._answers_left > 0, timeout=300)
                self._held -= 1
                self._changed.notify_all()
                return Response(status=503)  # whoever asked is dead
            self._answers_left -= 1
            if self.failing:
                self.failing -= 1
                return Response(status=429)
        found = self.judge(*who)
        if isinstance(found, Response):
            return found
        if isinstance(found, tuple) and isinstance(found[0], int):
            return as_json({"error": {"message": found[1], "code": "refused"}}, found[0])
        text, finish = found if isinstance(found, tuple) else (found, "stop")
        usage = self._usage(prompt, text)
        with self._changed:
            self.billed.append((who, usage))
        form = {"responses": _responses, "messages": _messages}.get(path.rpartition("/")[2], _chat)
        return self.sends(as_json({"model": body["model"], **form(text, finish, usage)}), who)

    def _file(self, request: Request) -> Response:
        """An upload, or what came of a batch."""
        if request.method == "POST":
            name = f"in-{len(self._files)}"
            self._files[name] = request.files["file"].read()
            about = {"object": "file", "bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"}
            return as_json({"id": name, **about})
        return Response(self._files[request.path.split("/")[-2]], content_type="application/octet-stream")

    def _batch(self, request: Request) -> Response:
        """A batch, which is done when somebody asks for it."""
        name = request.path.rpartition("/")[2]
        if request.method == "POST":
            lines = [json.loads(line) for line in self._files[request.get_json()["input_file_id"]].splitlines()]
            self.batches.append([line["body"]["messages"][-1]["content"] for line in lines])
            name, done = f"batch-{len(self.batches)}", []
            for line in lines:
                body = self._answer(line["body"], line["url"]).get_json()
                response = {"status_code": 200, "request_id": "r", "body": body}
                done.append({"id": "r", "custom_id": line["custom_id"], "error": None, "response": response})
            self._files[f"out-{name}"] = "\n".join(map(json.dumps, done)).encode()
        return as_json({
            "id": name, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h", "created_at": 1, "input_file_id": "in",
            "status": "completed", "output_file_id": f"out-{name}", "request_counts": {"total": 1, "completed": 1, "failed": 0},
        })  # fmt: skip

    def answer_only(self, count: float) -> None:
        with self._changed:
            self._answers_left = count
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._held or not count)  # those that waited were of a killed process

    def wait_until_it_answers_no_more(self, process: subprocess.Popen, held: int) -> None:
        with self._changed:
            while not self._changed.wait_for(lambda: self._held >= held, timeout=1):
                assert process.poll() is None, "the run ended by itself"

    def take_seen(self) -> list[tuple]:
        with self._changed:
            seen, self.seen = self.seen, []
        return seen


def _chat(text: str, finish: str, usage: Usage) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage}


def _responses(text: str, finish: str, usage: Usage) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    took = {
        "input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"], "total_tokens": usage["total_tokens"],
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    return {
        "id": "r", "object": "response", "created_at": 1, "status": "completed", "output": [message], "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "usage": took,
    }  # fmt: skip


def _messages(text: str, finish: str, usage: Usage) -> dict[str, Any]:
    took = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
    return {
        "id": "m", "type": "message", "role": "assistant", "stop_reason": "end_turn", "stop_sequence": None,
        "content": [{"type": "text", "text": text}], "usage": took,
    }  # fmt: skip


@contextmanager
def serving(
    judge: Callable[..., Any], asked: Mapping[str, tuple] | None = None, usage: Callable = in_threes
) -> Iterator[ModelServer]:
    """A `ModelServer` on loopback, with its `url`."""
    server = ModelServer(judge, asked, usage)
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        server.serve(http)
        yield server
        server.answer_only(float("inf"))


def run(harness: str, *arguments: object, data: object, url: str) -> subprocess.CompletedProcess[str]:
    """The command of a harness, in this process; it must succeed."""
    environment = {"PERSONAFEEDBACK_DATA": str(data), "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    if harness == "lm_eval":
        from support.lm_eval_runs import command
    else:
        from support.inspect_runs import command

        anthropic = any(str(word).startswith("anthropic/") for word in arguments)
        arguments = (*arguments, "--model-base-url", url.removesuffix("/v1") if anthropic else url)
    done = command(*arguments, **environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done
