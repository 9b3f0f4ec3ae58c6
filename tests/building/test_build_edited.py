"""A label is about the texts that people saw: edited ones are named, and never published with the old label."""

from __future__ import annotations

import json
import unicodedata

import pytest
from msgspec.structs import replace
from support.builds import a_build, change, labels, sent_by
from support.commands import build_step

from personafeedback_tasks.annotation.rows import PackItem, Vote
from personafeedback_tasks.building.rows import Answer, Pair, Question
from personafeedback_tasks.personafeedback.cases import load_present


@pytest.fixture
def build(tmp_path):
    """Packs of six annotators, the fewest of whom a case can be made, and their votes in files."""
    folder = a_build(tmp_path / "build", people=3, questions=2, annotators=6)
    step(folder, "packs", "--format", "csv")
    return folder


def step(build, name, *arguments):
    done = build_step(name, build.root, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_nobody_can_see_is_no_edit(build, tmp_path):
    """Another order of rows, line breaks, spaces at ends, composed letters, and swapped sides."""
    composed, apart = (unicodedata.normalize(form, "Un café, très chic.") for form in ("NFC", "NFD"))
    change(build, Answer, 0, text=f"{composed}\nYes.")
    step(build, "packs", "--format", "csv")
    step(build, "votes", *sent_by(build, 6, tmp_path))
    step(build, "release")
    before = {case.extra["pair"]: (case.chosen, case.cell) for case in load_present(build.root / "release")}
    assert apart != composed
    change(build, Answer, 0, text=f" {apart}  \r\nYes.\n")
    build.write(Pair, [replace(pair, first=pair.second, second=pair.first) for pair in build.read(Pair)])
    for kind in (Answer, Pair, Question, PackItem, Vote):
        build.write(kind, build.read(kind)[::-1])
    persona = build.root / "persona" / "u0.json"
    persona.write_text(json.dumps(json.loads(persona.read_text("utf-8")), indent=8) + "\n\n", "utf-8")
    step(build, "release")
    after = {case.extra["pair"]: (case.chosen.split(), case.cell) for case in load_present(build.root / "release")}
    assert after.keys() == before.keys()
    assert {name: cell for name, (_, cell) in after.items()} == {name: cell for name, (_, cell) in before.items()}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["html", "csv", "label-studio"])
def test_a_pair_that_was_edited_is_voted_on_again_and_old_votes_count_once_it_is_put_back(build, tmp_path, form):
    step(build, "packs", "--format", form)
    old = sent_by(build, 6, tmp_path)
    step(build, "votes", old[0])
    pairs, given = build.read(Pair), build.read(PackItem)
    answer = change(build, Answer, 1, text="Try a night club nearby.")
    (pair,) = [pair for pair in pairs if answer.id in (pair.first, pair.second)]
    step(build, "packs", "--format", form)
    shown = build.read(PackItem)
    assert shown[: len(given)] == given  # who votes on an old page is understood
    new = [one for one in shown[len(given) :] if not one.attention]
    assert [(one.annotator, one.pair_id) for one in new] == [(f"annotator-{n}", pair.id) for n in range(1, 7)]
    sent = "".join(
        path.read_text("utf-8")
        for path in (build.root / "packs").rglob("*")
        if path.is_file() and path.name != "shown.jsonl" and (path.suffix == ".csv") == (form == "csv")
    )
    outdated = [one.item for one in given if one.pair_id == pair.id]
    assert "night club" in sent
    assert all(one.item in sent for one in new)
    assert not any(item in sent for item in outdated)
    said = step(build, "votes", *old[1:])  # late, on the old text
    assert said.count("Next:") == 1
    assert "6 votes are on texts that were edited since: they do not count" in said
    assert "annotator-1: 12 of 12" in said
    said = step(build, "release")
    assert "6 votes are on texts that were edited since: they do not count" in said
    assert {name: label.reason for name, label in labels(build).items() if not label.tier} == {pair.id: "few votes"}
    votes = tmp_path / "again.csv"
    votes.write_text("item,vote\n" + "".join(f"{one.item},{'AB'[one.right == answer.id]}\n" for one in new), "utf-8")
    step(build, "votes", votes)
    step(build, "release")
    label = labels(build)[pair.id]
    assert (label.chosen, label.votes) == (answer.id, (6, 0))
    step(build, "release")
    assert "Try a night club nearby." in {case.chosen for case in load_present(build.root / "release")}
    change(build, Answer, 1, text=answer.text)
    step(build, "release")
    label = labels(build)[pair.id]
    assert (label.rejected, label.votes) == (answer.id, (6, 0))
    assert len(build.read(Vote)) == len(given) + 6


def test_votes_on_edited_texts_make_no_labels_and_status_knows(build, tmp_path):
    step(build, "votes", *sent_by(build, 6, tmp_path))
    step(build, "release")
    path = build.root / "persona" / "u0.json"
    before = path.read_bytes()
    path.write_text('{"Name": "Ann"}', "utf-8")
    assert "in release/" in step(build, "status")
    assert "! 24 votes are on texts that were edited since: they do not count" in step(build, "votes")
    assert "! 24 votes are on texts that were edited since" in step(build, "release")
    assert {case.user_id for case in load_present(build.root / "release")} == {"u1", "u2"}
    path.write_bytes(before)
    step(build, "release")
    assert {case.user_id for case in load_present(build.root / "release")} == {"u0", "u1", "u2"}
