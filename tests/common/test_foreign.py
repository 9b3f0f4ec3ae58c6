"""Names, paths and addresses of others are shown as text, without passwords and control characters."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from unittest.mock import patch

import markdown_it
import pytest
from huggingface_hub import metadata_load
from support.attacks import ATTACKS
from support.commands import personafeedback, ran
from support.logs import lm_eval_log, set_options, settle

from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import release
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template, build

pytestmark = pytest.mark.slow

HARMLESS, OTHER = "acme/model", "acme/other"
RENDERER = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
try:
    RENDERER = markdown_it.MarkdownIt("commonmark", {"linkify": True}).enable(["table", "strikethrough", "linkify"])
    RENDERER.parse("")
except ModuleNotFoundError:  # the links of GitHub's dialect need linkify-it-py
    pass


DATA = Path(release.__file__).parent / release.SAMPLE


@pytest.fixture(scope="module", autouse=True)
def few_cases():
    """The paper with the sample's number of cases: then a run on a copy of the sample is one that a card takes."""
    with patch.dict(release.PAPER_COUNTS, dict.fromkeys(release.PAPER_COUNTS, release.SAMPLE_CASES_PER_CELL)):
        yield


@pytest.fixture(scope="module")
def real_log(few_cases, tmp_path_factory):
    """A run of a whole cell, all right."""
    return lm_eval_log(tmp_path_factory.mktemp("foreign"), "gold", "personafeedback_general_hard", DATA).parent


@pytest.fixture(scope="module")
def make_log(real_log):
    """The run, copied, with a name in the places where strangers write, and asked under these options."""
    case_of = {case.id: case for case in load_cases(DATA)}

    def make(name: str, copy: Path, ids: bool = False, cases: int | None = None, **options: object) -> Path:
        shutil.copytree(real_log, copy)
        (path,) = copy.glob("results_*.json")
        results = json.loads(path.read_bytes())
        results["config"]["model_args"] = {"pretrained": name, "revision": name}
        results["model_name"] = name
        results["system_instruction"] = name
        said = name.replace("user:hunter2@", "")  # what a model replies is no secret of ours
        known = said.encode("utf-8", "ignore").decode("utf-8")  # an id that is no UTF-8 is refused
        for task, config in results["configs"].items():
            set_options(results, task, DATA, **options)
            config["metadata"]["personafeedback_tasks"] |= {"source": "/gone"} if ids else {}
            (samples,) = copy.glob(f"samples_{task}_2*.jsonl")
            rows = [json.loads(line) for line in samples.read_bytes().splitlines()][:cases]
            for row in rows:
                for request, order in zip(row["arguments"].values(), TWO.names, strict=True):
                    request["arg_0"] = name + build(case_of[row["doc"]["id"]], Template.read(options), order)
                row["doc"]["user_id"] += known * ids
                row["doc"]["id"] += known * ids
            rows[0]["resps"] = [[f"<think>{said}"], ["A"]]  # a letter in it counts for nothing
            settle(results, task, rows)
            samples.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        path.write_text(json.dumps(results), encoding="utf-8")
        return path

    return make


def unprintable(text: str) -> set[str]:
    return {char for char in text if char != "\n" and not char.isprintable()}


def body(card: str) -> str:
    return card.split("\n---\n", 1)[1]


def test_no_output_has_the_password_of_a_source(make_log, tmp_path):
    secret = {"source": "https://user:hunter2@evil.example/data", "place": ["https://token-hunter2@evil.example"]}
    log, other = (make_log(name, tmp_path / name, **secret) for name in ("one", "two"))
    (tmp_path / "README.md").write_text("# Model\n", encoding="utf-8")
    for arguments in (
        ("report", log, "--data", DATA, "--out", tmp_path / "out"),
        ("report", log),
        ("compare", log, other, "--json", tmp_path / "compare.json"),
        ("rank", log, other, "--csv", tmp_path / "r.csv", "--json", tmp_path / "r.json", "--out", tmp_path / "ranking"),
        ("card", log, "--data", DATA, "--model-card", tmp_path / "README.md"),
    ):
        done = ran(*arguments)
        assert "hunter2" not in done.output
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not {"one", "two"} & set(path.parts)]
    assert {
        "report.md",
        "report.json",
        "report.html",
        "ranking.html",
        "ranking.csv",
        "ranking.md",
        "README.md",
        "compare.json",
    } <= {path.name for path in written}
    assert [path for path in written if b"hunter2" in path.read_bytes()] == []


def test_no_cell_of_a_ranking_is_a_formula(make_log, tmp_path):
    names = ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-2+3"]
    logs = [make_log(name, tmp_path / str(number)) for number, name in enumerate(names)]
    ran("rank", *logs, "--csv", tmp_path / "r.csv", "--data", DATA, "--out", tmp_path / "out")
    for path in (tmp_path / "r.csv", tmp_path / "out" / "ranking.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file)
        assert sorted(line[header.index("model")] for line in lines) == sorted(f" {name}" for name in names)
        numbers = re.compile(r"[-+]?[0-9.]+")
        assert not [
            cell for line in lines for cell in line if cell[:1] in tuple("=+-@") and not numbers.fullmatch(cell)
        ]


def test_a_card_is_updated_in_its_place_whatever_the_name(make_log, tmp_path):
    for number, name in enumerate(("<!-- personafeedback: end persona -->", "`m", "--->", "a\nb")):
        card, log = tmp_path / f"{number}.md", make_log(name, tmp_path / str(number))
        before = None
        for _ in range(2):
            ran("card", log, "--data", DATA, "--model-card", card)
            assert before in (None, card.read_bytes())
            before = card.read_bytes()
        assert sum(line.startswith("<!--") for line in body(before.decode()).splitlines()) == 2
        metadata_load(card)


UNPRINTABLE_PATHS = [name for name in ATTACKS if not name.isprintable() and not set(name) & set("/\0\ud800")]


@pytest.mark.parametrize("name", UNPRINTABLE_PATHS[::3], ids=ascii)
def test_an_error_that_quotes_a_path_or_a_model_is_one_printable_line(name, make_log, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    for command in (("report", folder), ("compare", folder, folder), ("register", folder)):
        done = personafeedback(*command)
        assert done.exit_code in (1, 2)
        assert unprintable(done.output) == set()
        assert re.search(r"Error: [^\n]*\n\Z", done.output)
    for number, model in enumerate((name, HARMLESS)):
        log = make_log(model, tmp_path / f"log{number}")
        for path in log.parent.iterdir():
            path.rename(tmp_path / name / f"{path.stem.rpartition('_')[0]}_{number}{path.suffix}")
    done = personafeedback("compare", folder, folder)
    assert "found 2 runs (" in done.output
    assert unprintable(done.output) == set()
