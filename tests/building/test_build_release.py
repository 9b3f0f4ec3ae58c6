"""A release: what the strict loader reads, measured before it is there, and put in place as a whole."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from huggingface_hub import DatasetCard
from msgspec import structs
from msgspec.structs import replace
from support.building import words
from support.builds import a_build, cast, labeled
from support.commands import build_step, personafeedback, tree
from support.samples import a_part

from personafeedback_tasks.annotation.rows import Dropped, Vote
from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.release import releasing
from personafeedback_tasks.building.release.preferences import RISK
from personafeedback_tasks.building.release.shortcuts import NAMES, idle_control, writer_shortcut
from personafeedback_tasks.building.rows import Answer, Origin, Pair, Person, Question, Refused, Tiered
from personafeedback_tasks.personafeedback.audit import audit, label_ceilings
from personafeedback_tasks.personafeedback.cases import PersonaCase, load_present
from personafeedback_tasks.personafeedback.persona import Persona


@pytest.fixture(scope="module")
def voted(tmp_path_factory):
    """`voted(root)`: a copy of a build up to its tiers, which take seconds to make."""

    @cache
    def made(**settings):
        return _voted(tmp_path_factory.mktemp("voted") / "b", **settings)

    return lambda root, **settings: Folder(Path(shutil.copytree(made(**settings), root)))


def _voted(root, people=12, questions=4, prefix="a", **settings):
    """A build up to its tiers: eight of nine annotators like the full answer where it should win by construction, else eight or five."""
    build = a_build(root, people, questions, **settings)
    rng, votes = random.Random(3), []
    strategy = {answer.id: answer.strategy for answer in build.read(Answer)}
    for pair in build.read(Pair):
        full, other = sorted((pair.first, pair.second), key=lambda name: strategy[name] != "full")
        agree = 8 if pair.easy else rng.choice((8, 8, 8, 5))
        names = [f"{prefix}{number}" for number in range(9)]
        rng.shuffle(names)
        votes += [
            Vote(annotator=name, pair_id=pair.id, chosen=full if n < agree else other, shown_as=rng.choice("AB"))
            for n, name in enumerate(names)
        ]
    cast(build, votes)
    labeled(build)
    return build.root


ACCEPT = ("--accept", "overlap")  # the full answers say the hobby


def released(build, *arguments):
    done = personafeedback("build", "release", build.root, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def build(voted, tmp_path_factory):
    folder = voted(tmp_path_factory.mktemp("release") / "b", name="our users", license="CC-BY-4.0")
    (folder.root / "memory").mkdir()
    (folder.root / "memory" / "u0.jsonl").write_text('{"text": "tea"}\n', "utf-8")
    released(folder, *ACCEPT)
    return folder


def test_every_tiered_pair_is_a_case_with_its_texts_and_where_they_are_from(build):
    cases = load_present(build.root / "release")
    tiered = {one.pair_id: one for one in build.read(Tiered)}
    answers = {answer.id: answer for answer in build.read(Answer)}
    questions = {question.id: question for question in build.read(Question)}
    assert len(cases) == len(tiered) > 40
    for case in cases:
        one = tiered[case.extra["pair"]]
        assert (case.difficulty, case.user_id) == (one.difficulty, one.user_id)
        assert (case.chosen, case.rejected) == (answers[one.chosen].text, answers[one.rejected].text)
        assert (case.question, case.category) == (
            questions[one.question_id].question,
            questions[one.question_id].category,
        )
        assert case.extra["votes"] == list(one.votes)
        assert case.extra["strategies"]["chosen"] == answers[one.chosen].strategy
        assert case.persona.text == build.persona(case.user_id).text
    assert (build.root / "release" / "memory" / "u0.jsonl").is_file()


def test_the_manifest_says_how_the_labels_arose(build):
    manifest = load_present(build.root / "release").release.manifest
    assert (manifest.name, manifest.license, manifest.annotators) == ("our users", "CC-BY-4.0", 9)
    assert manifest.counts == Counter(case.cell for case in load_present(build.root / "release"))
    assert "The majority of 9 people's votes on each pair" in manifest.labels
    assert "chance alone would reach such a majority in at most 5 %" in manifest.labels
    assert manifest.generator == "acme/m"
    document = json.loads((build.root / "tiers.json").read_text("utf-8"))
    assert -1 <= manifest.agreement.low <= manifest.agreement.value <= manifest.agreement.high <= 1
    assert manifest.agreement.measure.removesuffix(", over all pairs voted on") in document["codings"]
    # Over all pairs voted on, as `tiers` prints it: those below, of which none is released, too.
    every = document["agreement"]["all"]
    assert every["pairs"] == len(build.read(Tiered)) + document["agreement"]["below"]["pairs"]
    assert manifest.agreement.value == round(every["coefficients"]["kappa, random sides"]["value"], 4)


def test_the_risk_is_one_number_in_tiers_set_card_and_ceiling(build, tmp_path):
    shutil.copytree(build.root, tmp_path / "b")
    (tmp_path / "b" / "tiers.jsonl").unlink()
    printed = personafeedback("build", "release", tmp_path / "b", *ACCEPT).stdout
    found = json.loads((build.root / "tiers.json").read_text("utf-8"))["noise"]
    cases = load_present(build.root / "release")
    noise = cases.release.manifest.noise
    assert noise.by_tier.keys() == found["by_tier"].keys() == {case.difficulty for case in cases}
    for tier, risk in noise.by_tier.items():
        assert structs.asdict(risk) == {end: round(found["by_tier"][tier][end], 4) for end in ("value", "low", "high")}
        assert 0 < risk.low <= risk.value <= risk.high < 0.5
    card = DatasetCard.load(build.root / "release" / "README.md").text
    row = [
        [f"{100 * found['by_tier'][tier][end]:.1f}" for end in ("value", "low", "high")] for tier in found["by_tier"]
    ]
    assert f"| {RISK} | {' | '.join(f'{value} ({low} to {high})' for value, low, high in row)} |" in card
    for value, low, high in row:
        assert f"{value} ({low}–{high})" in printed
    risks = [noise.by_tier[case.difficulty].value for case in cases]
    assert [*label_ceilings(audit(cases)).values()][-1] == pytest.approx(1 - sum(risks) / len(risks))


def test_the_card_is_one_that_the_hub_reads(build):
    card = DatasetCard.load(build.root / "release" / "README.md")
    assert card.data.license == "cc-by-4.0"
    assert card.data.pretty_name == "our users"
    for config in card.data.to_dict()["configs"]:
        assert (build.root / "release" / config["data_files"]).is_file()
    assert "Accepted by whoever released this set:** overlap is right in" in card.text
    assert "| kappa, random sides | " in card.text
    assert "kappa by tier is circular" in card.text
    assert "for these annotators" in card.text
    assert "| `longest` |" in card.text


@pytest.mark.slow
def test_a_shortcut_stops_the_release_until_it_is_accepted_by_name(voted, tmp_path):
    build = voted(tmp_path / "b")
    done = personafeedback("build", "release", build.root)
    assert done.exit_code == 1
    said = " ".join(done.stderr.split())
    assert "The set is not released. overlap is right in" in said
    assert not (build.root / "release").exists()
    assert not list(build.root.glob(".release*"))
    (command,) = [part for part in said.split("say: ")[1:]]
    again = personafeedback(*command.split()[1:])
    assert again.exit_code == 0, again.output
    assert "--accept longest was not needed" in released(build, *ACCEPT, "--accept", "longest")


@pytest.mark.slow
def test_the_gate_says_what_a_shortcut_reads_and_advises_lengths_before_pairs_are_dropped(voted, tmp_path):
    build = voted(tmp_path / "b")
    answers = build.read(Answer)
    build.write(
        Answer,
        [replace(one, text=f"{one.text} Then rest a while." * (2 if one.strategy == "full" else 1)) for one in answers],
    )
    cast(build, build.read(Vote))
    labeled(build)
    said = " ".join(personafeedback("build", "release", build.root).stderr.split())
    overlap = said[said.index("overlap is right in") :]
    assert "by counting the words of the persona that a response repeats. " in overlap
    assert "without reading a persona" not in overlap
    lengths, dropping = said.index("each prompt of answers has {{words}}"), said.index("the last resort")
    assert said.index("longest is right in") < lengths < dropping


def _case(name, user, chosen, rejected, tier="hard"):
    persona = Persona(user, {"Name": f"N{user}", "Likes": f"thing {user}"})
    return PersonaCase(
        name, "specific", tier, persona, "What now?", "yes", "no", {"models": {"chosen": chosen, "reject": rejected}}
    )


def test_the_writer_is_told_by_the_cases_of_other_users():
    # a beats b in u1 (twice) and u2; in u3 b beats a; c and d are seen in u3 alone; e is compared with itself.
    cases = [
        _case("1", "u1", "a", "b"), _case("2", "u1", "a", "b"), _case("3", "u2", "a", "b"), _case("4", "u3", "b", "a"),
        _case("5", "u3", "c", "d"), _case("6", "u1", "e", "e"),
    ]  # fmt: skip
    # u1: others have a 1 of 2, b 1 of 2. u2: a 2 of 3. u3: a 3 of 3, b 0 of 3; nobody else has c or d.
    assert writer_shortcut(cases) == {"1": 0.5, "2": 0.5, "3": 1.0, "4": 0.0, "5": 0.5, "6": 0.5}
    assert writer_shortcut([_case("1", "u1", "a", "a")]) == {}


@pytest.mark.slow
def test_a_set_whose_writer_tells_the_better_response_is_not_released(voted, tmp_path):
    build = voted(tmp_path / "b")
    build.write(Answer, [replace(one, model=f"acme/{one.strategy}") for one in build.read(Answer)])
    done = personafeedback("build", "release", build.root, *ACCEPT)
    assert done.exit_code == 1
    assert "writer is right in 100.0 ± 0.0 % of" in " ".join(done.stderr.split())
    released(build, *ACCEPT, "--accept", "writer")
    assert "| `writer` |" in (build.root / "release" / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_the_card_says_who_wrote_what_passed_who_was_dropped_and_which_control_cannot_run(voted, tmp_path):
    build = voted(tmp_path / "b")
    answers, people = build.read(Answer), build.read(Person)
    build.write(
        Origin,
        [
            *(Origin(id=person.user_id, kind="persona", model="own") for person in people),
            *(Origin(id=answer.id, kind="answer", model=answer.model) for answer in answers),
            Origin(id="q1", kind="question", model="acme/q", parents=("u0", "u0:specific:0", "draft:abc")),
            Origin(id="q2", kind="question", model="acme/q", parents=("u0", "u0:specific:1")),
        ],
    )
    build.write(
        Refused,
        [
            *(
                Refused(id=f"lost{number}", step="answers", reason="refusal", text="No.")
                for number in range(len(answers))
            ),
            *(Refused(id="u0:specific:0", step="questions", reason="several", text="No?") for _ in range(2)),
        ],
    )
    build.write(Dropped, [Dropped(annotator="a0", reason="tossed coins")])
    labeled(build)
    printed = released(build, *ACCEPT)
    card = (build.root / "release" / "README.md").read_text("utf-8")
    assert f"personas: brought {len(people)}; answers: acme/m {len(answers):,}; questions: acme/q 2." in card
    assert f"| answers | {2 * len(answers):,} | {len(answers):,} | 50 | 0 |" in card
    assert "| specific questions | 4 | 2 | 50 | 1 |" in card
    assert "Votes of 1 annotators do not count: a0 (tossed coins)." in card
    shown = personafeedback("build", build.root).output
    assert re.search(r"(?m)^specific questions +4 +2 +50 +1$", shown)
    # All of these people are called PersonN and live in Town N: near twins.
    for text in (printed, card):
        assert "The control setting=other_persona cannot run on this set: found nobody whose persona user_id" in text


@pytest.mark.slow
def test_a_set_of_different_people_has_its_control(voted, tmp_path):
    build = voted(tmp_path / "b")
    for number, path in enumerate(sorted((build.root / "persona").glob("*.json"))):
        path.write_text(json.dumps({"Name": words(f"name {number}", 2), "Likes": words(f"{number}", 3)}), "utf-8")
    cast(build, build.read(Vote))
    labeled(build)
    assert "cannot run" not in released(build, *(part for name in NAMES for part in ("--accept", name)))
    assert idle_control(load_present(build.root / "release")) == ""
    users = sorted({case.user_id for case in load_present(build.root / "release")})
    memories = build.root / "memory"
    memories.mkdir()
    for user in users[1:]:
        (memories / f"{user}.jsonl").write_text('{"text": "a post"}\n', "utf-8")
    printed = released(build, *(part for name in NAMES for part in ("--accept", name)))
    said = f"setting=rag cannot run on this set: 1 of {len(users)} users have no memory ('{users[0]}')."
    assert said in printed
    assert said in (build.root / "release" / "README.md").read_text("utf-8")
    (memories / f"{users[0]}.jsonl").write_text('{"text": "a post"}\n', "utf-8")
    assert "cannot run" not in released(build, *(part for name in NAMES for part in ("--accept", name)))


@pytest.mark.slow
def test_tiers_that_are_not_what_the_votes_give_now_are_made_anew(voted, tmp_path):
    build = voted(tmp_path / "b")
    assert personafeedback("annotate", "votes", build.root, "--drop", "a0").exit_code == 0
    assert "pairs become cases" in released(build, *ACCEPT)
    tiered = build.read(Tiered)
    assert {sum(label.votes) for label in tiered} == {8}
    build.write(Tiered, tiered[1:])  # a team may leave a case out
    assert "pairs become cases" not in released(build, *ACCEPT)
    assert len(load_present(build.root / "release")) == len(tiered) - 1
    build.path(Vote).unlink()
    assert "Put them back, or remove the line" in personafeedback("build", "release", build.root, *ACCEPT).stderr


@pytest.mark.slow
def test_what_a_team_added_to_a_release_stays(voted, tmp_path):
    build = voted(tmp_path / "b")
    released(build, *ACCEPT)
    (build.root / "release" / "LICENSE").write_text("ours", "utf-8")
    (build.root / "release" / ".git").mkdir()
    (build.root / "release" / ".git" / "HEAD").write_text("ref", "utf-8")
    (build.root / "release" / "data" / "general" / "old.jsonl").write_text("", "utf-8")
    released(build, *ACCEPT)
    kept = {path.name for path in (build.root / "release").rglob("*")}
    assert {"LICENSE", "HEAD"} <= kept
    assert "old.jsonl" not in kept


@pytest.mark.slow
def test_a_pair_with_both_labels_stops_the_release(voted, tmp_path):
    build = voted(tmp_path / "b")
    build.path(Vote).unlink()  # labels of a team's own
    tiered = [Tiered(**{**structs.asdict(one), "votes": (0, 0)}) for one in build.read(Tiered)]
    one = next(one for one in tiered if one.difficulty == "hard")
    again = Tiered(**{**structs.asdict(one), "pair_id": "turned", "chosen": one.rejected, "rejected": one.chosen})
    build.write(Tiered, [*tiered, again])
    done = personafeedback("build", "release", build.root, *ACCEPT)
    assert done.exit_code == 1
    assert "2 cases have the same two texts as another one with the opposite label" in " ".join(done.stderr.split())
    released(build, *ACCEPT, "--accept", "contradiction")
    assert "with the opposite label" in (build.root / "release" / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_a_person_of_the_training_split_is_named(voted, tmp_path):
    build = voted(tmp_path / "b")
    people = build.read(Person)
    build.write(Person, [Person(**{**structs.asdict(people[0]), "split": "train"}), *people[1:]])
    done = personafeedback("build", "release", build.root, *ACCEPT)
    assert done.exit_code == 1
    assert "found a pair of 'u0', who is in the training split" in done.stderr


@pytest.mark.slow
def test_what_was_dropped_after_the_votes_is_left_out_and_counted(voted, tmp_path):
    build = voted(tmp_path / "b")
    questions = build.read(Question)
    build.write(
        Question, [Question(**{**structs.asdict(questions[0]), "keep": "no", "reason": "private"}), *questions[1:]]
    )
    lost = sum(one.question_id == questions[0].id for one in build.read(Tiered))
    shown = "\n".join(labeled(build))
    assert f"{lost} of them will be left out of the release: their question or person has keep = no" in shown
    assert f"{lost} pairs are left out" in released(build, *ACCEPT)
    assert questions[0].question not in {case.question for case in load_present(build.root / "release")}


@pytest.mark.slow
@pytest.mark.parametrize("moment", a_part(["before", "between", "after"], 3, 1))
def test_killed_while_it_is_put_in_place_the_last_release_is_there(voted, build, tmp_path, monkeypatch, moment):
    folder = voted(tmp_path / "b")
    released(folder, *ACCEPT)
    before = tree(folder.root / "release")

    def replace(source, target, real=os.replace):
        if (Path(target).name, moment) in ((releasing.LAST, "before"), (releasing.RELEASE, "between")):
            raise KeyboardInterrupt
        return real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(releasing.os, "replace", replace)
        patched.setattr(releasing.shutil, "rmtree", lambda *_, **__: None)  # a killed process cleans nothing up
        personafeedback_killed(folder, moment)
    assert (folder.root / "release").exists() == (moment != "between")
    released(folder, *ACCEPT)
    assert {name: content for name, (_, content) in tree(folder.root / "release").items()} == {
        name: content for name, (_, content) in before.items()
    }
    assert not list(folder.root.glob(".release*"))


def personafeedback_killed(folder, moment):
    from click.testing import CliRunner

    from personafeedback_tasks.cli.main import main

    done = CliRunner().invoke(main, ["build", "release", str(folder.root), *ACCEPT])
    assert (done.exit_code != 0) == (moment != "after"), done.output


@pytest.mark.slow
def test_its_tasks_run_under_its_name_as_printed(build, tmp_path):
    pytest.importorskip("inspect_ai")
    from support.inspect_runs import command

    lines = [line.strip() for line in released(build, *ACCEPT).splitlines()]
    (line,) = [line for line in lines if line.startswith("inspect eval")]
    done = command(*line.replace("MODEL", "personafeedback/longest").split()[2:], "--log-dir", tmp_path / "logs")
    assert done.returncode == 0, done.stdout
    report = personafeedback("report", "--full", tmp_path / "logs")
    assert report.exit_code == 0, report.output
    assert "our users" in report.stdout
    assert "Table 2" not in report.stdout


def test_without_votes_and_labels_the_step_before_is_named(tmp_path):
    build = a_build(tmp_path / "b")
    done = personafeedback("build", "release", build.root)
    assert f"Run first: personafeedback annotate votes {build.root}" in done.stderr
    assert build.read(Origin) == []


def test_a_release_that_is_no_longer_what_the_files_give_is_not_done(voted, tmp_path):
    build = voted(tmp_path / "b")

    def status():
        shown = personafeedback("build", build.root).output
        return shown, shown.splitlines()[-1]

    build.write(Answer, [replace(one, strategy="imported") for one in build.read(Answer)])  # no text is lacking
    released(build, *ACCEPT)
    assert status()[1] == f"Done: {build.root / 'release'}"
    questions = build.read(Question)
    build.write(Question, [replace(questions[0], keep="no"), *questions[1:]])
    shown, last = status()
    assert "in release/; no longer what the files give: run it again" in shown
    assert last == f"Next: personafeedback build release {build.root}"
    released(build, *ACCEPT)
    assert personafeedback("annotate", "votes", build.root, "--drop", "a3").exit_code == 0
    assert status()[1] == f"Next: personafeedback build release {build.root}"


@pytest.mark.parametrize("command", [("status",), ("packs",), ("votes",), ("release", *ACCEPT)])
def test_a_command_reads_each_file_once(voted, tmp_path, monkeypatch, command):
    build, read = voted(tmp_path / "b"), Counter()
    rows = Folder._rows
    monkeypatch.setattr(
        Folder, "_rows", lambda folder, kind, path: read.update([path.name]) or rows(folder, kind, path)
    )
    done = build_step(command[0], build.root, *command[1:])
    assert done.exit_code == 0, done.output
    assert len(read) > 2
    assert set(read.values()) == {1}
