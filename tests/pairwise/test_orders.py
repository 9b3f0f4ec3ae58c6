"""The orders of responses: both of two, every rotation of more; and the layout of a prompt in each."""

from __future__ import annotations

import pytest

from personafeedback_tasks.pairwise.baselines import judges, longest
from personafeedback_tasks.pairwise.orders import TWO, responses, rotations
from personafeedback_tasks.pairwise.scoring import score_answers

EVERY = [TWO, rotations(3), rotations(4)]


@pytest.mark.parametrize("orders", EVERY)
def test_each_response_is_once_in_each_place_and_the_right_one_under_its_letter(orders):
    shown = [orders.shown(orders.sides, name) for name in orders.names]
    for column in (*zip(*shown, strict=True), *shown):
        assert sorted(column) == sorted(orders.sides)
    for name, row in zip(orders.names, shown, strict=True):
        assert row[orders.letters.index(orders.right[name])] == orders.sides[0]


@pytest.mark.parametrize("orders", EVERY)
def test_a_pick_is_the_response_that_was_shown_under_the_letter(orders):
    for place, name in enumerate(orders.names):
        for letter, side in zip(orders.letters, orders.shown(orders.sides, name), strict=True):
            answers = ["refusal"] * len(orders.names)
            answers[place] = letter
            picks = orders.picks(answers)
            assert orders.sides[picks.pop(place)] == side
            assert set(picks) == {None}


@pytest.mark.parametrize("orders", EVERY)
def test_the_responses_are_found_in_every_prompt_as_they_are(orders):
    texts = ["{a} ", "<b>\n\n", "％s", " d"][: len(orders.letters)]
    for name in orders.names:
        shown = orders.shown(texts, name)
        prompt = orders.laid_out("told", "what?", texts, name, "ask")
        assert prompt.startswith("told\n\n<question>\nwhat?\n</question>\n\n<response_A>\n")
        assert prompt.endswith(f"\n</response_{orders.letters[-1]}>\n\nask")
        assert responses(prompt, orders) == shown
    with pytest.raises(ValueError, match=r"^expected exactly one <response_A> \.\.\. </response_A> in the prompt$"):
        responses(orders.laid_out("", "</response_A>\n\n</response_A>", texts, orders.names[0], ""), orders)


# --- shortcuts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "acc"),
    [
        (["long", "a", "b", "c"], 1),
        (["a", "long", "b", "c"], 0),
        (["aa", "b", "cc", "d"], 2 / 4),  # first in aa b cc d and d aa b cc, behind cc in the others
        (["aa", "bb", "cc", "dd"], 1 / 4),
        (["a", "bb", "cc", "d"], 0),
    ],
)
def test_of_equally_long_responses_the_first_one_shown_is_picked(texts, acc):
    orders = rotations(4)
    assert longest(texts, orders) == acc
    judge = judges(orders)["longest"]
    prompts = [orders.laid_out("", "", texts, name, "") for name in orders.names]
    assert score_answers(orders.letters, [judge(prompt) for prompt in prompts], orders)["acc"] == acc
    assert {judges(orders)["first"](prompt) for prompt in prompts} == {"A"}


@pytest.mark.parametrize("orders", EVERY)
def test_a_judge_of_the_order_alone_scores_chance(orders):
    for letter in orders.letters:
        assert score_answers(orders.letters, [letter] * len(orders.letters), orders)["acc"] == orders.chance
