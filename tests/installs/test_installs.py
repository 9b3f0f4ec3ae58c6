"""Installations that are not one plain `pip install`: an editable lm-eval, one in another folder, one harness alone."""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
from pathlib import Path

import pytest
from support.environments import Venv

pytestmark = [pytest.mark.release, pytest.mark.slow]

LM_EVAL = "lm-eval==0.4.13"
IMPORT = "python -c 'from lm_eval import simple_evaluate'"
RUN = "python -m lm_eval run --model dummy --tasks personafeedback_general_hard --limit 2"
SAMPLE = {"PERSONAFEEDBACK_DATA": "sample"}


def succeed(venv: Venv, command: str, **environment: str) -> str:
    done = venv.run(command, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def fail(venv: Venv, command: str, **environment: str) -> str:
    done = venv.run(command, **environment)
    assert done.returncode != 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def listing(folder: Path) -> dict[str, str]:
    """Every file and folder below `folder`: its content's digest, or where it points. Without bytecode."""
    found = {}
    for path in folder.rglob("*"):
        if "__pycache__" in path.parts:
            continue
        if path.is_symlink():
            content = f"-> {os.readlink(path)}"
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = content
    return found


def task_configs(venv: Venv) -> Path:
    return venv.site_packages / "personafeedback_tasks" / "task_configs" / "personafeedback"


@pytest.fixture(scope="module")
def editable(tmp_path_factory) -> tuple[Venv, Path]:
    """lm-eval as its README says to install it, `pip install -e .`, and its source tree."""
    folder = tmp_path_factory.mktemp("editable")
    venv = Venv.create(folder / "venv")
    succeed(venv, f"python -m pip download -q --no-deps --no-binary lm-eval --dest '{folder}' {LM_EVAL}")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    succeed(venv, f"uv pip install -q -e '{source}'")
    return venv, source


def test_an_editable_lm_eval_is_as_it_was_after_ours_came_and_went(editable, wheel):
    venv, source = editable
    before = listing(source)
    assert len(before) > 10_000
    venv.install(str(wheel))
    succeed(venv, IMPORT)
    assert listing(source) == before

    assert f"files into {source / 'lm_eval' / 'tasks'}." in succeed(venv, "personafeedback register")
    succeed(venv, IMPORT)
    ours = {path: content for path, content in listing(source).items() if path not in before}
    folders = {path.name for path in task_configs(venv).parent.glob("[!_]*/")}
    assert {Path(path).parts[:3] for path in ours} == {("lm_eval", "tasks", name) for name in folders}
    assert sum(content.startswith("->") for content in ours.values()) == 42 + 18 + 15 + 13 + 6 + 2 + 4 + 2 + 1 + 3 * 2
    assert {path: content for path, content in listing(source).items() if path in before} == before

    assert "personafeedback_general_hard (demonstration)" in succeed(venv, RUN, **SAMPLE)
    assert "personafeedback-tasks[inspect]" in fail(
        venv, "python -c 'import personafeedback_tasks.inspect_harness.tasks'"
    )

    # Uninstalled without undoing, it leaves links that lead nowhere and harm no task; installed again, it removes them.
    succeed(venv, "python -m pip uninstall -q -y personafeedback-tasks")
    names = succeed(venv, "python -m lm_eval ls tasks")
    assert "hellaswag" in names
    assert "personafeedback" not in names
    venv.install(str(wheel))
    assert re.search(r"Removed [1-9]\d* links", succeed(venv, "personafeedback register --undo"))
    assert listing(source) == before
    succeed(venv, IMPORT)


@pytest.fixture(scope="module")
def inspect_alone(wheel, tmp_path_factory) -> Venv:
    venv = Venv.create(tmp_path_factory.mktemp("inspect_alone") / "venv")
    venv.install(f"{wheel}[inspect]")
    return venv


def test_inspect_alone_runs_and_lm_eval_is_named_as_an_extra(inspect_alone):
    succeed(inspect_alone, "python -c 'import importlib.util as u; assert u.find_spec(\"lm_eval\") is None'")
    output = succeed(
        inspect_alone,
        "inspect eval personafeedback_tasks/personafeedback_hard -T data=sample --model personafeedback/first "
        "--display plain",
    )
    assert re.search(r"accuracy +0\.500", output)
    for command in ("register", "register --undo"):
        output = fail(inspect_alone, f"personafeedback {command}")
        assert "pip install 'personafeedback-tasks[lm-eval]'" in output
        assert "Traceback" not in output
    assert "task_configs" in succeed(inspect_alone, "personafeedback register --path")
    output = fail(inspect_alone, "python -c 'import personafeedback_tasks.lm_eval_harness.task'")
    assert "pip install 'personafeedback-tasks[lm-eval]'" in output


def test_the_extra_build_makes_a_set(wheel, tmp_path):
    venv = Venv.create(tmp_path)
    venv.install(f"{wheel}[build]")
    rows = "".join(f"cook {n},What now?,soup {n},fish {n}\n" for n in range(20))
    (venv.home / "pairs.csv").write_text(f"persona,question,chosen,rejected\n{rows}", encoding="utf-8")
    asked = "build import ours --from pairs.csv"
    votes = "for f in ours/packs/*.csv; do sed 's/,,$/,B,/; 1s/^.*/item,persona,question,A,B,vote,note/' $f > $(basename $f); done"
    for command in (
        f"personafeedback {asked}", "personafeedback annotate pack ours", "personafeedback annotate pack ours --format csv",
        votes, "personafeedback annotate votes ours annotator-*.csv", "personafeedback build ours",
        f"rm -r ours && personafeedback {asked} && personafeedback build release ours",
    ):  # fmt: skip
        succeed(venv, command)
    assert (venv.home / "ours" / "release" / "set.json").is_file()
