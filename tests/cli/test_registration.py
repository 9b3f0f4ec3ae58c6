"""`personafeedback register`: through the command, on a copy of lm-eval's folders."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from support.commands import personafeedback
from support.environments import CHECKOUT

from personafeedback_tasks.cli import registration

SOURCE = registration.task_configs() / "personafeedback"
OURS = sorted(path.name for path in SOURCE.iterdir() if path.name.endswith("yaml"))


@pytest.fixture
def harness(tmp_path, monkeypatch) -> Path:
    """A folder in the place of the lm-eval that this Python imports."""
    package = tmp_path / "site" / "lm_eval"
    (package / "tasks").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delitem(sys.modules, "lm_eval", raising=False)
    importlib.invalidate_caches()
    return package


def refuse(*arguments, **options):
    raise OSError("links are not possible")


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_register_links_every_yaml_file_and_undo_removes_exactly_these(harness):
    before = files(harness)
    done = personafeedback("register")
    assert done.exit_code == 0
    assert len(done.output.splitlines()) == 2
    made = files(harness).keys() - before.keys()
    assert done.output.startswith(f"Linked {len(made)} files into {harness / 'tasks'}.")
    assert {Path(name).name for name in made if "/personafeedback/" in name} == set(OURS)
    assert personafeedback("register", "--undo").output == f"Removed {len(made)} links from {harness / 'tasks'}.\n"
    assert files(harness) == before
    assert not (harness / "tasks" / "personafeedback").exists()
    assert "Removed 0 links" in personafeedback("register", "--undo").output


@pytest.mark.slow
def test_files_of_others_stay_and_those_of_an_older_version_go(harness):
    personafeedback("register")
    folder = harness / "tasks" / "personafeedback"
    before = files(harness)
    (folder / "gone.yaml").symlink_to("/older/personafeedback_tasks/task_configs/personafeedback/gone.yaml")
    (folder / OURS[0]).unlink()
    assert personafeedback("register").exit_code == 0
    assert files(harness) == before
    (folder / OURS[0]).unlink()
    (folder / OURS[0]).write_text("task: mine\n", encoding="utf-8")
    before = files(harness)
    assert f"Left alone, as `register` did not make them: {folder / OURS[0]}." in personafeedback("register").output
    assert files(harness) == before
    personafeedback("register", "--undo")
    assert [path.name for path in folder.iterdir()] == [OURS[0]]


def test_where_no_links_are_possible_it_names_the_alternative(harness, monkeypatch):
    monkeypatch.setattr(Path, "symlink_to", refuse)
    done = personafeedback("register")
    assert done.exit_code == 1
    assert "its links could not be changed (links are not possible)" in done.output
    assert '--include_path "$(personafeedback register --path)"' in done.output


def test_without_lm_eval_it_says_which_extra_to_install(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "lm_eval" else real(name, *a))
    for arguments in (["register"], ["register", "--undo"]):
        done = personafeedback(*arguments)
        assert done.exit_code == 1
        assert "pip install 'personafeedback-tasks[lm-eval]'" in done.output


def test_task_configs_prints_the_folder_for_include_path():
    folder = Path(personafeedback("register", "--path").output.strip())
    assert (folder / "personafeedback" / "personafeedback_general_hard.yaml").is_file()


def test_the_entry_points_of_both_harnesses_are_declared():
    from importlib.metadata import entry_points

    (inspect_ai,) = entry_points(group="inspect_ai", name="personafeedback_tasks")
    assert inspect_ai.value == "personafeedback_tasks._registry"
    (lm_eval,) = entry_points(group="lm_eval.tasks", name="personafeedback")
    assert Path(lm_eval.load().__file__).parent == registration.task_configs()


# --- the versions of lm-eval -----------------------------------------------------------------------------------------


def give_version(harness: Path, version: str) -> None:
    for old in harness.parent.glob("*.dist-info"):
        shutil.rmtree(old)
    metadata = harness.parent / f"lm_eval-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: lm_eval\nVersion: {version}\n", encoding="utf-8")
    importlib.invalidate_caches()


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.3.0", "0.4.9.1"])
def test_an_lm_eval_that_is_too_old_is_refused_later_ones_are_taken_and_undo_always_works(version, harness):
    give_version(harness, version)
    done = personafeedback("register")
    assert done.exit_code == 1
    assert f"Error: These tasks need lm-eval 0.4.13 or later in this Python, found {version}." in done.output
    assert not (harness / "tasks" / "personafeedback").exists()
    for taken in ("0.4.13.dev0", "0.4.100", "1.0", "0.4.13"):
        give_version(harness, taken)
        assert personafeedback("register").exit_code == 0
    give_version(harness, version)
    assert personafeedback("register", "--undo").exit_code == 0
    assert not (harness / "tasks" / "personafeedback").exists()


def test_the_lowest_version_is_that_of_the_extras():
    pyproject = CHECKOUT / "pyproject.toml"
    if not pyproject.is_file():
        pytest.skip("needs the checkout")
    lowest = re.findall(r'"lm-eval(?:\[\w+\])?>=([\d.]+)', pyproject.read_text(encoding="utf-8"))
    assert lowest == [registration.LOWEST_LM_EVAL] * 3
