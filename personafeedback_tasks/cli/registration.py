"""Make lm-eval 0.4.x find the tasks: link our YAML files into the `lm_eval/tasks` folder that this Python imports, a folder a benchmark.

lm-eval has no entry point for tasks yet. Nothing is ever shipped under `lm_eval/` in our wheel: beside an editable
lm-eval such a folder would shadow it as a namespace package.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..common.errors import PersonaFeedbackError
from ..common.files import FileError, explained, link_or_copy, locked, write
from ..common.records import lenient

TASK_CONFIGS = "personafeedback_tasks.task_configs"
LOWEST_LM_EVAL = "0.4.13"
"""As in pyproject.toml. Earlier versions find the files but cannot run them."""

_MANIFEST = ".personafeedback-tasks.json"


def task_configs() -> Path:
    """The folder with the YAML files, for `--include_path`.

    Raises:
        PersonaFeedbackError: the installation is incomplete.
    """
    spec = importlib.util.find_spec(TASK_CONFIGS)
    if spec is None or spec.origin is None:
        raise PersonaFeedbackError("The YAML files are not installed. Reinstall personafeedback-tasks.")
    return Path(spec.origin).parent


def sources() -> list[Path]:
    """The folder of each benchmark's YAML files."""
    return sorted(path for path in task_configs().iterdir() if any(path.glob("*.yaml")))


def target(name: str) -> Path:
    """`lm_eval/tasks/<name>` of the lm-eval that this Python imports (it need not exist yet).

    Raises:
        PersonaFeedbackError: there is no lm-eval, or only a namespace package left behind by another one.
    """
    spec = importlib.util.find_spec("lm_eval")
    if spec is None or spec.origin is None:
        raise PersonaFeedbackError(
            "lm-eval is not installed in this Python. Install it with `pip install 'personafeedback-tasks[lm-eval]'`, "
            "in the environment that runs `personafeedback register`."
        )
    return Path(spec.origin).parent / "tasks" / name


def register() -> list[str]:
    """Link (or, where links are not possible, copy) the YAML files into lm-eval; safe to repeat.

    Returns:
        What was done and where, a sentence per benchmark.

    Raises:
        PersonaFeedbackError: no lm-eval or one that is too old, files of the same names that are not ours, a manifest
            that is broken, or no permission to write.
    """
    return [_register(source) for source in sources()]


def _register(source: Path) -> str:
    folder = target(source.name)
    _refuse_too_old()
    files = sorted(path for path in source.iterdir() if path.name.endswith("yaml"))
    names = [path.name for path in files]
    try:
        with locked(folder), explained(folder):
            earlier = _registered(folder)
            _refuse_foreign(folder, names, earlier)
            # The manifest comes first: an interrupted registration can still be repeated or removed.
            _write_manifest(folder, list(dict.fromkeys([*(earlier or []), *names])))
            # lm-eval resolves `include:` from a link's target, so links need no neighbors.
            linked = all([link_or_copy(folder / path.name, path) for path in files])
            _remove(folder, set(earlier or []) - set(names))
            _write_manifest(folder, names)
    except FileError as error:
        raise FileError(
            f'{error} Or pass --include_path "$(personafeedback task-configs)" to lm_eval, which needs no registration.'
        ) from error
    how = "linked" if linked else "copied (run this again after every upgrade)"
    return f"{len(files)} files of {source} {how} into {folder}. `lm_eval run --tasks {source.name}` now works."


def unregister() -> list[str]:
    """Remove exactly what `register` made. Returns what was done, a sentence per benchmark.

    Raises:
        PersonaFeedbackError: no lm-eval, a manifest that is broken, or no permission.
    """
    return [_unregister(target(source.name)) for source in sources()]


def _unregister(folder: Path) -> str:
    with locked(folder), explained(folder):
        names = _registered(folder)
        if names is None:
            return f"{folder}: not registered; nothing to remove."
        removed = _remove(folder, names)
        (folder / _MANIFEST).unlink()
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        if not any(folder.iterdir()):
            folder.rmdir()
    left = " Files that `register` did not create remain there." if folder.exists() else ""
    return f"{removed} files removed from {folder}.{left}"


def _refuse_too_old() -> None:
    """Raise PersonaFeedbackError for an lm-eval that finds the tasks and cannot run them."""
    try:
        installed = version("lm_eval")
    except PackageNotFoundError:
        return  # a source tree
    if _numbers(installed) < _numbers(LOWEST_LM_EVAL):
        raise PersonaFeedbackError(
            f"These tasks need lm-eval {LOWEST_LM_EVAL} or later, got {installed}. Upgrade it "
            "with `pip install 'personafeedback-tasks[lm-eval]'`, then run this again."
        )


def _numbers(version: str) -> tuple[int, ...]:
    """0.4.9.1 -> (0, 4, 9, 1); a pre-release counts as its release."""
    return tuple(map(int, re.findall(r"\d+", version)))


def _refuse_foreign(folder: Path, names: Iterable[str], earlier: list[str] | None) -> None:
    """Raise PersonaFeedbackError if files of others would be replaced or mixed with ours."""
    if earlier is None:
        foreign = [folder] if folder.exists() and any(folder.iterdir()) else []
    else:
        foreign = [folder / name for name in names if name not in earlier and os.path.lexists(folder / name)]
    if foreign:
        raise PersonaFeedbackError(
            f"{foreign[0]} exists and was not made by `personafeedback register`. Move it away, or leave it and pass "
            f'--include_path "{task_configs()}" to lm_eval.'
        )


def _registered(folder: Path) -> list[str] | None:
    """The names in the manifest; None if there is no manifest.

    Raises:
        PersonaFeedbackError: it is broken, or names files elsewhere, so nothing in it can be trusted.
    """
    manifest = folder / _MANIFEST
    try:
        names = lenient(manifest.read_bytes())
        content = json.dumps(names)
    except FileNotFoundError:
        return None
    except ValueError as error:
        names, content = None, f"broken JSON ({error})"
    if not isinstance(names, list) or not all(map(_is_name, names)):
        raise PersonaFeedbackError(
            f"{manifest}: found {content[:200]}, expected a JSON list of names of files beside it. Nothing was removed: move "
            f"{folder} away, then run `personafeedback register` again."
        )
    return list(dict.fromkeys(names))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name == Path(name).name and name not in ("", "..", _MANIFEST)


def _write_manifest(folder: Path, names: list[str]) -> None:
    write(folder / _MANIFEST, json.dumps(names, indent=1))


def _remove(folder: Path, names: Iterable[str]) -> int:
    """Remove our files; how many there were."""
    present = [folder / name for name in names if (folder / name).is_symlink() or (folder / name).is_file()]
    for path in present:
        path.unlink()
    return len(present)
