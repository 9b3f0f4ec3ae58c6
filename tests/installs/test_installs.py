"""Installations that are not one plain `pip install`: an editable lm-eval, one in another folder, an upgrade of ours,
one harness alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
from pathlib import Path

import pytest
from support.environments import Venv, build_wheel, copy_of_the_checkout
from support.one_task import leave_one_task

pytestmark = [pytest.mark.release, pytest.mark.slow]

from personafeedback_tasks import TASK_VERSION, __version__

LM_EVAL = "lm-eval==0.4.13"
NEWER_TASK_VERSION = f"{TASK_VERSION}.1"
NEWER_VERSION = re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), __version__)
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


def version_run(venv: Venv, *arguments: str) -> str:
    """The task's version in the results of a run. (The table shows 1.0 as 1.)"""
    out = venv.home / "out"
    shutil.rmtree(out, ignore_errors=True)
    succeed(venv, " ".join((RUN, "--output_path", "out", *arguments)), **SAMPLE)
    (results,) = out.rglob("results_*.json")
    return json.loads(results.read_text(encoding="utf-8"))["versions"]["personafeedback_general_hard"]


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


def registration_in(lm_eval: Path) -> Path:
    return lm_eval / "tasks" / "personafeedback"


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

    assert f"Linked into {registration_in(source / 'lm_eval')}" in succeed(venv, "personafeedback register")
    succeed(venv, IMPORT)
    ours = {path: content for path, content in listing(source).items() if path not in before}
    assert {Path(path).parts[:3] for path in ours} == {
        ("lm_eval", "tasks", name)
        for name in (
            "memsyco",
            "personafeedback",
            "personafeedback_swap",
            "personafeedback_write",
            "prefeval",
            "recenter",
            "recenter_extract",
            "recenter_extraction",
            "recenter_relevance",
            "recenter_respond",
            "recenter_response",
            "recenter_select",
        )
    }
    assert sum(content.startswith("->") for content in ours.values()) == 42 + 18 + 15 + 13 + 6 + 2 + 4 + 2 + 1 + 3 * 2
    assert {path: content for path, content in listing(source).items() if path in before} == before

    assert "personafeedback_general_hard (demonstration)" in succeed(venv, RUN, **SAMPLE)
    assert "personafeedback-tasks[inspect]" in fail(
        venv, "python -c 'import personafeedback_tasks.inspect_harness.tasks'"
    )

    succeed(venv, "personafeedback register --undo")
    assert listing(source) == before
    succeed(venv, IMPORT)
    succeed(venv, "python -m pip uninstall -q -y personafeedback-tasks")
    assert listing(source) == before
    succeed(venv, IMPORT)


@pytest.fixture(scope="module")
def layered(editable, tmp_path_factory) -> tuple[Venv, Path]:
    """An environment that has neither lm-eval nor what it needs, but looks for both in other folders (`.pth`)."""
    dependencies = editable[0]
    folder = tmp_path_factory.mktemp("layered")
    venv = Venv.create(folder / "venv")
    elsewhere = folder / "elsewhere"
    succeed(venv, f"uv pip install -q --no-deps --target '{elsewhere}' {LM_EVAL}")
    leave_one_task(elsewhere)
    (venv.site_packages / "elsewhere.pth").write_text(f"{elsewhere}\n{dependencies.site_packages}\n", encoding="utf-8")
    return venv, elsewhere / "lm_eval"


def install(venv: Venv, wheel: Path) -> None:
    succeed(venv, f"python -m pip install -q --no-deps --force-reinstall '{wheel}'")


def test_register_links_into_the_lm_eval_that_this_python_imports(layered, wheel, tmp_path):
    venv, elsewhere = layered
    first_on_path = Path(shutil.copytree(elsewhere, tmp_path / "first" / "lm_eval"))
    install(venv, wheel)
    folders = {"PYTHONPATH": str(first_on_path.parent)}
    before = listing(elsewhere)

    assert f"Linked into {registration_in(first_on_path)}" in succeed(venv, "personafeedback register", **folders)
    assert listing(elsewhere) == before
    assert "personafeedback_general_hard (demonstration)" in succeed(venv, RUN, **SAMPLE, **folders)
    fail(venv, RUN, **SAMPLE)

    assert f"Linked into {registration_in(elsewhere)}" in succeed(venv, "personafeedback register")
    link = registration_in(elsewhere) / "personafeedback_general_hard.yaml"
    assert link.readlink() == task_configs(venv) / link.name
    assert "personafeedback_general_hard (demonstration)" in succeed(venv, RUN, **SAMPLE)

    assert "personafeedback: 42." in succeed(venv, "personafeedback register --undo", **folders)
    assert listing(first_on_path) == before
    assert link.is_symlink()
    assert "personafeedback: 42." in succeed(venv, "personafeedback register --undo")
    assert listing(elsewhere) == before


