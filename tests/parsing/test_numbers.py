"""Replies to "which of these numbers?": what is read, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.parsing.numbers import NONE, read_numbers

FORMS = [
    "{}", "{}.", "[{}]", "**{}**", "`{}`", "```\n[{}]\n```", "Answer: {}", "Final answer: [{}].", "The relevant numbers are {}.",
    "Relevant: {}", '{{"relevant": [{}]}}', "<think>7, 8? No: 9.</think>{}", "The knee decides it, and it is 2026.\n\n{}",
    "{}\n\nThe knee decides it.", "Answer: {}\nBoth touch the knee.", "<answer>{}</answer>", "({})",
]  # fmt: skip
SEPARATORS = [", ", ",", " ", "; ", " and ", ", and "]
UNREAD = [
    ("", "no_response"), (" \n", "no_response"), ("Perhaps.", "invalid_response_format"), ("1-3", "invalid_response_format"),
    ("1.5", "invalid_response_format"), ("2/5", "invalid_response_format"), ("2nd", "invalid_response_format"),
    ("I would take two of them.", "invalid_response_format"), ("The user is 34 and has 2 knees.", "invalid_response_format"),
    ("Answer: 2\nAnswer: 3", "invalid_response_format"), ("One list:\n2, 3\nAnother one:\n4", "invalid_response_format"),
    ("1. NO\n2. YES\n3. NO", "invalid_response_format"), ("1: not relevant\n2: relevant", "invalid_response_format"),
    ("3. No", "invalid_response_format"), ("1. Has a knee: yes\n2. Bakes: no", "invalid_response_format"),
    ("1. Has a knee (relevant)", "invalid_response_format"), ("not relevant: 1, 3", "invalid_response_format"),
    ("Irrelevant attributes: 1, 3", "invalid_response_format"), ("Number of relevant attributes: 3", "invalid_response_format"),
    ("Total number: 3", "invalid_response_format"), ("1,000", "invalid_response_format"),
    ("50%", "invalid_response_format"), ("-3", "invalid_response_format"), ("NONE or 3", "invalid_response_format"),
    ("I'm sorry, but I cannot choose for a person.", "refusal"), ("<think>2, 5", "truncated"),
]  # fmt: skip

NUMBERS = st.sets(st.integers(1, 60), min_size=1, max_size=8)


@pytest.mark.parametrize("form", FORMS)
@given(numbers=NUMBERS, separator=st.sampled_from(SEPARATORS))
@settings(deadline=None, derandomize=True, max_examples=10)
def test_a_list_is_read_however_it_is_written(form, numbers, separator):
    written = separator.join(map(str, numbers))
    assert read_numbers(form.format(written)) == " ".join(map(str, sorted(numbers)))


@given(
    numbers=NUMBERS,
    form=st.sampled_from(
        ["{}", "- {}", "{}.", "{}. Has a knee", "{}) Has 2 knees", "**{}:** knees", "#{}", "* {} - it is"]
    ),
)
@settings(deadline=None, derandomize=True)
def test_one_number_a_line_is_a_list(numbers, form):
    assert read_numbers("\n".join(form.format(number) for number in numbers)) == " ".join(map(str, sorted(numbers)))


@pytest.mark.parametrize(
    "reply", ["NONE", "none.", "None of them.", "[]", "Answer: none", '{"relevant": []}', "**NONE**", "No numbers", "- NONE",
              "Answer: []", "None of the things are relevant.", "The eggs do not depend on it.\nNONE"]
)  # fmt: skip
def test_an_empty_list_is_an_answer(reply):
    assert read_numbers(reply) == NONE


@pytest.mark.parametrize(("reply", "reason"), UNREAD)
def test_what_is_no_list_has_its_reason(reply, reason):
    assert read_numbers(reply) == reason


@given(NUMBERS)
@settings(deadline=None, derandomize=True)
def test_a_list_that_was_cut_off_may_go_on(numbers):
    assert read_numbers(", ".join(map(str, numbers)), truncated=True) == "truncated"


def test_a_number_that_is_said_twice_counts_once():
    assert read_numbers("5, 2, 5, 02") == "2 5"


@given(st.text(alphabet="0123456789,.[]() \nNoneAnswer:-#", max_size=80) | st.text(max_size=200), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=400)
def test_every_text_has_a_list_or_a_reason(text, truncated):
    found = read_numbers(text, truncated)
    assert found in (NONE, *REASONS) or [int(one) for one in found.split()] == sorted(
        {int(one) for one in found.split()}
    )
