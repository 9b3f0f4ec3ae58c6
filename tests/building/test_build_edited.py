"""A label is about the texts that people saw: what was edited since is named, and never published with the old label."""

from __future__ import annotations

import csv
import io
import json
import unicodedata

import pytest
from msgspec.structs import replace
from support.builds import ACCEPT, a_build, attentive, cast, filled_in, likes_full
from support.commands import build_step, tree

from personafeedback_tasks.annotation.rows import PackItem, Vote
from personafeedback_tasks.building.basis import Bases
from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.rows import Answer, Below, Origin, Pair, Question, Tiered
from personafeedback_tasks.building.votes import counted
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


def refusal(build, name, *arguments):
    before = tree(build.root)
    done = build_step(name, build.root, *arguments)
    assert done.exit_code == 1, done.output
    assert tree(build.root) == before
    return " ".join(done.stderr.split())


def sent_back(build, tmp_path):
    vote = attentive(build, likes_full)
    return [filled_in(build, f"annotator-{n}", tmp_path / f"{n}.csv", vote) for n in range(1, 7)]


def put_back(build, before):
    for path, (_, content) in before.items():
        if content is not None:
            (build.root / path).write_bytes(content)


def change(build, kind, place=0, **fields):
    rows = build.read(kind)
    build.write(kind, [replace(one, **fields) if at == place else one for at, one in enumerate(rows)])
    return rows[place]


def without_a_part(build):
    path = build.root / "persona" / "u0.json"
    profile = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({name: value for name, value in profile.items() if name != "Town"}), "utf-8")
    return "the persona of 'u0' (4 pairs)"


def another_question(build):
    one = change(build, Question, question="What should I never do on holiday?")
    return f"the question '{one.id}' (2 pairs)"


def another_answer(build):
    one = change(build, Answer, 1, text="Try a night club nearby.")
    (pair,) = [pair for pair in build.read(Pair) if one.id in (pair.first, pair.second)]
    return f"the answer '{one.id}' of pair {pair.id}"


def answers_exchanged(build):
    first, second = build.read(Answer)[:2]
    change(build, Answer, 0, text=second.text)
    change(build, Answer, 1, text=first.text)
    return f"the answer '{second.id}' of pair"


def a_pair_of_another_user(build):
    change(build, Pair, 0, user_id="u1")
    return "the persona of 'u1'"


def an_answer_taken_out(build):
    one = build.read(Answer)[1]
    build.write(Answer, [answer for answer in build.read(Answer) if answer != one])
    return f"the answer '{one.id}' of pair"


@pytest.mark.parametrize(
    "edit", [without_a_part, another_question, another_answer, answers_exchanged, a_pair_of_another_user, an_answer_taken_out]
)  # fmt: skip
def test_after_an_edit_every_step_names_it_and_publishes_nothing(build, tmp_path, edit):
    files = sent_back(build, tmp_path)
    before = tree(build.root)
    named = edit(build)
    assert named in refusal(build, "votes", *files)
    put_back(build, before)
    step(build, "votes", *files)
    votes = build.read(Vote)
    put_back(build, before)
    named = edit(build)
    for name in ("votes", "release"):
        said = refusal(build, name)
        assert named in said
        assert (
            f"Put them back; or have these pairs voted on again with `personafeedback annotate pack {build.root}`"
            in said
        )
    put_back(build, before)
    step(build, "release", *ACCEPT)
    edit(build)
    assert named in refusal(build, "release", *ACCEPT)
    shown = " ".join(step(build, "status").split())
    assert named in shown
    assert "Next: put these texts back, or have the pairs voted on again." in shown
    assert build.read(Vote) == votes


def test_what_nobody_can_see_is_no_edit(build, tmp_path):
    """Rows in another order, line breaks of another system, spaces at ends, letters composed otherwise, sides the other way round."""
    composed, apart = (unicodedata.normalize(form, "Un café, très chic.") for form in ("NFC", "NFD"))
    change(build, Answer, 0, text=f"{composed}\nYes.")
    step(build, "packs", "--format", "csv")
    step(build, "votes", *sent_back(build, tmp_path))
    step(build, "release", *ACCEPT)
    tiered = {one.pair_id: (one.chosen, one.difficulty) for one in build.read(Tiered)}
    assert apart != composed
    change(build, Answer, 0, text=f" {apart}  \r\nYes.\n")
    build.write(Pair, [replace(pair, first=pair.second, second=pair.first) for pair in build.read(Pair)])
    for kind in (Answer, Pair, Question, PackItem, Vote, Tiered):
        build.write(kind, build.read(kind)[::-1])
    persona = build.root / "persona" / "u0.json"
    persona.write_text(json.dumps(json.loads(persona.read_text("utf-8")), indent=8) + "\n\n", "utf-8")
    step(build, "release", *ACCEPT)
    assert {one.pair_id: (one.chosen, one.difficulty) for one in build.read(Tiered)} == tiered
    step(build, "release", *ACCEPT)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["html", "csv", "label-studio"])
