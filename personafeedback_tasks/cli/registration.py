"""Make lm-eval 0.4.x, which has no entry point for tasks, find ours: link YAML files into its folder `lm_eval/tasks`.

Our wheel ships nothing under `lm_eval/`: beside an editable lm-eval it would shadow it as a namespace package.
"""

from __future__ import annotations

import importlib.util
import os
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from ..common.errors import OptionError, PersonaFeedbackError
from .output import say

LOWEST_LM_EVAL = "0.4.13"  # as in pyproject.toml; earlier versions find the files but cannot run them


def task_configs() -> Path:
    """The folder with the YAML files, for `--include_path`."""
    return Path(str(importlib.import_module("personafeedback_tasks.task_configs").__file__)).parent


@click.command()
@click.option("--undo", is_flag=True, help="Remove the files that it created, and nothing else.")
@click.option(
    "--path", is_flag=True, help="Link nothing; print the folder of the YAML files, for lm_eval's --include_path."
)
def register(undo: bool, path: bool) -> None:
    """Make lm-eval find the tasks: link their YAML files into its folder lm_eval/tasks."""
    if path and undo:
        raise OptionError("--path links nothing, so --undo has nothing to do with it. Leave one of them out.")
    if path:
        click.echo(os.fsencode(task_configs()))  # bytes: a path is for a shell, whatever the terminal shows
        return
    spec = importlib.util.find_spec("lm_eval")
    found = "none"
    with suppress(PackageNotFoundError):
        found = version("lm_eval")
    # A pre-release counts as its release, a source tree as new enough; an uninstalled lm-eval may leave a namespace.
    numbers, lowest = ([int(number) for number in re.findall(r"\d+", text)] for text in (found, LOWEST_LM_EVAL))
    if spec is None or spec.origin is None or (numbers and numbers < lowest and not undo):
        raise PersonaFeedbackError(
            f"These tasks need lm-eval {LOWEST_LM_EVAL} or later in this Python, found {found}. Install it with "
            "`pip install 'personafeedback-tasks[lm-eval]'`, then run this again."
        )
    tasks = Path(spec.origin).parent / "tasks"
    removed, linked, kept = 0, 0, list[Path]()
    for source in sorted({path.parent for path in task_configs().glob("*/*.yaml")}):
        folder = tasks / source.name
        try:
            removed += _unlink(folder)  # an earlier version may have had other files
            if not undo:
                there = _link(source, folder)
                linked += len(there)
                kept += [path for path in folder.glob("*yaml") if path.name not in there]
        except OSError as error:
            raise PersonaFeedbackError(
                f"{folder}: its links could not be changed ({error.strerror or error}). "
                'Pass --include_path "$(personafeedback register --path)" to lm_eval, which needs no registration.'
            ) from error
    if undo:
        say(f"Removed {removed} links from {tasks}.")
        return
    say(f"Linked {linked} files into {tasks}. `personafeedback register --undo` removes them.")
    if kept:
        say(f"Left alone, as `register` did not make them: {', '.join(map(str, kept))}.")
    say("Next: lm_eval run --tasks personafeedback_hard ...")


def _link(source: Path, folder: Path) -> list[str]:
    # the names of the links that were made: a file that is there is somebody else's
    folder.mkdir(parents=True, exist_ok=True)
    files = [path for path in sorted(source.glob("*yaml")) if not os.path.lexists(folder / path.name)]
    for path in files:
        (folder / path.name).symlink_to(path)
    return [path.name for path in files]


def _unlink(folder: Path) -> int:
    # links of other versions and installations of this package, too
    there = list(folder.iterdir()) if folder.is_dir() else []
    ours = [path for path in there if path.is_symlink() and "task_configs" in Path(os.readlink(path)).parts]
    for link in ours:
        link.unlink()
    if ours == there and folder.is_dir():
        folder.rmdir()
    return len(ours)
