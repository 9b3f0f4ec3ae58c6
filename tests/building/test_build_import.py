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


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("qr"), st.sampled_from("xyz"), st.sampled_from("xyz")),
        max_size=12,
    )
)
def test_every_row_is_a_case_or_left_out_with_a_reason_and_no_pair_has_both_labels(some):
    labels = {}
    for who, ask, good, bad in some:
        labels.setdefault((who, ask, frozenset((good, bad))), set()).add(good)
    right = {key: good for key, good in labels.items() if len(key[2]) == 2 and len(good) == 1}
    with TemporaryDirectory() as root:
        rows = [dict(zip(("persona", "question", "chosen", "rejected"), row, strict=True)) for row in some]
        done = imported(Path(root) / "b", written(Path(root), rows))
        assert (done.exit_code == 0) == bool(right), done.output
        if not right:
            return
        build = Build(Path(root) / "b")
        text, questions = build.by_id(Answer), build.by_id(Question)
        found = {
            (
                build.persona(one.user_id).profile["Profile"],
                questions[one.question_id].question,
                frozenset((text[one.first].text, text[one.second].text)),
            ): {text[one.label].text}
            for one in build.read(Pair)
        }
        assert found == right
        assert ("left out" in done.stdout) == (len(some) > len(right))


def test_the_same_import_again_changes_nothing_and_another_one_takes_a_new_folder(tmp_path):
    first = written(tmp_path, rows_of(4))
    assert imported(tmp_path / "b", first).exit_code == 0
    before = {name: content for name, (_, content) in tree(tmp_path / "b").items()}
    assert imported(tmp_path / "b", first).exit_code == 0
    assert {name: content for name, (_, content) in tree(tmp_path / "b").items()} == before
    done = imported(tmp_path / "b", written(tmp_path, rows_of(6)))
    assert "found another build's rows" in done.stderr
    assert {name: content for name, (_, content) in tree(tmp_path / "b").items()} == before


def test_rows_that_are_left_out_are_counted_by_reason(tmp_path):
    rows = rows_of(4)
    rows += [
        {**rows[0], "chosen": "  Yes,  0. "},
        {**rows[1], "chosen": rows[1]["rejected"], "rejected": rows[1]["chosen"]},
        {**rows[2], "rejected": rows[2]["chosen"]},
    ]
    done = imported(tmp_path / "b", written(tmp_path, rows))
    assert done.exit_code == 0, done.output
    assert "took 3 pairs" in done.stdout
    assert [line.split(" pairs ")[0] for line in done.stdout.splitlines() if line.startswith("! ")] == [
        "! left out: 1"
    ] * 3
