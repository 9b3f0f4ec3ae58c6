"""What the commands write for programs: the keys of the schema, no more and no fewer."""

from __future__ import annotations

import csv
import json
import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click import Context

pytest.importorskip("scipy")

from support.commands import personafeedback, ran
from support.duel_folders import write_duels
from support.environments import CHECKOUT
from support.jsonl_harness import judged
from support.shown import faults

from personafeedback_tasks import api
from personafeedback_tasks.cli.main import main


def test_every_key_is_described():
    for name, record in api.schema()["$defs"].items():
        assert record["description"], name
        for key, entry in record["properties"].items():
            assert entry["description"] or name == "Prices", f"{name}.{key}"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A run with a control, and another run."""
    for judge, setting in (("readable", "persona"), ("readable", "other_persona"), ("mixed", "persona")):
        judged(tmp_path / "logs" / setting, judge, setting=setting)
    return tmp_path / "logs"


WITH_JSON = {
    "audit": lambda logs, to: ["--data", "sample"],
    "plan": lambda logs, to: ["personafeedback", "-T", "data=sample"],
    "report": lambda logs, to: [logs, "--out", to / "out"],
    "rank": lambda logs, to: [logs, "--out", to / "out"],
    "compare": lambda logs, to: 2 * [min(logs.glob("persona/*"))],
    "verdict": lambda logs, to: [*_judged_duels(to)],
    "score-replies": lambda logs, to: ["personafeedback_hard", _replies(to), "-T", "data=sample", "--out", to / "out"],
}
"""Command -> its arguments. `cost` and `chain` have tests with runs of their own."""


def _judged_duels(to: Path) -> list[object]:
    duels = write_duels(to / "duels", lambda case: case.rejected, difficulty="hard")
    return [judged(to / "a", "readable", duels), "--calibration", judged(to / "b", "readable")]


def _replies(to: Path) -> Path:
    file = to / "replies.jsonl"
    ran("score-replies", "personafeedback_hard", file, "-T", "data=sample", "--template")
    lines = [{**json.loads(line), "reply": "A"} for line in file.read_text("utf-8").splitlines()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


@pytest.mark.parametrize("command", WITH_JSON)
def test_json_and_folders_mean_the_same_in_every_command(command, folder, tmp_path):
    """FILE gets what - prints and --out has; the tables are as without it, and stdout has nothing beside JSON."""
    arguments = WITH_JSON[command](folder, tmp_path)
    plain = personafeedback(command, *arguments)
    to_file = personafeedback(command, *arguments, "--json", tmp_path / "out.json")
    to_stdout = personafeedback(command, *arguments, "--json", "-")
    assert plain.exit_code == to_file.exit_code == to_stdout.exit_code == 0, to_stdout.output
    assert to_file.stdout == plain.stdout
    text = (tmp_path / "out.json").read_text("utf-8")
    assert to_stdout.stdout == text
    assert faults(json.loads(text), {"compare": "rank", "score-replies": "report"}.get(command, command)) == []
    for path in (tmp_path / "out").glob("*"):
        assert f"wrote {path}" in plain.stdout
        assert f"wrote {path}" in to_stdout.stderr
        assert path.suffix != ".json" or path.read_text("utf-8") == text


def test_csv_to_stdout_is_the_csv_of_the_folder(folder, tmp_path):
    ended = personafeedback("rank", folder, "--csv", "-", "--out", tmp_path / "out")
    assert ended.stdout == (tmp_path / "out" / "ranking.csv").read_text("utf-8")
    (first, *_) = csv.DictReader(ended.stdout.splitlines())
    assert {"schema", "acc", "low", "high", "cases", "caveats", "signature"} <= first.keys()
    assert "cannot both write to stdout" in personafeedback("rank", folder, "--csv", "-", "--json", "-").output


def test_every_command_with_json_is_tried():
    context = Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    with_json = {name for name, one in commands.items() if "json_file" in {option.name for option in one.params}}
    assert with_json == {*WITH_JSON, "cost", "chain"}


STORED = Path(__file__).parents[1] / "outputs.txt"


def numbers(document: Any, place: str = "") -> Iterator[str]:
    """A line for each number of a document; for an estimate its value, ends, cases and users in one."""
    if isinstance(document, dict) and "stderr" in document:
        parts = (document[key] for key in ("value", "low", "high", "n", "users"))
        shown = ("-" if part is None else f"{part:.6g}" for part in parts)
        yield f"{place}: {' '.join(shown)}"
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from numbers(value, f"{place}/{key}")
    elif isinstance(document, list):
        for part in document[:1]:
            yield from numbers(part, place)
    elif isinstance(document, float):
        yield f"{place}: {document:.6g}"


def test_keys_and_units_are_those_that_were_stored(folder, tmp_path, request):
    """Programs read them: a key may not go, nor a share become a percentage, unnoticed."""
    lines = [f"{name}: {' '.join(record['properties'])}" for name, record in api.schema()["$defs"].items()]
    for command in ("report", "rank", "verdict", "plan", "audit"):
        ran(command, *WITH_JSON[command](folder, tmp_path), "--json", tmp_path / "out.json")
        lines += numbers(json.loads((tmp_path / "out.json").read_text("utf-8")), command)
    text = "\n".join(lines) + "\n"
    if request.config.getoption("--store"):
        STORED.write_text(text, "utf-8")
    assert text == STORED.read_text("utf-8"), (
        "Outputs changed. If they should, store them: pytest -n 0 tests/cli/test_outputs.py --store"
    )


def test_the_columns_are_there_without_controls_and_without_data(folder, tmp_path):
    data = shutil.copytree(str(files("personafeedback_tasks.personafeedback").joinpath("sample")), tmp_path / "data")
    alone = judged(tmp_path / "alone", "mixed", data, counts="any")
    shutil.rmtree(data)
    headers, keys = {}, {}
    for name, runs in (("with", folder), ("without", alone)):
        ran("rank", runs, "--csv", tmp_path / f"{name}.csv", "--json", tmp_path / f"{name}.json")
        (first, *_) = csv.DictReader((tmp_path / f"{name}.csv").read_text("utf-8").splitlines())
        ranking = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))["rankings"][0]
        headers[name], keys[name] = list(first), [*ranking["runs"][0]["measures"]]
        filled = {key for key, text in first.items() if text}
        bounds = {
            "right_minus_wrong",
            "right_minus_wrong_low",
            "over_longest",
            "over_longest_high",
            "at_equal_length_low",
        }
        assert bounds <= set(first)
        assert bool(bounds & filled) is (name == "with")
    assert headers["with"] == headers["without"]
    assert keys["with"] == keys["without"]
    assert {f"{key}_low" for key in keys["with"]} - set(headers["with"]) == {"acc_low"}


def test_the_page_of_the_site_has_every_table_that_it_links_to(monkeypatch):
    hooks = CHECKOUT / ".ci" / "site.py"
    if not hooks.is_file():
        pytest.skip("needs the checkout")
    for name in ("mkdocs", "mkdocs.structure", "mkdocs.structure.files"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(File=object, Files=object))
    page = runpy.run_path(str(hooks))["outputs"]()
    linked = set(re.findall(r"\]\(#(\w+)\)", page))
    assert (
        {"estimate", "rankedrun", "runpair"}
        <= linked
        <= {name.lower() for name in re.findall(r"^## (\w+)", page, re.M)}
    )
