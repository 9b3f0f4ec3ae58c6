"""Make lm-eval 0.4.x, which has no entry point for tasks, find ours: link YAML files into its folder `lm_eval/tasks`.

Our wheel ships nothing under `lm_eval/`: beside an editable lm-eval it would shadow it as a namespace package.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..common.errors import PersonaFeedbackError

LOWEST_LM_EVAL = "0.4.13"
"""As in pyproject.toml. Earlier versions find the files but cannot run them."""


def task_configs() -> Path:
    """The folder with the YAML files, for `--include_path`."""
    spec = importlib.util.find_spec("personafeedback_tasks.task_configs")
    if spec is None or spec.origin is None:
        raise PersonaFeedbackError("The YAML files are not installed. Reinstall personafeedback-tasks.")
    return Path(spec.origin).parent


def register(undo: bool = False) -> Iterator[str]:
    """Link the YAML files into lm-eval, or remove such links; safe to repeat. Yields a sentence per benchmark.

    Raises:
        PersonaFeedbackError: no lm-eval or one that is too old, or no links are possible.
    """
    try:
        installed = version("lm_eval")
    except PackageNotFoundError:  # none, which `_folders` says, or a source tree
        installed = LOWEST_LM_EVAL
    if not undo and _numbers(installed) < _numbers(LOWEST_LM_EVAL):
        raise PersonaFeedbackError(
            f"These tasks need lm-eval {LOWEST_LM_EVAL} or later, got {installed}. Upgrade it "
            "with `pip install 'personafeedback-tasks[lm-eval]'`, then run this again."
        )
    for source, folder in _folders().items():
        try:
            yield _unlink(folder) if undo else _link(source, folder)
        except OSError as error:
            raise PersonaFeedbackError(
                f"{folder}: its links could not be changed ({error.strerror or error}). "
                'Pass --include_path "$(personafeedback register --path)" to lm_eval, which needs no registration.'
            ) from error


def _link(source: Path, folder: Path) -> str:
    _unlink(folder)  # an earlier version may have had other files
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(source.glob("*yaml"))
    left = [path.name for path in files if os.path.lexists(folder / path.name)]
    for path in files:
        if path.name not in left:
            (folder / path.name).symlink_to(path)
    kept = f" Left alone, as `register` did not make them: {', '.join(left)}." if left else ""
    return f"{len(files) - len(left)} files of {source} linked into {folder}.{kept} `lm_eval run --tasks {source.name}` now works."


def _unlink(folder: Path) -> str:
    # links of other versions and installations of this package, too
    there = list(folder.iterdir()) if folder.is_dir() else []
    ours = [path for path in there if path.is_symlink() and "task_configs" in Path(os.readlink(path)).parts]
    for link in ours:
        link.unlink()
    if ours == there and folder.is_dir():
        folder.rmdir()
    return f"{len(ours)} files removed from {folder}."


def _folders() -> dict[Path, Path]:
    spec = importlib.util.find_spec("lm_eval")
    if spec is None or spec.origin is None:  # the latter: a namespace package that another lm-eval left behind
        raise PersonaFeedbackError(
            "lm-eval is not installed in this Python. Install it with `pip install 'personafeedback-tasks[lm-eval]'`, "
            "in the environment that runs `personafeedback register`."
        )
    tasks = Path(spec.origin).parent / "tasks"
    return {path: tasks / path.name for path in sorted(task_configs().iterdir()) if any(path.glob("*.yaml"))}


def _numbers(version: str) -> tuple[int, ...]:
    # a pre-release counts as its release
    return tuple(map(int, re.findall(r"\d+", version)))
