"""People's judgments of three stages: the rows, their order, the sentence for each kind of damage, the sample."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.recenter import data
from personafeedback_tasks.recenter.data import ENVIRONMENT_VARIABLE, in_turns, load
from personafeedback_tasks.recenter.rows import STAGES, Conversation, Extraction, Relevance, Response

TALK = [{"role": "user", "content": "My oven is broken."}, {"role": "assistant", "content": "Sorry."}]
ROWS = {
    Conversation: {"user_id": "u1", "conversation": TALK, "source": "human"},
    Extraction: {
        "id": "r1", "user_id": "u1", "conversation": TALK, "attribute": "Owns an oven", "reason": "Says so.",
        "source": "human", "label": "accepted",
    },
    Relevance: {"id": "r1", "user_id": "u1", "prompt": "What can I bake?", "attribute": "Owns an oven", "label": True},
    Response: {
        "id": "r1", "user_id": "u1", "prompt": "What can I bake?", "attribute": "Owns an oven", "generic": "Bread.",
        "personalized": "Bread, in your oven.", "votes": [2, 3],
    },
}  # fmt: skip
"""Stage -> a row that loads."""

every_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.stage)


def changed(stage, **changes: object) -> dict[str, object]:
    """The row of a stage with other values; None removes a key."""
    return {key: value for key, value in {**ROWS[stage], **changes}.items() if value is not None}


def write(folder: Path, stage, *rows) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / stage.file).write_text(text, encoding="utf-8")
    return folder


def judged(stage, **judgment):
    """The row of a stage with another judgment, as it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        (row,) = load(stage, write(Path(folder), stage, changed(stage, **{"label": None, "votes": None, **judgment})))
        return row


def refuses(folder, stage, *rows) -> str:
    """What the loader says about these rows, after the file and the line of the last one."""
    with pytest.raises(DataError) as caught:
        load(stage, write(folder, stage, *rows))
    place, _, said = str(caught.value).partition(f", line {len(rows)}: ")
    assert place == f"{folder}/{stage.file}"
    return said


# --- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "judgment"), [("", None), ("y", True), ("n", False), ("yn", None), ("nyy", True), ("ynnyn", False)]
)
def test_most_votes_are_the_majority_and_even_ones_have_none(votes, judgment):
    row = judged(Relevance, votes=[vote == "y" for vote in votes])
    assert (row.judgment, "".join("ny"[vote] for vote in row.votes), row.label) == (judgment, votes, None)


@pytest.mark.parametrize(
    ("votes", "problematic"),
    [("a", False), ("u", True), ("r", True), ("au", None), ("aur", True), ("aar", False), ("aaur", None)],
)
def test_uncertain_and_rejected_are_one_verdict(votes, problematic):
    """Of `aur` no verdict has a majority, but two of three find it problematic."""
    votes = [{"a": "accepted", "u": "uncertain", "r": "rejected"}[vote] for vote in votes]
    row = judged(Extraction, votes=votes)
    assert (row.judgment, Counter(row.votes)) == (problematic, Counter(votes))
    if len(votes) == 1:
        labeled = judged(Extraction, label=votes[0])
        assert (labeled.judgment, labeled.votes) == (problematic, ())


@every_stage
def test_a_row_that_nobody_judged_has_no_judgment(stage):
    row = judged(stage, votes=[])
    assert (row.votes, row.judgment) == ((), None)
    assert judged(Response).judgment is None
    assert judged(Response, votes=[1, 2, 2]).judgment == 5 / 3


# --- order and digest -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.sampled_from(["u1", "u2", "u3", "u4"]), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_users_take_turns_of_one_row_whatever_the_order_of_the_file(users, chance):
    rows = [Relevance(f"r{number}", user, "?", "!", True) for number, user in enumerate(users)]
    ordered, had, left = in_turns(rows), Counter(), Counter(users)
    assert ordered == in_turns(chance.sample(rows, len(rows)))
    assert sorted(row.id for row in ordered) == sorted(row.id for row in rows)
    for row in ordered:
        had[row.user_id] += 1
        left[row.user_id] -= 1
        waiting = [had[user] for user in left if left[user]]
        assert not waiting or max(had.values()) <= min(waiting) + 1


