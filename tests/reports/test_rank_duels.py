"""`rank` on duels: the writers, by judge and other side."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.caveats import sentences
from support.commands import personafeedback
from support.duel_folders import write_duels
from support.inspect_runs import evaluate
from support.shared import built_once

from personafeedback_tasks.common import folders
from personafeedback_tasks.reports.sentences import SENTENCES

AS_THEY_ARE = SENTENCES["votes_as_they_are"]
WRITERS = {
    "acme/brief": lambda case: "Try it.",
    "acme/half": lambda case: case.chosen if case.id.endswith("1") else "Try it.",
    "acme/wordy": lambda case: f"{case.chosen} And so on.",
}
"""Name -> what it writes; the second ties in one case of each cell."""


def build(root):
    """Duels of three writers, judged by `longest`; one also by `readable`, whose exam is there as well."""
    for number, (name, reply) in enumerate(WRITERS.items()):
        data = write_duels(root / "data" / str(number), reply, name, difficulty="hard")
        evaluate(tasks.personafeedback_hard(data=str(data)), "personafeedback/longest", root / "logs" / str(number))
    evaluate(tasks.personafeedback_hard(data=str(data)), "scripted/readable", root / "logs" / "other judge")
    evaluate(tasks.personafeedback_hard(data="sample"), "personafeedback/longest", root / "exam")
    evaluate(tasks.personafeedback_hard(data="sample"), "scripted/readable", root / "exam")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return built_once(tmp_path_factory, "rank_duels", build)


def ranked(folder, tmp_path, *arguments):
    done = personafeedback("rank", folder / "logs", "--json", tmp_path / "r.json", *arguments)
    assert done.exit_code == 0, done.output
    return json.loads((tmp_path / "r.json").read_text("utf-8"))["rankings"], done.stdout


def test_writers_with_the_same_judge_share_a_ranking(folder, tmp_path):
    (of_longest, of_other), printed = ranked(folder, tmp_path, "--out", tmp_path / "out")
    assert [row["model"] for row in of_longest["runs"]] == ["acme/wordy", "acme/half", "acme/brief"]
    assert [row["measures"]["acc"]["value"] for row in of_longest["runs"]] == pytest.approx([1, 1 / 16, 0], abs=1e-12)
    assert of_longest["cases"] == 16  # a tie is a case of its writer
    assert [row["model"] for row in of_other["runs"]] == ["acme/wordy"]
    assert "Duels against chosen, judged by personafeedback/longest" in printed
    assert "Table 2" not in printed
    assert AS_THEY_ARE in sentences(of_longest)
    assert AS_THEY_ARE in " ".join(printed.split())
    assert AS_THEY_ARE in (tmp_path / "out" / "ranking.md").read_text("utf-8")
    assert (tmp_path / "out" / "index.html").is_file()


def test_writers_can_have_names(folder, tmp_path):
    (of_longest, _), printed = ranked(folder, tmp_path, "--name", "acme/half=Half and half")
    assert [row["name"] for row in of_longest["runs"]] == ["acme/wordy", "Half and half", "acme/brief"]
    assert "Half and half" in printed
    done = personafeedback("rank", folder / "logs", "--name", "acme/nobody=x")
    assert "--name must be MODEL=SHOWN with a model out of acme/brief, acme/half, acme/wordy, " in done.stderr


def test_with_the_exam_each_writer_has_its_rate_without_the_judges_errors(folder, tmp_path):
    rankings, printed = ranked(folder, tmp_path, "--exam", folder / "exam")
    assert "! DEMONSTRATION on the bundled sample" in printed  # so says the exam
    assert "not asked" not in printed
    assert not any(AS_THEY_ARE in sentences(ranking) for ranking in rankings)
    verdicts = personafeedback("verdict", folder / "logs", "--exam", folder / "exam", "--json", tmp_path / "v.json")
    assert verdicts.exit_code == 0, verdicts.output
    expected = {
        (one["judge"], one["writer"]): one["corrected"]["rate"] and one["corrected"]["rate"]["value"]
        for one in json.loads((tmp_path / "v.json").read_text("utf-8"))["verdicts"]
    }
    found = {}
    for judge, ranking in zip(("personafeedback/longest", "scripted/readable"), rankings, strict=True):
        for row in ranking["runs"]:
            found[judge, row["model"]] = row["measures"]["corrected_by_the_exam"]["value"]
    assert found == expected
    assert any(found.values())


def test_duels_that_were_moved_are_said_to_be_missing_and_found_again(folder, tmp_path, monkeypatch):
    """Without its data nobody knows that a run is on duels. Each --data may have those of one run."""
    moved, find = shutil.copytree(folder, tmp_path / "all"), folders.find
    (moved / "data").rename(moved / "elsewhere")
    # another worker may be reading what the logs name
    monkeypatch.setattr(folders, "find", lambda name: None if name.startswith(f"{folder}") else find(name))
    done = personafeedback("rank", moved / "logs", "--exam", moved / "exam")
    assert done.exit_code != 0
    assert "the data of 'duel of acme/wordy against chosen' are not at hand" in " ".join(done.stderr.split())
    assert "found none with their data. Pass --data" in done.stderr
    places = [word for number in range(3) for word in ("--data", moved / "elsewhere" / str(number))]
    (of_longest, _), _ = ranked(moved, tmp_path, "--exam", moved / "exam", *places)
    assert [row["model"] for row in of_longest["runs"]] == ["acme/wordy", "acme/half", "acme/brief"]
