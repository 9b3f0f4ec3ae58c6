"""What knowing the user is worth to a model, beside what it costs: one table and one picture over runs of several benchmarks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support import jsonl_harness
from support.commands import personafeedback, ran

from personafeedback_tasks.analysis import caveats
from personafeedback_tasks.analysis.balance import COST, costs_beside
from personafeedback_tasks.analysis.control import with_controls
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.logs import log as readers
from personafeedback_tasks.logs.caveat import VOID, caveat
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
    ran("rank", logs, "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "ranking.json").read_text("utf-8"))["balance"]
    values = {one["model"]: {name: value["value"] for name, value in one["values"].items()} for one in found}
    assert values == {
        "knower": {"persona gain": 1, "swap score": 1, "yields": 0},
        "yielder": {"persona gain": 1, "yields": pytest.approx(1 / 3)},
    }
    (row, *_) = [row for row in with_controls(read_runs([logs])) if row[0].benchmark.name == "memsyco"]
    better = {key: one.higher_is_better for key, one in make_report(row[0], None, row[1]).measures.items()}
    assert (better["yields"], better["helped_not_yields"], better["acc_no_persona"]) == (False, True, None)


OVERLAPPING = """
const labels = [...document.querySelectorAll(".plane text:not(.of)")], of = (one) => one.getBoundingClientRect();
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const after = (one) => labels.slice(labels.indexOf(one) + 1);
return labels.flatMap((a) => after(a).filter((b) => meet(of(a), of(b))).map((b) => [a.textContent, b.textContent]));
"""
"""Labels of the axes of which one covers another."""


def test_the_page_shows_gain_and_cost_above_its_rankings_and_every_case(logs, tmp_path, browser):
    personafeedback("rank", logs, "--out", tmp_path / "out")
    page = browser.open(tmp_path / "out" / "ranking.html", "#cases")
    assert len(page.texts(".plane .point title")) == 2
    assert any("+100.0 / 33.3" in text for text in page.texts(".plane .keys li"))
    widths = page("return [...document.querySelectorAll('#list .id')].map((one) => one.clientWidth)")
    assert min(widths) > 100, "many runs leave no room for the ids"
    page.open(tmp_path / "out" / "ranking.html")
    assert page("return document.querySelector('.plane text').checkVisibility()")
    assert page(OVERLAPPING) == []


# --- what does not count ------------------------------------------------------------------------------------------------

FACTS, CONFLICT = "objective_fact_judgment", "memory_evidence_conflict"


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """(folder, benchmark, model, name, selection, options): one log of the sample, in the folder `logs`."""
    monkeypatch.setattr(readers, "READERS", (jsonl_harness.READER, *readers.READERS))

    def one(place, benchmark, model=right, name="m", selection="", **options):
        jsonl_harness.run(model, name, tmp_path / "logs" / place, benchmark, selection, data="sample", **options)

    return one


def gain_of(ask, method="generate", model=right):
    ask(f"gain-{method}", "personafeedback", model, method=method)
    ask(f"gain-{method}-without", "personafeedback", wrong, method=method, setting="no_persona")


def balance_of(folder, *options):
    done = ran("rank", folder / "logs", "--json", folder / "r.json", *options)
    found = json.loads((folder / "r.json").read_text("utf-8"))["balance"]
    return {one["model"]: {name: value["value"] for name, value in one["values"].items()} for one in found}, done.stdout


def cost_of(folder, monkeypatch, change=lambda run: run, void=None):
    """The cost on the card of the run of PersonaFeedback, as if the sample were the benchmark's own data."""
    rows = with_controls(list(map(change, read_runs([folder / "logs"]))))
    monkeypatch.setattr(Run, "remark", "")
    bad = [caveat("demonstration", VOID)]
    monkeypatch.setattr(caveats, "of_run", lambda run: bad if void and void(run) else [])
    asked = next(run for run, _ in rows if (run.benchmark.name, run.method.name) == ("personafeedback", "generate"))
    found = costs_beside(asked, rows)
    return found[COST].value if found else None


def is_control(run):
    return (run.benchmark.name, run.setting) == ("memsyco", "no_persona")


def part_missing(run):
    return replace(run, results=run.results[:-1]) if is_control(run) else run


