"""Make lm-eval 0.4.x find the tasks: link our YAML files into the `lm_eval/tasks` folder that this Python imports, a folder a benchmark.

lm-eval has no entry point for tasks yet. Nothing is ever shipped under `lm_eval/` in our wheel: beside an editable
lm-eval such a folder would shadow it as a namespace package.
"""

from __future__ import annotations

import importlib.util
import os
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..common.errors import PersonaFeedbackError
from ..common.files import explained

LOWEST_LM_EVAL = "0.4.13"
"""As in pyproject.toml. Earlier versions find the files but cannot run them."""


def task_configs() -> Path:
    """The folder with the YAML files, for `--include_path`. Raises PersonaFeedbackError if the installation is incomplete."""
    spec = importlib.util.find_spec("personafeedback_tasks.task_configs")
    if spec is None or spec.origin is None:
        raise PersonaFeedbackError("The YAML files are not installed. Reinstall personafeedback-tasks.")
    return Path(spec.origin).parent


def register() -> list[str]:
    """Link the YAML files into lm-eval; safe to repeat. Returns what was done and where, a sentence per benchmark.

    Raises:
        PersonaFeedbackError: no lm-eval or one that is too old, a file in the way that is not ours, or no links are possible.
    """
    try:
        installed = version("lm_eval")
    except PackageNotFoundError:  # none, which `_folders` says, or a source tree
        installed = LOWEST_LM_EVAL
    if _numbers(installed) < _numbers(LOWEST_LM_EVAL):
        raise PersonaFeedbackError(
            f"These tasks need lm-eval {LOWEST_LM_EVAL} or later, got {installed}. Upgrade it "
            "with `pip install 'personafeedback-tasks[lm-eval]'`, then run this again."
        )
    return [_register(source, folder) for source, folder in _folders().items()]


def _register(source: Path, folder: Path) -> str:
    files, links = sorted(source.glob("*yaml")), _links(folder)
    for path in files:
        if os.path.lexists(folder / path.name) and folder / path.name not in links:
            raise PersonaFeedbackError(
                f"{folder / path.name} exists and was not made by `personafeedback register`. Move it away, or leave it and pass "
                f'--include_path "{task_configs()}" to lm_eval.'
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for link in links:  # an earlier version may have had other files
            link.unlink()
        for path in files:
            (folder / path.name).symlink_to(path)
    except OSError as error:
        raise PersonaFeedbackError(
            f"{folder}: no links could be made there ({error.strerror or error}). "
            'Pass --include_path "$(personafeedback task-configs)" to lm_eval, which needs no registration.'
        ) from error
    return f"{len(files)} files of {source} linked into {folder}. `lm_eval run --tasks {source.name}` now works."


def unregister() -> list[str]:
    """Remove exactly what `register` made. Returns what was done, a sentence per benchmark.

    Raises:
        PersonaFeedbackError: no lm-eval, or no permission.
    """
    return [_unregister(folder) for folder in _folders().values()]


def _unregister(folder: Path) -> str:
    links = _links(folder)
    if not links:
        return f"{folder}: not registered; nothing to remove."
    with explained(folder):
        for link in links:
            link.unlink()
        if any(folder.iterdir()):
            return f"{len(links)} files removed from {folder}. Files that `register` did not create remain there."
        folder.rmdir()
    return f"{len(links)} files removed from {folder}."


def _folders() -> dict[Path, Path]:
    """The folder of each benchmark's YAML files -> `lm_eval/tasks/<name>` of the lm-eval that this Python imports, which need not exist."""
    spec = importlib.util.find_spec("lm_eval")
    if spec is None or spec.origin is None:  # the latter: a namespace package that another lm-eval left behind
        raise PersonaFeedbackError(
            "lm-eval is not installed in this Python. Install it with `pip install 'personafeedback-tasks[lm-eval]'`, "
            "in the environment that runs `personafeedback register`."
        )
    tasks = Path(spec.origin).parent / "tasks"
    return {path: tasks / path.name for path in sorted(task_configs().iterdir()) if any(path.glob("*.yaml"))}


def _links(folder: Path) -> list[Path]:
    """Those that `register` made, also of another version or installation of this package."""
    there = folder.iterdir() if folder.is_dir() else ()
    return [path for path in there if path.is_symlink() and "task_configs" in Path(os.readlink(path)).parts]


def _numbers(version: str) -> tuple[int, ...]:
    """0.4.9.1 -> (0, 4, 9, 1); a pre-release counts as its release."""
    return tuple(map(int, re.findall(r"\d+", version)))
