"""Any number of annotators: each pair goes to as many as it should, everybody has about as much to do, and one person after another."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builds import a_build, grown
from support.commands import personafeedback

from personafeedback_tasks.annotation.assignment import names, shared_out
from personafeedback_tasks.annotation.items import Item
from personafeedback_tasks.annotation.rows import Dropped, PackItem
from personafeedback_tasks.building.rows import Answer, Pair


def some_pairs(people: int, each: int) -> list[Item]:
    return [
        Item(id=f"{user}-{number}", user_id=f"u{user}", texts={}) for user in range(people) for number in range(each)
    ]


@settings(max_examples=40)
@given(
    people=st.integers(1, 12),
    each=st.integers(1, 12),
    annotators=st.integers(1, 14),
    votes=st.integers(1, 9),
    seed=st.integers(0, 9),
)
def test_each_pair_goes_to_as_many_as_it_should_and_all_have_about_as_much(people, each, annotators, votes, seed):
    pairs, who = some_pairs(people, each), names(annotators)
    gets = shared_out(pairs, {}, who, votes, seed)
    assert gets == shared_out(pairs[::-1], {}, who, votes, seed)
    has = Counter((pair.id, name) for name, own in gets.items() for pair in own)
    assert set(has.values()) == {1}
    assert Counter(pair for pair, _ in has) == {pair.id: min(votes, annotators) for pair in pairs}
    loads = [len(gets.get(name, ())) for name in who]
    largest = max(1, len(pairs) * votes // (8 * annotators))
    assert max(loads) - min(loads) <= min(each, largest)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return a_build(tmp_path_factory.mktemp("build"), people=6, questions=4, annotators=8, votes_per_pair=6)


def voters(items):
    has = Counter((item.pair_id, item.annotator) for item in items if not item.attention)
    assert set(has.values()) == {1}
    return Counter(pair for pair, _ in has)


def test_one_persons_pairs_come_together_with_the_attention_items_on_them(build):
    items = grown(build, names(8))
    assert set(voters(items).values()) == {6}
    users = {answer.id: answer.user_id for answer in build.read(Answer)}
    for annotator in names(8):
        own = [item for item in items if item.annotator == annotator]
        persons = [user for user, _ in groupby(users[item.attention or item.left] for item in own)]
        assert len(persons) == len(set(persons)) <= 6
        assert sum(bool(item.attention) for item in own) == 2
        assert len({item.pair_id for item in own}) == len(own)


def test_packs_only_grow_and_who_is_dropped_or_comes_later_changes_who_gets_what(tmp_path):
    build = a_build(tmp_path, people=4, questions=3, annotators=6, votes_per_pair=6)
    pairs = build.read(Pair)
    build.write(Pair, pairs[:16])
    first = grown(build, names(6))
    build.write(PackItem, first)
    build.write(Pair, pairs)
    build.write(Dropped, [Dropped(annotator="annotator-2")])
    more = grown(build, names(6))
    assert more[: len(first)] == first
    assert "annotator-2" not in {item.annotator for item in more[len(first) :]}
    build.write(PackItem, more)
    assert grown(build, names(6)) == more
    counted = Counter(item.pair_id for item in more if item.annotator != "annotator-2" and not item.attention)
    assert counted == {pair.id: 5 for pair in pairs}
    done = personafeedback("annotate", "pack", build.root)
    assert "! 24 items get 5 votes, not 6: there are too few annotators (5)" in done.stdout
    path = build.root / "build.toml"
    path.write_text(path.read_text("utf-8").replace("annotators = 6", "annotators = 7"), "utf-8")
    done = personafeedback("annotate", "pack", build.root)
    assert done.exit_code == 0, done.output
    assert "too few annotators" not in done.stdout
    last = build.read(PackItem)
    assert last[: len(more)] == more
    assert {item.annotator for item in last[len(more) :]} == {"annotator-7"}
