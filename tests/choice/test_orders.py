"""The orders of responses: both of two, every rotation of more; and the layout of a prompt in each."""

from __future__ import annotations

import pytest

from personafeedback_tasks.choice.baselines import acc_of_most, judges, longest, overlap, overlap_share
from personafeedback_tasks.choice.orders import TWO, rotations
from personafeedback_tasks.choice.prompts import laid_out, responses
from personafeedback_tasks.choice.scoring import score_answers

EVERY = [TWO, rotations(3), rotations(4)]


@pytest.mark.parametrize("orders", EVERY)
def test_each_response_is_once_in_each_place_and_the_right_one_under_its_letter(orders):
    shown = [orders.shown(orders.sides, name) for name in orders.names]
    for column in (*zip(*shown, strict=True), *shown):
        assert sorted(column) == sorted(orders.sides)
    for name, row in zip(orders.names, shown, strict=True):
        assert row[orders.letters.index(orders.right[name])] == orders.sides[0]


def test_the_rotations_of_four_responses():
    orders = rotations(4)
    assert orders.names == ("right_at_A", "right_at_B", "right_at_C", "right_at_D")
    assert ["".join(orders.shown("r123", name)) for name in orders.names] == ["r123", "3r12", "23r1", "123r"]
    assert orders.rates == ("first_rate", "second_rate", "third_rate", "fourth_rate")
    assert (TWO.rates, TWO.all_right, orders.all_right) == (("first_rate",), "acc_both", "acc_all")


@pytest.mark.parametrize("orders", EVERY)
def test_a_pick_is_the_response_that_was_shown_under_the_letter(orders):
    for place, name in enumerate(orders.names):
        for letter, side in zip(orders.letters, orders.shown(orders.sides, name), strict=True):
            answers = ["refusal"] * len(orders.names)
            answers[place] = letter
            picks = orders.picks(answers)
            assert orders.sides[picks.pop(place)] == side
            assert set(picks) == {None}


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_other_numbers_of_responses_are_refused(count):
    with pytest.raises(ValueError, match=f"^count must be 3 or 4, got {count}; TWO has the orders of two responses$"):
        rotations(count)


@pytest.mark.parametrize("orders", EVERY)
def test_the_responses_are_found_in_every_prompt_as_they_are(orders):
    texts = ["{a} ", "<b>\n\n", "％s", " d"][: len(orders.letters)]
    for name in orders.names:
        shown = orders.shown(texts, name)
        prompt = laid_out("told", "what?", shown, "ask", orders)
        assert prompt.startswith("told\n\n<question>\nwhat?\n</question>\n\n<response_A>\n")
        assert prompt.endswith(f"\n</response_{orders.letters[-1]}>\n\nask")
        assert responses(prompt, orders) == shown
    with pytest.raises(ValueError, match=r"^expected exactly one <response_A> \.\.\. </response_A> in the prompt$"):
        responses(laid_out("", "</response_A>\n\n</response_A>", texts, "", orders), orders)


# --- shortcuts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "acc"),
    [
        (["long", "a", "b", "c"], 1),
        (["a", "long", "b", "c"], 0),
        (["aa", "bb", "c", "d"], 3 / 4),  # behind the other one in bb c d aa alone
        (["aa", "b", "cc", "d"], 2 / 4),  # first in aa b cc d and d aa b cc, behind cc in the others
        (["aa", "b", "c", "dd"], 1 / 4),  # first in aa b c dd alone
        (["aa", "bb", "cc", "d"], 2 / 4),  # first in aa bb cc d and d aa bb cc
        (["aa", "bb", "cc", "dd"], 1 / 4),
        (["a", "bb", "cc", "d"], 0),
    ],
)
def test_of_equally_long_responses_the_first_one_shown_is_picked(texts, acc):
    orders = rotations(4)
    assert longest(texts, orders) == acc
    judge = judges(orders)["longest"]
    prompts = [laid_out("", "", orders.shown(texts, name), "", orders) for name in orders.names]
    assert score_answers([judge(prompt) for prompt in prompts], orders)["acc"] == acc
    assert {judges(orders)["first"](prompt) for prompt in prompts} == {"A"}


def test_overlap_counts_distinct_terms_and_its_share_divides_by_all():
    orders, about = rotations(3), "I like green tea in the morning"
    texts = ["Green tea", "green tea in bed with cake and jam", "coffee"]  # 2 of 2, 3 of 8, 0 of 1
    assert (overlap(texts, orders, about), overlap_share(texts, orders, about)) == (0, 1)
    assert acc_of_most(texts, orders, lambda text: text == "coffee") == 0


@pytest.mark.parametrize("orders", EVERY)
def test_a_judge_of_the_order_alone_scores_chance(orders):
    for letter in orders.letters:
        assert score_answers([letter] * len(orders.letters), orders)["acc"] == orders.chance