NONE = ({}, None)
COUNTED = {
    "another user's memory is no cost": ([(wrong, {"setting": "other_persona"}), (right, {"setting": "no_persona"})], *NONE),
    "nor is the conversation": ([(wrong, {"setting": "dialogue"}), (right, {"setting": "no_persona"})], *NONE),
    "the own memory counts beside both": (
        [(wrong, {"setting": "other_persona"}), (wrong, {"setting": "dialogue"}), (right, {}), (right, {"setting": "no_persona"})],
        {"m": {"persona gain": 1, "yields": 0}}, 0,
    ),
    "another method is another model": (
        [(lambda case, call: "Answer: A", {"method": "cot", "setting": setting}) for setting in ("persona", "no_persona")], *NONE,
    ),
    "nor is that of a model that is never right without": ([(right, {}), (wrong, {"setting": "no_persona"})], *NONE),
    "a part is no cost": ([(wrong, {"selection": FACTS}), (right, {"selection": FACTS, "setting": "no_persona"})], *NONE),
    "both parts are": (
        [(model, {"selection": part, "setting": setting}) for part in (FACTS, CONFLICT) for model, setting in ((wrong, "persona"), (right, "no_persona"))],
        {"m": {"persona gain": 1, "yields": 1}}, 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_what_counts_as_the_cost_of_a_model(name, ask, tmp_path, monkeypatch):
    runs, balance, cost = COUNTED[name]
    gain_of(ask)
    for place, (model, options) in enumerate(runs):
        ask(f"{place}", "memsyco", model, **options)
    assert balance_of(tmp_path)[0] == balance
    assert cost_of(tmp_path, monkeypatch) == cost


def test_each_method_has_its_own_row_and_cost(ask, tmp_path, monkeypatch):
    def said(model):
        return lambda case, call: f"Answer: {model(case, call)}"

    for method, model in (("cot", said(wrong)), ("generate", right)):
        plain = said(right) if method == "cot" else right
        gain_of(ask, method=method, model=plain)
        ask(f"memory-{method}", "memsyco", model, method=method)
        ask(f"memory-{method}-without", "memsyco", plain, method=method, setting="no_persona")
    found, text = balance_of(tmp_path)
    assert {name: values["yields"] for name, values in found.items()} == {"m (generate)": 0, "m (cot)": 1}
    assert "m (cot)" in text.partition("Gain where")[2]
    assert cost_of(tmp_path, monkeypatch) == 0


def test_a_partial_or_void_control_is_none(ask, tmp_path, monkeypatch):
    gain_of(ask)
    ask("a", "memsyco", wrong)
    ask("b", "memsyco", right, setting="no_persona")
    rows = with_controls(read_runs([tmp_path / "logs"]))
    assert all(costs_beside(run, rows) == {} for run, _ in rows), "a card takes none from the sample"
    monkeypatch.setattr(caveats, "of_run", lambda run: [])
    assert all(costs_beside(run, rows) == {} for run, _ in rows), "nor from any data but the benchmark's own"
    assert cost_of(tmp_path, monkeypatch) == 1
    assert cost_of(tmp_path, monkeypatch, void=is_control) is None
    assert cost_of(tmp_path, monkeypatch, change=part_missing) is None


def test_a_rank_leaves_out_what_a_void_control_gives(ask, tmp_path):
    gain_of(ask)
    ask("a", "memsyco", wrong)
    ask("b", "memsyco", lambda case, call: right(case, call) if int(case[-1], 36) % 2 else "", setting="no_persona")
    found, text = balance_of(tmp_path)
    assert found == {}
    assert "Gain where" not in text
    (row,) = [row for row in with_controls(read_runs([tmp_path / "logs"])) if row[0].benchmark.name == "memsyco"]
    found = make_report(row[0], None, row[1]).overall.measures
    assert not {"yields", "helped_not_yields"} & found.keys(), "nor does a report say what such a control loses"


def test_of_several_runs_of_a_model_the_earliest_counts(ask, tmp_path, monkeypatch):
    gain_of(ask)
    for name, model, day in (("m", right, 2), ("server/m", wrong, 1)):
        ask("a", "memsyco", model, name)
        log = tmp_path / "logs" / "a" / f"{name.replace('/', '_')}.jsonl"
        log.write_text(log.read_text("utf-8").replace("2026-11-24", f"2026-11-0{day}"), "utf-8")
    ask("b", "memsyco", right, setting="no_persona")
    assert balance_of(tmp_path, "--name", "server/m=m")[0] == {"m": {"persona gain": 1, "yields": 1}}
    assert cost_of(tmp_path, monkeypatch, change=lambda run: run.said(shown="m")) == 1


def test_gains_are_of_one_benchmark(ask, tmp_path):
    for name in ("m", "n"):
        ask("c", "prefeval", lambda case, call: call[-1], name)  # `right_at_C`
        ask("d", "prefeval", lambda case, call: "BCDA"["ABCD".index(call[-1])], name, setting="no_persona")
        ask("a", "memsyco", right, name)
        ask("b", "memsyco", right, name, setting="no_persona")
    found, text = balance_of(tmp_path)
    assert {name: values["persona gain"] for name, values in found.items()} == {"m": 1, "n": 1}
    assert "minus without (PrefEval" in text
    ran("rank", tmp_path / "logs", "--out", tmp_path / "out")
    assert "<h1>PrefEval, MemSyco-Bench</h1>" in (tmp_path / "out" / "ranking.html").read_text("utf-8")
    gain_of(ask)
    ask("s", "personafeedback_swap", lambda case, call: "")  # void
    found, text = balance_of(tmp_path)
    assert found == {"m": {"persona gain": 1, "yields": 0}}
    assert "minus without (PersonaFeedback" in text


def test_a_card_names_models_of_every_run(ask, tmp_path):
    gain_of(ask)
    ask("a", "memsyco", right, "server/m")
    ask("b", "memsyco", right, "server/m", setting="no_persona")
    done = personafeedback(
        "card", tmp_path / "logs", "--name", "server/m=m", "--model-card", tmp_path / "README.md"
    )  # fmt: skip
    assert "--name" not in done.output
    assert "should not be in a model card" in done.output  # the sample is refused later
