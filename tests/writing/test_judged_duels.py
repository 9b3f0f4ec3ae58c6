"""People judge duels that were drawn at random: what they choose is what verdict reads, whatever the side."""

from __future__ import annotations

import csv

from support.commands import personafeedback, ran
from support.duel_folders import write_duels

from personafeedback_tasks.analysis.duel_runs import human_votes
from personafeedback_tasks.annotation.rows import PackItem
from personafeedback_tasks.annotation.study import StudyFolder
from personafeedback_tasks.common import tables
from personafeedback_tasks.personafeedback.cases import load_present
from personafeedback_tasks.personafeedback.report import duels


def pack(folder, study, draw):
    ran("annotate", "pack", folder, "--out", study, "--annotators", 2, "--votes", 2, "--draw", draw, "--format", "csv")
    return {row.pair_id for row in StudyFolder(study).read(PackItem) if not row.attention}


def test_peoples_votes_on_drawn_duels_are_the_file_of_verdict(tmp_path):
    folder = write_duels(tmp_path / "duels", lambda case: f"My reply to {case.id}.", difficulty="hard")
    study = tmp_path / "study"
    few = pack(folder, study, 4)
    asked = pack(folder, study, 7)
    assert (len(few), len(asked), few < asked) == (4, 7, True)
    assert asked != pack(folder, tmp_path / "other", len(load_present(folder)))
    files = sorted((study / "packs").glob("*.csv"))
    for path in files:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
        sent = [{"item": line["item"], "vote": "AB"[line["B"].startswith("My reply")]} for line in lines]
        path.write_text(tables.text(["item", "vote"], sent), "utf-8")
    done = ran("annotate", "votes", study, *files)
    assert done.stdout.splitlines()[-1].endswith(f"--human {study / 'human.csv'}")
    cases = load_present(folder)
    found = duels(cases)
    votes = human_votes(study / "human.csv", found)
    assert {f"duel:{found.sources[name]}": of_case for name, of_case in votes.items()} == {
        name: [1, 1] for name in asked
    }
    done = personafeedback("annotate", "pack", "sample", "--out", study)
    assert "found a study of something else than sample. Pass another --out." in " ".join(done.stderr.split())
    for more in ([folder, "sample"], ["sample", folder, "--draw", 2], ["sample", "--draw", 2]):
        done = personafeedback("annotate", "pack", *more, "--out", tmp_path / "new")
        assert done.exit_code, "what was passed is never left out without a word"
        assert not (tmp_path / "new").exists()
        assert "expected" in done.stderr
