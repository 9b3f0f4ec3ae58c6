"""What commands print for people and write for programs, in files that a reader can review: tests/printed.txt, tests/outputs.txt.

A change of a sentence, a column, a key, a unit or a number shows there; what must hold of all of them is tested here.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import runpy
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click import Context
from rich.cells import cell_len
from support import jsonl_harness
from support.cards import update
from support.commands import ran
from support.duel_folders import write_duels
from support.environments import CHECKOUT
from support.jsonl_harness import judged
from support.judges import JUDGES
from support.planted_judges import KNOWER, asked
from support.releases import row_of, write_set
from support.sample_runs import GOLD, SAMPLE, run_of
from support.shown import faults

from personafeedback_tasks import api
from personafeedback_tasks.analysis.other_tasks import CostDocument, costs_of
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.cli.main import main
from personafeedback_tasks.common.outputs import json_text
from personafeedback_tasks.logs.other_tasks import SampleResult, TaskRun
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.reports.card import write_eval_results
from personafeedback_tasks.reports.eee import record_files
from personafeedback_tasks.stats.estimates import share

SCREEN = 24
"""Lines of a terminal."""


def any_answer(*replies: str) -> Callable[[str, str], str]:
    """A model whose reply depends on the case and the call alone."""
    return lambda case, call: replies[hashlib.sha256(f"{case} {call}".encode()).digest()[0] % len(replies)]


def unequal_cells(root: Path) -> Path:
    """A set whose cells and users have different numbers of cases: a mean over cells is not one over cases, nor over users."""
    rows = [
        row_of(f"u{number % 4 * number % 5}", number, chosen=f"Try {'a walk and ' * (number % 3)}tea {number}.")
        for number in range(36)
    ]
    ends = {
        "general/easy": 3,
        "general/mid": 5,
        "general/hard": 14,
        "spedific/easy": 20,
        "spedific/mid": 24,
        "spedific/hard": 36,
    }
    cells = {cell: rows[start:end] for (cell, end), start in zip(ends.items(), (0, *ends.values()), strict=False)}
    return write_set(root, cells, {f"u{number}": {"Name": f"Ann{number}", "Job": "baker"} for number in range(5)})


def made(root: Path) -> dict[str, tuple[object, ...]]:
    """Name -> a command on logs in a folder, which are made here."""

    def run(
        place: str, model: Callable[[str, str], str], name: str, benchmark: str, selection: str = "", **options: str
    ):
        jsonl_harness.run(model, name, root / place, benchmark, selection, data="sample", **options)

    for setting in ("persona", "other_persona", "no_persona"):
        judge = JUDGES["gold" if setting == "persona" else "readable"]
        run(f"knower/{setting}", judge, "a/knower", "personafeedback", "hard", setting=setting)
    for setting in ("persona", "no_persona"):
        run(f"memory/{setting}", any_answer("A", "B"), "a/knower", "memsyco", setting=setting)
    run("cells", any_answer("A", "A", "B"), "a/model", "personafeedback")
    for name in ("a/model", "b/model"):
        model = any_answer("ACCEPT", "PROBLEMATIC", *(["PROBLEMATIC"] if name == "b/model" else []))
        run(f"extraction/{name}", model, name, "recenter_extraction")
    unequal = unequal_cells(root / "data")
    for name, model in (("a", JUDGES["readable"]), ("b", any_answer("A", "B")), ("c", any_answer("A", "B", "B"))):
        jsonl_harness.run(model, f"acme/{name}", root / "unequal", "personafeedback", data=str(unequal))
    run("chain", any_answer("1", "1, 2", "NONE"), "a/model", "recenter_select")
    judged(root / "unread", "mixed")
    judged(root / "place", "always_first")
    duels = write_duels(root / "duels", lambda case: case.rejected if case.id[-1] in "246" else "", difficulty="hard")
    judged(root / "votes", "readable", duels)
    judged(root / "calibration", "readable")
    replies = root / "replies.jsonl"
    ran("score-replies", "personafeedback_hard", replies, "-T", "data=sample", "--template")
    lines = [{**json.loads(line), "reply": "A"} for line in replies.read_text("utf-8").splitlines()]
    replies.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    several = [root / name for name in ("knower", "unread", "place", "cells")]
    return {
        "report": ("report", root / "knower"),
        "report --full": ("report", root / "knower", "--full", "--price", "2.5,10"),
        "report, void": ("report", root / "unread"),
        "report --full, void": ("report", root / "unread", "--full"),
        "report, by place": ("report", root / "place"),
        "report, several cells": ("report", root / "cells"),
        "report, unequal cells": ("report", root / "unequal" / "acme_a.jsonl", "--data", unequal, "--full"),
        "rank --full, unequal cells": ("rank", root / "unequal", "--data", unequal, "--full"),
        "compare, unequal cells": ("compare", root / "unequal" / "acme_a.jsonl", root / "unequal" / "acme_b.jsonl", "--data", unequal),
        "report, memsyco": ("report", root / "memory", "--full"),
        "rank": ("rank", *several),
        "rank --full": ("rank", *several, "--full"),
        "rank --csv": ("rank", root / "knower", root / "unread", "--csv", "-"),
        "rank, gain and cost": ("rank", root / "knower", root / "memory"),
        "compare": ("compare", root / "extraction" / "a", root / "extraction" / "b"),
        "verdict": ("verdict", root / "votes", "--calibration", root / "calibration"),
        "plan": ("plan", "personafeedback", "-T", "data=sample", "-T", "setting=persona,no_persona", "--price", "2.5,10"),
        "chain": ("chain", root / "chain", "--people", files("personafeedback_tasks.recenter") / "sample"),
        "audit": ("audit", "--data", "sample"),
        "score-replies": ("score-replies", "personafeedback_hard", replies, "-T", "data=sample"),
    }  # fmt: skip


WITH_JSON = {"audit": "audit", "plan": "plan", "report": "report", "rank": "rank", "compare": "rank", "verdict": "verdict", "chain": "chain", "score-replies": "report"}  # fmt: skip
"""Command -> whose document it writes. `cost` has tests with runs of its own."""


@pytest.fixture(scope="module")
def commands(tmp_path_factory) -> dict[str, tuple[object, ...]]:
    return made(tmp_path_factory.mktemp("outputs"))


@pytest.fixture
def knower(commands) -> Path:
    """A run with its controls."""
    return commands["report"][1]


def compare_stored(name: str, text: str, store: bool) -> None:
    path = Path(__file__).parents[1] / name
    if store:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), (
        "Outputs changed. If they should, store them: pytest -n 0 tests/cli/test_outputs.py --store"
    )


# --- for people -------------------------------------------------------------------------------------------------------


def test_what_is_printed_is_what_was_stored(commands, knower, tmp_path, request):
    printed = {}
    for name, command in commands.items():
        if name != "score-replies":  # its signature has the time of the file
            printed[name] = ran(*command, COLUMNS="80").stdout.replace(str(knower.parent), "DIR")
    ran(*commands["report, void"], "--out", tmp_path)
    printed["report.md, void"] = (tmp_path / "report.md").read_text("utf-8")
    update(tmp_path / "every cell.md", *asked(KNOWER))
    printed["card: section"] = (tmp_path / "every cell.md").read_text("utf-8").partition("\n---\n")[2]
    run, controls = asked(KNOWER, cells=["general_hard"])
    cost = share([1, 0, 0, 0] * 5, [str(number // 2) for number in range(20)])
    update(tmp_path / "card.md", run, controls, {"yields": cost, "cost on gsm8k": cost})
    printed["card"] = (tmp_path / "card.md").read_text("utf-8")
    report = make_report(run, SAMPLE, controls)
    written = write_eval_results(run, report, run.benchmark.report.card, tmp_path)
    printed[f"card: {written.relative_to(tmp_path)}"] = written.read_text("utf-8")
    uneven = read_run(knower.parent / "unequal" / "acme_a.jsonl")
    spec = uneven.benchmark.report.card
    record, samples = record_files([(uneven, make_report(uneven, None))], spec, "acme", "first_party").values()
    (first, *_) = json.loads(record, parse_float=lambda number: round(float(number), 6))["evaluation_results"]
    sample = json.loads(samples.splitlines()[0])
    printed["Every Eval Ever"] = json.dumps([first, sample], indent=1, ensure_ascii=False)
    refusing = run_of(lambda case: GOLD if case % 2 else ("refusal",) * 2, cells=["general_hard"])
    update(tmp_path / "no controls.md", refusing)
    printed["card: no controls"] = (tmp_path / "no controls.md").read_text("utf-8").partition("\n---\n")[2]
    text = "".join(f"=== {name} ===\n{shown.rstrip()}\n\n" for name, shown in printed.items())
    compare_stored("printed.txt", text, request.config.getoption("--store"))


def test_a_report_fits_a_screen_and_says_the_same_in_a_pipe(commands):
    for name, command in commands.items():
        if name.startswith("report") and "--full" not in command:
            printed = ran(*command, COLUMNS="80", FORCE_COLOR="1").stdout
            shown = re.sub(r"\x1b\[[\d;?]*\w", "", printed).splitlines()
            assert len(shown) <= SCREEN, name
            assert max(map(cell_len, shown)) <= 80, name
            assert " ".join(shown).split() == ran(*command, COLUMNS="80").stdout.split(), name


# --- for programs -----------------------------------------------------------------------------------------------------


def test_every_key_is_described():
    for name, record in api.schema()["$defs"].items():
        assert record["description"], name
        for key, entry in record["properties"].items():
            assert entry["description"] or name == "Prices", f"{name}.{key}"


API: dict[str, Callable[..., api.Document]] = {
    "report": lambda name, logs: api.report(logs),
    "rank": lambda name, *logs: api.rank(api.read_runs(logs)),
    "compare": lambda name, first, second: api.compare(first, second),
    "verdict": lambda name, logs, option, calibration: api.verdict(logs, calibration=calibration),
    "score-replies": lambda name, task, replies, *option: api.score_replies(task, replies, data="sample"),
}
"""Command -> what does the same in Python, given the words of the command."""


@pytest.mark.parametrize("name", WITH_JSON)
def test_json_and_folders_mean_the_same_in_every_command(name, commands, tmp_path):
    """FILE gets what -, --out and Python have; the tables are as without it, and stdout has nothing beside JSON."""
    command = commands[name]
    if name in ("report", "rank", "score-replies"):
        command = (*command, "--out", tmp_path / "out")
    plain, to_file = ran(*command), ran(*command, "--json", tmp_path / "out.json")
    to_stdout = ran(*command, "--json", "-")
    assert to_file.stdout == plain.stdout
    text = (tmp_path / "out.json").read_text("utf-8")
    assert to_stdout.stdout == text
    assert name not in API or API[name](*commands[name]).to_json() == text
    assert faults(json.loads(text), WITH_JSON[name]) == []
    if name == "rank":
        assert ran(*command, "--csv", "-").stdout == (tmp_path / "out" / "ranking.csv").read_text("utf-8")
    for path in (tmp_path / "out").glob("*"):
        assert f"wrote {path}" in plain.stdout
        assert f"wrote {path}" in to_stdout.stderr
        assert path.suffix != ".json" or path.read_text("utf-8") == text


def test_every_command_with_json_is_tried():
    context = Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    with_json = {name for name, one in commands.items() if "json_file" in {option.name for option in one.params}}
    assert with_json == {*WITH_JSON, "cost"}


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


def cost_of_a_persona() -> str:
    """The document of a task that eight samples of 20 fail at with a persona, and one without."""
    runs = []
    for setting, fails in (("persona", 8), ("no_persona", 1)):
        samples = {
            str(number): SampleResult(
                id=str(number), value=float(number >= fails), asked="", target="", replies=(), user=f"u{number % 7}"
            )
            for number in range(20)
        }
        runs.append(
            TaskRun(
                task="sums", model="m", setting=setting, told="", value="accuracy", conditions={}, missed=(0, 1),
                path=Path("log"), program="Inspect", samples=samples,
            )
        )  # fmt: skip
    return json_text(CostDocument(costs=[cost.entry for cost in costs_of(runs)]))


def test_keys_and_units_are_those_that_were_stored(commands, request):
    """Programs read them: a key may not go, nor a share become a percentage, unnoticed."""
    lines = [f"{name}: {' '.join(record['properties'])}" for name, record in api.schema()["$defs"].items()]
    for name in ("report", "rank", "compare, unequal cells", "compare", "verdict", "plan", "audit", "chain"):
        lines += numbers(json.loads(ran(*commands[name], "--json", "-").stdout), name)
    lines += numbers(json.loads(cost_of_a_persona()), "cost")
    compare_stored("outputs.txt", "\n".join(lines) + "\n", request.config.getoption("--store"))


def test_the_columns_are_there_without_controls_and_without_data(knower, tmp_path):
    data = shutil.copytree(str(files("personafeedback_tasks.personafeedback").joinpath("sample")), tmp_path / "data")
    alone = judged(tmp_path / "alone", "mixed", data, counts="any")
    shutil.rmtree(data)
    bounds = {"right_minus_wrong", "right_minus_wrong_low", "over_longest", "over_longest_high", "at_equal_length_low"}
    headers, keys = {}, {}
    for name, runs in (("with", knower), ("without", alone)):
        ran("rank", runs, "--csv", tmp_path / f"{name}.csv", "--json", tmp_path / f"{name}.json")
        (first, *_) = csv.DictReader((tmp_path / f"{name}.csv").read_text("utf-8").splitlines())
        ranking = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))["rankings"][0]
        headers[name], keys[name] = list(first), [*ranking["runs"][0]["measures"]]
        filled = {key for key, text in first.items() if text}
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