@every_stage
def test_the_digest_is_that_of_all_that_the_rows_say_in_any_order(stage, tmp_path):
    lines = Path(data.__file__).with_name("sample").joinpath(stage.file).read_text("utf-8").splitlines()
    sample = load(stage, "sample")
    random.Random(1).shuffle(lines)
    (tmp_path / stage.file).write_text("\n".join(lines), encoding="utf-8")
    copy = load(stage, tmp_path)
    assert (copy.digest, copy.digests, copy.cases) == (sample.digest, sample.digests, sample.cases)
    assert copy.revision == f"{tmp_path.name} (sha256 {sample.digest}, counts=any)"
    assert all(row.digest == replace(row, votes=row.votes[::-1]).digest for row in sample)
    first, *others = sample
    for name in {*stage.__struct_fields__} - {"faults"}:  # no change of a row keeps its digest
        values = [getattr(row, name) for row in others]
        if name == "votes":  # in no particular order
            values = [votes for votes in values if sorted(votes) != sorted(first.votes)]
        value = next(value for value in values if value != getattr(first, name))
        assert replace(first, **{name: value}).digest != first.digest, name


def test_the_sample_has_30_60_and_20_rows_of_six_users():
    samples = {stage: load(stage, "sample") for stage in STAGES}
    assert [len(rows) for rows in samples.values()] == [30, 60, 20]
    for rows in samples.values():
        assert len({row.user_id for row in rows}) == 6
        assert rows.demonstration
        assert rows.revision.startswith("sample (sha256 ")
        assert all(name.startswith("demo-") for row in rows for name in (row.id, row.user_id))


# --- what is not there, and damage ------------------------------------------------------------------------------------


def test_the_environment_names_the_data_and_what_is_not_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "sample")
    assert load(Response).demonstration
    monkeypatch.delenv(ENVIRONMENT_VARIABLE)
    get = ".*Set RECENTER_DATA .*`personafeedback recenter import` makes"
    for named, says in (
        (None, f"^No data are named, {get}"),
        ("/not/there", f"^There is no folder '/not/there'. {get}"),
        (tmp_path, f"^{tmp_path}/relevance.jsonl: found no such file, expected relevance rows. Add it"),
    ):
        with pytest.raises(DataError, match=says):
            load(Relevance, named)


MARKED = {side: {"uncomfortable": 0, "over-personalized": 0} for side in ("generic", "personalized")}
MEND = ". Fix this record, or replace the file with an intact copy."


@pytest.mark.parametrize(
    ("stage", "changes", "found"),
    [
        (Conversation, {"conversation": TALK[1:]}, "found conversation without a message of the user, expected at "
         "least one"),
        (Relevance, {"votes": [True]}, "found both label and votes, expected label or votes, once"),
        (Relevance, {"label": None, "vote": []}, "found no judgment (keys: 'id', 'user_id', 'prompt', 'attribute', "
         "'vote'), expected label or votes, once"),
        (Extraction, {"label": None, "votes": ["maybe"]}, "found votes[0] = 'maybe', expected one of accepted, "
         "uncertain, rejected"),
        (Response, {"faults": {"asked": 2, **MARKED, "rude": 1}}, "found the key 'rude' in "
         "faults, expected none of this name"),
        (Response, {"votes": [0]}, "found votes[0] = 0, expected int >= 1"),
    ],
)  # fmt: skip
def test_the_sentence_for_each_kind_of_damage(stage, changes, found, tmp_path):
    assert refuses(tmp_path, stage, changed(stage, id="r0"), changed(stage, **changes)) == found + MEND


@pytest.mark.parametrize(
    "counts", [{"uncomfortable": 3}, {"uncomfortable": -1}, {"over-personalized": None}, {"rude": 0}], ids=str
)
def test_people_who_find_a_fault_are_among_those_asked_and_half_of_them_are_enough(counts, tmp_path):
    faults = {"asked": 2, **MARKED, "personalized": {"uncomfortable": 1, "over-personalized": 0}}
    assert judged(Response, faults=faults).found == {"generic": (), "personalized": ("uncomfortable",)}
    wrong = {name: count for name, count in {**faults["personalized"], **counts}.items() if count is not None}
    said = refuses(tmp_path, Response, changed(Response, faults={**faults, "personalized": wrong}))
    assert "in personalized how many of the 2 people asked find it uncomfortable and over-personalized" in said


@pytest.mark.parametrize("stage", ROWS, ids=lambda stage: stage.stage)
def test_an_id_names_one_row_and_messages_one_conversation(stage, tmp_path):
    (row,) = load(stage, write(tmp_path, stage, ROWS[stage]))
    found = f"found id = '{row.id}', which line 1 has, expected an id of its own"
    assert refuses(tmp_path, stage, ROWS[stage], ROWS[stage]) == found + MEND
