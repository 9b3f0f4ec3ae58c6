"""The rooms of the package: imports go downwards only, extras have doors, and only one room knows its benchmark."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from personafeedback_tasks.task_configs import generate
from support.environments import CHECKOUT

import personafeedback_tasks
from personafeedback_tasks import _registry
from personafeedback_tasks.core.benchmark import benchmarks
from personafeedback_tasks.logs.caveat import SENTENCES
from personafeedback_tasks.pairwise.orders import TWO, rotations
from personafeedback_tasks.recenter.rows import STAGES

ROOT = Path(personafeedback_tasks.__file__).parent
ROOMS = (
    "common", "stats", "parsing", "core", "pairwise", "annotation", "memsyco", "personafeedback", "prefeval", "recenter", "writing", "reward_models", "lm_eval_harness", "inspect_harness",
    "building", "logs", "analysis", "reports", "cli",
)  # fmt: skip
"""Lowest first: a room may import those before it."""

BENCHMARKS = ("memsyco", "personafeedback", "prefeval", "recenter", "writing", "building")
BUILT_ON = {"writing": ("personafeedback",), "building": ("personafeedback",)}
"""Room of a benchmark -> those whose data it asks in its own way."""

TEXTS = {"audit_text.py": "personafeedback", "chain_text.py": "recenter"}
"""Module of reports -> the benchmark whose command writes the document that it shows."""

DOORS = ("inspect_harness", "lm_eval_harness", "reward_models", "reports", "logs", "cli")
"""Rooms that import an extra when they are imported, as what comes through their door does."""

EXTRAS = {
    "anthropic", "bm25s", "datasets", "inspect_ai", "jinja2", "krippendorff", "lm_eval", "numpy", "openai", "rich", "scipy",
    "sentence_transformers", "sklearn", "torch", "transformers",
}  # fmt: skip


def modules(room):
    return sorted((ROOT / room).rglob("*.py"))


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path, inside_functions=True):
    """(the module as a dotted path, of our package from its root) of every import in a file."""
    found, left = [], [parsed(path)]
    package = ("personafeedback_tasks", *path.relative_to(ROOT).parent.parts)
    while left:
        node = left.pop()
        if inside_functions or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            left += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            found += [f"{module}.{alias.name}" for alias in node.names]
    return found


def test_every_module_is_in_a_room():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").is_file()}
    assert folders - {"inspect_tasks", "task_configs"} == set(ROOMS)
    assert {path.name for path in ROOT.glob("*.py")} == {"__init__.py", "__main__.py", "_registry.py", "api.py"}


def rooms_imported(path):
    return {name.split(".")[1] for name in imports(path) if name.startswith("personafeedback_tasks.")} & {*ROOMS}


def allowed(room):
    """A room imports those below it and no benchmark; cli has the commands of the benchmarks' data."""
    below = {*ROOMS[: ROOMS.index(room) + 1]}
    if room == "annotation":
        return {"annotation", "common", "core", "stats"}
    return below if room == "cli" else below - {*BENCHMARKS} | {room, *BUILT_ON.get(room, ())}


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_imports_only_what_it_may(room):
    for path in modules(room):
        too_much = rooms_imported(path) - allowed(room) - {TEXTS.get(path.name)}
        assert not too_much, f"{path.relative_to(ROOT)} imports {too_much}"


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in DOORS])
def test_the_core_imports_no_extra(room):
    """Not even in the rooms' modules that need one: they import it where they use it, and say which extra brings it."""
    for path in modules(room):
        needed = [name for name in imports(path, inside_functions=False) if name.partition(".")[0] in EXTRAS]
        assert not needed, f"{path.relative_to(ROOT)} imports {needed}"


def strings(path):
    """The texts in a file that are no docstrings."""
    tree = parsed(path)
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
    ]  # fmt: skip


def test_every_caveat_has_a_sentence_and_every_sentence_a_caveat():
    keys = set()
    for path in (*modules("logs"), *modules("analysis")):
        calls = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
        keys |= {call.args[0].value for call in calls if getattr(call.func, "id", "") == "caveat"}
    assert keys == SENTENCES.keys()


def test_the_filter_of_recenter_knows_nothing_of_the_chain_that_asks_it():
    for path in modules("recenter/filter"):
        own = [name.split(".")[2] for name in imports(path) if name.startswith("personafeedback_tasks.recenter.")]
        assert {*own} <= {"data", "filter", "relevance", "rows"}, path


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("parsing", *BENCHMARKS, "cli")])
def test_no_other_room_knows_a_benchmark(room):
    """Neither a cell, a label, a call nor the name of one. (parsing reads letters, cli has the data's commands.)"""
    words, whole = set(), set()
    for record in benchmarks().values():
        words |= {*record.cells, *record.columns(record.cells), record.title}
        words |= {call for method in record.methods.values() for call in method.calls}
        whole |= {record.name, *record.labels}
    words -= {"total"}
    if room == "pairwise":  # they are defined there
        words -= {name for orders in (TWO, rotations(4)) for name in (*orders.names, *orders.sides)}
    a_word = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])")
    for path in modules(room):
        known = [text for text in strings(path) if text in whole or a_word.search(text)]
        assert not known, f"{path.relative_to(ROOT)} knows {known}"


def test_what_the_generator_writes_is_what_is_committed():
    written = {CHECKOUT / path.relative_to(generate.HERE.parent): text for path, text in generate.files().items()}
    stale = [str(path) for path, text in written.items() if not path.is_file() or path.read_text("utf-8") != text]
    assert not stale, "run `python task_configs/generate.py`"
    by_hand = CHECKOUT / "task_configs" / "recenter" / "_recenter.yaml"
    assert set((CHECKOUT / "task_configs").glob("*/*yaml")) - written.keys() == {by_hand}
    members = [line.removeprefix("  - ") for line in by_hand.read_text("utf-8").splitlines() if line.startswith("  - ")]
    assert members == [f"recenter_{stage.stage}" for stage in STAGES]  # those that people judged


@pytest.mark.parametrize("benchmark", benchmarks().values(), ids=lambda benchmark: benchmark.name)
def test_inspect_has_every_task_and_names_every_option(benchmark):
    (module,) = [one for one in vars(_registry).values() if inspect.ismodule(one) and hasattr(one, benchmark.name)]
    words = {*re.findall(r"\w+", getattr(module, benchmark.name).__doc__)}
    assert {*benchmark.options.table()} <= words
    for selection in benchmark.selections:
        assert callable(getattr(module, benchmark.task(selection)))
