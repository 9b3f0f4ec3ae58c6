"""`personafeedback register`, `unregister`, `task-configs`: through the command, on a copy of lm-eval's folders."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from personafeedback_tasks import registration
from personafeedback_tasks.cli import main


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


def command(*arguments: str):
    return CliRunner().invoke(main, arguments)


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_register_links_every_yaml_file_and_says_so(harness):
    done = command("register")
    assert done.exit_code == 0
    folder = harness / "tasks" / "personafeedback"
    names = {path.name for path in registration.task_configs().iterdir() if path.name.endswith("yaml")}
    assert {path.name for path in folder.iterdir() if path.is_symlink()} == names
    assert len(names) == 36 + 5
    assert f"41 files of {registration.task_configs()} linked into {folder}" in done.output


def test_it_is_safe_to_repeat(harness):
    command("register")
    before = files(harness)
    assert command("register").exit_code == 0
    assert files(harness) == before


def test_unregister_removes_exactly_what_register_made(harness):
    before = files(harness)
    command("register")
    assert "41 files removed" in command("unregister").output
    assert files(harness) == before
    assert not (harness / "tasks" / "personafeedback").exists()
    assert "Nothing to do" in command("unregister").output


def test_unregister_leaves_files_of_others(harness):
    command("register")
    mine = harness / "tasks" / "personafeedback" / "mine.yaml"
    mine.write_text("task: mine\n", encoding="utf-8")
    assert "still holds files that are not ours" in command("unregister").output
    assert [path.name for path in mine.parent.iterdir()] == ["mine.yaml"]


def test_files_are_copied_where_links_are_not_possible(harness, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError("links are not possible")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    done = command("register")
    assert "copied (run this again after every upgrade)" in done.output
    folder = harness / "tasks" / "personafeedback"
    assert (folder / "_default_yaml").read_bytes() == (registration.task_configs() / "_default_yaml").read_bytes()
    assert "41 files removed" in command("unregister").output
    assert not folder.exists()


def test_a_folder_of_the_same_name_that_is_not_ours_is_left_alone(harness):
    folder = harness / "tasks" / "personafeedback"
    folder.mkdir()
    (folder / "theirs.yaml").write_text("task: theirs\n", encoding="utf-8")
    before = files(harness)
    done = command("register")
    assert done.exit_code == 1
    assert "was not made by `personafeedback register`" in done.output
    assert "--include_path" in done.output
    assert files(harness) == before


def test_an_upgrade_replaces_files_that_the_older_version_had(harness):
    command("register")
    folder = harness / "tasks" / "personafeedback"
    manifest = folder / ".personafeedback-tasks.json"
    manifest.write_text(manifest.read_text().replace("[", '["gone.yaml",', 1), encoding="utf-8")
    (folder / "gone.yaml").symlink_to(folder / "nowhere.yaml")
    assert command("register").exit_code == 0
    assert not (folder / "gone.yaml").is_symlink()


def test_a_folder_that_cannot_be_written_is_a_clear_error_with_the_alternative(harness, monkeypatch):
    (harness / "tasks").chmod(0o555)
    source = shutil.copytree(registration.task_configs(), harness.parent / "task_configs")
    monkeypatch.setattr(registration, "task_configs", lambda: source)  # ours may lie where only root can read
    for path in (harness, *harness.parents):  # root may write everywhere: become another user, who can read all this
        if path.owner() == harness.owner() and Path(tempfile.gettempdir()) in path.parents:
            path.chmod(0o755)
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(65534)
        done = command("register")
    finally:
        os.seteuid(user)
    assert done.exit_code == 1
    assert "cannot be written (Permission denied)" in done.output
    assert '--include_path "$(personafeedback task-configs)"' in done.output
    assert not (harness / "tasks" / "personafeedback").exists()


def test_without_lm_eval_it_says_which_extra_to_install(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "lm_eval" else real(name, *a))
    for name in ("register", "unregister"):
        done = command(name)
        assert done.exit_code == 1
        assert "pip install 'personafeedback-tasks[lm-eval]'" in done.output


def test_task_configs_prints_the_folder_for_include_path():
    folder = Path(command("task-configs").output.strip())
    assert (folder / "personafeedback_general_hard.yaml").is_file()


def test_the_entry_points_of_both_harnesses_are_declared():
    from importlib.metadata import entry_points

    (inspect_ai,) = entry_points(group="inspect_ai", name="personafeedback_tasks")
    assert inspect_ai.value == "personafeedback_tasks._registry"
    (lm_eval,) = entry_points(group="lm_eval.tasks", name="personafeedback")
    assert Path(lm_eval.load().__file__).parent == registration.task_configs()


def test_help_teaches():
    text = command("--help").output
    for line in ("inspect eval personafeedback_tasks/personafeedback_hard", "personafeedback register", "task-configs"):
        assert line in text
