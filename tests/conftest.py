"""Fixtures that more than one test module uses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

ENVIRONMENT_VARIABLE = "PERSONAFEEDBACK_DATA"
REAL_DATA = os.environ.get(ENVIRONMENT_VARIABLE, "")
"""As it is when the session starts; the tests themselves run without it."""

Rows = Sequence[Mapping[str, Any]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store-prompts", action="store_true", help="write the rendered prompts that test_prompts.py compares with"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.user_properties += [("tried", [*mark.args, 1][:2]) for mark in item.iter_markers("tried")]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The last table of a session: what was tried against the package, with counts."""
    held: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        for name, value in report.user_properties:
            if name == "tried":
                held[value[0]] += value[1]
    if held:
        terminalreporter.section("what was tried, and held")
        for what, count in sorted(held.items()):
            terminalreporter.write_line(f"{count:>8,}  {what}")


def write_release(root: Path, cells: Mapping[str, Rows], personas: Mapping[str, Any]) -> Path:
    """Write a release: `cells` maps "spedific/mid" to its rows, `personas` a user id to a profile."""
    (root / "persona").mkdir(parents=True)
    (root / "data").mkdir()
    for name, rows in cells.items():
        path = root / "data" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    for user, profile in personas.items():
        (root / "persona" / f"{user}.json").write_bytes(json.dumps(profile, ensure_ascii=False).encode())
    return root


@pytest.fixture(autouse=True)
def _no_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The General half of the real release."""
    folder = Path(REAL_DATA).expanduser()
    if not REAL_DATA or not folder.is_dir():
        pytest.skip(f"real data: set {ENVIRONMENT_VARIABLE} to a folder in the release's layout")
    return folder.resolve()


@pytest.fixture
def make_release(tmp_path: Path) -> Callable[..., Path]:
    """`write_release` into a new folder at each call."""
    made: list[Path] = []

    def make(cells: Mapping[str, Rows], personas: Mapping[str, Any]) -> Path:
        made.append(write_release(tmp_path / f"release{len(made)}", cells, personas))
        return made[-1]

    return make


CHECKOUT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the checkout that is gone afterwards."""
    if not (CHECKOUT / "pyproject.toml").is_file():
        pytest.skip("needs the checkout, to build the wheel from")
    copy, out = tmp_path_factory.mktemp("source") / "copy", tmp_path_factory.mktemp("wheel")
    ignore = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
    shutil.copytree(CHECKOUT, copy, ignore=ignore)
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(copy)], check=True)
    shutil.rmtree(copy)
    (path,) = out.glob("*.whl")
    return path


AWAY = tempfile.gettempdir()
"""Where processes start: in the checkout they would import it, and not what is installed."""

_COMMAND = """\
import sys
from personafeedback_tasks.cli.main import main
if sys.argv[1] == "card":
    from personafeedback_tasks.reports import card, report
print(flush=True)
sys.stdin.readline()
main(prog_name="personafeedback")
"""


def at_once(*commands: Sequence[object], **environment: str) -> list[subprocess.CompletedProcess[str]]:
    """Run `personafeedback` commands in processes of their own, which begin when the last one has imported all it needs."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *map(str, command)], cwd=AWAY, env={**os.environ, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for command in commands
    ]  # fmt: skip
    for process in started:
        assert process.stdout.readline() == "\n", process.communicate()[1]
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    return [subprocess.CompletedProcess(process.args, process.wait(), *process.communicate()) for process in started]


_LOCK = """\
import sys
from pathlib import Path
from personafeedback_tasks.common import files
with files.locked(Path(sys.argv[1])):
    print(flush=True)
    sys.stdin.read()
"""


@contextmanager
def keep_locked(path: Path) -> Iterator[None]:
    """Have another process keep a file or folder locked."""
    other = subprocess.Popen(
        [sys.executable, "-c", _LOCK, path], cwd=AWAY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout.readline() == b"\n"
    try:
        yield
    finally:
        other.communicate()


def on_a_full_disk(room: int, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a `personafeedback` command that can write no file of more bytes than that."""
    import resource

    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}  # it would leave half of a module's
    return subprocess.run(
        [sys.executable, "-m", "personafeedback_tasks", *map(str, arguments)], cwd=AWAY, env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)), capture_output=True, text=True, check=False,
    )  # fmt: skip


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder: content and mode, or where a link points."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


UV = find_uv_bin()
"""pip takes minutes to choose versions where uv takes seconds."""


class Venv:
    """A fresh environment. Its commands run far from the checkout and know nothing of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root / "venv", root / "home"
        self.home.mkdir()
        subprocess.run([sys.executable, "-m", "venv", str(self.root)], check=True)

    def install(self, requirement: str) -> None:
        subprocess.run([UV, "pip", "install", "-q", "--python", self.root / "bin" / "python", requirement], check=True)

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one shell command line with this environment first on PATH."""
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        path = os.pathsep.join([str(self.root / "bin"), str(Path(UV).parent), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "-c", command], cwd=self.home, capture_output=True, text=True, timeout=900, check=False,
            env={**inherited, "PATH": path, "VIRTUAL_ENV": str(self.root), "HF_HUB_OFFLINE": "1", "COLUMNS": "200", **environment},
        )  # fmt: skip


@pytest.fixture(scope="session")
def bare_venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """The wheel without a harness."""
    venv = Venv(tmp_path_factory.mktemp("bare"))
    venv.install(str(wheel))
    return venv


@pytest.fixture(scope="session")
def full_venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """The wheel with both harnesses."""
    venv = Venv(tmp_path_factory.mktemp("full"))
    venv.install(f"{wheel}[all]")
    return venv
