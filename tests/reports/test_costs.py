"""What a run cost: what a server bills is what Inspect's log and `report` say, and what `plan` said before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from support import inspect_runs, lm_eval_runs
from support.commands import ran
from support.servers import serving
from support.shown import faults

from personafeedback_tasks.analysis.report import TOTAL, costs
from personafeedback_tasks.core.usage import Prices, Usage, total
from personafeedback_tasks.logs import inspect_log
from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports.table import money

pytestmark = pytest.mark.slow
SETTINGS = ("persona", "other_persona", "no_persona")
TASK = "personafeedback_general_hard"
CASES = load_cases("sample", "general", "hard")
PROMPTS = {
    prompts.build(case, prompts.Template(setting=setting), order): (case.id, setting, order)
    for case in CASES
    for setting in SETTINGS
    for order in TWO.names
}
EPOCHS = 2


def words(text: str) -> int:
    return len(text.split())


def reply(case: str, setting: str, order: str) -> str:
    return "A" if setting == "persona" else "I think that the second one suits this user.\nANSWER: B"


def usage(prompt: str, reply: str) -> dict:
    """Some of the prompt was cached, and something was thought; both are parts of the numbers."""
    read, written = words(prompt), words(reply) + 5
    return {
        "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": read // 4}, "completion_tokens_details": {"reasoning_tokens": 5},
    }  # fmt: skip


def billed(requests: list) -> dict[str, Usage]:
    """Setting -> what the server billed."""
    return {
        setting: total(
            Usage(1, of["prompt_tokens"], of["prompt_tokens_details"]["cached_tokens"], of["completion_tokens"], 5)
            for (_, its, _), of in requests
            if its == setting
        )
        for setting in SETTINGS
    }


def asked(url: str, folder: Path, *arguments: object, **environment: str) -> Path:
    done = inspect_runs.command(
        f"personafeedback_tasks/{TASK}", "-T", f"setting={','.join(SETTINGS)}", "--model", "openai-api/acme/m", "--model-base-url", url,
        "--log-dir", folder, *arguments, PERSONAFEEDBACK_DATA="sample", ACME_API_KEY="none", **environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, dict[str, Usage]]:
    """A folder with the log of a run whose first calls failed and were made again, and what was billed."""
    with serving(reply, PROMPTS, usage) as server:
        server.failing = 2
        folder = asked(server.url, tmp_path_factory.mktemp("run"), "--epochs", EPOCHS)
        assert len(server.seen) == len(server.billed) + 2
        return folder, billed(server.billed)


def as_usage(cost: dict) -> Usage:
    return Usage(*(cost[f"{name}"] for name in ("calls", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")))  # fmt: skip


def done(*arguments: object) -> str:
    ended = ran(*arguments, PERSONAFEEDBACK_DATA="sample")
    return ended.stdout


def test_the_report_has_what_the_server_billed(run, tmp_path):
    folder, bill = run
    assert bill["persona"].calls == 2 * len(CASES) * EPOCHS
    (log,) = folder.glob("*.eval")
    (of_model,) = read_eval_log(str(log), header_only=True).stats.model_usage.values()
    assert of_model.total_tokens == sum(one.tokens for one in bill.values())
    assert {one.setting: one.usage for one in read_runs([folder])} == bill

    full = done("report", folder, "--full", "--price", "3,15", "--out", tmp_path / "report")
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert faults(report, "report") == []
    everything = {**bill, TOTAL: total(bill.values())}
    assert {cost["asked"]: as_usage(cost) for cost in report["reports"][0]["costs"]} == everything
    for cost in report["reports"][0]["costs"]:
        of = everything[cost["asked"]]
        assert cost["dollars"] == pytest.approx((3 * of.input + 15 * of.output) / 1e6)
        assert cost["answers"] == (0 if cost["asked"] == TOTAL else len(CASES) * EPOCHS)
    assert "Cached input is priced as the other input" in full

    in_report = (tmp_path / "report" / "report.md").read_text("utf-8")
    for name, of in everything.items():
        numbers = [f"{number:,.0f}" for number in of]
        assert f"| {name} | {' | '.join([*numbers, money((3 * of.input + 15 * of.output) / 1e6)])} |" in in_report
        assert all(number in full for number in numbers)


def test_the_plan_has_the_calls_that_the_run_makes(run):
    _, bill = run
    words = ("plan", TASK, "-T", f"setting={','.join(SETTINGS)}", "--price", "3,15", "--json", "-")
    plan = json.loads(done(*words, "--reply-tokens", 6))
    assert faults(plan, "plan") == []
    assert {setting: EPOCHS * of["calls"] for setting, of in plan["settings"].items()} == {
        setting: of.calls for setting, of in bill.items()
    }
    for of in (plan, *plan["settings"].values()):
        assert of["dollars"] == pytest.approx((3 * of["prompt_tokens"] + 15 * 6 * of["calls"]) / 1e6)
    bound = json.loads(done(*words))
    most = bound["calls"] * bound["reply_tokens_of_a_call_at_most"]
    assert bound["dollars"] == pytest.approx((3 * bound["prompt_tokens"] + 15 * most) / 1e6)


def test_a_reply_from_the_cache_costs_nothing(tmp_path):
    with serving(reply, PROMPTS, usage) as server:
        for name in ("first", "again"):
            asked(server.url, tmp_path / name, "--cache", "1D", INSPECT_CACHE_DIR=str(tmp_path / "cache"))
        assert len(server.billed) == len(PROMPTS)
        assert {one.setting: one.usage for one in read_runs([tmp_path / "first"])} == billed(server.billed)
    again = read_runs([tmp_path / "again"])
    assert [one.usage for one in again] == [Usage(0, 0, 0, 0, 0)] * len(SETTINGS)
    assert {one.value("acc") for one in again[0].cases.values()} == {0.5}
    (*_, last) = costs(again[0], {"no_persona": again[2]}, Prices(3, 15))
    assert (last.asked, last.dollars) == (TOTAL, 0)


def test_thoughts_that_a_provider_leaves_out_of_the_output_count():
    took = {
        "input_tokens": 10,
        "output_tokens": 2,
        "total_tokens": 30,
        "input_tokens_cache_read": 5,
        "reasoning_tokens": 13,
    }
    assert inspect_log._usage(took) == Usage(1, 15, 5, 15, 13)
    uncounted = inspect_log._usage(took) + inspect_log._usage(None)
    assert uncounted.calls == 2
    assert not uncounted.counted


# --- logs without tokens ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uncounted(tmp_path_factory) -> tuple[Path, dict[str, Usage]]:
    """The same run by lm-eval, whose log has no tokens."""
    folder = tmp_path_factory.mktemp("lm-eval")
    with serving(reply, PROMPTS, usage) as server:
        done = lm_eval_runs.command(
            "--model", "local-chat-completions", "--model_args", f"model=m,base_url={server.url}/chat/completions,max_length=8192",
            "--tasks", TASK, "--metadata", json.dumps({"setting": ",".join(SETTINGS), "data": "sample"}), "--apply_chat_template",
            "--output_path", folder, "--log_samples", OPENAI_API_KEY="none",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return folder, billed(server.billed)


def test_the_calls_of_lm_eval_are_known_and_its_tokens_are_not(uncounted):
    folder, bill = uncounted
    for one in read_runs([folder]):
        assert one.usage.calls == bill[one.setting].calls
        assert not one.usage.counted
    full = done("report", folder, "--full", "--price", "3,15")
    assert "stimated" not in full[full.index("Calls and tokens") :]
