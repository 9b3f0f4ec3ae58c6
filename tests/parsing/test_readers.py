"""The readers of ratings, numbers and words: the forms of an answer, labelled replies, and what holds for every text."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.parsing.numbers import read_numbers
from personafeedback_tasks.parsing.verdicts import NO, YES, read_accept, read_rating, read_yes_no

READERS = {"yes_no": read_yes_no, "accept": read_accept, "rating": read_rating, "numbers": read_numbers}
FILES = sorted(Path(__file__).parent.glob("readers*.jsonl"))
ROWS = [json.loads(line) for file in FILES for line in file.read_text(encoding="utf-8").splitlines()]
FORMS = [json.loads(line) for line in Path(__file__).with_name("forms.jsonl").read_text(encoding="utf-8").splitlines()]
CASES = (str.upper, str.lower, str.capitalize)
SCALE = "12345"
MEANING = dict(
    zip(SCALE, ("much worse", "somewhat worse", "no difference", "somewhat better", "much better"), strict=True)
)
WORDS = [
    "{}", "{}.", "**{}**", "`{}`", "\n\n{}\n", "Answer: {}", "Final answer: **{}**.", "The answer is {}.", "My verdict is {}.", '"{}"', "({})",
    "{}, because of the oven.", "{}. The oven decides it.", "{} - the oven decides it.", "{}: the oven decides it.", "So, {}.", "Hm. {}.",
    "It has an oven.\n\n{}", "<think>YES? NO! NO.</think>{}", "<answer>{}</answer>", "YES or NO? {}", "The question is YES or NO.\n{}",
    "Let me think. It depends on the oven, no doubt about it. Yes and no would be too easy.\nAnswer: {}",
    "There is no link to the oven that I can see at first.\n{}", "{}\n\nThere is no doubt about it.",
    "If it asks for bread, a reply can use these habits, unless it is short (such as one of these habits).\n\nAnswer: {}",
]  # fmt: skip
RATINGS = [
    "{}", "{}.", "**{}**", "`{}`", "[{}]", "({})", "Rating: {}", "Score: **{}**", "Final rating: {}/5", "{}/5", "{} out of 5", "My rating is {}.",
    "I would give a rating of {}.", "{} - the knee is spared", "{}: fitting", "{} ({meaning})", "{} - B is {meaning}", "Rating: {} (B is {meaning})",
    '{{"rating": {}}}', "<think>1? 2? 3? 4? 5?</think>{}", "<answer>{}</answer>", "Response B spares the knee.\n\n{}",
    "There are 3 exercises and 10 minutes.\nRating: {}", "{}\n\nIt spares the knee.", "Answer: {}, since it spares the knee.", "{}.0",
]  # fmt: skip
LISTS = [
    "{}", "{}.", "[{}]", "**{}**", "`{}`", "```\n[{}]\n```", "Answer: {}", "Final answer: [{}].", "The relevant numbers are {}.",
    "Relevant: {}", '{{"relevant": [{}]}}', "<think>7, 8? No: 9.</think>{}", "The knee decides it, and it is 2026.\n\n{}",
    "{}\n\nThe knee decides it.", "Answer: {}\nBoth touch the knee.", "<answer>{}</answer>", "({})",
]  # fmt: skip
SEPARATORS = [", ", ",", " ", "; ", " and ", ", and "]
NUMBERS = st.sets(st.integers(1, 60), min_size=1, max_size=8)


@pytest.mark.parametrize("form", WORDS)
def test_a_word_is_read_however_it_is_written(form):
    for label, written in product((YES, NO), CASES):
        assert read_yes_no(form.format(written(label))) == label
    words = {"accept": "ACCEPT", "accepted": "ACCEPT", "acceptable": "ACCEPT", "problematic": "PROBLEMATIC"}
    for word, written in product(words, CASES if "YES" not in form else ()):
        assert read_accept(form.format(written(word))) == words[word]


@pytest.mark.parametrize("form", RATINGS)
def test_a_rating_is_read_however_it_is_written(form):
    for rating, meaning in MEANING.items():
        assert read_rating(form.format(rating, meaning=meaning)) == rating


@pytest.mark.parametrize("form", ["{} ({})", "{}: B is {}", "Rating: {} – response B is {}"])
def test_a_rating_that_means_something_else_is_unreadable(form):
    for rating, other in zip(SCALE, "45212", strict=True):
        assert read_rating(form.format(rating, MEANING[other])) == "invalid_response_format"


@pytest.mark.parametrize("form", LISTS)
@given(numbers=NUMBERS, separator=st.sampled_from(SEPARATORS))
@settings(max_examples=10)
def test_a_list_is_read_however_it_is_written(form, numbers, separator):
    in_order = " ".join(map(str, sorted(numbers)))
    assert read_numbers(form.format(separator.join(map(str, numbers)))) == in_order
    for line in ("{}", "- {}", "{}.", "{}. Has a knee", "{}) Has 2 knees", "**{}:** knees", "#{}", "* {} - it is"):
        assert read_numbers("\n".join(map(line.format, numbers))) == in_order


@pytest.mark.parametrize("reader", READERS)
def test_forms_without_an_answer_have_their_reason(reader):
    rows = [row for row in FORMS if row["method"] == reader]
    assert [(row["reply"], READERS[reader](row["reply"])) for row in rows] == [
        (row["reply"], row["answer"]) for row in rows
    ]


def test_of_a_reply_that_was_cut_off_only_a_named_answer_counts():
    assert read_rating("4 - at first sight", True) == read_yes_no("YES, at first sight, but", True) == "truncated"
    assert (read_rating("Rating: 4\nThis is because", True), read_yes_no("Answer: NO\nThis is", True)) == ("4", NO)
    assert read_numbers("2, 5", truncated=True) == "truncated"


@pytest.mark.parametrize("reader", READERS)
@given(
    text=st.text(alphabet="0123456789/,.[]() \nNoneAnswer:-#", max_size=80) | st.text(max_size=200),
    truncated=st.booleans(),
)
@settings(max_examples=200)
def test_every_text_has_an_answer_or_a_reason(reader, text, truncated):
    found = READERS[reader](text, truncated)
    answers = {"yes_no": (YES, NO), "accept": ("ACCEPT", "PROBLEMATIC"), "rating": tuple(SCALE), "numbers": ("NONE",)}
    numbers = [int(one) for one in found.split()] if reader == "numbers" and found[:1].isdigit() else None
    assert numbers == sorted({*numbers}) if numbers else found in (*answers[reader], *REASONS)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["yes", "no", " ", ".", ",", "\n", "answer: ", "maybe"]), max_size=12).map("".join))
@settings(max_examples=500)
def test_yes_and_no_are_read_alike(text):
    other = text.replace("yes", "\0").replace("no", "yes").replace("\0", "no")
    assert read_yes_no(other) == {YES: NO, NO: YES}.get(read_yes_no(text), read_yes_no(text))


def test_none_of_the_labelled_replies_is_read_as_something_else():
    read = [(row, READERS[row["reader"]](row["reply"])) for row in ROWS]
    assert [(row, found) for row, found in read if found not in REASONS and found != row["read"]] == []


@pytest.mark.parametrize("reader", READERS)
def test_most_of_the_natural_ones_are_read(reader):
    labelled = [row for row in ROWS if row["reader"] == reader and row["group"] == "natural" and row["read"]]
    found = sum(READERS[reader](row["reply"]) == row["read"] for row in labelled)
    assert found >= 0.85 * len(labelled)
    assert len(labelled) >= 50
