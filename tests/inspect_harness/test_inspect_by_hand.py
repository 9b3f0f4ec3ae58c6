"""Arguments of reward models, and what a scorer writes into a sample's score, without a run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("inspect_ai")

import anyio

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.engine.outcome import Outcome
from personafeedback_tasks.inspect_harness import reward_api, scorers, tasks
from personafeedback_tasks.inspect_harness.calls import concurrently
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.recenter.relevance import RELEVANCE

ABOUT = {"longer": "chosen"}


# --- -M of a reward model -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aspects", ["a, b", ["a", " b"], ("a", "b")])
def test_aspects_are_a_list_or_a_text_with_commas(aspects):
    assert reward_api._arguments({"aspects": aspects}) == {"aspects": ("a", "b")}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"x": 1}, "-M x=1 is not an option of"),
        *(({"batch_size": wrong}, "batch_size must be a positive integer") for wrong in (0, True, 1.5, "8")),
        *(({"revision": wrong}, "revision must be a commit, branch or tag as text") for wrong in (1.0, "", None)),
        *(({name: "yes"}, f"{name} must be true or false") for name in ("truncate", "trust_remote_code", "unpinned")),
        *(({"aspects": wrong}, "aspects must name each output") for wrong in ("", "a,,b", 7, None, [], "reward", "half", "general")),
    ],
)  # fmt: skip
def test_arguments_that_are_none_are_refused(arguments, sentence):
    with pytest.raises(OptionError, match=sentence):
        reward_api._arguments(arguments)


def test_arguments_that_are_right_stay_as_they_are():
    given = {"batch_size": 1, "revision": "main", "truncate": True, "unpinned": False}
    assert reward_api._arguments(given) == given
    assert reward_api._arguments({}) == {}


# --- explanations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metadata", "end"),
    [({scorers.FACTS: ABOUT}, "; it is the longer one"), ({}, ""), (None, ""), ({scorers.FACTS: "damaged"}, "")],
)
def test_an_explanation_reads_the_facts_of_its_sample(metadata, end):
    state = SimpleNamespace(metadata=metadata)
    told, nothing = Outcome(setting="persona", answers=("A", "B")), Outcome(setting="no_persona", answers=("A", "B"))
    picked = f"picked the chosen response in both orders{end}"
    assert scorers.explanation(PERSONAFEEDBACK, [told], state) == picked
    assert scorers.explanation(PERSONAFEEDBACK, [told, nothing], state) == f"persona: {picked}\nno_persona: {picked}"
    assert scorers.explanation(PERSONAFEEDBACK, [Outcome(rewards={"reward": (2.0, 1.0)})], state) == (
        f"the chosen response has the higher reward, by 1 (chosen 2, rejected 1){end}"
    )


def test_a_benchmark_without_explanations_has_none():
    state = SimpleNamespace(metadata={scorers.FACTS: ABOUT})
    assert RELEVANCE.explanations is None
    assert scorers.explanation(RELEVANCE, [Outcome(answers=("YES",))], state) is None
    assert scorers.explanation(RELEVANCE, [Outcome(rewards={"reward": (1.0,)})], state) is None


# --- names of tasks, and calls ------------------------------------------------------------------------------------------


def test_the_name_of_a_task_makes_the_name_of_a_file():
    assert tasks._shown("set (persona, k=5)") == "set (persona, k=5)"
    assert tasks._shown("a/b") == "a-b"
    shown = tasks._shown(f"x{'长' * 100}")
    assert shown == f"x{'长' * (len(shown) - 2)}…"  # no part of a character
    assert len(f"2026-01-01T00-00-00+00-00_{shown}_{'x' * 22}.eval".encode()) <= 255


def test_replies_come_in_the_order_of_the_calls_however_late():
    async def make(call):
        await anyio.sleep(0.001 if call == "first" else 0)
        return call.upper()

    assert anyio.run(concurrently, ("first", "second"), make) == ["FIRST", "SECOND"]


def test_the_error_of_a_call_is_raised_as_it_is_and_ends_the_others():
    ended = []

    async def make(call):
        if call == "broken":
            await anyio.sleep(0)
            raise RuntimeError("no credit")
        await anyio.sleep(0.2)
        ended.append(call)

    with pytest.raises(RuntimeError, match="^no credit$"):
        anyio.run(concurrently, ("slow", "broken", "slow too"), make)
    assert not ended


@pytest.mark.slow
def test_what_was_spent_is_in_the_order_of_names(tmp_path):
    """Not of the logs: two of one second have names in a random order."""
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample

    from personafeedback_tasks.inspect_harness.spent import spent

    for step, model in (("votes", "b"), ("answers", "c"), ("votes", "a")):
        task = inspect_ai.Task(dataset=[Sample(input="Hi", id="one")])
        inspect_ai.eval(task, model=f"mockllm/{model}", log_dir=str(tmp_path / "logs" / step), display="none")
    rows, broken = spent(tmp_path)
    assert [(row.step, row.model) for row in rows] == [
        ("answers", "mockllm/c"), ("votes", "mockllm/a"), ("votes", "mockllm/b"),
    ]  # fmt: skip
    assert broken == []
