"""Pairs that exist become a set: every row, every text as it was; what is broken or contradicts itself is named."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builds import cast, labeled
from support.commands import personafeedback, tree

from personafeedback_tasks.annotation.rows import Vote
from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.imported.importing import mapping
from personafeedback_tasks.building.imported.pairs import import_rows
from personafeedback_tasks.building.rows import Answer, Pair, Question, Refused, Tiered
from personafeedback_tasks.personafeedback.cases import load_present

MAP = "persona=who,question=ask,chosen=good,rejected=bad"
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).map(lambda text: f"x{text}x")


def rows_of(count):
    return [
        {
            "who": {"Name": f"N{n % 3}", "Likes": ["tea", {"in": "May"}]},
            "ask": f"What about {n}?",
            "good": f"Yes, {n}.",
            "bad": f"No, not {n} at all.",
        }
        for n in range(count)
    ]


def imported(folder, path, *arguments):
    return personafeedback("build", "import", folder, "--from", path, *arguments)


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
    writer.writeheader()
    writer.writerows(
        {key: json.dumps(value) if isinstance(value, dict) else value for key, value in row.items()} for row in rows
    )
    return "\ufeff" + out.getvalue()


WRITTEN = {
    "pairs.csv": as_csv,
    "pairs.json": json.dumps,
    "pairs.jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
}


def written(tmp_path, name, rows):
    (tmp_path / name).write_text(WRITTEN[name](rows), "utf-8", newline="")
    return tmp_path / name


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_a_set_in_two_commands(tmp_path, name):
    rows = rows_of(9)
    done = imported(tmp_path / "b", written(tmp_path, name, rows), "--map", MAP)
    assert done.exit_code == 0, done.output
    settings = tmp_path / "b" / "build.yaml"
    settings.write_text(settings.read_text().replace('"our set"', '"our pairs"').replace('"unknown"', '"MIT"'))
    assert "took 9 pairs of 3 users and 9 questions, all hard" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("Next: ")]
    done = personafeedback(*line.removeprefix("Next: ").split()[1:], "--accept", "longest")
    assert "--accept longest was not needed" in done.stdout
    cases = load_present(tmp_path / "b" / "release")
    assert {(case.question, case.chosen, case.rejected) for case in cases} == {
        (row["ask"], row["good"], row["bad"]) for row in rows
    }
    assert {case.persona.profile["Name"] for case in cases} == {"N0", "N1", "N2"}
    assert all(case.persona.profile["Likes"] == ["tea", {"in": "May"}] for case in cases)
    manifest = cases.release.manifest
    assert (manifest.name, manifest.license, manifest.annotators, manifest.agreement) == (
        "our pairs",
        "MIT",
        None,
        None,
    )
    assert manifest.labels == "Nobody voted here: the label of each pair is that of the imported pairs."
    assert manifest.generator == "Texts that were brought"


@pytest.mark.parametrize(("right", "wrong", "stops"), [(5, 3, False), (40, 10, True)])
def test_a_shortcut_that_a_few_cases_follow_by_chance_stops_no_release(tmp_path, right, wrong, stops):
    texts = [("A good deal longer.", "Short.")] * right + [("Short.", "A good deal longer.")] * wrong
    rows = [
        {"who": f"Likes {n}", "ask": f"What {n}?", "good": f"{n} {a}", "bad": f"{n} {b}"}
        for n, (a, b) in enumerate(texts)
    ]
    assert imported(tmp_path / "b", written(tmp_path, "pairs.json", rows), "--map", MAP).exit_code == 0
    done = personafeedback("build", "release", tmp_path / "b")
    assert ("longest is right in" in done.stderr, done.exit_code) == (stops, int(stops)), done.output
    assert "the step answers" not in done.stderr  # no model wrote these


def test_a_dataset_that_was_saved_is_read_with_its_own_library(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.DatasetDict(
        {"test": datasets.Dataset.from_list([{**row, "who": row["who"]["Name"]} for row in rows_of(4)])}
    ).save_to_disk(tmp_path / "saved")
    done = imported(tmp_path / "b", tmp_path / "saved", "--map", MAP)
    assert done.exit_code == 1
    assert "found no dataset there, split 'train'" in done.stderr
    done = imported(tmp_path / "b", tmp_path / "saved", "--map", MAP, "--split", "test")
    assert done.exit_code == 0, done.output
    assert len(Folder(tmp_path / "b").read(Pair)) == 4


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("qr"), st.sampled_from("xyz"), st.sampled_from("xyz")),
        max_size=12,
    )
)
def test_every_row_is_a_case_or_refused_with_a_reason_and_no_pair_has_both_labels(some):
    rows = [(f"row {n}", dict(zip(("who", "ask", "good", "bad"), row, strict=True))) for n, row in enumerate(some)]
    made = import_rows(rows, mapping(MAP), "hard", 0)
    labels = {}
    for who, ask, good, bad in some:
        labels.setdefault((who, ask, frozenset((good, bad))), set()).add(good)
    right = {key for key, good in labels.items() if len(key[2]) == 2 and len(good) == 1}
    text = {name: answer.text for name, answer in made.rows[Answer].items()}
    people = {user: profile["Profile"] for user, profile in made.personas.items()}
    found = {
        (
            people[one.user_id],
            made.rows[Question][one.question_id].question,
            frozenset((text[one.chosen], text[one.rejected])),
        )
        for one in made.rows[Tiered].values()
    }
    assert found == right
    assert all(
        text[one.chosen]
        in labels[
            people[one.user_id],
            made.rows[Question][one.question_id].question,
            frozenset((text[one.chosen], text[one.rejected])),
        ]
        for one in made.rows[Tiered].values()
    )
    assert made.rows[Pair].keys() == made.rows[Tiered].keys()
    assert made.count == len(some)


def test_the_same_import_again_changes_nothing_and_another_one_adds(tmp_path):
    first, second = written(tmp_path, "pairs.jsonl", rows_of(4)), written(tmp_path, "pairs.csv", rows_of(6))
    assert imported(tmp_path / "b", first, "--map", MAP).exit_code == 0
    before = {name: content for name, (_, content) in tree(tmp_path / "b").items()}
    assert imported(tmp_path / "b", first, "--map", MAP).exit_code == 0
    assert {name: content for name, (_, content) in tree(tmp_path / "b").items()} == before
    assert imported(tmp_path / "b", second, "--map", MAP).exit_code == 0
    assert len(Folder(tmp_path / "b").read(Tiered)) == 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"good": ""}, "line 2: found good = '', expected a text"),
        ({"ask": 7}, "line 2: found ask = 7, expected a text"),
        ({"who": None}, "line 2: found who = None, expected a text, an object or a list"),
        ({"who": []}, "line 2: found who = []"),
    ],
)
def test_a_broken_row_is_named_and_nothing_is_taken(tmp_path, change, said):
    rows = rows_of(3)
    rows[1] |= change
    done = imported(tmp_path / "b", written(tmp_path, "pairs.jsonl", rows), "--map", MAP)
    assert done.exit_code == 1
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "b").exists()


def test_refused_rows_are_kept_with_their_reason(tmp_path):
    rows = rows_of(4)
    rows += [
        {**rows[0], "good": "  Yes,  0. "},
        {**rows[1], "good": rows[1]["bad"], "bad": rows[1]["good"]},
        {**rows[2], "bad": rows[2]["good"]},
    ]
    done = imported(tmp_path / "b", written(tmp_path, "pairs.jsonl", rows), "--map", MAP)
    assert done.exit_code == 0, done.output
    assert "took 3 pairs" in done.stdout
    refused = Folder(tmp_path / "b").read(Refused)
    assert sorted(one.reason for one in refused) == ["both labels", "same text", "twice"]
    for one in refused:
        assert f"refused 1, {one.reason}: " in done.stdout
        assert "line " in one.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--map", "persona=who"], "--map lacks question, chosen, rejected"),
        (["--map", MAP + ",persona=x"], "each once, got 'persona=x'"),
        (["--map", MAP.replace("good", "better")], "found no 'better' (keys: "),
        ([], "Pass either --map, or the --recipe"),
        (["--map", MAP, "--recipe", "prefeval"], "Pass either --map, or the --recipe"),
        (["--map", MAP, "--test", "2"], "--test must be a share such as 8/9 or 0.8, from 0 to 1"),
    ],
)
def test_mistakes_in_the_options_are_named(tmp_path, arguments, said):
    done = imported(tmp_path / "b", written(tmp_path, "pairs.jsonl", rows_of(2)), *arguments)
    assert done.exit_code != 0
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "b").exists()


def test_what_is_no_source_is_said(tmp_path):
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1")
    done = imported(tmp_path / "b", tmp_path / "pairs.parquet", "--map", MAP)
    assert "found a file of type .parquet, expected .csv, .tsv, .json or .jsonl" in done.stderr


# --- recipes: files of the shape that these sets have, or are described to have, written here ---------------------------

PREFEVAL = [
    {
        "preference": f"I avoid food with {thing}.", "question": f"Where should I eat in town {n}?", "explanation": "…",
        "classification_task_options": [f"A place without {thing}.", "A steak house.", f"The {thing} bar, number {n}.", "A buffet."],
    }
    for n, thing in enumerate(("nuts", "milk", "nuts"))
]  # fmt: skip


def test_a_recipe_reads_the_shape_that_it_is_for(tmp_path):
    done = imported(tmp_path / "b", written(tmp_path, "pairs.json", PREFEVAL), "--recipe", "prefeval")
    assert done.exit_code == 0, done.output
    assert "took 9 pairs of 2 users and 3 questions" in done.stdout
    evidence = "was tried on amazon-science/PrefEval at commit 5079505."
    assert f"The recipe prefeval {evidence}" in done.stdout
    page = personafeedback("build", "import", "--help").stdout
    assert "".join(f"prefeval {evidence.removesuffix('.')}".split()) in "".join(page.split())
    build = Folder(tmp_path / "b")
    text = {answer.id: answer.text for answer in build.read(Answer)}
    expected = [row["classification_task_options"][0] for row in PREFEVAL]
    assert {text[one.chosen] for one in build.read(Tiered)} == set(expected)


@pytest.mark.parametrize("start", ["PrefEval", "PrefEval/benchmark_dataset", "PrefEval/benchmark_dataset/mcq_options"])
def test_the_recipe_of_a_repository_finds_its_rows_and_counts_a_copied_file_once(start, tmp_path):
    topics = tmp_path / "PrefEval" / "benchmark_dataset" / "mcq_options"
    topics.mkdir(parents=True)
    (topics.parent / "gen_data_prompt.txt").write_text("…", "utf-8")
    (topics.parent / "filtered_inter_turns.json").write_text("[]", "utf-8")
    written(topics, "pairs.json", PREFEVAL[:2]).rename(topics / "travel_food.json")
    written(topics, "pairs.json", PREFEVAL[:1]).rename(topics / "travel_food copy.json")
    rest = [{key: row[key] for key in row if key != "explanation"} for row in PREFEVAL[2:]]
    written(topics, "pairs.json", rest).rename(topics / "dietary.json")
    done = imported(tmp_path / "b", tmp_path / start, "--recipe", "prefeval")
    assert done.exit_code == 0, done.output
    assert f"read 4 rows of {topics}" in done.stdout
    assert "took 9 pairs of 2 users and 3 questions" in done.stdout
    assert "refused 3, twice: " in done.stdout
    build = Folder(tmp_path / "b")
    assert build.settings.license == "CC-BY-NC-4.0"
    assert all("travel_food copy.json" in one.text for one in build.read(Refused))


def test_a_folder_of_files_is_read_file_by_file_and_an_empty_one_is_named(tmp_path):
    rows = rows_of(6)
    (tmp_path / "some").mkdir()
    for name, part in zip(WRITTEN, (rows[:2], rows[2:4], rows[4:]), strict=True):
        written(tmp_path / "some", name, part)
    done = imported(tmp_path / "b", tmp_path / "some", "--map", MAP)
    assert "took 6 pairs of 3 users" in done.stdout, done.output
    (tmp_path / "none").mkdir()
    done = imported(tmp_path / "c", tmp_path / "none", "--map", MAP)
    assert "none: found no .csv, .tsv, .json or .jsonl file in this folder" in done.stderr


def test_the_same_import_after_a_vote_brings_no_label_back(tmp_path):
    """What the votes put below stays there."""
    build, path = Folder(tmp_path / "b"), written(tmp_path, "pairs.json", rows_of(6))
    assert imported(build.root, path, "--map", MAP).exit_code == 0
    pairs = build.read(Pair)
    cast(
        build,
        [Vote(annotator=f"a{n}", pair_id=pair.id, chosen=pair.second if n else pair.first, shown_as="B") for pair in pairs[2:] for n in range(9)]
        + [Vote(annotator=f"a{n}", pair_id=pair.id, chosen=pair.second if n % 2 else pair.first, shown_as="B") for pair in pairs[:2] for n in range(9)],
    )  # fmt: skip
    labeled(build)
    before = {name: content for name, (_, content) in tree(build.root).items()}
    again = imported(build.root, path, "--map", MAP)
    assert "6 of them were there before" in again.stdout
    assert f"Next: personafeedback build release {build.root}" in again.stdout
    assert {name: content for name, (_, content) in tree(build.root).items()} == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"good": "No, not 0 at all.", "bad": "Yes, 0."}, "found another label or tier of the pair"),
        ({"who": {"Name": "N0", "Likes": ["gin"]}}, "found another persona than the source has of '7'"),
    ],
)
def test_a_corrected_source_is_no_quiet_repetition(tmp_path, change, said):
    rows = [{**row, "id": 7} for row in rows_of(1)]
    build = Folder(tmp_path / "b")
    assert imported(build.root, written(tmp_path, "pairs.json", rows), "--map", f"{MAP},user_id=id").exit_code == 0
    before = tree(build.root)
    done = imported(build.root, written(tmp_path, "pairs.json", [{**rows[0], **change}]), "--map", f"{MAP},user_id=id")
    assert done.exit_code == 1
    assert said in done.stderr
    assert "Import into a new folder" in done.stderr
    assert tree(build.root) == before


def test_what_a_spreadsheet_or_a_slip_leaves_is_read_or_named(tmp_path):
    rows = "who; ask; good; bad\nA cook; What now?; Soup; Fish\n;;;\n"
    (tmp_path / "pairs.csv").write_text(rows, "utf-8")
    done = imported(tmp_path / "b", tmp_path / "pairs.csv", "--map", MAP)
    assert "took 1 pairs" in done.stdout
    done = imported(tmp_path / "c", tmp_path / "paris.csv", "--map", MAP)
    assert "found no such file" in done.stderr
    row = {**rows_of(1)[0], "who": '{"Age": NaN}'}
    done = imported(tmp_path / "d", written(tmp_path, "pairs.json", [row]), "--map", MAP)
    assert "with a value that is no JSON" in done.stderr
