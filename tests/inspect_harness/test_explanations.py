"""What Inspect's viewer says of each score, and how it names the calls of a case."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import score as score_again
from inspect_ai.log import read_eval_log, write_eval_log
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.inspect_runs import evaluate
from support.judges import JUDGES

from personafeedback_tasks.inspect_harness.scorers import scores
from personafeedback_tasks.pairwise.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.parsing.answers import LETTERS, REASONS
from personafeedback_tasks.personafeedback.audit import MEANINGS, audit
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK

ANSWERS = [(one, other) for one in (*LETTERS, *REASONS) for other in (*LETTERS, *REASONS)]


@pytest.mark.parametrize(
    ("answers", "about", "sentence"),
    [
        (("A", "B"), {"longer": "chosen"}, "picked the chosen response in both orders; it is the longer one"),
        (
            ("B", "A"), {"longer": "rejected", "flags": ["repeat", "contradiction"]},
            "picked the rejected response in both orders; it is the longer one; audit: repeat, contradiction",
        ),
        (
            ("truncated", "refusal"), {"longer": "neither"},
            "unreadable replies in both orders (truncated, refusal); both are equally long",
        ),
    ],
)  # fmt: skip
def test_answers_in_words(answers, about, sentence):
    assert PERSONAFEEDBACK.explanations.of_answers(answers, about) == sentence


def test_a_sentence_says_what_was_picked_and_why_a_reply_is_unreadable():
    """Different answers have different sentences; each names what it is about and no more."""
    said = {answers: PERSONAFEEDBACK.explanations.of_answers(answers, {}) for answers in ANSWERS}
    assert len({*said.values()}) == len(ANSWERS)
    for answers, sentence in said.items():
        assert {reason for reason in REASONS if reason in re.findall(r"\w+", sentence)} == set(answers) - set(LETTERS)
        picked = [
            answer == CHOSEN_LETTER[order] for answer, order in zip(answers, ORDERS, strict=True) if answer in LETTERS
        ]
        assert ("picked the chosen response" in sentence) == any(picked)
        assert ("picked the rejected" in sentence or "and the rejected one in" in sentence) == (not all(picked))


def test_the_facts_are_those_of_the_texts_and_of_the_audit(real_data):
    cases = load_cases(real_data, "general")
    found, flagged = PERSONAFEEDBACK.explanations.facts(cases), audit(cases)
    assert found.keys() == {case.id for case in cases}
    for case in cases:
        sides = {"chosen": case.chosen, "rejected": case.rejected}
        longest = [side for side, text in sides.items() if len(text) == max(map(len, sides.values()))]
        assert found[case.id]["longer"] == (longest[0] if len(longest) == 1 else "neither")
    assert {case_id for case_id, about in found.items() if "flags" in about} == flagged.flagged
    for name in MEANINGS:
        ids = {case_id for case_id, about in found.items() if name in about.get("flags", ())}
        assert ids == set(flagged.findings[name].ids)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    return evaluate(tasks.personafeedback(data="sample"), "scripted/mixed", folder)


def said(log, scorer="personafeedback"):
    return {sample.id: sample.scores[scorer].explanation for sample in log.samples}


def expected(cases, with_facts=True):
    about = PERSONAFEEDBACK.explanations.facts(cases) if with_facts else {}
    from personafeedback_tasks.parsing.answers import read_reply

    return {
        case.id: PERSONAFEEDBACK.explanations.of_answers(
            [read_reply(JUDGES["mixed"](case.id, order)) for order in ORDERS], about.get(case.id, {})
        )
        for case in cases
    }


def test_every_score_of_a_run_has_its_explanation_in_the_log(log):
    assert said(read_eval_log(log.location)) == expected(load_cases("sample"))


@pytest.mark.slow
def test_scored_again_it_says_the_same_and_for_an_old_log_what_it_can(log, tmp_path):
    stored = read_eval_log(log.location)
    scorer = scores("personafeedback", "generate")
    again = score_again(stored, scorer(), action="overwrite", display="none")
    assert said(again) == said(log)
    for sample in stored.samples:
        del sample.metadata["about"]
        for score in sample.scores.values():
            score.explanation = None
    write_eval_log(stored, str(tmp_path / "old.eval"))
    old = score_again(read_eval_log(str(tmp_path / "old.eval")), scorer(), action="overwrite", display="none")
    assert said(old) == expected(load_cases("sample"), with_facts=False)


def test_the_transcript_names_each_call_by_its_order(log):
    for sample in read_eval_log(log.location, resolve_attachments=True).samples:
        names = {event.id: event.name for event in sample.events if event.event == "span_begin"}
        calls = [event for event in sample.events if event.event == "model"]
        asked = {names[call.span_id]: call.input[-1].metadata["call"] for call in calls}
        assert asked == {"chosen first": "chosen_first", "rejected first": "rejected_first"}


def test_the_explanation_has_no_text_of_the_data_in_it(log):
    """The texts are in the events; a log must not store them twice."""
    for sample in log.samples:
        assert len(json.dumps(sample.metadata["about"])) < 100
        assert len(sample.scores["personafeedback"].explanation) < 250
