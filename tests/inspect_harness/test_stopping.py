"""`-T stop=...`: a run of Inspect ends when it is decided, killed or not, and every output says so."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from functools import partial
from signal import SIGINT, SIGKILL
from unittest.mock import patch

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support import inspect_runs
from support.commands import personafeedback
from support.judges import JUDGES
from support.killed import Command
from support.outputs import faults
from support.releases import write_release
from support.servers import serving

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.stopping import user_order
from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats.estimates import mean

pytestmark = pytest.mark.slow

read_log = partial(read_eval_log, header_only=True)

USERS, CASES = 60, 3
TASK = "personafeedback_general_hard"
SETTINGS = "persona,other_persona"
FOR_OTHERS = 0.4
"""The judge is always right with the persona, and in this share of the cases with another one: a gap of 60 points."""


def judge(case_id: str, call: str) -> str:
    """Right in both orders, or wrong in both."""
    drawn = int(hashlib.sha256(case_id.encode()).hexdigest(), 16) % 100 / 100
    letter = TWO.right[call.split()[-1]]
    return letter if not call.startswith("other_persona") or drawn < FOR_OTHERS else "AB".replace(letter, "")


JUDGES["planted_gap"] = judge


def words(user: int) -> list[str]:
    """What no other user likes, so that nobody is a near twin."""
    drawn = hashlib.sha256(b"%d" % user).hexdigest()
    return [drawn[place : place + 6] for place in range(0, 60, 6)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rows = [
        {"user_id": f"user{user:02}", "question": f"What shall I do on day {case}?", "chosen": f"Walk up hill {user} on day {case}.",
         "reject": f"Row down river {user} on day {case}."}
        for case in range(CASES) for user in range(USERS)
    ]  # fmt: skip
    personas = {f"user{user:02}": {"Name": f"Person {user}", "Likes": " ".join(words(user))} for user in range(USERS)}
    return write_release(tmp_path_factory.mktemp("stop") / "release", {"general/hard": rows}, personas)


def task(data, stop=5, setting=SETTINGS, **options):
    return tasks.personafeedback_general_hard(setting=setting, stop=stop, data=str(data), counts="any", **options)


@pytest.fixture(scope="module")
def stopped(data, tmp_path_factory):
    """The log of a run that stops, one user after the other."""
    return inspect_runs.evaluate(task(data), "scripted/planted_gap", tmp_path_factory.mktemp("log"), max_samples=1)


def test_it_stops_at_the_first_user_after_whom_it_is_decided(stopped, data):
    users = {case.id: case.user_id for case in load_cases(str(data), "general", "hard", "any")}
    order = user_order(users.values())
    met = list(
        dict.fromkeys(users[sample.id] for sample in sorted(stopped.samples, key=lambda sample: sample.started_at))
    )
    summary = stopped.results.early_stopping
    end = summary.metadata["users"]
    assert summary.metadata["decision"] == "above"
    assert summary.metadata["interval"][0] > 0
    assert 5 < end < USERS / 2
    assert met == order[:end]
    # all settings and cases of a user together, and none of the others
    assert {sample.id for sample in stopped.samples} == {name for name, user in users.items() if user in order[:end]}
    assert {stop.id for stop in summary.early_stops} == {name for name, user in users.items() if user in order[end:]}
    assert summary.early_stops[0].reason == f"decided after {end} of {USERS} users: above"
    assert all(
        "right_minus_wrong" in sample.scores[TASK.removesuffix("_general_hard")].value for sample in stopped.samples
    )


def test_what_was_in_flight_stays_out_of_the_estimate(stopped, data, tmp_path, caplog):
    log = inspect_runs.evaluate(task(data), "scripted/planted_gap", tmp_path, max_samples=40)
    known = log.results.early_stopping.metadata
    assert f"stop=5: {known['users']} of {USERS} users count, right minus wrong above 0, " in caplog.text
    assert log.results.early_stopping.metadata == stopped.results.early_stopping.metadata
    assert len(log.samples) > len(stopped.samples)
    for here, there in zip(read_runs([log.location]), read_runs([stopped.location]), strict=True):
        assert here.cases.keys() == there.cases.keys()
        assert here.stopped == there.stopped


def test_a_limit_leaves_the_first_users_of_the_order_and_nothing_is_decided_beyond_them(data, tmp_path):
    log = inspect_runs.evaluate(task(data), "scripted/planted_gap", tmp_path, limit=4 * CASES, max_samples=1)
    assert {sample.id for sample in log.samples} == set().union(*task_order(data)[:4])
    for run in read_runs([log.location]):
        assert (run.stopped.users, run.stopped.decision) == (4, None)


def test_two_models_at_once_are_decided_apart(stopped, data, tmp_path):
    with patch.dict(JUDGES, {"turned": lambda case_id, call: "AB".replace(judge(case_id, call), "")}):
        one, other = inspect_runs.inspect_eval(
            task(data),
            model=["scripted/planted_gap", "scripted/turned"],
            log_dir=str(tmp_path),
            max_tasks=2,
            max_samples=1,
        )
    assert one.results.early_stopping.metadata == stopped.results.early_stopping.metadata
    assert other.results.early_stopping.metadata["decision"] == "below"
    assert len(one.samples) == len(stopped.samples)


def test_every_output_says_so_with_the_interval_of_the_sequence(stopped, tmp_path):
    known = stopped.results.early_stopping.metadata
    low, high = (f"{100 * end:+.1f}" for end in known["interval"])
    words = f"STOPPING (stop=5): {known['users']} of {USERS} users count, right minus wrong above 0, {low} to {high} with 95 % confidence"
    label = f"stopped after {known['users']} of {USERS} users"
    shown = personafeedback("report", stopped.location, "--out", tmp_path / "report").output
    assert label in shown
    assert words in " ".join(shown.split())
    verdict = shown.splitlines()[[line.startswith("!") for line in shown.splitlines()].index(True) :]
    assert "answers depend on whose it is" in " ".join(verdict)
    assert re.search(rf"right minus wrong .* \({re.escape(low)} to {re.escape(high)}\)", shown)
    full = personafeedback("report", "--full", stopped.location).output
    assert words in " ".join(full.split())
    assert f"{low} to {high}" in full.partition("Result")[2]
    assert "PARTIAL" not in shown + full
    (run,) = json.loads((tmp_path / "report" / "report.json").read_text())["reports"]
    assert run["stopped"] == known
    assert faults({"schema": 1, "prompt_sensitivity": [], "reports": [run]}, "report") == []
    assert words in " ".join(caveat["sentence"] for caveat in run["caveats"])
    difference = run["groups"]["general_hard"]["measures"]["right_minus_wrong"]
    assert [difference["low"], difference["high"]] == known["interval"]

    ranking = personafeedback("rank", stopped.location, "--out", tmp_path / "rank").output
    assert words in " ".join(ranking.split())
    ranked = (tmp_path / "rank" / "ranking.json").read_text()
    assert words in ranked
    first = next(one for one in json.loads(ranked)["rankings"][0]["runs"] if label in one["label"])
    points = first["measures"]["right_minus_wrong"]
    assert [points["low"], points["high"]] == pytest.approx(known["interval"])
    for row in csv.DictReader((tmp_path / "rank" / "ranking.csv").read_text().splitlines()):
        assert "stopped" in row["caveats"].split()
    assert words.partition(" users count")[0] in (tmp_path / "rank" / "index.html").read_text()

    refused = personafeedback("card", stopped.location, "--model-card", tmp_path / "README.md")
    assert refused.exit_code != 0
    assert "found a run that should not be in a model card" in refused.output
    assert words in " ".join(refused.output.split())
    assert not (tmp_path / "README.md").exists()


def test_an_accuracy_is_known_to_within_the_margin(data, tmp_path):
    log = inspect_runs.evaluate(task(data, "acc:9", "persona"), "scripted/planted_gap", tmp_path, max_samples=1)
    known = log.results.early_stopping.metadata
    low, high = known["interval"]
    assert known["decision"] == "known"
    assert high - low <= 0.18
    assert known["users"] < USERS
    personafeedback("report", log.location, "--out", tmp_path / "report")
    (run,) = json.loads((tmp_path / "report" / "report.json").read_text())["reports"]
    assert [run["groups"]["general_hard"]["measures"]["acc"][end] for end in ("low", "high")] == [low, high]


@pytest.mark.parametrize(
    ("more", "sentence"), [({"limit": (5, 9)}, "leave out --sample-id"), ({"epochs": 2}, "stop is for one epoch")]
)
def test_a_run_in_another_order_is_refused(data, tmp_path, more, sentence):
    done = inspect_runs.command(
        f"personafeedback_tasks/{TASK}", "--model", "scripted/planted_gap", "-T", f"setting={SETTINGS}", "-T", "stop=5", "-T", f"data={data}",
        "-T", "counts=any", "--log-dir", tmp_path, *(("--limit", "5-9") if "limit" in more else ("--epochs", "2")),
    )  # fmt: skip
    assert sentence in " ".join(done.stdout.split())


@pytest.mark.release
@pytest.mark.parametrize(("verb", "by"), [("eval", SIGKILL), ("eval-set", SIGINT)])
def test_a_run_that_is_killed_or_interrupted_and_goes_on_stops_at_the_same_user(stopped, data, tmp_path, verb, by):
    cases = load_cases(str(data), "general", "hard", "any")
    asked = {
        prompts.build(case, prompts.Template(setting=setting), order): (case.id, f"{setting} {order}")
        for case in cases for setting in SETTINGS.split(",") for order in TWO.names
    }  # fmt: skip
    logs, options = tmp_path / "logs", ("--max-samples", "2", "--display", "plain")
    with serving(judge, asked) as server:
        command = Command(tmp_path / "run", data, server.url)
        arguments = (
            "inspect_ai", verb, f"personafeedback_tasks/{TASK}", "--model", "openai/gpt-4o", "-T", f"setting={SETTINGS}", "-T", "stop=5",
            "-T", "counts=any", "--log-buffer", "1", "--log-dir", str(logs), *options, *(("--retry-wait", "1") if verb == "eval-set" else ()),
        )  # fmt: skip
        command.run_and_kill(server, *arguments, answered=70, held=2, by=by)
        before = server.take_seen()
        (killed,) = logs.glob("*.eval")
        half = read_runs([killed])[0]
        assert half.stopped.decision is None
        assert 0 < half.stopped.users < stopped.results.early_stopping.metadata["users"]
        again = ("inspect_ai", "eval-retry", str(killed), "--log-dir", str(logs), *options)
        command.run(*(again if verb == "eval" else arguments))
        after = server.take_seen()
        if verb == "eval-set":  # nothing is missing of a run that stopped
            command.run(*arguments)
            assert server.take_seen() == []
    log = next(log for log in map(read_log, logs.glob("*.eval")) if log.status == "success")
    assert log.results.early_stopping.metadata == stopped.results.early_stopping.metadata
    # the log that it continues lies beside it
    for here, there in zip(read_runs([logs]), read_runs([stopped.location]), strict=True):
        assert here.stopped == there.stopped
        assert here.cases.keys() == there.cases.keys()
        primary = here.benchmark.report.primary
        assert mean(here.values(primary).values()) == mean(there.values(primary).values())
    # what was answered is not asked again, and nobody after the decision is asked but what was in flight
    assert len(before) + len(after) <= 4 * (len(stopped.samples) + 2) + 8


def test_a_sample_that_fails_for_good_leaves_its_user_and_those_after_out(stopped, data, tmp_path):
    """Nothing is decided without a user of the order, so that all are asked."""
    failing = stopped.samples[3 * CASES].id  # of an early user

    def sick(case_id: str, call: str) -> str:
        if case_id == failing:
            raise ValueError("The server is down.")
        return judge(case_id, call)

    with patch.dict(JUDGES, {"sick": sick}):
        (log,) = inspect_eval(
            task(data), model="scripted/sick", log_dir=str(tmp_path), display="none", fail_on_error=False, log_realtime=False
        )  # fmt: skip
    known = read_runs([log.location])[0].stopped
    (place,) = (n for n, ids in enumerate(task_order(data)) if failing in ids)
    assert (known.users, known.decision) == (place, None)
    assert len(log.samples) == USERS * CASES


def task_order(data) -> list[set[str]]:
    users = {case.id: case.user_id for case in load_cases(str(data), "general", "hard", "any")}
    return [{name for name, of in users.items() if of == user} for user in user_order(users.values())]


def test_lm_eval_refuses_to_stop(data):
    pytest.importorskip("lm_eval")
    from support.lm_eval_runs import evaluate

    with pytest.raises(OptionError, match="^stop works in Inspect only: lm-eval asks every case"):
        evaluate("gold", TASK, data, metadata={"setting": SETTINGS, "stop": 5, "counts": "any"})
