"""Make lm-eval 0.4.x find the tasks: link our YAML files into the `lm_eval/tasks` folder that this Python imports.

lm-eval has no entry point for tasks yet. Nothing is ever shipped under `lm_eval/` in our wheel: beside an editable
lm-eval such a folder would shadow it as a namespace package.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

from .errors import PersonaFeedbackError

TASK_CONFIGS = "personafeedback_tasks.task_configs"
_MANIFEST = ".personafeedback-tasks.json"


def task_configs() -> Path:
    """The folder with the YAML files, for `--include_path`.

    Raises:
        PersonaFeedbackError: the installation is incomplete.
    """
    spec = importlib.util.find_spec(TASK_CONFIGS)
    if spec is None or spec.origin is None:
        raise PersonaFeedbackError("The YAML files are not installed. Install personafeedback-tasks again.")
    return Path(spec.origin).parent


def target() -> Path:
    """`lm_eval/tasks/personafeedback` of the lm-eval that this Python imports (it need not exist yet).

    Raises:
        PersonaFeedbackError: there is no lm-eval, or only a namespace package left behind by another one.
    """
    spec = importlib.util.find_spec("lm_eval")
    if spec is None or spec.origin is None:
        raise PersonaFeedbackError(
            "This Python has no lm-eval. Install one with `pip install 'personafeedback-tasks[lm-eval]'`, "
            "in the environment that runs `personafeedback register`."
        )
    return Path(spec.origin).parent / "tasks" / "personafeedback"


def register() -> str:
    """Link (or, where links are not possible, copy) the YAML files into lm-eval; safe to repeat.

    Returns:
        One sentence that says what was done and where.

    Raises:
        PersonaFeedbackError: no lm-eval, a folder of the same name that is not ours, or no permission to write.
    """
    folder, source = target(), task_configs()
    if folder.exists() and not (folder / _MANIFEST).is_file() and any(folder.iterdir()):
        raise PersonaFeedbackError(
            f"{folder} exists and was not made by `personafeedback register`. Move it away, or leave it and pass "
            f'--include_path "{source}" to lm_eval.'
        )
    try:
        _remove(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = sorted(path for path in source.iterdir() if path.name.endswith("yaml"))
        # The manifest comes first: a registration that breaks off half-way can still be repeated or removed.
        (folder / _MANIFEST).write_text(json.dumps([path.name for path in files], indent=1), encoding="utf-8")
        linked = all([_link_or_copy(path, folder / path.name) for path in files])
    except OSError as error:
        raise PersonaFeedbackError(
            f"{folder} cannot be written ({error.strerror or error}). Nothing else is needed if you pass "
            f'--include_path "$(personafeedback task-configs)" to lm_eval instead.'
        ) from error
    how = "linked" if linked else "copied (run this again after every upgrade)"
    return f"{len(files)} files of {source} {how} into {folder}. `lm_eval run --tasks personafeedback` now works."


def unregister() -> str:
    """Remove exactly what `register` made. Returns one sentence that says what was done.

    Raises:
        PersonaFeedbackError: no lm-eval, or no permission.
    """
    folder = target()
    try:
        removed = _remove(folder)
    except OSError as error:
        raise PersonaFeedbackError(f"{folder} cannot be changed ({error.strerror or error}).") from error
    if removed is None:
        return f"Nothing to do: {folder} holds no registration of ours."
    left = f" It still holds files that are not ours: {folder}." if folder.exists() else ""
    return f"{removed} files removed from {folder}.{left}"


def _remove(folder: Path) -> int | None:
    """Remove the files of our manifest, then the folder if nothing else is in it. None if there is no manifest."""
    manifest = folder / _MANIFEST
    if not manifest.is_file():
        return None
    names = json.loads(manifest.read_text(encoding="utf-8"))
    present = [folder / name for name in names if (folder / name).is_symlink() or (folder / name).is_file()]
    for path in present:
        path.unlink()
    manifest.unlink()
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    if not any(folder.iterdir()):
        folder.rmdir()
    return len(present)


def _link_or_copy(source: Path, link: Path) -> bool:
    """True if a link could be made. lm-eval resolves `include:` from a link's target, so links need no neighbours."""
    try:
        link.symlink_to(source)
        return True
    except (OSError, NotImplementedError):
        shutil.copyfile(source, link)
        return False
