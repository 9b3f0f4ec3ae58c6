"""Votes that come back in parts, again, in any order and format: none is lost, and none counts twice."""

from __future__ import annotations

import csv
import io
import multiprocessing
import re
import shutil
import time
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import jsonl_harness
from support.builds import a_build, attentive, change, counted, filled_in, sent_by, taken_in
from support.commands import build_step, personafeedback, ran, tree
from support.judges import JUDGES
from support.killed import after_each_file

from personafeedback_tasks.annotation import study
from personafeedback_tasks.annotation.assignment import names
from personafeedback_tasks.annotation.rows import PackItem, Vote
from personafeedback_tasks.building.rows import Answer, Pair, Person
from personafeedback_tasks.building.tiers import label_rule
from personafeedback_tasks.common import tables
from personafeedback_tasks.logs import log as logs
from personafeedback_tasks.personafeedback.cases import load_present


@pytest.fixture
def build(tmp_path):
    """Packs of three annotators."""
    folder = a_build(tmp_path / "build", people=4, questions=3, annotators=3)
    ran("annotate", "pack", folder.root, "--format", "csv")
    return folder


def votes_of(build, *files):
    done = ran("annotate", "votes", build.root, *files)
    return done.stdout


def refusal(build, *files):
    before = build.read(Vote)
    done = personafeedback("annotate", "votes", build.root, *files)
    assert done.exit_code == 1, done.output
    assert build.read(Vote) == before
    return " ".join(done.stderr.split())


def test_what_an_annotator_took_is_what_counts(tmp_path):
    build = a_build(tmp_path / "build", people=4, questions=3, annotators=6)
    pairs = build.read(Pair)
    ran("annotate", "pack", build.root, "--format", "csv")
    files = sent_by(build, 6, tmp_path)
    assert "votes      0 of 144 (6 to each pair) by 0\n" in build_step("status", build.root).stdout
    votes_of(build, files[0])
    done = personafeedback("build", "release", build.root)
    assert done.exit_code == 1
    assert "no pair became a case" in done.stderr
    assert "A pair needs 6 votes or more" in done.stderr
    said = votes_of(build, *files)
    strategies = Counter(one.chosen.split(":")[2] for one in counted(build))
    assert strategies == {"full": 6 * len(pairs)}
    assert f"annotator-1: {len(pairs)} of {len(pairs)} votes" in said
    assert f"votes to an item: {len(pairs)} items have 6" in said
    assert f"Next: personafeedback build release {build.root}" in said
    assert "!" not in said
    said = votes_of(build, "--drop", "annotator-6")
    few = sum(not pair.easy for pair in pairs)
    assert f"! {few} pairs have too few votes to become cases: with fewer than 6 votes" in said


def test_faults_are_counted_for_each_response_of_a_case_and_are_slices_of_reports(tmp_path, monkeypatch):
    """Marks say the side on which a response was shown; whoever sends no column of faults was not asked."""
    build = a_build(tmp_path / "build", people=4, questions=3, annotators=9, faults=True)
    ran("annotate", "pack", build.root, "--format", "csv")
    assert "over-personalized" in (build.root / "packs" / "guideline.txt").read_text("utf-8")
    strategy, vote = {answer.id: answer.strategy for answer in build.read(Answer)}, attentive(build)
    tables_of = defaultdict(list)
    for place in build.read(PackItem):
        marks, number = [], int(place.annotator[-1])
        for letter, answer in zip("AB", place.options, strict=True):
            if number <= 5 and strategy.get(answer) == "full":
                marks.append(f"{letter} over-personalized")
                marks += [f"{letter.lower()} Uncomfortable"] if number == 1 else []
        tables_of[place.annotator].append({"item": place.item, "vote": vote(place), "faults": "; ".join(marks)})
    files = [tmp_path / f"{name}.csv" for name in tables_of]
    for path, lines in zip(files, tables_of.values(), strict=True):
        columns = ["item", "vote", *(["faults"] if path.stem != "annotator-9" else [])]
        path.write_text(tables.text(columns, lines), "utf-8")
    votes_of(build, *files)
    ran("build", "release", build.root)
    cases = load_present(build.root / "release")
    assert len(cases) > 10
    for case in cases:
        assert case.extra["strategies"]["chosen"] == "full"
        assert case.extra["faults"] == {
            "asked": 8,
            "chosen": {"uncomfortable": 1, "over-personalized": 5},
            "reject": {"uncomfortable": 0, "over-personalized": 0},
        }
    assert "Under `faults`" in (build.root / "release" / "README.md").read_text("utf-8")
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))
    data = str(build.root / "release")
    log = jsonl_harness.run(JUDGES["gold"], "gold", tmp_path / "logs", "personafeedback", data=data)
    said = personafeedback("report", log, "--full").output
    assert "chosen is over-" in said
    assert f"{len(cases)} of {len(cases)} cases" in said
    assert "uncomfortable" not in said  # to one of eight
    files[0].write_text(f"item,vote,faults\n{lines[0]['item']},A,C uncomfortable\n", "utf-8")
    assert "line 2: found 'c uncomfortable' under faults, expected any of A uncomfortable" in refusal(build, files[0])


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(drawn=st.data())
def test_in_parts_in_any_order_and_again_is_as_at_once(drawn, tmp_path_factory):
    root = tmp_path_factory.mktemp("votes")
    folder = a_build(root / "build", people=3, questions=2, annotators=2)
    ran("annotate", "pack", folder.root, "--format", "csv")
    shown = {one.item: one for one in folder.read(PackItem)}
    voted = {item: letter for item in shown if (letter := drawn.draw(st.sampled_from("AB ")).strip())}
    parts = st.lists(st.lists(st.sampled_from(sorted(voted)), min_size=1, unique=True), min_size=1, max_size=4)
    for part in [*(drawn.draw(parts) if voted else ()), *([sorted(voted)] if voted else ())]:
        path = root / "votes.csv"
        path.write_text("item,vote\n" + "".join(f"{item},{voted[item]}\n" for item in part), "utf-8")
        folder.write(Vote, taken_in(folder, [path]).votes)
    found = [((vote.annotator, vote.pair_id), vote.shown_as) for vote in folder.read(Vote)]
    assert len(found) == len(voted)
    assert dict(found) == {(shown[item].annotator, shown[item].pair_id): letter for item, letter in voted.items()}


