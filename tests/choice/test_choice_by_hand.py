"""The texts of a choice by hand: prompts and conversations under each setting, fingerprints, shortcuts, the order of cells, explanations."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

from personafeedback_tasks.choice import baselines
from personafeedback_tasks.choice.benchmark import choice_benchmark, examine
from personafeedback_tasks.choice.cases import ChoiceCase, ChoiceCases, in_proportion
from personafeedback_tasks.choice.explanations import explanations
from personafeedback_tasks.choice.orders import TWO, rotations
from personafeedback_tasks.choice.prompts import responses
from personafeedback_tasks.choice.report import picked_of
from personafeedback_tasks.choice.wording import ChoiceOptions, ChoiceWording
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.engine.cases import digest_of, refuse_other_counts
from personafeedback_tasks.engine.outcome import Outcome, ScoredCase

FOUR = rotations(4)
WORDING = ChoiceWording(
    version="v7", orders=FOUR, tag="taste", told="Told.", not_told="Nothing.", ask="Ask.", ask_cot="Reason.", told_reward="Reward.",
)  # fmt: skip
CASE = ChoiceCase(
    id="c", cell="x", user_id="u", known="likes tea", question="Drink?", responses=("tea", "milk", "gin", "oil"), other_known="hates it",
)  # fmt: skip


# --- prompts ------------------------------------------------------------------------------------------------------------

ABOUT = {
    "persona": "Told.\n\n<taste>\nlikes tea\n</taste>",
    "other_persona": "Told.\n\n<taste>\nhates it\n</taste>",
    "no_persona": "Nothing.",
}


@pytest.mark.parametrize("setting", ABOUT)
@pytest.mark.parametrize(("method", "ask"), [("generate", "Ask."), ("mc", "Ask."), ("cot", "Reason.")])
def test_a_prompt_tells_what_its_setting_says(setting, method, ask):
    options = ChoiceOptions(setting=setting, method=method)
    for number, order in enumerate(FOUR.names):
        shown = FOUR.shown(CASE.responses, order)
        built = WORDING.prompt(CASE, options, order)
        asked = "".join(
            f"<response_{letter}>\n{text}\n</response_{letter}>\n\n" for letter, text in zip("ABCD", shown, strict=True)
        )
        assert built == f"{ABOUT[setting]}\n\n<question>\nDrink?\n</question>\n\n{asked}{ask}"
        assert responses(built, FOUR) == tuple(shown)
        assert shown[number] == "tea"


@pytest.mark.parametrize(("orders", "letters"), [(TWO, "A, B"), (rotations(3), "A, B, C")])
def test_a_judge_of_fewer_responses_refuses_a_prompt(orders, letters):
    """It would pick the longest of those that it knows."""
    with pytest.raises(ValueError, match=rf"^expected the responses {letters} in the prompt, found A, B, C, D$"):
        baselines.judges(orders)["longest"](WORDING.prompt(CASE, ChoiceOptions(), FOUR.names[0]))


def test_a_conversation_tells_the_same_before_the_question():
    for setting, about in ABOUT.items():
        turns = WORDING.conversation(CASE, ChoiceOptions(setting=setting, method="reward"), FOUR.sides[2])
        told = [] if setting == "no_persona" else [{"role": "system", "content": about.replace("Told.", "Reward.")}]
        assert turns == [*told, {"role": "user", "content": "Drink?"}, {"role": "assistant", "content": "gin"}]


def test_the_digest_of_a_case_has_every_text_but_the_other_users():
    assert CASE.digest == digest_of(["c", "u", "likes tea", "Drink?", "tea", "milk", "gin", "oil"])
    assert replace(CASE, other_known="x", cell="y", language="zh").digest == CASE.digest


# --- shortcuts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "acc"),
    [
        (("long", "a", "b", "c"), 1),
        (("a", "long", "b", "c"), 0),
        # Of two equals the first one shown is picked: the right one in all orders but those that begin between the two.
        (("long", "long", "b", "c"), 0.75),
        (("long", "b", "c", "long"), 0.25),
        (("a", "a", "a", "a"), 0.25),
    ],
)
def test_the_longest_of_four(texts, acc):
    assert baselines.longest(texts, FOUR) == acc
    lengths = [list(map(len, FOUR.shown(texts, order))) for order in FOUR.names]
    picked = [shown.index(max(shown)) for shown in lengths]
    assert sum(letter == FOUR.letters[place] for place, letter in zip(picked, FOUR.letters, strict=True)) / 4 == acc


def test_what_a_run_is_split_by():
    cases = [
        replace(CASE, id="1", responses=("tea tea", "a", "b", "c")),
        replace(CASE, id="2", responses=("a", "tea tea", "b", "c")),
        replace(CASE, id="3", responses=("same", "same", "b", "c")),
        replace(CASE, id="4"),
    ]
    found = examine(ChoiceCases(tuple(cases), "any"), {"1", "2", "3"}, FOUR)
    subsets = {name: set(ids) for name, (_, ids) in found.subsets.items()}
    assert subsets == {"right_longest": {"1", "3"}, "right_not_longest": {"2"}}
    assert {name: row["longest"] for name, row in found.baselines.items()} == {"1": 1, "2": 0, "3": 0.75}
    assert {name: row["overlap"] for name, row in found.baselines.items()} == {"1": 1, "2": 0, "3": 0.25}


def test_the_share_of_terms_does_not_grow_with_the_length():
    texts = ("tea", "tea and likes milk", "a", "b")
    assert baselines.overlap(texts, FOUR, "likes tea") == 0
    assert baselines.overlap_share(texts, FOUR, "likes tea") == 1
    assert baselines.overlap_share(("", "", "", ""), FOUR, "likes tea") == 0.25


# --- cells --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1, 1), (3, 9), (7, 5, 2), (10, 1), (4,)])
def test_every_prefix_of_the_cases_has_the_proportions_of_the_whole(sizes):
    mixed = in_proportion([[cell] * size for cell, size in enumerate(sizes)])
    assert Counter(mixed) == dict(enumerate(sizes))
    for length in range(1, len(mixed) + 1):
        counted = Counter(mixed[:length])
        assert all(abs(counted[cell] - length * size / len(mixed)) <= 1 for cell, size in enumerate(sizes))
    assert mixed[0] == max(range(len(sizes)), key=lambda cell: (sizes[cell], -cell))


def test_every_cell_must_have_its_number_of_cases():
    refuse_other_counts("here", {"x": [1, 2]}, {"x": 2})
    for cells, count in (({"x": [1]}, 1), ({"x": [1, 2, 3]}, 3), ({}, 0)):
        with pytest.raises(DataError, match=f"here: found {count} cases of x, expected 2"):
            refuse_other_counts("here", cells, {"x": 2})


# --- the record ---------------------------------------------------------------------------------------------------------

RECORD = choice_benchmark(
    name="tastes", title="Tastes", version="1.0", wording=WORDING, counts={"x": 4, "y": 3, "z": 2}, sample_counts={"x": 1},
    load=lambda folder, counts: ChoiceCases((CASE,), counts), environment="TASTES", dataset="a/tastes", revision="0" * 40,
    known="the taste", asks="asks.", caveats=("One.", "Two."),
)  # fmt: skip


def test_a_table_has_the_cells_that_were_asked_in_the_order_of_the_record():
    assert RECORD.cells == ("x", "y", "z")
    assert RECORD.columns({"z", "x"}) == {"x": ["x"], "z": ["z"], "total": ["x", "z"]}
    assert list(RECORD.columns(["z", "y", "x"])) == ["x", "y", "z", "total"]
    assert RECORD.columns(["y"]) == {"total": ["y"]}
    assert [RECORD.sizes({"demonstration": sample}) for sample in (True, False)] == [{"x": 1}, {"x": 4, "y": 3, "z": 2}]


def test_a_plan_assumes_these_variances():
    assert [(one.name, one.variance, one.correlation) for one in RECORD.comparisons] == [
        ("paired, 10 % differ", 0.1, 0.0),
        ("paired, 25 % differ", 0.25, 0.0),
        ("paired, 40 % differ", 0.4, 0.0),
    ]


# --- picks and explanations ---------------------------------------------------------------------------------------------


def test_the_share_of_a_cases_picks():
    picked = picked_of(TWO)
    right = TWO.letters  # the right response's letter in each order

    def of(*answers):
        return picked(ScoredCase(Outcome(answers=each) for each in answers))

    assert of(right) == 1
    assert of((right[0], right[0])) == 0.5
    assert of((right[0], "refusal")) == 1
    assert of((right[1], "refusal"), right) == pytest.approx(2 / 3)
    assert math.isnan(of(("refusal", "refusal")))
    assert picked(ScoredCase([Outcome(rewards={"reward": (2.0, 1.0)}), Outcome(rewards={"reward": (1.0, 1.0)})])) == 1
    assert picked(ScoredCase([Outcome(rewards={"reward": (2.0, 1.0)}), Outcome(rewards={"reward": (1.0, 2.0)})])) == 0.5
    assert math.isnan(picked(ScoredCase([Outcome(rewards={"reward": (1.0, 1.0)})])))


def test_what_an_explanation_knows_of_the_texts():
    two = [
        replace(CASE, id="1", responses=("long", "a")),
        replace(CASE, id="2", responses=("a", "long")),
        replace(CASE, id="3", responses=("a", "b")),
    ]
    facts = explanations(TWO, lambda cases: {"2": ["repeat"]}).facts(two)
    assert facts == {
        "1": {"longer": TWO.sides[0]}, "2": {"longer": TWO.sides[1], "flags": ["repeat"]}, "3": {"longer": "neither"},
    }  # fmt: skip


A, B = TWO.letters


@pytest.mark.parametrize(
    ("answers", "about", "sentence"),
    [
        ((A, B), {"longer": "chosen"}, "picked the chosen response in both orders; it is the longer one"),
        ((B, A), {"longer": "chosen"}, "picked the rejected response in both orders; it is the shorter one"),
        ((A, B), {"longer": "neither", "flags": ["x"]}, "picked the chosen response in both orders; both are equally long; audit: x"),
        ((A, A), {}, "picked the chosen response in one order (chosen first) and the rejected one in the other: the first one shown each time"),
        ((B, B), {}, "picked the chosen response in one order (rejected first) and the rejected one in the other: the second one shown each time"),
        (("refusal", "refusal"), {}, "unreadable replies in both orders (refusal)"),
        (("refusal", B), {}, "unreadable reply when the chosen response was first (refusal); picked the chosen response in the other order"),
        ((B, "refusal"), {}, "unreadable reply when the rejected response was first (refusal); picked the rejected response in the other order"),
    ],
)  # fmt: skip
def test_an_explanation_of_answers(answers, about, sentence):
    assert explanations(TWO, lambda cases: {}).of_answers(answers, about) == sentence


@pytest.mark.parametrize(
    ("rewards", "sentence"),
    [
        (
            (2.0, 0.5),
            "the chosen response has the higher reward, by 1.5 (chosen 2, rejected 0.5); it is the longer one",
        ),
        (
            (0.5, 2.0),
            "the rejected response has the higher reward, by 1.5 (chosen 0.5, rejected 2); it is the shorter one",
        ),
        ((1.0, 1.0), "both responses have the same reward (1), which is no pick; the chosen one is longer"),
    ],
)
def test_an_explanation_of_rewards(rewards, sentence):
    assert explanations(TWO, lambda cases: {}).of_rewards(rewards, {"longer": "chosen"}) == sentence