def test_a_pair_that_was_edited_is_voted_on_again_and_old_votes_count_once_it_is_put_back(build, tmp_path, form):
    step(build, "packs", "--format", form)
    old = sent_back(build, tmp_path)
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
    assert "6 votes are on texts that were edited since: they do not count" in said
    assert "annotator-1: 12 of 12" in said
    said = step(build, "release", *ACCEPT)
    assert "6 votes are on texts that were edited since: they do not count" in said
    assert {one.pair_id: one.reason for one in build.read(Below)} == {pair.id: "few votes"}
    votes = tmp_path / "again.csv"
    votes.write_text("item,vote\n" + "".join(f"{one.item},{'AB'[one.right == answer.id]}\n" for one in new), "utf-8")
    step(build, "votes", votes)
    step(build, "release", *ACCEPT)
    (label,) = [one for one in build.read(Tiered) if one.pair_id == pair.id]
    assert (label.chosen, label.votes) == (answer.id, (6, 0))
    step(build, "release", *ACCEPT)
    assert "Try a night club nearby." in {case.chosen for case in load_present(build.root / "release")}
    change(build, Answer, 1, text=answer.text)
    step(build, "release", *ACCEPT)
    (label,) = [one for one in build.read(Tiered) if one.pair_id == pair.id]
    assert (label.rejected, label.votes) == (answer.id, (6, 0))
    assert len(build.read(Vote)) == len(given) + 6


def test_votes_in_a_table_on_texts_that_were_edited_are_kept_in_it(build):
    table = build.root / "packs" / "annotator-1.csv"
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
    answer = change(build, Answer, 1, text="=Try a night club.")
    step(build, "packs", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "vote": "A"} for row in rows)
    change(build, Answer, 1, text=answer.text)
    step(build, "packs", "--format", "csv")
    after = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
    kept = [row for row in after if " =Try a night club." in (row["A"], row["B"])]
    assert {row["item"]: row["vote"] for row in kept} == {
        row["item"]: "A" for row in rows if " =Try a night club." in (row["A"], row["B"])
    }
    assert kept
    assert f"{len(rows)} new votes" in step(build, "votes", table)


def test_texts_that_answers_were_written_for_are_put_back_since_votes_cannot_help(build, tmp_path):
    told, questions = Bases(build), {one.id: one for one in build.read(Question)}
    build.write(
        Origin,
        [
            Origin(id=one.id, kind="answer", model="acme/m", parents=told.parents(questions[one.question_id], one.strategy))
            for one in build.read(Answer)
        ],
    )  # fmt: skip
    step(build, "votes", *sent_back(build, tmp_path))
    without_a_part(build)
    said = refusal(build, "release", *ACCEPT)
    assert f"{build.root / 'persona' / 'u0.json'}: found another persona than answer" in said
    assert "drop this person in people.csv" in said
    assert "u0.json" in refusal(build, "packs")


def test_packs_that_do_not_say_what_they_showed_are_made_anew(build, tmp_path):
    build.write(PackItem, [replace(one, item=f"old{at}", texts=()) for at, one in enumerate(build.read(PackItem))])
    files = sent_back(build, tmp_path)
    assert "(nothing recorded what was shown) (12 pairs)" in refusal(build, "votes", *files)
    step(build, "packs")
    step(build, "votes", *files)
    assert counted(build) == []


def test_votes_of_models_are_about_their_texts_too(tmp_path):
    build = a_build(tmp_path / "b", people=2, questions=1, annotators=1)
    cast(
        build,
        [
            Vote(annotator=f"m{n}", pair_id=one.id, chosen=one.first, shown_as="A")
            for one in build.read(Pair)
            for n in range(6)
        ],
    )
    step(build, "release", *ACCEPT)
    named = another_answer(build)
    said = refusal(build, "release", *ACCEPT)
    assert named in said
    assert f"`personafeedback annotate pack {build.root}`" in said
    build.write(Question, [replace(one, keep="no" if one.user_id == "u0" else "") for one in build.read(Question)])
    step(build, "release", *ACCEPT)  # what was dropped needs no vote


def test_a_label_of_a_source_is_about_its_texts(tmp_path):
    path = tmp_path / "pairs.csv"
    rows = [f'"A cook, number {n}.","What now, {n}?",Soup {n}.,Fish {n}.\n' for n in range(4)]
    path.write_text("".join(["persona,question,chosen,rejected\n", *rows]), "utf-8")
    build = Folder(tmp_path / "b")
    step(build, "import", "--from", path)
    answer = change(build, Answer, 2, text="Not soup, ever.")
    pair = next(pair for pair in build.read(Pair) if answer.id in (pair.first, pair.second))
    said = refusal(build, "release", *ACCEPT)
    assert (
        f"tiers.jsonl: found 1 labels that are about other texts than the files have now: the answer '{answer.id}' of pair {pair.id}"
        in said
    )
    assert "Next: put these texts back" in step(build, "status")
    build.write(Tiered, [one for one in build.read(Tiered) if one.pair_id != pair.id])
    step(build, "release", *ACCEPT)
    assert len(load_present(build.root / "release")) == 3
    step(build, "packs")
    votes = "".join(f"{one.item},{'AB'[one.left > one.right]}\n" for one in build.read(PackItem))
    (tmp_path / "v.csv").write_text(f"item,vote\n{votes}", "utf-8")
    step(build, "votes", tmp_path / "v.csv")
    assert f"Next: personafeedback build release {build.root}" in step(
        build, "status"
    )  # the old one has the labels of the source
    step(build, "release", *ACCEPT)
    assert "Done: " in step(build, "status")
    change(build, Answer, 2, text=answer.text)
    step(build, "packs")
    assert f"Next: personafeedback build release {build.root}" in step(build, "status")


def test_a_pair_of_two_questions_goes_into_no_pack(build):
    other = build.read(Answer)[-1]
    change(build, Pair, 0, second=other.id)
    said = refusal(build, "packs")
    assert f"has the answer '{other.id}', which is to another question or for another user" in said
