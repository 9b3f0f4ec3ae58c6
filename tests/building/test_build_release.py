"""A release: what the strict loader reads, with the labels of the votes, the agreement and the shortcuts beside it."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import mean

import pytest
from huggingface_hub import DatasetCard
from msgspec.structs import replace
from support.builds import a_build, cast, change, labels
from support.commands import ran

from personafeedback_tasks.annotation.rows import Vote
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import Answer, Pair, Question
from personafeedback_tasks.building.tiers import KAPPA, RISK
from personafeedback_tasks.personafeedback.audit import audit, label_ceilings
from personafeedback_tasks.personafeedback.cases import load_present


@pytest.fixture(scope="module")
def voted(tmp_path_factory):
    """`voted(root)`: a copy of a build up to its votes."""

    @cache
    def made(**settings):
        return _voted(tmp_path_factory.mktemp("voted") / "b", **settings)

    return lambda root, **settings: Build(Path(shutil.copytree(made(**settings), root)))


def _voted(root, people=12, questions=4, **settings):
    """Eight of nine annotators like the full answer where it should win by construction, else eight or five."""
    build = a_build(root, people, questions, **settings)
    rng, votes = random.Random(3), []
    strategy = {answer.id: answer.strategy for answer in build.read(Answer)}
    for pair in build.read(Pair):
        full, other = sorted((pair.first, pair.second), key=lambda name: strategy[name] != "full")
        agree = 8 if pair.easy else rng.choice((8, 8, 8, 5))
        names = [f"a{number}" for number in range(9)]
        rng.shuffle(names)
        votes += [
            Vote(annotator=name, pair_id=pair.id, chosen=full if n < agree else other, shown_as=rng.choice("AB"))
            for n, name in enumerate(names)
        ]
    cast(build, votes)
    return build.root


def released(build):
    done = ran("build", "release", build.root)
    return done.stdout


@pytest.fixture(scope="module")
def build(voted, tmp_path_factory):
    folder = voted(tmp_path_factory.mktemp("release") / "b", name="our users", license="CC-BY-4.0")
    (folder.root / "memory").mkdir()
    (folder.root / "memory" / "u0.jsonl").write_text('{"text": "tea", "uuid": "7"}\n', "utf-8")
    (folder.root / "said.txt").write_text(released(folder), "utf-8")
    return folder


def test_every_pair_is_a_case_with_its_texts_and_where_they_are_from_or_below_with_a_reason(build):
    cases = load_present(build.root / "release")
    found, answers, questions = labels(build), build.by_id(Answer), build.by_id(Question)
    assert len(cases) == sum(bool(label.tier) for label in found.values()) > 40
    for case in cases:
        label = found[case.extra["pair"]]
        question = questions[label.pair.question_id]
        assert (case.difficulty, case.user_id) == (label.tier, question.user_id)
        assert (case.chosen, case.rejected) == (answers[label.chosen].text, answers[label.rejected].text)
        assert (case.question, case.category) == (question.question, question.category)
        assert case.extra["votes"] == list(label.votes)
        assert case.extra["strategies"]["chosen"] == answers[label.chosen].strategy
        assert case.persona.text == build.persona(case.user_id).text
    assert (build.root / "release" / "memory" / "u0.jsonl").read_text("utf-8") == '{"text": "tea"}\n'
    below = [json.loads(line) for line in (build.root / "below.jsonl").read_text("utf-8").splitlines()]
    assert {(row["pair"], row["reason"]) for row in below} == {
        (name, label.reason) for name, label in found.items() if not label.tier
    }
    said = (build.root / "said.txt").read_text("utf-8")
    assert f"{len(below)} pairs are in below.jsonl, little agreement: chance alone often" in said


def test_the_manifest_and_the_card_say_how_the_labels_arose(build):
    manifest = load_present(build.root / "release").release.manifest
    assert (manifest.name, manifest.license, manifest.annotators) == ("our users", "CC-BY-4.0", 9)
    assert manifest.counts == Counter(case.cell for case in load_present(build.root / "release"))
    assert "The majority of 9 people's votes on each pair" in manifest.labels
    assert "chance alone would reach such a majority in at most 5 %" in manifest.labels
    assert manifest.generator == "acme/m"
    # Over all pairs voted on, those below too: 2 P - 1, where P is the share of pairs of annotators who agree.
    shares = []
    for label in labels(build).values():
        most, least = label.votes
        shares.append((most * (most - 1) + least * (least - 1)) / (9 * 8))
    assert manifest.agreement.measure == KAPPA
    assert manifest.agreement.value == pytest.approx(2 * sum(shares) / len(shares) - 1, abs=1e-4)
    assert -1 <= manifest.agreement.low < manifest.agreement.value < manifest.agreement.high <= 1
    card = DatasetCard.load(build.root / "release" / "README.md")
    assert (card.data.license, card.data.pretty_name) == ("cc-by-4.0", "our users")
    for config in card.data.to_dict()["configs"]:
        assert (build.root / "release" / config["data_files"]).is_file()
    said = (
        f"{manifest.agreement.value:.2f} (95 % interval {manifest.agreement.low:.2f} to {manifest.agreement.high:.2f})"
    )
    assert said in card.text
    assert f"{KAPPA}: {said}" in (build.root / "said.txt").read_text("utf-8")


def test_the_risk_is_one_number_in_the_cases_the_set_the_card_and_the_ceiling(build):
    cases = load_present(build.root / "release")
    noise = cases.release.manifest.noise
    card, said = DatasetCard.load(build.root / "release" / "README.md").text, (build.root / "said.txt").read_text()
    for tier, risk in noise.by_tier.items():
        of_tier = [case.extra["risk"] for case in cases if case.difficulty == tier]
        assert risk == pytest.approx(sum(of_tier) / len(of_tier), abs=1e-3)
        assert 0 < risk < 0.5
        assert f"{tier}: {100 * risk:.1f} % {RISK}" in said
        assert f"{tier.capitalize()}: {100 * risk:.1f} % {RISK}" in card
    risks = [noise.by_tier[case.difficulty] for case in cases]
    assert [*label_ceilings(audit(cases), cases.cells)[0].values()][-1] == pytest.approx(1 - sum(risks) / len(risks))


def test_a_shortcut_that_decides_hard_is_named_where_it_is_printed_and_on_the_card(build):
    """The full answers say the hobby."""
    said = (build.root / "said.txt").read_text("utf-8")
    (line,) = [line for line in said.splitlines() if "shortcut overlap" in line]
    assert line.startswith("! shortcut overlap: right in ")
    assert line.endswith("A model could score as high without understanding the persona")
    assert f"- {line}" in (build.root / "release" / "README.md").read_text("utf-8")
    assert "! shortcut longest" not in said


@pytest.mark.parametrize(("right", "wrong", "warned"), [(5, 3, False), (40, 10, True)])
def test_a_shortcut_that_a_few_cases_follow_by_chance_is_no_warning(tmp_path, right, wrong, warned):
    texts = [("A good deal longer.", "Short.")] * right + [("Short.", "A good deal longer.")] * wrong
    rows = [f"Likes {n},What {n}?,{n} {a},{n} {b}\n" for n, (a, b) in enumerate(texts)]
    (tmp_path / "pairs.csv").write_text("".join(["persona,question,chosen,rejected\n", *rows]), "utf-8")
    ran("build", "init", tmp_path / "b", "--from", tmp_path / "pairs.csv")
    assert ("! shortcut longest" in released(Build(tmp_path / "b"))) == warned


@pytest.mark.slow
def test_what_is_dropped_since_is_left_out_once_a_release_is_made_again_and_what_a_team_added_stays(voted, tmp_path):
    build = voted(tmp_path / "b")
    root, next_line = build.root, f"Next: personafeedback build release {build.root}"

    def status():
        shown = ran("build", "status", root).output
        return shown, shown.splitlines()[-1]

    build.write(Answer, [replace(one, strategy="imported") for one in build.read(Answer)])  # no text is lacking
    change(build, Answer, 2, model="other/m")  # of a rejected answer
    released(build)
    assert status()[1] == f"Done: {root / 'release'}"
    before = load_present(root / "release")
    assert before.release.manifest.generator == "acme/m, other/m"
    (root / "release" / "LICENSE").write_text("ours", "utf-8")
    (root / "release" / "data" / "general" / "old.jsonl").write_text("", "utf-8")
    dropped = change(build, Question, keep="no")
    shown, last = status()
    assert "in release/; no longer what the files give: run it again" in shown
    assert last == next_line
    said = released(build)
    lost = sum(label.pair.question_id == dropped.id and bool(label.tier) for label in labels(build).values())
    assert f"{lost} pairs are left out: their question or person has keep = no" in said
    ran("annotate", "votes", root, "--drop", "a0")
    assert status()[1] == next_line
    released(build)
    after = load_present(root / "release")
    assert {sum(case.extra["votes"]) for case in before} == {9}
    assert {sum(case.extra["votes"]) for case in after} == {8}
    for tier, risk in after.release.manifest.noise.by_tier.items():  # not of the pairs that were dropped
        assert risk == pytest.approx(mean(case.extra["risk"] for case in after if case.difficulty == tier), abs=1e-4)
    assert dropped.question in {case.question for case in before} - {case.question for case in after}
    kept = {path.name for path in (root / "release").rglob("*")}
    assert "LICENSE" in kept
    assert "old.jsonl" not in kept
