"""What votes say about each annotator: counted by hand, and nobody attentive is accused for one slip."""

from __future__ import annotations

from itertools import product

import pytest
from scipy.stats import binom
from support.builds import a_build, cast, counted

from personafeedback_tasks.annotation.assignment import ATTENTION
from personafeedback_tasks.annotation.items import Item
from personafeedback_tasks.annotation.quality import SLIPS, annotators, at_least
from personafeedback_tasks.annotation.rows import PackItem, Vote
from personafeedback_tasks.building.rows import Pair
from personafeedback_tasks.stats.estimates import ALPHA


def found(votes, items=(), pairs=None):
    real = [
        (Item(id=vote.pair_id, texts={}, user_id=pairs[vote.pair_id].user_id), vote)
        for vote in votes
        if vote.chosen != "cannot judge" and not vote.pair_id.startswith(ATTENTION)
    ]
    return annotators(items, votes, real)


def test_agreement_is_the_share_of_the_others(tmp_path):
    build = a_build(tmp_path, people=4, questions=3)
    pairs, votes = build.read(Pair), []
    for place, pair in enumerate(pairs):
        for number, first in enumerate((True, True, place % 3 != 0, place % 4 == 0)):
            chosen = pair.first if first else pair.second
            votes.append(Vote(annotator=f"a{number}", pair_id=pair.id, chosen=chosen, shown_as="A"))
    cast(build, votes)
    by_name = {one.name: one for one in found(counted(build), pairs=build.by_id(Pair))}
    expected = [(1 + (place % 3 != 0) + (place % 4 == 0)) / 3 for place in range(len(pairs))]
    for name in ("a0", "a1"):
        assert by_name[name].line.endswith(f"agrees with {100 * sum(expected) / len(expected):.1f} % of the others")
    last = [(2 + (place % 3 != 0) if place % 4 == 0 else (place % 3 == 0)) / 3 for place in range(len(pairs))]
    assert by_name["a3"].line.endswith(f"agrees with {100 * sum(last) / len(last):.1f} % of the others")
    alone = found([votes[0]], pairs=build.by_id(Pair))[0]
    assert alone.line == "1 of 0 votes"


def accused(failed, items, others=8):
    """Whether somebody who fails so many attention items is, among others who fail none."""
    shown, votes = [], []
    for number, item in product(range(others + 1), range(items)):
        about = {"annotator": f"a{number}", "pair_id": f"{ATTENTION}{item}"}
        shown.append(PackItem(**about, item=f"i{number}-{item}", left="x", right="y", attention="x"))
        chosen = "y" if not number and item < failed else "x"
        votes.append(Vote(**about, chosen=chosen, shown_as="AB"[item % 2]))
    first, *rest = found(votes, shown)
    assert f"attention {items - failed} of {items}" in first.line
    assert not any(list(other.doubts) for other in rest)
    return any("attention" in doubt for doubt in first.doubts)


def test_one_failure_of_28_is_no_reason_and_two_of_two_are():
    assert not accused(1, 28)
    assert not accused(1, 2)
    assert accused(2, 2)
    assert accused(14, 28)  # a coin
    assert not accused(2, 2, others=30)  # among so many, two of two happen


@pytest.mark.parametrize("items", [2, 5, 28])
def test_somebody_attentive_is_accused_as_seldom_as_promised(items):
    assert at_least(1, items) == pytest.approx(binom.sf(0, items, SLIPS))
    least = next(failed for failed in range(1, items + 1) if accused(failed, items))
    assert 9 * binom.sf(least - 1, items, SLIPS) <= ALPHA
    assert 9 * binom.sf(least - 2, items, SLIPS) > ALPHA
