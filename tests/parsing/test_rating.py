"""Replies on a scale from 1 to 5: what is read, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.parsing.rating import read_rating

SCALE = "12345"
MEANING = dict(
    zip(SCALE, ("much worse", "somewhat worse", "no difference", "somewhat better", "much better"), strict=True)
)
READ = [
    "{}", "{}.", "**{}**", "`{}`", "[{}]", "({})", "Rating: {}", "Score: **{}**", "Final rating: {}/5", "{}/5", "{} out of 5", "My rating is {}.",
    "I would give a rating of {}.", "{} - the knee is spared", "{}: fitting", "{} ({meaning})", "{} - B is {meaning}", "Rating: {} (B is {meaning})",
    '{{"rating": {}}}', "<think>1? 2? 3? 4? 5?</think>{}", "<answer>{}</answer>", "Response B spares the knee.\n\n{}",
    "There are 3 exercises and 10 minutes.\nRating: {}", "{}\n\nIt spares the knee.", "Answer: {}, since it spares the knee.", "{}.0",
]  # fmt: skip
UNREAD = [
    ("", "no_response"), ("4 or 5", "invalid_response_format"), ("3-4", "invalid_response_format"), ("4.5", "invalid_response_format"),
    ("0", "invalid_response_format"), ("6", "invalid_response_format"), ("45", "invalid_response_format"), ("4%", "invalid_response_format"),
    ("Better.", "invalid_response_format"), ("There are 3 exercises.", "invalid_response_format"), ("Rating: 4\nRating: 2", "invalid_response_format"),
    ("1. Response B is better tailored.", "invalid_response_format"), ("Answer: 4 or 5", "invalid_response_format"),
    ("Rating: 4 to 5", "invalid_response_format"), ("The score of 5 would be too high", "invalid_response_format"),
    ("Response B: 4/5, Response A is generic", "invalid_response_format"),
    ("4/10", "invalid_response_format"), ("1\n2", "invalid_response_format"), ("I'm sorry, but I cannot rate people.", "refusal"), ("<think>4", "truncated"),
]  # fmt: skip


@pytest.mark.parametrize("form", READ)
def test_a_rating_is_read_however_it_is_written(form):
    for rating, meaning in MEANING.items():
        assert read_rating(form.format(rating, meaning=meaning)) == rating


@pytest.mark.parametrize("form", ["{} ({})", "{}: B is {}", "Rating: {} – response B is {}"])
def test_a_rating_that_means_something_else_is_unreadable(form):
    for rating, other in zip(SCALE, "45212", strict=True):
        assert read_rating(form.format(rating, MEANING[other])) == "invalid_response_format"


@pytest.mark.parametrize(("reply", "reason"), UNREAD)
def test_what_is_no_rating_has_its_reason(reply, reason):
    assert read_rating(reply) == reason


def test_of_a_reply_that_was_cut_off_only_a_named_rating_counts():
    assert read_rating("4 - at first sight", True) == "truncated"
    assert read_rating("Rating: 4\nThis is because", True) == "4"


@given(st.text(alphabet="012345/.- Rating:\n", max_size=40) | st.text(max_size=200), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=300)
def test_every_text_has_a_rating_or_a_reason(text, truncated):
    assert read_rating(text, truncated) in (*SCALE, *REASONS)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["1", "2", "4", "5", " ", ".", "\n", "rating: ", "/5", "so"]), max_size=8).map("".join))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_all_ratings_are_read_alike(text):
    """What makes one readable makes its mirror image, but for the end of the scale that stands after a slash."""
    if "/" in text:
        return
    mirrored = text.translate(str.maketrans("1245", "5421"))
    found = read_rating(text)
    assert read_rating(mirrored) == (str(6 - int(found)) if found in SCALE else found)
