"""`build plan`: every number from the settings, by hand."""

from __future__ import annotations

import json

import pytest
from support.building import a_build
from support.commands import personafeedback


def planned(root, *options):
    return personafeedback("build", "plan", root, *options).output


def test_a_new_build_takes_what_its_settings_say(tmp_path):
    root = a_build(tmp_path / "build", personas=4, specific=2, general=3, test="1/2", annotators=5).root
    said = planned(root, "--models", 3)
    pairs = 2 * 5 * 4  # of two test persons, four kinds
    answers = 4 * 5 * 3 * 3 + 2 * 5 * 2 * 3  # three of each model, and of test persons two rewrites
    assert f"{pairs} pairs of 2 test persons; 4 persons in all" in said
    assert f"Texts: 20 questions, and {answers} answers of 3 models; 4 personas are to be written" in said
    assert f"Votes to buy: {pairs * 5} (5 to each pair)" in said


def test_a_size_decides_how_many_personas_there_must_be(tmp_path):
    root = a_build(tmp_path / "build", personas=4, specific=2, test="1/2").root
    # Eight pairs of a test person, and every other person is one: 17 pairs take three of them, the fifth person being the third.
    said = planned(root, "--size", 17)
    assert f"Set personas: 5 in {root / 'build.yaml'} (it has 4), or bring your own personas." in said
    assert "24 pairs of 3 test persons; 5 persons in all" in said
    for size in (9, 16):  # two of them, the third person being the second
        assert "16 pairs of 2 test persons; 3 persons" in planned(root, "--size", size)
    assert "Set personas" not in planned(root)


@pytest.mark.parametrize(
    ("changes", "name"), [({"test": "0"}, "test"), ({"specific": 0, "general": 0}, "specific and general")]
)
def test_without_pairs_to_vote_on_there_is_nothing_to_plan(tmp_path, changes, name):
    root = a_build(tmp_path / "build", **changes).root
    assert f"{name} must be above 0 in {root / 'build.yaml'}" in planned(root)


def test_the_votes_on_imported_pairs_are_planned(tmp_path):
    rows = [{"p": f"likes {n}", "q": "What now?", "good": f"Do {n}.", "bad": f"Rest {n}."} for n in range(6)]
    (tmp_path / "pairs.json").write_text(json.dumps(rows), encoding="utf-8")
    options = ("--from", tmp_path / "pairs.json", "--map", "persona=p,question=q,chosen=good,rejected=bad")
    assert personafeedback("build", "import", tmp_path / "ours", *options).exit_code == 0
    done = personafeedback("build", "plan", tmp_path / "ours", "--size", 50)
    assert done.exit_code == 0, done.output
    assert "6 pairs of 6 test persons; 6 persons in all\nVotes to buy: 54 (9 to each pair)" in done.output
    assert f"Next: personafeedback build release {tmp_path / 'ours'}" in done.output