def test_uninstalling_without_undoing_harms_no_other_task(layered, wheel):
    venv, elsewhere = layered
    before = listing(elsewhere)
    install(venv, wheel)
    succeed(venv, "personafeedback register && python -m pip uninstall -q -y personafeedback-tasks")
    links = list(registration_in(elsewhere).glob("*.yaml"))
    assert links
    assert not any(path.exists() for path in links)
    names = succeed(venv, "python -m lm_eval ls tasks")
    assert "hellaswag" in names
    assert "personafeedback" not in names
    # The command that removes them comes back with the package.
    install(venv, wheel)
    assert "personafeedback: 42." in succeed(venv, "personafeedback register --undo")
    assert listing(elsewhere) == before


@pytest.fixture(scope="module")
def newer_wheel(wheel, tmp_path_factory) -> Path:
    """Ours, one version later: the package's and the task's."""
    out = tmp_path_factory.mktemp("newer")
    copy = copy_of_the_checkout(out / "source")
    replaced = {
        copy / "personafeedback_tasks" / "__init__.py": [
            (f'TASK_VERSION = "{TASK_VERSION}"', f'TASK_VERSION = "{NEWER_TASK_VERSION}"'),
            (f'__version__ = "{__version__}"', f'__version__ = "{NEWER_VERSION}"'),
        ]
    }
    for path in sorted((copy / "task_configs" / "personafeedback").glob("*yaml")):
        if "version:" in path.read_text(encoding="utf-8"):
            replaced[path] = [(f'version: "{TASK_VERSION}"', f'version: "{NEWER_TASK_VERSION}"')]
    assert len(replaced) == 7
    for path, changes in replaced.items():
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    build_wheel(out, copy)
    (path,) = out.glob("*.whl")
    assert NEWER_VERSION in path.name
    return path


def test_an_upgrade_of_ours(layered, wheel, newer_wheel):
    venv, elsewhere = layered
    ours = registration_in(elsewhere)
    install(venv, wheel)
    saved = Path(shutil.copytree(task_configs(venv), venv.home / "saved"))
    assert f"Linked into {ours}" in succeed(venv, "personafeedback register")
    assert version_run(venv) == TASK_VERSION

    install(venv, newer_wheel)
    assert NEWER_VERSION in succeed(venv, "personafeedback --version")
    output = " ".join(fail(venv, f"{RUN} --include_path {saved}", **SAMPLE).split())
    assert (
        f"personafeedback_general_hard: the YAML file {saved / 'personafeedback_general_hard.yaml'} has task "
        f"version {TASK_VERSION}, the installed personafeedback-tasks has {NEWER_TASK_VERSION}. "
        'Pass --include_path "$(personafeedback register --path)".'
    ) in output
    assert version_run(venv, '--include_path "$(personafeedback register --path)"') == NEWER_TASK_VERSION
    # Links follow the installed version by themselves, here to the newer one and back.
    assert version_run(venv) == NEWER_TASK_VERSION
    install(venv, wheel)
    assert version_run(venv) == TASK_VERSION
    succeed(venv, "personafeedback register --undo")
    assert not ours.exists()


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
    (venv.home / "pairs.csv").write_text(f"persona,question,good,bad\n{rows}", encoding="utf-8")
    asked = "build import ours --from pairs.csv --map persona=persona,question=question,chosen=good,rejected=bad"
    votes = "for f in ours/packs/*.csv; do sed 's/,,$/,B,/; 1s/^.*/item,persona,question,A,B,vote,note/' $f > $(basename $f); done"
    for command in (
        f"personafeedback {asked}", "personafeedback annotate pack ours", "personafeedback annotate pack ours --format csv",
        votes, "personafeedback annotate votes ours annotator-*.csv", "personafeedback build ours",
        f"rm -r ours && personafeedback {asked} && personafeedback build release ours",
    ):  # fmt: skip
        succeed(venv, command)
    assert (venv.home / "ours" / "release" / "set.json").is_file()
