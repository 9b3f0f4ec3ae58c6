"""Replies to a yes-or-no question: what is read, and what is not."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.parsing.words import ACCEPT, NO, PROBLEMATIC, YES, read_accept, read_yes_no

LABELS = (YES, NO)
CASES = (str.upper, str.lower, str.capitalize)

READ = [
    "{}", "{}.", "**{}**", "`{}`", "\n\n{}\n", "Answer: {}", "Final answer: **{}**.", "The answer is {}.", "My verdict is {}.", '"{}"', "({})",
    "{}, because of the oven.", "{}. The oven decides it.", "{} - the oven decides it.", "{}: the oven decides it.", "So, {}.", "Hm. {}.",
    "It has an oven.\n\n{}", "<think>YES? NO! NO.</think>{}", "<answer>{}</answer>", "YES or NO? {}", "The question is YES or NO.\n{}",
    "Let me think. It depends on the oven, no doubt about it. Yes and no would be too easy.\nAnswer: {}",
    "There is no link to the oven that I can see at first.\n{}", "{}\n\nThere is no doubt about it.",
    "If it asks for bread, a reply can use these habits, unless it is short (such as one of these habits).\n\nAnswer: {}",
]  # fmt: skip
UNREAD = [
    ("", "no_response"), (" \n", "no_response"), ("YES or NO", "invalid_response_format"), ("Yes and no.", "invalid_response_format"),
    ("YES/NO", "invalid_response_format"), ("Yes?", "invalid_response_format"), ("Perhaps.", "invalid_response_format"),
    ("There is no way to tell.", "invalid_response_format"), ("YES\nNO", "invalid_response_format"), ("Yes. No, wait.", "invalid_response_format"),
    ("Answer: YES\nAnswer: NO", "invalid_response_format"), ("Yesterday I baked.", "invalid_response_format"), ("Noted.", "invalid_response_format"),
    ("I'm sorry, but I cannot decide that for a person.", "refusal"), ("<think>YES", "truncated"),
]  # fmt: skip


@pytest.mark.parametrize("form", READ)
def test_an_answer_is_read_however_it_is_written(form):
    for label, written in product(LABELS, CASES):
        assert read_yes_no(form.format(written(label))) == label


@pytest.mark.parametrize(("reply", "reason"), UNREAD)
def test_what_is_no_answer_has_its_reason(reply, reason):
    assert read_yes_no(reply) == reason


@pytest.mark.parametrize("label", LABELS)
def test_of_a_reply_that_was_cut_off_only_a_named_answer_counts(label):
    assert read_yes_no(f"{label}, at first sight, but", truncated=True) == "truncated"
    assert read_yes_no(f"Answer: {label}\nThis is because", truncated=True) == label


@given(st.text(max_size=300), st.booleans())
@settings(deadline=None, derandomize=True)
def test_every_text_has_a_label_or_a_reason(text, truncated):
    assert read_yes_no(text, truncated) in (*LABELS, *REASONS)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["yes", "no", " ", ".", ",", "\n", "answer: ", "maybe"]), max_size=12).map("".join))
@settings(deadline=None, derandomize=True, max_examples=500)
def test_yes_and_no_are_read_alike(text):
    """What makes one readable makes the other."""
    other = text.replace("yes", "\0").replace("no", "yes").replace("\0", "no")
    swapped = {"YES": "NO", "NO": "YES"}
    assert read_yes_no(other) == swapped.get(read_yes_no(text), read_yes_no(text))


@pytest.mark.parametrize("form", [form for form in READ if "YES" not in form])
def test_other_words_are_read_in_the_same_way(form):
    labels = {"accept": ACCEPT, "accepted": ACCEPT, "acceptable": ACCEPT, "problematic": PROBLEMATIC}
    for word, written in product(labels, CASES):
        assert read_accept(form.format(written(word))) == labels[word]


@pytest.mark.parametrize(
    "reply", ["ACCEPT or PROBLEMATIC", "Not problematic.", "Is it acceptable?", "Unacceptable.", "Accept\nProblematic"]
)
def test_what_could_be_either_word_is_unreadable(reply):
    assert read_accept(reply) == "invalid_response_format"


@pytest.mark.parametrize(
    "reply",
    ["The answer would be yes if the prompt were about food.", "The answer is no longer about food.", "My answer: no doubt about it.",
     "Yes, but no."],
)  # fmt: skip
def test_a_word_that_goes_on_is_no_answer(reply):
    assert read_yes_no(reply) == "invalid_response_format"
