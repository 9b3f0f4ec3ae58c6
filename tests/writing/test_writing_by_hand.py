"""The measures of a written reply, each by hand, and the room for it."""

from __future__ import annotations

import math

import pytest

from personafeedback_tasks.engine.evidence import Reply
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.replies.written import WRITTEN, read_written, text_of
from personafeedback_tasks.writing.cases import columns, questions
from personafeedback_tasks.writing.record import WRITE, measures

FACTS = {"name": "Ann", "persona": "likes green tea\nand long walks", "question": "What should I drink?"}


def measured(text: str, truncated: bool | None = False, **facts: str) -> dict[str, float]:
    return measures(read_written(text, bool(truncated)), Reply(text, truncated), {**FACTS, **facts})


def test_a_reply_is_counted():
    found = measured(" Try green tea, Ann, or tea. ")
    assert found == {
        "written": 1, "empty": 0, "refused": 0, "truncated": 0, "length": 27, "terms": 2, "name": 1, "language": 1,
    }  # fmt: skip
    assert measured("<think>green walks</think>Milk, Annette.") | {"length": 0, "language": 0} == {
        "written": 1, "empty": 0, "refused": 0, "truncated": 0, "length": 0, "terms": 0, "name": 0, "language": 0,
    }  # fmt: skip


def test_a_reply_is_in_the_language_of_its_question_or_not():
    assert measured("喝一杯绿茶吧。")["language"] == 0
    assert measured("喝一杯绿茶吧。", question="我该喝什么？")["language"] == 1
    assert measured("Tea.", question="我该喝什么？")["language"] == 0
    assert math.isnan(measured("")["language"])


def test_what_nobody_knows_is_nan():
    assert math.isnan(measured("Tea.", None)["truncated"])
    assert math.isnan(measured("Tea.", name="")["name"])


@pytest.mark.parametrize(
    ("text", "truncated", "answer"),
    [
        ("Tea.", False, WRITTEN),
        ("Tea and", True, "truncated"),
        ("", True, "truncated"),
        ("", False, "no_response"),
        ("<think>Perhaps", False, "truncated"),
        ("<think>a</think>", False, "no_response"),
        ("I cannot help with that.", False, "refusal"),
        ("I cannot help with that. " + "x" * 375, False, "refusal"),
        ("I cannot help with that. " + "x" * 376, False, WRITTEN),
    ],
)
def test_what_a_reply_is(text, truncated, answer):
    assert read_written(text, truncated) == answer
    found = measured(text, truncated)
    assert [found[name] for name in ("written", "refused", "truncated")] == [
        answer == WRITTEN, answer == "refusal", answer == "truncated",
    ]  # fmt: skip
    assert found["empty"] == (not text_of(text))


def test_a_reply_has_room_for_2048_tokens():
    assert WRITE.methods["write"].room == 2048


def test_a_table_has_a_total_where_there_is_more_than_one_part():
    assert columns(["general", "specific"]) == {
        "specific": ["specific"],
        "general": ["general"],
        "total": ["specific", "general"],
    }
    assert columns(["general"]) == {"general": ["general"]}


# --- questions of the release --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample():
    return questions(load_cases("sample"))


def test_a_page_has_the_questions_of_its_run_only(sample):
    asked = [question.id for question in list(sample)[1:3]]
    shown = WRITE.report.shown(sample, asked)
    assert list(shown.questions) == asked
    assert shown.questions == {question.id: question.question for question in sample if question.id in asked}
    assert shown.people == {question.user_id: question.persona.text for question in sample if question.id in asked}
