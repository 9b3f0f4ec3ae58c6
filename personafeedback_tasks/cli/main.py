"""The `personafeedback` command."""

from __future__ import annotations

import errno
import gc
import os
from typing import Any

import click

from .. import __version__
from ..common import foreign
from ..common.errors import PersonaFeedbackError
from . import registration
from .build import build
from .data import audit_command, baselines_command, export_command
from .duel import duel
from .output import say, show_in_any_encoding
from .paper import paper
from .plan import plan
from .rank import rank
from .recenter import import_annotations, relevance
from .replies import replies, score_replies
from .runs import card, compare, report
from .verdict import verdict


class _Group(click.Group):
    """A group that shows our own errors as one line instead of a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        show_in_any_encoding()  # here: --help and wrong arguments never reach `invoke`
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (PersonaFeedbackError, ModuleNotFoundError) as error:
            raise click.ClickException(foreign.terminal(str(error))) from error
        except click.ClickException as error:  # quotes the argument that it is about
            error.message = foreign.terminal(error.message)  # type: ignore[misc]
            raise
        except OSError as error:
            if error.filename is not None:
                raise click.FileError(str(error.filename), error.strerror) from error
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):  # a full disk behind stdout
                raise
            raise click.ClickException(
                f"The output could not be written ({error.strerror}). Free some disk space."
            ) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="personafeedback")
def main() -> None:
    """PersonaFeedback in lm-evaluation-harness and Inspect.

    Inspect finds the tasks on its own:

        inspect eval personafeedback_tasks/personafeedback_hard --model openai/gpt-4o

    For lm-eval, use one of these:

    \b
        personafeedback register
        lm_eval run --include_path "$(personafeedback task-configs)" --tasks ...

    The group `recenter` has three more tasks, judged by people. Of their labels only those of relevance are public, in the
    authors' repository (`import-annotations`); all have a sample: -T data=sample.
    """
    # The process ends after one command: garbage collection over thousands of live cases takes a tenth of a report's time.
    gc.set_threshold(100_000)


@main.command()
def register() -> None:
    """Link the YAML files into the lm_eval/tasks folder of this Python's lm-eval."""
    for line in registration.register():
        say(line)


@main.command()
def unregister() -> None:
    """Remove the files that `register` created, and nothing else."""
    for line in registration.unregister():
        say(line)


@main.command("task-configs")
def task_configs() -> None:
    """Print the folder of the YAML files, for lm_eval's --include_path."""
    click.echo(os.fsencode(registration.task_configs()))  # bytes: a path is for a shell, whatever the terminal shows


for command in (
    plan, audit_command, baselines_command, export_command, paper, report, compare, rank, card, import_annotations, replies, score_replies,
    duel, verdict, build, relevance,
):  # fmt: skip
    main.add_command(command)
