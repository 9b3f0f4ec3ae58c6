"""Servers on loopback that speak the providers' protocols.

They know nothing but the prompt they are sent: they look up who asks and reply as a scripted judge does.
"""

from __future__ import annotations

import json

from werkzeug import Request, Response

from support.judges import who_asks


def as_json(value: object) -> Response:
    return Response(json.dumps(value), content_type="application/json")


def providers(httpserver, cases, judge, settings=("persona",)):
    """OpenAI's chat completions and responses, and Anthropic's messages; the judge replies the same under all of the settings."""
    asked = {prompt: who for setting in settings for prompt, who in who_asks(cases, setting).items()}
    seen = []

    def answer(request: Request) -> tuple[dict, str]:
        body = request.get_json()
        content = (body.get("messages") or body.get("input"))[-1]["content"]
        prompt = content if isinstance(content, str) else "".join(part["text"] for part in content)
        seen.append(body)
        return body, httpserver.judge(*asked[prompt])

    def chat_completions(request: Request) -> Response:
        body, reply = answer(request)
        choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        completion = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"]}
        return as_json({**completion, "choices": [choice], "usage": usage})

    def responses(request: Request) -> Response:
        body, reply = answer(request)
        text = {"type": "output_text", "text": reply, "annotations": []}
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
        usage = {
            "input_tokens": 9, "output_tokens": 1, "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return as_json(
            {
                "id": "r", "object": "response", "created_at": 1, "model": body["model"], "status": "completed",
                "output": [message], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": usage,
            }
        )  # fmt: skip

    def messages(request: Request) -> Response:
        body, reply = answer(request)
        return as_json(
            {
                "id": "m", "type": "message", "role": "assistant", "model": body["model"], "stop_reason": "end_turn",
                "stop_sequence": None, "content": [{"type": "text", "text": reply}],
                "usage": {"input_tokens": 9, "output_tokens": 1},
            }
        )  # fmt: skip

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(chat_completions)
    httpserver.expect_request("/v1/responses", method="POST").respond_with_handler(responses)
    httpserver.expect_request("/v1/messages", method="POST").respond_with_handler(messages)
    httpserver.seen, httpserver.judge = seen, judge  # the judge can be changed
    return httpserver


def run(harness, *arguments, data, url):
    """The command of a harness, in this process; it must succeed."""
    environment = {"PERSONAFEEDBACK_DATA": str(data), "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    if harness == "lm_eval":
        from support.lm_eval_runs import command
    else:
        from support.inspect_runs import command

        anthropic = any(str(word).startswith("anthropic/") for word in arguments)
        arguments = (*arguments, "--model-base-url", url if anthropic else f"{url}/v1")
    done = command(*arguments, **environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done