@pytest.mark.parametrize(("mark", "spreadsheet"), [("", ";"), ("", "\t"), ("", ","), ("sep=;\r\n", ";")])
def test_a_spreadsheet_may_have_been_at_the_pack(build, tmp_path, mark, spreadsheet):
    rows = list(csv.DictReader(io.StringIO((build.root / "packs" / "annotator-1.csv").read_text("utf-8-sig"))))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=spreadsheet)
    writer.writerow(map(str.title, rows[0]))
    writer.writerows({**row, "vote": "b ", "note": "hm; well, ok"}.values() for row in rows)
    (tmp_path / "renamed.txt").write_bytes(f"{mark}{out.getvalue()}".encode("utf-8-sig"))
    assert f"{len(rows)} new votes" in votes_of(build, tmp_path / "renamed.txt")
    assert {(vote.shown_as, vote.note) for vote in build.read(Vote)} == {("B", "hm; well, ok")}


def test_the_later_of_two_votes_counts_and_is_said(build, tmp_path):
    """By their times, whatever the order of files; else the one that comes later."""
    own = [place.item for place in build.read(PackItem) if place.annotator == "annotator-1"]

    def sent(letter, at=""):
        path = tmp_path / f"{letter}{at[:2]}.csv"
        path.write_text(f"item,vote,at\n{own[0]},{letter},{at and f'2026-01-01T{at}Z'}\n", "utf-8")
        return path

    def now():
        return {vote.shown_as for vote in build.read(Vote) if vote.pair_id == build.read(PackItem)[0].pair_id}

    votes_of(build, filled_in(build, "annotator-1", tmp_path / "all.csv", lambda place: "A"))
    assert len(build.read(Vote)) == len(own)
    said = votes_of(build, sent("B"), sent("A"), sent("B"))
    assert "0 new votes; 0 were there before" in said
    assert "! 3 differ from another vote by the same person: the later one counts" in said
    assert now() == {"B"}
    for files in ([sent("A", "09:00"), sent("B", "10:00")], [sent("B", "10:00"), sent("A", "09:00")]):
        votes_of(build, *files)
        assert now() == {"B"}
    votes_of(build, sent("A"))  # nobody knows when
    assert now() == {"A"}
    assert len(build.read(Vote)) == len(own)


@pytest.mark.slow
def test_who_fails_attention_or_says_one_letter_is_named_and_can_be_dropped(build, tmp_path):
    vote = attentive(build)
    of = vote, lambda one: "B", lambda one: "BA"[vote(one) == "B"] if one.attention else vote(one)
    files = [filled_in(build, name, tmp_path / name, one) for name, one in zip(names(3), of, strict=True)]
    said = votes_of(build, *files)
    total = len(build.read(PackItem)) // 3
    assert f"! annotator-2 answered B in all {total}" in said
    assert "! annotator-3 failed 2 of 2 attention items" in said
    assert "! annotator-1" not in said
    (line,) = [line for line in said.splitlines() if line.startswith("! annotator-3")]
    command = line.split("personafeedback ", 1)[1].split()
    assert "(dropped)" in ran(*command).stdout
    for _ in range(2):  # dropped for good
        assert {one.annotator for one in counted(build)} == {"annotator-1", "annotator-2"}
        assert len(build.read(Vote)) == 3 * total  # kept
        votes_of(build, files[2])
    assert "found no vote or pack of 'nobody'" in refusal(build, "--drop", "nobody")


def test_votes_that_are_taken_in_at_once_are_all_there(build, tmp_path, monkeypatch):
    files, take = sent_by(build, 3, tmp_path), study.merged

    def slowly(*arguments):
        found = take(*arguments)
        time.sleep(0.2)  # without a lock the others read the same votes meanwhile
        return found

    monkeypatch.setattr(study, "merged", slowly)
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=votes_of, args=(build, file)) for file in files]
    for one in running:
        one.start()
    for one in running:
        one.join(60)
    assert [one.exitcode for one in running] == [0, 0, 0]
    assert len(build.read(Vote)) == len(build.read(PackItem))


