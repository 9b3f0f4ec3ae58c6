"""Random faults planted in the package, one at a time: which ones do the quick tests of their rooms find?

`python benchmarks/mutants.py [FAULTS] [ROOM ...]` works in a copy of the checkout and prints each fault that survives: look at it, it may be equivalent.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = "personafeedback_tasks"
SEED = 11
TIMEOUT_S = 900
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def faults(tree: ast.AST) -> Iterator[tuple[ast.AST, str, object]]:
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


def planted(source: str, draw: random.Random) -> tuple[str, str] | None:
    """(the source with one fault, its line and what it is), or None where there is nothing to change."""
    tree = ast.parse(source)
    possible = list(faults(tree))
    if not possible:
        return None
    node, field, value = draw.choice(possible)
    before = ast.unparse(node).partition("\n")[0]
    setattr(node, field, value)
    ast.fix_missing_locations(tree)
    return ast.unparse(tree), f"{node.lineno}: {before} -> {ast.unparse(node).partition(chr(10))[0]}"


def caught(copy: Path, room: str) -> bool:
    """Whether the quick tests of a room fail; those that take too long count as failed."""
    pytest = copy.with_name("venv") / "bin" / "pytest"
    command = [pytest, "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", f"tests/{room}"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def installed_copy(folder: Path) -> Path:
    """A copy of the checkout, and beside it an environment that has it installed."""
    ignored = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
    copy = Path(shutil.copytree(CHECKOUT, folder / "copy", ignore=ignored))
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, folder / "venv"], check=True)
    install = ["uv", "pip", "install", "-q", "--python", folder / "venv", "-e", f"{copy}[test]"]
    subprocess.run(install, check=True)
    return copy


def main(count: int = 100, *rooms: str) -> None:
    draw, found = random.Random(SEED), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = installed_copy(Path(folder))
        package = copy / PACKAGE
        room_of = {path: path.relative_to(package).parts[0] for path in sorted(package.glob("*/**/*.py"))}
        files = [path for path, room in room_of.items() if not rooms or room in rooms]
        if broken := [room for room in sorted({room_of[path] for path in files}) if caught(copy, room)]:
            sys.exit(f"The quick tests of {', '.join(broken)} fail without any fault. Mend them first.")
        tried = 0
        while tried < count:
            path = draw.choice(files)
            source = path.read_text(encoding="utf-8")
            fault = planted(source, draw)
            if fault is None:
                continue
            path.write_text(fault[0], encoding="utf-8")
            right = caught(copy, room_of[path])
            path.write_text(source, encoding="utf-8")
            tried, found = tried + 1, found + right
            print(f"{tried:>4} {'found   ' if right else 'SURVIVED'} {path.relative_to(copy)}:{fault[1]}", flush=True)
    print(f"{found} of {count} found (seed {SEED})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
