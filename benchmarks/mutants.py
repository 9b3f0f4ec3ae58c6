"""Random faults planted in the package, one at a time: which ones do the quick tests of their rooms find?

`python benchmarks/mutants.py [--faults N] [--room ROOM]... [--only NUMBER]...` works in a copy of the checkout and prints each fault with the test that
found it. Look at what survives: it may be equivalent.

A room's quick tests run once without a fault, which shows who runs which line. A fault is then tried with the tests of its statement, quickest first, and
after them with the others of these files; with all of the room where the statement runs at import. Every run is forked from one process with the slow imports.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = "personafeedback_tasks"
SEED = 11
CPU_S = 60
"""Seconds of CPU added to a run's limit, which is five times that of its room's quick tests."""
WALL_S = 1200
MEMORY = 6 << 30
PRELOADED = ("pytest", "hypothesis", "scipy.stats", "matplotlib.figure", "lm_eval.evaluator", "lm_eval.tasks", "inspect_ai", "inspect_ai.log")  # fmt: skip
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


@dataclass(frozen=True)
class Fault:
    number: int
    path: Path
    line: int
    statement: range
    """The lines of the statement that it is in; of a block, those before its body."""
    change: str
    source: str
    """The whole file with the fault."""


@dataclass
class Run:
    """Result of a run of quick tests."""

    exit_code: int
    """pytest's, or minus a signal's number."""
    failed: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """The tests that run a line, by file: only where lines were watched."""
    cpu_s: float = 0.0

    @property
    def failure(self) -> str:
        """The failure; empty if all tests passed, or if there are none."""
        if self.exit_code in (0, 5):
            return ""
        if self.exit_code == 1:
            return self.failed
        if self.exit_code == 2:
            return self.failed or "a test file cannot be imported"
        if self.exit_code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "out of time or memory"
        raise SystemExit(f"pytest ended with {self.exit_code}; its output is in {log_path()}")


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, object]]:
    """(node, field, another value) of every fault that a file can have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
            yield node, "ops", [COMPARED[type(node.ops[0])](), *node.ops[1:]]
        elif (
            isinstance(node, ast.BinOp)
            and type(node.op) in COMPUTED
            and not isinstance(node.right, ast.Constant | ast.JoinedStr)
        ):
            yield node, "op", COMPUTED[type(node.op)]()
        elif isinstance(node, ast.BoolOp):
            yield node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "value", node.value + 1
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node, "test", ast.UnaryOp(ast.Not(), node.test)


def statement_of(tree: ast.AST, node: ast.AST) -> range:
    """See `Fault.statement`."""
    holding = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and node in ast.walk(one)]
    innermost = min(holding, key=lambda one: one.end_lineno - one.lineno)
    body = getattr(innermost, "body", None)
    return range(innermost.lineno, max(body[0].lineno, innermost.lineno + 1) if body else innermost.end_lineno + 1)


