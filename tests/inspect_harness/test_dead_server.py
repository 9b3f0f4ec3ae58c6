"""A server that answers no call is named after its first retries, where Inspect alone asks again in silence."""

from __future__ import annotations

import logging

import pytest
from inspect_ai.hooks import Hooks
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, _retry, modelapi
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.inspect_runs import inspect_eval
from tenacity import wait_none

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(Hooks, "on_model_retry"), reason="an earlier Inspect tells nobody of retries"),
]

DEAD: dict[str, int] = {}


@modelapi(name="dead")
class Dead(ModelAPI):
    """Fails a number of times, then answers."""

    async def generate(self, input, tools, tool_choice, config):
        DEAD["calls"] += 1
        if DEAD["calls"] > DEAD["alive"] and DEAD["calls"] <= DEAD["alive"] + 6:
            raise ConnectionError("refused")
        output = ModelOutput.from_content("dead", "A")
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output

    def should_retry(self, ex):
        return isinstance(ex, ConnectionError)

    def retry_wait(self):
        return wait_none()


@pytest.mark.parametrize(("alive", "warnings"), [(0, 1), (1, 0)])
def test_it_is_said_once_and_not_of_a_server_that_has_answered(alive, warnings, tmp_path, caplog):
    DEAD.update(calls=0, alive=alive)
    with caplog.at_level(logging.WARNING, logger="personafeedback_tasks"):
        (log,) = inspect_eval(
            tasks.personafeedback_general_hard(data="sample"),
            model="dead/server",
            log_dir=str(tmp_path),
            limit=2,
            max_connections=1,
        )
    assert log.status == "success", log.error
    said = [record.getMessage() for record in caplog.records if "has answered no call yet" in record.getMessage()]
    assert len(said) == warnings
    assert all("ConnectionError" in text and "--max-retries" in text for text in said)


def test_a_real_client_is_covered(tmp_path, caplog, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(_retry, "wait_exponential_jitter", lambda **_: wait_none())
    with caplog.at_level(logging.WARNING, logger="personafeedback_tasks"):
        inspect_eval(
            tasks.personafeedback_general_hard(data="sample"), model="openai/gpt-4o", model_base_url="http://127.0.0.1:9/v1",
            log_dir=str(tmp_path), limit=1, max_retries=2,
        )  # fmt: skip
    assert any("has answered no call yet" in record.getMessage() for record in caplog.records)