def test_a_filled_in_table_is_not_replaced_by_the_next_packs(build):
    table = build.root / "packs" / "annotator-1.csv"
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
    filled = tables.text(list(rows[0]), [{**row, "vote": "A"} for row in rows])
    table.write_text(filled, "utf-8")
    done = personafeedback("annotate", "pack", build.root, "--format", "csv")
    assert "found a vote that was not imported and that new packs would overwrite" in " ".join(done.stderr.split())
    assert table.read_text("utf-8") == filled
    assert f"{len(rows)} new votes" in votes_of(build, table)
    ran("annotate", "pack", build.root, "--format", "csv")


def test_who_leaves_before_voting_is_dropped_and_others_get_the_items(tmp_path):
    build = a_build(tmp_path / "b", people=2, questions=1, annotators=3, votes_per_pair=2)
    assert label_rule(2) in ran("annotate", "pack", build.root).output  # before anybody is paid
    assert "found no votes, expected some" in refusal(build)
    assert "found no vote or pack of 'nobody'" in refusal(build, "--drop", "nobody")
    said = votes_of(build, "--drop", "annotator-2")
    assert re.search(r"annotator-2: 0 of \d+ votes \(dropped\)", said)
    assert said.splitlines()[-1] == f"Next: personafeedback annotate pack {build.root}"
    ran("annotate", "pack", build.root)
    places = [place for place in build.read(PackItem) if place.annotator != "annotator-2" and not place.attention]
    has = Counter(place.pair_id for place in places)
    assert has == Counter({pair.id: 2 for pair in build.read(Pair)})


def test_a_pair_that_was_taken_out_and_one_that_was_dropped_make_no_labels(build, tmp_path):
    """One is no longer in pairs.jsonl; the person of others has keep = no. Packs that are out stay valid."""
    pairs = build.read(Pair)
    build.write(Pair, pairs[1:])
    votes_of(build, *sent_by(build, 1, tmp_path))
    assert len(counted(build)) == len(pairs) - 1
    change(build, Person, 1, keep="no")
    build.path(PackItem).unlink()
    ran("annotate", "pack", build.root)
    users = {pair.id: pair.user_id for pair in pairs}
    assert {users[one.pair_id] for one in build.read(PackItem) if not one.attention} == {"u0", "u2", "u3"}


def test_the_status_counts_the_votes_that_count(build, tmp_path):
    votes_of(build, *sent_by(build, 1, tmp_path))
    assert "votes      24 of 72 (3 to each pair) by 1\n" in build_step("status", build.root).stdout
    vote = change(build, Vote, chosen="another")
    said = " ".join(personafeedback("build", "release", build.root).stderr.split())
    assert f"votes.jsonl: found 'another' as the vote of 'annotator-1' on '{vote.pair_id}', expected one of 'u" in said
    change(build, Vote, chosen=vote.chosen)
    change(build, Answer, text="Edited since.")
    assert "votes      22 of 72 (3 to each pair) by 1\n" in build_step("status", build.root).stdout
    ran("annotate", "votes", build.root, "--drop", "annotator-1")
    assert "votes      0 of 72 (3 to each pair) by 0\n" in build_step("status", build.root).stdout
    said = personafeedback("build", "release", build.root).stderr
    assert "found 26 votes of which none counts, expected some: not of a dropped annotator" in said


@pytest.mark.slow
@pytest.mark.parametrize("step", ["packs", "votes", "release"])
def test_killed_between_any_two_files_a_step_ends_as_if_it_had_not_been(step, tmp_path, monkeypatch):
    """A release replaces another one, and is never a set of old and new files."""
    ready, files, drop = a_build(tmp_path / "ready", 3, 2, annotators=7), [], ("--drop", "annotator-2")

    def run(root, step, *arguments):
        assert build_step(step, root, *arguments).exit_code == 0

    def content(root):
        return {name: text for name, (_, text) in tree(root).items()}

    if step != "packs":
        run(ready.root, "packs", "--format", "csv")
        files = sent_by(ready, 7, tmp_path)
    if step == "release":
        run(ready.root, "votes", *files)
        run(ready.root, "release")
        run(ready.root, "votes", *drop)
    arguments = {"packs": ("--format", "csv"), "votes": (*files, *drop), "release": ()}[step]
    old, whole = ready.root / "release", tmp_path / "whole"
    run(shutil.copytree(ready.root, whole), step, *arguments)

    def killed(count):
        run(shutil.copytree(ready.root, tmp_path / f"killed{count}"), step, *arguments)

    for count in after_each_file(monkeypatch, killed):
        root = tmp_path / f"killed{count}"
        if (root / "release" / "set.json").exists():  # else it is refused, and made again
            assert content(root / "release") in (content(old), content(whole / "release"))
        run(root, step, *arguments)
        assert content(root) == content(whole), f"killed after {count} files"
    assert count >= 1
