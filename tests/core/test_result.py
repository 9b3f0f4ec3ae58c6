"""Results and signatures in the logs of both harnesses: plain JSON, and back by one function each."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")
pytest.importorskip("scipy")

from support.logs import inspect_log, lm_eval_log, opened, signed

from personafeedback_tasks.core.result import Result
from personafeedback_tasks.core.signature import Signature, SignatureError
from personafeedback_tasks.logs.read import read_run

HARD = "personafeedback_general_hard"


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, Path]:
    """Harness -> a log of one judge, some of whose replies are unreadable."""
    folder = tmp_path_factory.mktemp("logs")
    return {
        "lm-eval": lm_eval_log(folder / "lm-eval", "mixed", HARD, "sample"),
        "inspect": inspect_log(folder / "inspect", "mixed", HARD, "sample"),
    }


def logged(log: Path) -> dict[str, list[dict]]:
    """Case id -> its results as a log has them."""
    _, rows = opened(log)
    if log.suffix == ".eval":
        return {row["id"]: row["scores"]["personafeedback"]["metadata"]["results"] for row in rows}
    return {row["doc"]["id"]: row["acc_stderr"][2] for row in rows}


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_logged_result_is_read_back_as_it_was_scored(harness, logs):
    run, found = read_run(logs[harness]), logged(logs[harness])
    assert found.keys() == run.cases.keys()
    for case_id, (one,) in found.items():
        scored = run.cases[case_id]
        assert repr(Result.from_json(one)) == repr(scored)  # nan is nan
        assert repr(json.loads(json.dumps(scored.to_json()))) == repr(one)
        assert (scored.setting, scored.epoch) == ("persona", 1)


def test_both_harnesses_log_the_same_results(logs):
    one, other = map(logged, logs.values())
    for case_id, (result,) in one.items():
        of_lm_eval, of_inspect = Result.from_json(result), Result.from_json(other[case_id][0])
        # lm-eval does not know how a reply ended, so the excerpts of unreadable ones may have other reasons
        assert repr(replace(of_lm_eval, unread=())) == repr(replace(of_inspect, unread=()))


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
