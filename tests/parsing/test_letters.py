"""Replies that choose one of four letters. All letters are read alike; what is open to two readings is unreadable."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from personafeedback_tasks.parsing.letter_probabilities import top_reader
from personafeedback_tasks.parsing.letters import readers

FOUR = ("A", "B", "C", "D")
read, read_last_line = readers(FOUR)
BAD = "invalid_response_format"

# {0} is the letter that is read, {1} another one.
READ = [
    "{0}", " {0}\n", "{0}.", "({0})", "[{0}]", "**{0}**", "*{0}*", "`{0}`", '"{0}"', "{0}!", "{0})", "Answer: {0}", "**Answer:** {0}",
    "### Answer\n{0}", "Answer:\n{0}", "The answer is {0}.", 'The answer is "{0}".', "The best option is {0}.", "Final answer: **Option {0}**",
    "My choice is {0}", "Answer: {0} (it fits)", "答案：{0}", "答案是 {0}。", "\\boxed{{{0}}}", "$$\\boxed{{\\text{{{0}}}}}$$",
    "<answer>{0}</answer>", '{{"answer": "{0}"}}', "Option {0}", "Response {0}", "response_{0}", "{0}</s>", "Ans: {0}",
    "I would choose {0}.", "I'd pick option {0} because it fits.", "I choose {0}, since it is cheap.", "I choose {0} over {1}.",
    "As this user, I would choose {0}.", "Between {1} and {0}, I choose {0}.", "{0} is best.", "I think {0} is the best answer.",
    "Option {0} is the best choice for this user.", "The correct response is {0}, as it respects the preference.",
    "<think>Perhaps {1}</think>{0}", "Wait, no. Answer: {0}",
]  # fmt: skip
READ_ONLY_WITHOUT_REASONS = [
    "{0}) The train.", "{0}: The train.", "{0}. The train is cheap.", "{0}\n\n{1} is expensive.", "{0} because it fits.",
    "{0}. {1} would be too loud.", "Answer: {0}\n\nQuestion: and now?\nAnswer: {1}",
]  # fmt: skip
UNREADABLE = [
    "{0} or {1}", "{0}, {1}", "{0}/{1}", "Answer: {0} or {1}", "Not {0}", "The answer isn't {0}.", "Answer: not {0}", "{0} is not the best.",
    "I would not choose {0}.", "I don't think {0} is best.", "If money were no object, I'd choose {0}.", "I think {0} is the best. But {1} is better.",
    "{0}: too loud\n{1}: cheap", "It depends.", "E", "Answer: E", "None of them.", "A car is what I want.",
]  # fmt: skip
PAIRS = [(one, other) for one in FOUR for other in FOUR if one != other]


@pytest.mark.parametrize("reply", READ)
def test_every_letter_is_read_alike(reply):
    for letter, other in PAIRS:
        said = reply.format(letter, other)
        assert (read(said, False), read_last_line(f"{other} is nice, too.\n{said}", False)) == (letter, letter)


@pytest.mark.parametrize("reply", READ_ONLY_WITHOUT_REASONS)
def test_a_letter_that_leads_is_read_but_not_in_the_last_line_after_reasons(reply):
    for letter, other in PAIRS:
        assert read(reply.format(letter, other), False) == letter
        assert read_last_line(f"{reply.format(letter, other)}\nThe train is cheap.", False) == BAD


@pytest.mark.parametrize("reply", UNREADABLE)
def test_what_is_open_to_two_readings_is_unreadable(reply):
    for letter, other in PAIRS:
        assert read(reply.format(letter, other), False) == BAD


def test_the_reasons_are_those_of_two_letters():
    found = [read(reply, False) for reply in ("", "<think>so", "I cannot help with that.")]
    assert found == ["no_response", "truncated", "refusal"]
    assert [read("Answer: C", True), read("C is best.", True)] == ["C", "truncated"]
    assert read_last_line("Answer: C", True) == "truncated"


def test_the_last_item_of_a_list_is_no_verdict_and_the_line_after_a_list_is_one():
    for reply in (
        "A: 8\nB: 3\nC: 9\nD: 1",
        "1. C\n2. A\n3. B\n4. D",
        "- A\n- B",
        "Answer: C\nD: too dear",
        "Answer: A\nAnswer: D",
    ):
        assert read_last_line(f"It depends on the price.\n{reply}", False) == BAD
    reasons = "A: too loud\nB: too far\nC: it fits\nD: too expensive"
    assert (read_last_line(f"{reasons}\n\nAnswer: C", False), read_last_line(reasons, False)) == ("C", BAD)


@pytest.mark.skipif(
    "PERSONAFEEDBACK_REPLIES" not in os.environ, reason="PERSONAFEEDBACK_REPLIES names no labelled replies"
)
def test_on_real_replies_about_two_responses_it_never_reads_the_other_letter():
    """The replies were labelled by hand for the reader of two letters, which reads more of them."""
    path = Path(os.environ["PERSONAFEEDBACK_REPLIES"], "replies2.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = [(read(row["reply"], False), row["read"]) for row in rows if row["method"] == "generate"]
    assert not [pair for pair in found if pair[0] in FOUR and pair[0] != pair[1]]
    assert sum(one == label for one, label in found) >= 115


def test_the_probabilities_of_four_letters_add_up_their_tokens():
    top = top_reader(FOUR)
    a, b, c, d = top([("A", -1.0), (" C", -2.0), ("c", -2.0), ("Well", -0.5)])
    assert (a, b, d) == (-1.0, -float("inf"), -float("inf"))
    assert c == pytest.approx(-2 + 0.6931471805599453)
    assert all(value != value for value in top([("Well", -0.1)]))
    assert top_reader(("A", "B"))([("C", -0.1)]) != top([("C", -0.1)])
