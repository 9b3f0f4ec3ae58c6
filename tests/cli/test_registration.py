"""`personafeedback register`, `unregister`, `task-configs`: through the command, on a copy of lm-eval's folders."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import filelock  # before a test takes the path away from which it comes
import pytest
from click.testing import CliRunner
from support.commands import at_once, keep_locked, on_a_full_disk, tree
from support.environments import CHECKOUT

from personafeedback_tasks.cli import registration
from personafeedback_tasks.cli.main import main
from personafeedback_tasks.common import files as files_module

SOURCE = registration.task_configs() / "personafeedback"
OURS = sorted(path.name for path in SOURCE.iterdir() if path.name.endswith("yaml"))
MANIFEST = ".personafeedback-tasks.json"


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
    names = {path.name for path in SOURCE.iterdir() if path.name.endswith("yaml")}
    assert {path.name for path in folder.iterdir() if path.is_symlink()} == names
    assert len(names) == 36 + 6
    assert f"42 files of {SOURCE} linked into {folder}" in done.output


def test_it_is_safe_to_repeat(harness):
    command("register")
    before = files(harness)
    assert command("register").exit_code == 0
    assert files(harness) == before


def test_unregister_removes_exactly_what_register_made(harness):
    before = files(harness)
    command("register")
    assert "42 files removed" in command("unregister").output
    assert files(harness) == before
    assert not (harness / "tasks" / "personafeedback").exists()
    assert "nothing to remove" in command("unregister").output


def test_unregister_leaves_files_of_others(harness):
    command("register")
    mine = harness / "tasks" / "personafeedback" / "mine.yaml"
    mine.write_text("task: mine\n", encoding="utf-8")
    assert "Files that `register` did not create remain there." in command("unregister").output
    assert [path.name for path in mine.parent.iterdir()] == ["mine.yaml"]


def test_files_are_copied_where_links_are_not_possible(harness, monkeypatch):
    monkeypatch.setattr(Path, "symlink_to", refuse)
    done = command("register")
    assert "copied (run this again after every upgrade)" in done.output
    folder = harness / "tasks" / "personafeedback"
    assert (folder / "_default_yaml").read_bytes() == (SOURCE / "_default_yaml").read_bytes()
    assert "42 files removed" in command("unregister").output
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
    source = shutil.copytree(SOURCE, harness.parent / "personafeedback")
    monkeypatch.setattr(registration, "sources", lambda: [source])  # ours may lie where only root can read
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
    assert "could not be written (Permission denied)" in done.output
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
    assert (folder / "personafeedback" / "personafeedback_general_hard.yaml").is_file()


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


# --- at once, on a full disk -----------------------------------------------------------------------------------------


def complete(folder: Path) -> bool:
    """Whether it holds the links and the manifest, and nothing else."""
    links = {name: str(SOURCE / name) for name in OURS}
    found = files(folder)
    return json.loads(found.pop(MANIFEST)) == OURS and found == links


@pytest.mark.slow
@pytest.mark.tried("rounds of commands at once: nothing lost", 4)
def test_registrations_at_once_all_succeed_and_leave_one_whole(harness):
    for number in range(4):  # the first beside none, the others beside one
        done = at_once(*[["register"]] * 3, PYTHONPATH=str(harness.parent))
        assert [process.returncode for process in done] == [0, 0, 0], [process.stderr for process in done]
        assert complete(harness / "tasks" / "personafeedback"), number


@pytest.mark.slow
@pytest.mark.tried("rounds of commands at once: nothing lost", 4)
def test_register_beside_unregister_ends_in_one_of_both(harness):
    folder = harness / "tasks" / "personafeedback"
    for _ in range(4):
        done = at_once(["register"], ["unregister"], ["register"], ["unregister"], PYTHONPATH=str(harness.parent))
        assert [process.returncode for process in done] == [0] * 4, [process.stderr for process in done]
        assert not folder.exists() or complete(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["register", "unregister"])
def test_a_registration_that_stays_locked_ends_in_one_sentence(name, harness, monkeypatch):
    monkeypatch.setattr(files_module, "LOCK_WAIT", 0.2)
    folder = harness / "tasks" / "personafeedback"
    with keep_locked(folder):
        done = command(name)
    assert done.exit_code == 1
    assert re.fullmatch(
        f"Error: {folder}: another `personafeedback` process has locked it for 0.2 s. Wait .*, then run this again."
        + (" Or pass --include_path .*\n" if name == "register" else "\n"),
        done.output,
    )
    assert not folder.exists()


def older(folder: Path) -> None:
    """Make it the registration of a version that had one file more and one less."""
    names = ["gone.yaml", *OURS[1:]]
    (folder / MANIFEST).write_text(json.dumps(names), encoding="utf-8")
    (folder / OURS[0]).rename(folder / "gone.yaml")


@pytest.mark.slow
@pytest.mark.tried("full disks: one sentence, every file as it was")
def test_a_full_disk_leaves_the_earlier_registration(harness):
    for _ in range(2):
        before = tree(harness)
        done = on_a_full_disk(16, "register", PYTHONPATH=str(harness.parent))
        assert done.returncode == 1
        assert re.fullmatch(
            r"Error: [^\n]*could not be written \(File too large\)[^\n]*--include_path[^\n]*\n", done.stderr
        )
        assert tree(harness) == before
        command("register")
        older(harness / "tasks" / "personafeedback")


@contextmanager
def room_for(size: int):
    """No file can have more bytes than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.tried("full disks: one sentence, every file as it was")
