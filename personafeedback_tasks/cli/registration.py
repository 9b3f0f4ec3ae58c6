"""Make lm-eval 0.4.x, which has no entry point for tasks, find ours: link YAML files into its folder `lm_eval/tasks`.

Our wheel ships nothing under `lm_eval/`: beside an editable lm-eval it would shadow it as a namespace package.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..common.errors import PersonaFeedbackError

LOWEST_LM_EVAL = "0.4.13"  # as in pyproject.toml; earlier versions find the files but cannot run them


def task_configs() -> Path:
    """The folder with the YAML files, for `--include_path`."""
    return Path(str(importlib.import_module("personafeedback_tasks.task_configs").__file__)).parent


def register(undo: bool = False) -> Iterator[str]:
    """Link the YAML files into lm-eval, or remove such links; yields a sentence per benchmark. Raises PersonaFeedbackError if it cannot."""
    spec = importlib.util.find_spec("lm_eval")
    found = "none"
    with suppress(PackageNotFoundError):
        found = version("lm_eval")
    # A pre-release counts as its release, a source tree as new enough; another lm-eval may leave a namespace package behind.
    numbers, lowest = ([int(number) for number in re.findall(r"\d+", text)] for text in (found, LOWEST_LM_EVAL))
    if spec is None or spec.origin is None or (numbers and numbers < lowest and not undo):
        raise PersonaFeedbackError(
            f"These tasks need lm-eval {LOWEST_LM_EVAL} or later in this Python, found {found}. Install it with "
            "`pip install 'personafeedback-tasks[lm-eval]'`, then run this again."
        )
    for source in sorted({path.parent for path in task_configs().glob("*/*.yaml")}):
        folder = Path(spec.origin).parent / "tasks" / source.name
        try:
            removed = _unlink(folder)  # an earlier version may have had other files
            yield f"Removed from {folder}: {removed}." if undo else _link(source, folder)
        except OSError as error:
            raise PersonaFeedbackError(
                f"{folder}: its links could not be changed ({error.strerror or error}). "
                'Pass --include_path "$(personafeedback register --path)" to lm_eval, which needs no registration.'
            ) from error


def _link(source: Path, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(source.glob("*yaml"))
    left = [path.name for path in files if os.path.lexists(folder / path.name)]
    for path in files:
        if path.name not in left:
            (folder / path.name).symlink_to(path)
    kept = f" Left alone, as `register` did not make them: {', '.join(left)}." if left else ""
    return f"Linked into {folder}: {len(files) - len(left)} of {source}.{kept} `lm_eval run --tasks {source.name}` now works."


def _unlink(folder: Path) -> int:
    # links of other versions and installations of this package, too
    there = list(folder.iterdir()) if folder.is_dir() else []
    ours = [path for path in there if path.is_symlink() and "task_configs" in Path(os.readlink(path)).parts]
    for link in ours:
        link.unlink()
    if ours == there and folder.is_dir():
        folder.rmdir()
    return len(ours)
