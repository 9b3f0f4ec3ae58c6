"""The `personafeedback` command."""

from __future__ import annotations

import atexit
import errno
import gc
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..common import foreign
from ..common.errors import PersonaFeedbackError
from .output import show_in_any_encoding

_SECTIONS = {
    "From a run to a model card": {
        "plan": "data:plan",
        "report": "runs:report",
        "rank": "runs:rank",
        "card": "card:card",
        "register": "registration:register",
    },
    "Data, comparisons, other formats": {
        "audit": "data:audit_command",
        "compare": "runs:compare",
        "score-replies": "replies:score_replies",
        "export": "card:export_command",
    },
    "What knowing the user costs in other tasks": {"persona": "with_user:persona", "cost": "with_user:cost"},
    "Replies that models write": {"duel": "duel:duel", "verdict": "duel:verdict"},
    "A set of your own, and people's votes": {"build": "build:build", "annotate": "annotate:annotate"},
    "From conversations to a reply": {"recenter": "recenter:recenter", "chain": "chain:chain"},
}
"""Heading of the help -> name -> module and function, imported when called or listed: `build` takes long."""

_COMMANDS = {name: place for commands in _SECTIONS.values() for name, place in commands.items()}


class _Group(click.Group):
    def main(self, *args: Any, **kwargs: Any) -> Any:
        show_in_any_encoding()  # here: --help and wrong arguments never reach `invoke`
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in _SECTIONS.items():
            with formatter.section(heading):
                found = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl([(name, one.get_short_help_str(200)) for name, one in found if one])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.commands:
            for known in {name} & _COMMANDS.keys() or _COMMANDS:  # of an unknown name, click says what is like it
                module, function = _COMMANDS[known].split(":")
                self.add_command(getattr(import_module(f".{module}", __package__), function))
        return super().get_command(ctx, name)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (PersonaFeedbackError, ModuleNotFoundError) as error:
            raise click.ClickException(foreign.terminal(str(error))) from error
        except click.ClickException as error:  # quotes the argument that it is about
            # line by line: a group without arguments raises its help
            error.message = "\n".join(map(foreign.terminal, error.message.split("\n")))  # type: ignore[misc]
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

    From a run to a model card, with Inspect:

    \b
        inspect eval personafeedback_tasks/personafeedback_hard --model MODEL -T setting=persona,no_persona
        personafeedback rank logs
        personafeedback card logs --model-card README.md

    For lm-eval, use one of these:

    \b
        personafeedback register
        lm_eval run --include_path "$(personafeedback register --path)" --tasks ...

    Other benchmarks run in the same way, and each has a sample (-T data=sample): prefeval, memsyco,
    recenter_extraction, recenter_relevance, recenter_relevance_select and recenter_response.
    """
    # The process ends after one command: garbage collection would take a tenth of a report's time, at its end as well.
    gc.set_threshold(1_000_000)
    atexit.register(gc.freeze)