def test_copies_that_a_full_disk_cut_short_can_be_removed_or_made_again(harness, monkeypatch):
    folder = harness / "tasks" / "personafeedback"
    source = shutil.copytree(SOURCE, harness.parent / "personafeedback")
    (source / OURS[20]).write_text("# larger than the manifest\n" * 1000, encoding="utf-8")
    contents = {name: (source / name).read_text(encoding="utf-8") for name in OURS}
    monkeypatch.setattr(registration, "sources", lambda: [source])
    monkeypatch.setattr(Path, "symlink_to", refuse)
    for _ in range(2):
        with room_for(10_000):
            done = command("register")
        assert done.exit_code == 1
        assert "could not be written (File too large)" in done.output
        found = files(folder)
        assert set(OURS) <= set(json.loads(found.pop(MANIFEST)))
        assert found.items() <= contents.items()
        assert command("unregister").exit_code == 0
        assert not folder.exists()
        command("register")
    assert files(folder).items() >= contents.items()


@pytest.mark.tried("full disks: one sentence, every file as it was")
def test_links_stay_where_a_full_disk_takes_neither_links_nor_copies(harness, monkeypatch):
    command("register")
    before = tree(harness)
    source = shutil.copytree(SOURCE, harness.parent / "personafeedback")
    for name in OURS:
        (source / name).write_text("# larger than the manifest\n" * 1000, encoding="utf-8")
    monkeypatch.setattr(registration, "sources", lambda: [source])
    monkeypatch.setattr(Path, "symlink_to", refuse)
    with room_for(10_000):
        assert command("register").exit_code == 1
    assert tree(harness) == before


def test_a_copy_takes_the_place_of_a_link_and_leaves_what_it_led_to(harness, monkeypatch):
    command("register")
    folder = harness / "tasks" / "personafeedback"
    other = harness.parent / "other.yaml"
    other.write_text("of another installation\n", encoding="utf-8")
    (folder / OURS[0]).unlink()
    (folder / OURS[0]).symlink_to(other)
    monkeypatch.setattr(Path, "symlink_to", refuse)
    assert "copied" in command("register").output
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert other.read_text(encoding="utf-8") == "of another installation\n"


# --- what is there already -------------------------------------------------------------------------------------------


