"""What knowing the user is worth to a model, beside what it costs: one table and one picture over runs of several benchmarks."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("scipy")

from support import jsonl_harness
from support.commands import personafeedback

from personafeedback_tasks.analysis import caveats
from personafeedback_tasks.analysis.balance import cost_beside
from personafeedback_tasks.analysis.control import with_controls
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.logs import log as readers
from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.logs.run import Run


def right(case: str, call: str) -> str:
    return "A" if call == "chosen_first" else "B"


def wrong(case: str, call: str) -> str:
    return "B" if call == "chosen_first" else "A"


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """`knower` has both; `yielder` too, and yields to a third of the memories; `half` was never asked where the person must not matter."""
    monkeypatch.setattr(readers, "READERS", (jsonl_harness.READER, *readers.READERS))
    memories = [case.id for case in find("memsyco").load(find("memsyco").options(data="sample"), {})]
    turned = set(memories[::3])

    def run(place, model, name, benchmark, selection="", **options):
        jsonl_harness.run(model, name, tmp_path / "logs" / place, benchmark, selection, data="sample", **options)

    for name, under_memory in (
        ("knower", right),
        ("yielder", lambda case, call: (wrong if case in turned else right)(case, call)),
    ):
        run("1", right, name, "personafeedback", "hard")
        run("2", wrong, name, "personafeedback", "hard", setting="no_persona")
        run("3", under_memory, name, "memsyco")
        run("4", right, name, "memsyco", setting="no_persona")
    run("5", right, "knower", "personafeedback_swap")
    run("1", right, "half", "personafeedback", "hard")
    run("2", right, "half", "personafeedback", "hard", setting="no_persona")
    return tmp_path / "logs"


def test_a_model_with_gain_and_cost_has_them_side_by_side(logs, tmp_path):
    done = personafeedback("rank", logs, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    (_, table) = done.stdout.split("Gain where the person matters")
    assert re.search(r"knower\s+\+100\.0", table)
    assert "half" not in table.partition("persona gain:")[0]
    found = json.loads((tmp_path / "out" / "ranking.json").read_text("utf-8"))["balance"]
    values = {one["model"]: {name: value["value"] for name, value in one["values"].items()} for one in found}
    assert values == {
        "knower": {"persona gain": 1, "swap score": 1, "yields": 0},
        "yielder": {"persona gain": 1, "yields": pytest.approx(1 / 3)},
    }
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert len(re.findall(r'<circle class="point"[^>]*><title>', page)) == 2
    assert "+100.0 / 33.3" in page


def test_without_a_cost_there_is_no_such_table(logs, tmp_path):
    done = personafeedback("rank", logs / "1", logs / "2", "--json", tmp_path / "r.json")
    assert "Gain where" not in done.stdout
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["balance"] == []


def test_a_card_takes_no_cost_from_the_sample(logs, monkeypatch):
    rows = with_controls(read_runs([logs]))
    run = next(run for run, _ in rows if (run.benchmark.name, run.model) == ("personafeedback", "yielder"))
    assert cost_beside(run, rows) is None
    monkeypatch.setattr(Run, "remark", "")
    monkeypatch.setattr(caveats, "of_run", lambda run: [])
    assert cost_beside(run, rows).value == pytest.approx(1 / 3)
