"""The commands about any task with a user: persona, cost."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..logs.other_tasks import read_tasks
from ..personafeedback.system import NEUTRAL, OPENING, SETTINGS, told_by
from .options import RUN, json_option, out_option, value_option
from .output import STDOUT, files_written, say, show, write_json

if TYPE_CHECKING:
    from ..analysis.balance import OfTasks
    from ..analysis.cost import Cost


@click.command()
@click.argument("name")
@click.option(
    "--setting",
    type=click.Choice([name for name in SETTINGS if name != "no_persona"]),
    default="persona",
    show_default=True,
    help="What the text is about: this user, another one, or as long and about nobody.",
)
@click.option(
    "--data", help="A folder with persona/, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given."
)
def persona(name: str, setting: str, data: str | None) -> None:
    """Print what a system message says about a user, for lm-eval.

    NAME is a user id of the data. lm-eval takes one text for a whole run: what `cost` then says is about this profile, not about users.

    \b
        lm_eval run --tasks gsm8k --apply_chat_template --system_instruction "$(personafeedback persona NAME)" --log_samples ...
    """
    told = told_by(setting, name, data)("", {})
    assert told is not None  # only no_persona has no text
    click.echo(told.text.encode("utf-8") + os.linesep.encode())  # bytes: UTF-8 whatever the terminal has


def setting_of(instruction: str) -> str:
    """The setting of a text that `persona` printed; empty for other texts. Another user's text counts as `persona`."""
    if instruction.startswith(tuple(OPENING.values())):
        return "persona"
    # both begin alike, whichever is the longer one
    return "padding" if any(text.startswith(instruction[: len(text)]) for text in NEUTRAL.values()) else ""


@click.command()
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=RUN)
@value_option
@json_option
@out_option("Write cost.md, cost.json and index.html, a page with every sample's answers side by side, there.")
def cost(logs: tuple[Path, ...], values: tuple[str, ...], json_file: Path | None, out: Path | None) -> None:
    """Say what knowing the user costs in other tasks: the change of each task's own score with a profile in context.

    LOG is a log, or a folder of logs, of `with_user` in Inspect or of lm-eval with a text of `persona`. Each run with a message is compared
    with the run of the same task and model without one, paired by sample.

    \b
        personafeedback cost logs
        personafeedback cost logs --out cost
        personafeedback cost results --value exact_match,strict-match
    """
    from . import cost_text

    costs = costs_in(logs, values)
    with files_written(cost_text.files(costs) if out else {}, out, err=json_file == STDOUT):
        if write_json(json_file, cost_text.document(costs)):
            show(cost_text.blocks(costs))


def costs_in(logs: Sequence[Path], values: Sequence[str]) -> list[Cost]:
    """The costs in logs; what is passed over in a folder is said on stderr."""
    from ..analysis.cost import costs_of

    runs, passed = read_tasks(logs, values, setting_of)
    for line in passed:
        say(f"Passed over {line}", err=True)
    return costs_of(runs)


def costs_of_models(logs: Sequence[Path], values: Sequence[str], names: Mapping[str, str]) -> OfTasks:
    """The costs in logs by model, for `rank` and `card`; void ones are said on stderr."""
    from ..analysis.cost import of_models
    from .cost_text import void

    costs = costs_in(logs, values) if logs else []
    for cost in costs:
        if cost.void:
            say(void(cost), err=True)
    return of_models(costs, names)
