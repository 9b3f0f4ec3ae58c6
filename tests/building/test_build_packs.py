"""What annotators get: everything once, in an order and with sides of their own, which stay."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import groupby, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.builds import a_build, grown
from support.commands import personafeedback, ran, tree

from personafeedback_tasks.annotation.assignment import ATTENTION, names, shared_out
from personafeedback_tasks.annotation.items import Item
from personafeedback_tasks.annotation.rows import Dropped, PackItem
from personafeedback_tasks.building.rows import Answer, Pair, Question
from personafeedback_tasks.building.votes import study_of


def test_each_pair_goes_to_so_many_in_an_order_and_on_sides_of_their_own_one_person_after_another(tmp_path):
    build = a_build(tmp_path / "b", people=6, questions=4, annotators=20, votes_per_pair=15)
    shown, answers = grown(build, names(20)), build.by_id(Answer)
    pairs = {pair.id: {pair.first, pair.second} for pair in build.read(Pair)}
    real = [place for place in shown if not place.attention]
    has = Counter((place.pair_id, place.annotator) for place in real)
    assert set(has.values()) == {1}
    assert Counter(pair for pair, _ in has) == dict.fromkeys(pairs, 15)
    assert all({place.left, place.right} == pairs[place.pair_id] for place in real)
    on_the_left = sum(answers[place.left].strategy == "full" for place in real)
    assert abs(on_the_left / len(real) - 0.5) < 4 * 0.5 / len(real) ** 0.5
    assert len({place.item for place in shown}) == len(shown)
    # no spreadsheet takes an item for a number
    assert all(place.item[0].isalpha() and not place.item.lower().startswith(("inf", "nan")) for place in shown)
    orders = set()
    for annotator in names(20):
        own = [place for place in shown if place.annotator == annotator]
        persons = [user for user, _ in groupby(answers[place.attention or place.left].user_id for place in own)]
        assert len(persons) == len(set(persons)) <= 6
        assert sum(bool(place.attention) for place in own) == 2
        orders.add(tuple(persons))
    assert len(orders) > 15


def test_an_attention_item_has_one_answer_to_its_question_and_one_to_another_persons_question(tmp_path):
    """Three of four persons ask one question: it is no other question."""
    build = a_build(tmp_path / "b", people=4, questions=15)
    questions = build.read(Question)
    texts = {one.id: "What should I read?" if one.user_id != "u3" else one.question for one in questions}
    build.write(Question, [replace(one, question=texts[one.id]) for one in questions])
    of_text, pairs = {answer.text: answer for answer in build.read(Answer)}, build.by_id(Pair)
    asked = study_of(build, build.questions()).asked
    shown = [one for one in grown(build, names(2)) if one.attention]
    assert len(shown) == 2 * (4 * 15 * 2 // 20)
    for one in shown:
        options = dict(asked.now(one).options)
        pair, right = pairs[one.pair_id.removeprefix(ATTENTION)], of_text[options.pop(one.attention)]
        (wrong,) = (of_text[text] for text in options.values())
        assert right.question_id == pair.question_id
        assert wrong.user_id != pair.user_id
        assert texts[wrong.question_id] != texts[pair.question_id]


@pytest.mark.parametrize("form", ["html", "csv", "label-studio"])
def test_no_pack_betrays_who_wrote_a_text_or_what_is_expected(tmp_path, form):
    build = a_build(tmp_path / "b", annotators=2)
    done = ran("annotate", "pack", build.root, "--format", form)
    assert f"Next: personafeedback annotate votes {build.root} FILE..." in done.stdout
    files = [path for path in (build.root / "packs").rglob("*") if path.is_file() and path.name != "shown.jsonl"]
    assert len([path for path in files if "annotator-" in str(path)]) >= 2
    everything = "".join(path.read_text("utf-8") for path in files)
    ids = (row.id for kind in (Pair, Answer) for row in build.read(kind))
    assert not [secret for secret in ("acme/m", "masked", "attention", *ids) if secret in everything]
    before = tree(build.root)
    ran("annotate", "pack", build.root, "--format", form)
    assert {name: content for name, (_, content) in before.items()} == {
        name: content for name, (_, content) in tree(build.root).items()
    }


def test_a_table_has_the_texts_of_each_item_and_no_formula(tmp_path):
    build = a_build(tmp_path / "b", annotators=1)
    build.write(Answer, [replace(one, text="=1+1") for one in build.read(Answer)])
    ran("annotate", "pack", build.root, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO((build.root / "packs" / "annotator-1.csv").read_text("utf-8-sig"))))
    shown = build.read(PackItem)
    assert [row["item"] for row in rows] == [one.item for one in shown]
    assert {row["A"] for row in rows} == {" =1+1"}
    assert all("Hobby" in row["persona"] and row["question"].startswith("What should I") for row in rows)


# --- who gets what --------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    people=st.integers(1, 12),
    each=st.integers(1, 12),
    annotators=st.integers(1, 14),
    votes=st.integers(1, 9),
    seed=st.integers(0, 9),
)
def test_each_pair_goes_to_as_many_as_it_should_and_all_have_about_as_much(people, each, annotators, votes, seed):
    places = product(range(people), range(each))
    pairs, who = [Item(id=f"{user}-{n}", user_id=f"u{user}", texts={}) for user, n in places], names(annotators)
    gets = shared_out(pairs, {}, who, votes, seed)
    assert gets == shared_out(pairs[::-1], {}, who, votes, seed)
    has = Counter((pair.id, name) for name, own in gets.items() for pair in own)
    assert set(has.values()) == {1}
    assert Counter(pair for pair, _ in has) == {pair.id: min(votes, annotators) for pair in pairs}
    loads = [len(gets.get(name, ())) for name in who]
    largest = max(1, len(pairs) * votes // (8 * annotators))
    assert max(loads) - min(loads) <= min(each, largest)


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
    done = ran("annotate", "pack", build.root)
    assert "too few annotators" not in done.stdout
    last = build.read(PackItem)
    assert last[: len(more)] == more
    assert {item.annotator for item in last[len(more) :]} == {"annotator-7"}
