"""Pairs that exist become a set: every row, every text as it was; what is broken or contradicts itself is named."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import personafeedback, ran, tree

from personafeedback_tasks.annotation.rows import PackItem
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import Answer, Pair, Question
from personafeedback_tasks.personafeedback.cases import load_present


def rows_of(count):
    return [
        {
            "persona": {"Name": f"N{n % 3}", "Likes": ["tea", {"in": "May"}]},
            "question": f"What about {n}?",
            "chosen": f"Yes, {n}.",
            "rejected": f"No, not {n} at all.",
        }
        for n in range(count)
    ]


def imported(folder, path, *arguments):
    return personafeedback("build", "init", folder, "--from", path, *arguments)


def as_csv(rows):
    """As a spreadsheet leaves it: a mark before it, spaces in its header, an empty line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
    writer.writerows(
        {key: json.dumps(value) if isinstance(value, dict) else value for key, value in row.items()} for row in rows
    )
    return f"\ufeff{'; '.join(rows[0])}\n{out.getvalue()}{';' * (len(rows[0]) - 1)}\n"


def as_jsonl(rows):
    """As data frames write it: with nulls for what is not given."""
    return "".join(json.dumps({"user_id": None, "category": None, **row}) + "\n" for row in rows)


WRITTEN = {"pairs.csv": as_csv, "pairs.jsonl": as_jsonl}


def written(tmp_path, rows, name="pairs.jsonl"):
    (tmp_path / name).write_text(WRITTEN[name](rows), "utf-8", newline="")
    return tmp_path / name


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_a_set_in_two_commands(tmp_path, name):
    rows = rows_of(9)
    done = imported(tmp_path / "b", written(tmp_path, rows, name))
    assert done.exit_code == 0, done.output
    assert "took 9 pairs of 3 users and 9 questions" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("Next: ")]
    done = ran(*line.removeprefix("Next: ").split()[1:])
    cases = load_present(tmp_path / "b" / "release")
    assert {(case.question, case.chosen, case.rejected) for case in cases} == {
        (row["question"], row["chosen"], row["rejected"]) for row in rows
    }
    assert {case.persona.profile["Name"] for case in cases} == {"N0", "N1", "N2"}
    assert all(case.persona.profile["Likes"] == ["tea", {"in": "May"}] for case in cases)
    manifest = cases.release.manifest
    assert (manifest.annotators, manifest.agreement) == (None, None)
    assert manifest.labels == "Nobody voted here: the label of each pair is that of the imported pairs."
    assert manifest.generator == "Texts that were brought"
    root, build = tmp_path / "b", Build(tmp_path / "b")
    assert "Done: " in ran("build", "status", root).output
    ran("annotate", "pack", root)  # people may see it otherwise
    other = {answer.id for answer in build.read(Answer) if answer.text.startswith("No, ")}
    votes = "".join(f"{one.item},{'AB'[one.right in other]}\n" for one in build.read(PackItem))
    (tmp_path / "votes.csv").write_text(f"item,vote\n{votes}", "utf-8")
    ran("annotate", "votes", root, tmp_path / "votes.csv")
    assert f"Next: personafeedback build release {root}" in ran("build", "status", root).output
    ran("build", "release", root)
    assert {case.chosen for case in load_present(root / "release")} == {row["rejected"] for row in rows}


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from("qr"),
            st.sampled_from(["x", "y z", " y  z"]),
            st.sampled_from(["x", "y z"]),
        ),
        max_size=12,
    )
)
def test_every_row_is_a_case_or_left_out_with_a_reason_and_no_pair_has_both_labels(some):
    labels = {}
    for who, ask, good, bad in some:
        good = " ".join(good.split())
        labels.setdefault((who, ask, frozenset((good, bad))), []).append(good)
    same = sum(len(good) for key, good in labels.items() if len(key[2]) == 1)
    different = {key: good for key, good in labels.items() if len(key[2]) == 2}
    right = {key: {*good} for key, good in different.items() if len({*good}) == 1}
    again = sum(good[1:].count(good[0]) for good in different.values())
    counts = {
        "whose responses are the same text": same, "of an earlier row with": again,
        "with the opposite label": len(different) - len(right),
    }  # fmt: skip
    with TemporaryDirectory() as root:
        rows = [dict(zip(("persona", "question", "chosen", "rejected"), row, strict=True)) for row in some]
        done = imported(Path(root) / "b", written(Path(root), rows))
        assert (done.exit_code == 0) == bool(right), done.output
        if not right:
            return
        build = Build(Path(root) / "b")
        questions = build.by_id(Question)
        text = {answer.id: " ".join(answer.text.split()) for answer in build.read(Answer)}
        found = {
            (
                build.persona(one.user_id).profile["Profile"],
                questions[one.question_id].question,
                frozenset((text[one.first], text[one.second])),
            ): {text[one.label]}
            for one in build.read(Pair)
        }
        assert found == right
        left_out = [line.removeprefix("! left out: ") for line in done.stdout.splitlines() if line.startswith("! ")]
        assert len(left_out) == sum(map(bool, counts.values()))
        for reason, count in counts.items():
            assert not count or any(line.startswith(f"{count} pairs {reason}") for line in left_out)


def test_the_same_import_again_changes_nothing_and_another_one_takes_a_new_folder(tmp_path):
    first = written(tmp_path, rows_of(4))
    assert imported(tmp_path / "b", first).exit_code == 0
    before = {name: content for name, (_, content) in tree(tmp_path / "b").items()}
    assert imported(tmp_path / "b", first).exit_code == 0
    assert {name: content for name, (_, content) in tree(tmp_path / "b").items()} == before
    done = imported(tmp_path / "b", written(tmp_path, rows_of(6)))
    assert "found another build's rows" in done.stderr
    assert {name: content for name, (_, content) in tree(tmp_path / "b").items()} == before
