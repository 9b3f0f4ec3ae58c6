"""Results and signatures in the logs of both harnesses: plain JSON, and back by one function each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.logs import inspect_log, lm_eval_log, opened, signed

from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.core.signature import Signature, SignatureError
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK

HARD = "personafeedback_general_hard"


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, Path]:
    """Harness -> a log of one judge, some of whose replies are unreadable."""
    folder = tmp_path_factory.mktemp("logs")
    return {
        "lm-eval": lm_eval_log(folder / "lm-eval", "mixed", HARD, "sample"),
        "inspect": inspect_log(folder / "inspect", "mixed", HARD, "sample"),
    }


def test_a_result_that_inspect_logs_is_read_back_as_it_was_scored(logs):
    run, (_, rows) = read_run(logs["inspect"]), opened(logs["inspect"])
    assert {row["id"] for row in rows} == run.cases.keys()
    for row in rows:
        (logged,) = row["scores"]["personafeedback"]["metadata"]["results"]
        result = run.cases[row["id"]]
        assert repr(Result.from_json(logged)) == repr(result)  # nan is nan
        assert repr(json.loads(json.dumps(result.to_json()))) == repr(logged)
        assert (result.setting, result.epoch) == ("persona", 1)


def test_both_harnesses_have_the_same_results(logs):
    # lm-eval does not know how a reply ended, so the excerpts of unreadable ones may have other reasons
    one, other = ([result.changed(unread=()) for result in read_run(log).results] for log in logs.values())
    assert repr(one) == repr(other)


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_signature_is_read_back_as_it_was_written(harness, logs):
    header, _ = opened(logs[harness])
    written = signed(header, HARD)
    found = Signature.from_json(written)
    assert found == read_run(logs[harness]).signature
    assert found.to_json() == written
    assert found.changed(setting="no_persona").defining == {**found.defining, "setting": "no_persona"}
    for name in ("task_version", "setting", "data"):
        with pytest.raises(SignatureError, match=f"no value as {name} in its signature"):
            Signature.from_json({key: value for key, value in written.items() if key != name})
    with pytest.raises(SignatureError, match="expected at most"):
        Signature.from_json({**written, "task_version": "99.0"})


def test_a_reply_of_thinking_alone_is_told_from_one_that_is_missing():
    case = Result(case_id="c", targets=("A", "B"))
    (result,) = PERSONAFEEDBACK.methods["generate"].judge([case], [Reply("", thinking=True), Reply("")])
    assert result.answers == ("no_response",) * 2
    (_, of_thinking), (_, of_missing) = result.unread
    assert "thinking" in of_thinking
    assert of_missing == ""
