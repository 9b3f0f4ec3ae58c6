"""`recenter_relevance_select`: a whole profile in one prompt has the scores of one question per attribute."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import jsonl_harness
from support.recenter import in_inspect, in_lm_eval, same

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.inspect_harness import hooks
from personafeedback_tasks.logs import log as logs
from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.relevance import RELEVANCE, CaseGroup, gather
from personafeedback_tasks.recenter.rows import Relevance

ROWS = with_judgment(load(Relevance, "sample"))
DOCUMENTS = {document.id: document for document in gather(ROWS)}


def as_list(document: str) -> str:
    """The reply that gives each row of a document its answer."""
    places = enumerate(DOCUMENTS[document].cases, start=1)
    return ", ".join(str(place) for place, row in places if ANSWERS[row.id] == "YES") or "NONE"


ANSWERS = {row.id: random.Random(row.id).choice(["YES", "NO"]) for row in ROWS}


# --- documents --------------------------------------------------------------------------------------------------------


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_every_row_is_in_one_document_with_those_of_its_user_and_prompt_whatever_the_order(shuffled):
    rows = list(ROWS)
    shuffled.shuffle(rows)
    documents = gather(rows)
    assert documents == list(DOCUMENTS.values())
    assert sorted(row.id for document in documents for row in document.cases) == sorted(row.id for row in ROWS)
    for document in documents:
        assert {(row.user_id, row.prompt) for row in document.cases} == {(document.user_id, document.question)}
    assert len(documents) == len({(row.user_id, row.prompt) for row in ROWS})


LINES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)


@given(st.lists(LINES, min_size=1, max_size=9), LINES)
def test_a_prompt_has_each_attribute_in_a_line_with_its_number(attributes, prompt):
    rows = tuple(Relevance(f"r{place}", "u", prompt, text, True) for place, text in enumerate(attributes))
    built = RELEVANCE.prompt(CaseGroup("d", "u", prompt, rows), None, "select")
    for number, text in enumerate(attributes, start=1):
        assert f"\n{number}. {' '.join(text.split())}\n" in built
    assert f"<prompt>\n{prompt}\n</prompt>" in built
    every = ", ".join(str(number) for number in range(1, len(attributes) + 1))
    assert (RELEVANCE.judges["always_yes"](built), RELEVANCE.judges["always_no"](built)) == (every, "NONE")


# --- both harnesses ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_both_ways_of_asking_have_the_same_scores_in_both_harnesses(tmp_path):
    listed = lambda document, call: as_list(document)  # noqa: E731
    pair, pair_log = in_inspect(RELEVANCE, lambda row, call: ANSWERS[row], tmp_path / "pair")
    select, select_log = in_inspect(RELEVANCE, listed, tmp_path / "select", "select")
    assert pair == pytest.approx(select, abs=1e-12, nan_ok=True)
    of_lm_eval, lm_eval_log = in_lm_eval(RELEVANCE, listed, tmp_path, "select")
    for name in ("acc", "invalid", *RELEVANCE.corpus):
        assert same(of_lm_eval[name], pair[name]), name
        if name != "invalid":
            assert same(of_lm_eval[f"{name}_stderr"], pair[f"{name}_stderr"]), name
    runs = [read_run(log) for log in (pair_log, select_log, lm_eval_log)]
    reports = [make_report(run, ROWS) for run in runs]
    first = repr(reports[0].groups)  # nan, of what has no interval, is not equal to itself
    for run, report in zip(runs, reports, strict=True):
        assert run.cases.keys() == ANSWERS.keys()
        assert repr(report.groups) == first  # every measure with its interval, to the last digit
        assert not report.partial


@pytest.mark.slow
def test_what_cannot_be_read_is_wrong_for_every_row_of_its_prompt(tmp_path):
    broken = dict(zip(DOCUMENTS, ["Who knows?", "1, 99"], strict=False))
    replies = lambda document, call: broken.get(document) or as_list(document)  # noqa: E731
    lost = sum(len(DOCUMENTS[document].cases) for document in broken)
    right = [
        ANSWERS[row.id] == RELEVANCE.targets(row)[0]
        for name in DOCUMENTS.keys() - broken
        for row in DOCUMENTS[name].cases
    ]
    found, log = in_inspect(RELEVANCE, replies, tmp_path, "select")
    assert same(found["invalid"], lost / len(ROWS))
    assert same(found["acc"], sum(right) / len(ROWS))
    run = read_run(log)
    assert sum(case.value("invalid") for case in run.cases.values()) == lost
    assert {said for result in run.results for _, said in result.unread} == set(broken.values())


@pytest.mark.slow
def test_a_limit_counts_prompts_and_the_opening_says_so(tmp_path, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(hooks, "_inform", said.append)
    from personafeedback_tasks.inspect_tasks.recenter import recenter_relevance_select
    from support.inspect_runs import inspect_eval

    (log,) = inspect_eval(
        recenter_relevance_select(data="sample"), model="recenter_relevance/always_yes", display="plain", limit=4,
        log_dir=str(tmp_path),
    )  # fmt: skip
    rows = sum(len(document.cases) for document in list(DOCUMENTS.values())[:4])
    asked = f"4 of {len(DOCUMENTS)} prompts ({rows} of {len(ROWS)} cases; --limit counts prompts); 4 model calls"
    assert f"recenter_relevance_select (demonstration): {asked}" in said[0]
    run = read_run(log.location)
    assert len(run.cases) == rows
    assert run.partial == {"relevance": (rows, len(ROWS))}


def test_a_row_twice_in_one_prompt_is_no_second_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))
    log = jsonl_harness.run(
        lambda document, call: "1", "judge", tmp_path, "recenter_relevance", data="sample", method="select"
    )
    assert len(read_run(log).cases) == len(ROWS)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for of_prompt in (line["document"] for line in lines[1:-1]):
        of_prompt["cases"] = of_prompt["cases"][:1] * len(of_prompt["cases"])
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(RunError, match="a second time .* expected each case once"):
        read_run(log)
