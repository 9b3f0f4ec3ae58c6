"""Calls that were never answered: a sample that a limit or an error ended does not count, and says why."""

from __future__ import annotations

import json

import anyio
import pytest
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import ran
from support.inspect_runs import inspect_eval, metrics
from support.judges import gold

from personafeedback_tasks.logs.read import read_runs

pytestmark = pytest.mark.slow

CASES = 8
HOW: dict[str, str] = {}
"""What happens to the last call of every second case."""


@modelapi(name="ending")
class Ending(ModelAPI):
    """Always right; the last call of every second case is slow, or fails."""

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        if int(about["case_id"].rpartition(":")[2]) % 2 and about["call"] == HOW["call"]:
            if HOW["how"] == "fail":
                raise ValueError("HTTP 400")
            await anyio.sleep(HOW["how"] == "slow" and 60)
        output = ModelOutput.from_content("ending", gold(about["case_id"], about["call"].split()[-1]))
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output


SEVERAL = "persona,other_persona,no_persona"
ENDED = {
    "time": ("slow", {"time_limit": 1}, "stopped by a limit (time)"),
    "working": ("slow", {"working_limit": 1}, "stopped by a limit (working)"),
    "error": ("fail", {"fail_on_error": False}, "ended in an error"),
    "scored error": ("fail", {"fail_on_error": False, "score_on_error": True}, "ended in an error"),
}


def evaluated(settings: str, how: str, arguments, folder, **told):
    HOW.update(how=how, call="no_persona rejected_first" if "," in settings else "rejected_first")
    built = tasks.personafeedback_general_hard(data="sample", setting=settings, **told)
    (log,) = inspect_eval(built, model="ending/right", log_dir=str(folder), score_display=False, **arguments)
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize(
    ("ended", "settings"),
    [("time", SEVERAL), ("working", "persona"), ("error", "persona"), ("scored error", SEVERAL)],
)
def test_a_case_whose_calls_were_not_all_answered_is_left_out(ended, settings, tmp_path):
    how, arguments, reason = ENDED[ended]
    log = evaluated(settings, how, arguments, tmp_path)
    assert metrics(log)["acc"] == 1  # Inspect's own table leaves it out, too
    for run in read_runs([log.location]):
        assert run.values("acc").values()
        assert {*run.values("acc").values()} == {1.0}
        assert run.partial == {"general_hard": (CASES // 2, CASES)}
        assert run.left_out == {reason: CASES // 2}
    said = ran("report", log.location, "--data", "sample", "--out", tmp_path / "out")
    assert "PARTIAL" in said.output
    assert f"{CASES // 2} {reason}" in said.output
    assert json.loads((tmp_path / "out" / "report.json").read_bytes())["reports"][0]["left_out"] == {reason: CASES // 2}


@pytest.mark.parametrize(
    ("limit", "settings"),
    [
        ({"message_limit": 1}, "persona"),
        ({"token_limit": 5}, "persona"),
        ({"token_limit": 25}, SEVERAL),
        ({"turn_limit": 1}, SEVERAL),
    ],
)
def test_a_limit_counts_only_where_it_leaves_a_call_without_reply(limit, settings, tmp_path):
    """Two calls of ten tokens under each setting."""
    log = evaluated(settings, "", limit, tmp_path)
    (name,) = limit
    reason = f"stopped by a limit ({name.removesuffix('_limit')})"
    for run in read_runs([log.location]):
        assert {*run.values("acc").values()} <= {1.0}
        assert len(run.cases) + run.left_out.get(reason, 0) == CASES
        made = {
            sample.id: sum(event.event == "model" and not (event.error or event.pending) for event in sample.events)
            for sample in log.samples
        }
        whole = {name for name, replies in made.items() if replies == 2 * len(settings.split(","))}
        assert run.cases.keys() == whole
