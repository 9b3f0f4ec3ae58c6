"""Which runs make one chain: those of one model, and with a filter between its stages one more."""

from __future__ import annotations

import pytest

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.earlier import Earlier
from personafeedback_tasks.recenter.funnel import TASKS, StageRun, chains

EXTRACT, SELECT, RESPOND = TASKS


def run(task, digest, came_from="people", filtered_by="none", model="m"):
    return StageRun(
        model, task, Earlier(f"openai/{model}", "data", digest, f"{digest}.eval", ()), f"openai/{model} {came_from}", filtered_by
    )  # fmt: skip


def told(*runs):
    return {name: {task: one.earlier.digest for task, one in own.items()} for name, own in chains(runs).items()}


PLAIN = run(EXTRACT, "e"), run(SELECT, "s", "e"), run(RESPOND, "r", "s")
WHOLE = {EXTRACT: "e", SELECT: "s", RESPOND: "r"}


def test_runs_of_a_model_are_one_chain_wherever_they_went_on_from():
    assert told(*PLAIN) == {"m": WHOLE}
    assert told(run(RESPOND, "r"), run(EXTRACT, "e"), run(EXTRACT, "e2", model="n")) == {
        "m": {EXTRACT: "e", RESPOND: "r"},
        "n": {EXTRACT: "e2"},
    }
    assert told(PLAIN[0], PLAIN[1], run(RESPOND, "r", "s", "relevance-filter 1, 2 dropped")) == {"m, filtered": WHOLE}


def test_a_stage_with_a_filter_and_without_makes_two():
    filtered = run(RESPOND, "r2", "s", "relevance-filter 1, 2 dropped")
    assert told(*PLAIN, filtered) == {"m": WHOLE, "m, filtered": {**WHOLE, RESPOND: "r2"}}


def test_a_filter_that_drops_nothing_makes_two_all_the_same():
    """Both runs have the same replies."""
    filtered = run(RESPOND, "r", "s", "relevance-filter 1, 0 dropped")
    for runs in ((*PLAIN, filtered), (filtered, *PLAIN)):
        assert list(told(*runs)) == ["m", "m, filtered"]
        assert [own[RESPOND].filtered_by for own in chains(runs).values()] == ["none", filtered.filtered_by]


@pytest.mark.parametrize("other", [("e", "s"), ("e2", "s2"), ("e", "s2")])
def test_the_same_recipe_in_two_folders_is_two_chains(other):
    """Each with the runs that its replies went on from, whether the model said the same again or not."""
    extract, select = other
    again = (
        run(EXTRACT, extract),
        run(SELECT, select, extract),
        run(RESPOND, "r2", select, "relevance-filter 1, 2 dropped"),
    )
    assert told(*PLAIN, *again) == told(*again, *PLAIN) == {
        "m": WHOLE,
        "m, filtered": {EXTRACT: extract, SELECT: select, RESPOND: "r2"},
    }  # fmt: skip
    with pytest.raises(OptionError, match="found a second run of recenter_respond"):
        chains([*PLAIN, *again[:2], run(RESPOND, "r2", select)])


def test_a_second_run_of_a_stage_is_named():
    with pytest.raises(
        OptionError, match=r"r2\.eval: found a second run of recenter_respond by m \(the first: r\.eval\)"
    ):
        chains([*PLAIN, run(RESPOND, "r2", "s")])
    with pytest.raises(OptionError, match=r"found a second run of recenter_select by m \(the first: s\.eval\)"):
        chains([*PLAIN, run(SELECT, "s2", "e")])