def test_an_upgrade_leaves_what_a_new_registration_would(harness):
    command("register")
    older(harness / "tasks" / "personafeedback")
    assert command("register").exit_code == 0
    assert complete(harness / "tasks" / "personafeedback")


def test_a_file_of_somebody_else_with_one_of_our_names_is_not_replaced(harness):
    command("register")
    folder = harness / "tasks" / "personafeedback"
    older(folder)
    (folder / OURS[0]).write_text("task: mine\n", encoding="utf-8")
    before = tree(harness)
    done = command("register")
    assert done.exit_code == 1
    assert f"{folder / OURS[0]} exists and was not made by `personafeedback register`" in done.output
    assert tree(harness) == before


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[" * 100_000, "null", '"mine.yaml"', '{"mine.yaml": 1}', "[1]", '[["mine.yaml"]]', '[""]', '["."]', '[".."]',
        '["../mine.yaml"]', '["sub/mine.yaml"]', '["TASKS/mine.yaml"]', f'["{MANIFEST}"]', b'["\xff"]',
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["register", "unregister"])
def test_a_manifest_that_cannot_be_relied_on_deletes_nothing(name, content, harness):
    command("register")
    folder = harness / "tasks" / "personafeedback"
    raw = content if isinstance(content, bytes) else content.encode()
    (folder / MANIFEST).write_bytes(raw.replace(b"TASKS", bytes(folder.parent)))
    for place in (folder, folder.parent, folder / "sub"):
        place.mkdir(exist_ok=True)
        (place / "mine.yaml").write_text("task: mine\n", encoding="utf-8")
    before = tree(harness)
    done = command(name)
    assert done.exit_code == 1
    assert re.fullmatch(
        rf"Error: {folder / MANIFEST}: found [^\n]*, expected a JSON list of names [^\n]* run `personafeedback register` again\.\n",
        done.output,
    )
    assert tree(harness) == before


# --- the versions of lm-eval -----------------------------------------------------------------------------------------


def give_version(harness: Path, version: str) -> None:
    for old in harness.parent.glob("*.dist-info"):
        shutil.rmtree(old)
    metadata = harness.parent / f"lm_eval-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: lm_eval\nVersion: {version}\n", encoding="utf-8")
    importlib.invalidate_caches()


@pytest.mark.parametrize("version", ["0.3.0", "0.4", "0.4.3", "0.4.9.1", "0.4.11"])
def test_an_lm_eval_that_is_too_old_is_refused_and_unregister_still_works(version, harness):
    before = tree(harness)
    give_version(harness, version)
    done = command("register")
    assert done.exit_code == 1
    assert done.output == (
        f"Error: These tasks need lm-eval 0.4.13 or later, got {version}. Upgrade it with "
        "`pip install 'personafeedback-tasks[lm-eval]'`, then run this again.\n"
    )
    assert tree(harness) == before
    give_version(harness, "0.4.13")
    command("register")
    give_version(harness, version)
    assert "42 files removed" in command("unregister").output
    assert tree(harness) == before


@pytest.mark.parametrize("version", ["0.4.13.dev0", "0.4.13", "0.4.13.post1", "0.4.100", "0.5.0a1", "1.0"])
def test_later_versions_are_taken(version, harness):
    give_version(harness, version)
    assert command("register").exit_code == 0


def test_a_source_tree_without_metadata_is_taken(harness, monkeypatch):
    assert filelock
    monkeypatch.setattr(sys, "path", [str(harness.parent)])
    assert command("register").exit_code == 0


def test_the_lowest_version_is_that_of_the_extras():
    pyproject = CHECKOUT / "pyproject.toml"
    if not pyproject.is_file():
        pytest.skip("needs the checkout")
    lowest = re.findall(r'"lm-eval(?:\[\w+\])?>=([\d.]+)', pyproject.read_text(encoding="utf-8"))
    assert lowest == [registration.LOWEST_LM_EVAL] * 3