def drawn(paths: Sequence[Path], count: int) -> Iterator[Fault]:
    draw, number = random.Random(SEED), 0
    while number < count:
        path = draw.choice(paths)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        possible: list[Any] = list(changes(tree))
        if not possible:
            continue
        number += 1
        node, name, value = draw.choice(possible)
        line, statement = node.lineno, statement_of(tree, node)
        before = ast.unparse(node).partition("\n")[0]
        setattr(node, name, value)
        ast.fix_missing_locations(tree)
        after = ast.unparse(node).partition("\n")[0]
        yield Fault(number, path, line, statement, f"{before} -> {after}", ast.unparse(tree))


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Bytecode is thrown away: a file of the same size from the same second passes for the compiled one."""
    right = fault.path.read_bytes()
    compiled = Path(importlib.util.cache_from_source(str(fault.path)))
    try:
        compiled.unlink(missing_ok=True)
        fault.path.write_text(fault.source, encoding="utf-8")
        yield
    finally:
        fault.path.write_bytes(right)
        compiled.unlink(missing_ok=True)


class Watch:
    """A plugin of pytest: takes some tests in an order of their own, notes their seconds, the first failure, and perhaps who runs which line."""

    def __init__(self, wanted: Mapping[str, int] | None = None, coverage: Any = None) -> None:
        self.run, self.wanted, self.coverage = Run(0), wanted, coverage

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        if self.wanted is not None:
            items[:] = sorted(
                (item for item in items if item.nodeid in self.wanted), key=lambda item: self.wanted[item.nodeid]
            )

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        if self.coverage:
            self.coverage.switch_context(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        if self.coverage:
            self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.run.seconds[report.nodeid] = self.run.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed and not self.run.failed:
            self.run.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.run.failed:
            self.run.failed = f"{report.nodeid} (import)"


def log_path() -> Path:
    return CHECKOUT.parent / "pytest.log"


def _in_child(
    sent: Any, paths: Sequence[str], wanted: Mapping[str, int] | None, watched: Path | None, cpu: int
) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    output = os.open(log_path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(CHECKOUT)
    os.environ["PWD"] = str(CHECKOUT)
    measured = None
    if watched:
        import coverage

        measured = coverage.Coverage(data_file=None, source=[str(watched)], config_file=False)
        measured.start()
    plugin = Watch(wanted, measured)
    temporary = f"--basetemp={CHECKOUT.parent / 'tmp' / 'run'}"
    arguments = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-profile=ci", temporary, *paths]
    plugin.run.exit_code = int(pytest.main(arguments, plugins=[plugin]))
    if measured:
        measured.stop()
        seen = measured.get_data()
        for name in seen.measured_files():
            lines = seen.contexts_by_lineno(name)
            plugin.run.tests[name] = {line: [test for test in tests if test] for line, tests in lines.items()}
    used = resource.getrusage(resource.RUSAGE_SELF)
    plugin.run.cpu_s = used.ru_utime + used.ru_stime
    sent.send(plugin.run)
    sent.close()


def run_tests(
    paths: Sequence[str], wanted: Mapping[str, int] | None = None, watched: Path | None = None, cpu_s: float = 0.0
) -> Run:
    """Run quick tests in a process of their own, forked from this one."""
    forked = multiprocessing.get_context("fork")
    received, sent = forked.Pipe(duplex=False)
    limit = CPU_S + int(5 * cpu_s) if cpu_s else WALL_S
    child = forked.Process(target=_in_child, args=(sent, paths, wanted, watched, limit))
    child.start()
    sent.close()
    try:
        result = received.recv() if received.poll(WALL_S) else Run(-signal.SIGKILL)
    except EOFError:  # it died
        child.join()
        result = Run(child.exitcode or -signal.SIGKILL)
    if child.is_alive():
        os.killpg(child.pid, signal.SIGKILL)
    child.join()
    return result


def finder(fault: Fault, room: str, base: Run) -> str:
    """The test of its room that finds a fault; empty where none does."""
    by_line = base.tests.get(str(fault.path), {})
    there = [by_line[line] for line in fault.statement if line in by_line]
    covering = {test for tests in there for test in tests}
    # What runs at import, every test may need; what runs in the fixture of a module, the others of that module.
    files = {test.partition("::")[0] for test in covering}
    others = {test for test in base.seconds if not covering or test.partition("::")[0] in files} - covering
    for tests in (covering, others) if there else ():
        ordered = sorted(tests, key=lambda test: base.seconds[test])
        places = list(dict.fromkeys(test.partition("::")[0] for test in ordered))
        ranks = {test: rank for rank, test in enumerate(ordered)}
        if tests is others:  # file by file, so that fixtures of modules are made once
            ranks = {test: places.index(test.partition("::")[0]) for test in ordered}
        if tests and (failure := run_tests(places, ranks, cpu_s=base.cpu_s).failure):
            return failure
    return ""


def plant(count: int, rooms: Sequence[str], only: Sequence[int]) -> None:
    """Plant the faults in this checkout, which must be a copy with an environment that has it installed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    (CHECKOUT.parent / "tmp").mkdir(exist_ok=True)
    for name in PRELOADED:
        importlib.import_module(name)
    package = CHECKOUT / PACKAGE
    room_of = {path: path.relative_to(package).parts[0] for path in sorted(package.glob("*/**/*.py"))}
    files = [path for path, room in room_of.items() if not rooms or room in rooms]
    faults = [fault for fault in drawn(files, count) if not only or fault.number in only]
    found: Counter[str] = Counter()
    for room in sorted({room_of[fault.path] for fault in faults}):
        base = run_tests([f"tests/{room}"], watched=package / room)
        if base.failure:
            sys.exit(f"The quick tests of {room} fail without any fault: {base.failure}. Output: {log_path()}")
        print(
            f"{room}: {len(base.seconds)} quick tests, {base.cpu_s:.0f} s of CPU with their lines watched", flush=True
        )
        for fault in (fault for fault in faults if room_of[fault.path] == room):
            with planted(fault):
                failure = finder(fault, room, base)
            found[room] += bool(failure)
            place = f"{fault.path.relative_to(CHECKOUT)}:{fault.line}"
            print(f"{fault.number:>4} {'found   ' if failure else 'SURVIVED'} {place}: {fault.change}", flush=True)
            if failure:
                print(f"{'':14}{failure}", flush=True)
    drawn_in = Counter(room_of[fault.path] for fault in faults)
    for room in sorted(drawn_in):
        print(f"{room:<16} {found[room]:>3} of {drawn_in[room]:>3} found")
    print(f"{found.total()} of {len(faults)} found (seed {SEED})")


def plant_in_copy(folder: Path) -> int:
    """A copy of the checkout, beside it an environment that has it installed, and there this script once more."""
    ignored = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
    copy = Path(shutil.copytree(CHECKOUT, folder / "copy", ignore=ignored))
    python = folder / "venv" / "bin" / "python"
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, folder / "venv"], check=True)
    install = ["uv", "pip", "install", "-q", "--python", python, "-e", f"{copy}[test]", "coverage"]
    subprocess.run(install, check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [python, copy / "benchmarks" / "mutants.py", *sys.argv[1:], "--in-place"]
    return subprocess.run(command, env=environment, check=False).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=100, metavar="N", help="how many are drawn [100]")
    parser.add_argument("--room", action="append", default=[], help="draw only in this room; can be repeated")
    parser.add_argument("--only", action="append", type=int, default=[], metavar="NUMBER", help="of those drawn, try this one; can be repeated")  # fmt: skip
    parser.add_argument("--in-place", action="store_true", help="in this checkout: a copy, with an environment of its own")  # fmt: skip
    options = parser.parse_args()
    if options.in_place:
        plant(options.faults, options.room, options.only)
        return
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(plant_in_copy(Path(folder)))


if __name__ == "__main__":
    main()
