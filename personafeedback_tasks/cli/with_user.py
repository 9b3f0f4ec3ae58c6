"""The commands about any task with a user: persona, cost."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..personafeedback.system import SETTINGS, told_by
from .options import RUN, json_option, out_option, value_option
from .output import publish
from .runs import note_skipped


@click.command()
@click.argument("name")
@click.option(
    "--setting",
    type=click.Choice([name for name in SETTINGS if name != "no_persona"]),
    default="persona",
    show_default=True,
    help="This user's profile, another user's, or neutral text of the same length.",
)
@click.option(
    "--data", help="A folder with persona/, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given."
)
def persona(name: str, setting: str, data: str | None) -> None:
    """Print a system message about a user, for lm-eval.

    NAME is a user id of the data. lm-eval takes one text for a whole run, so `cost` then measures this profile, not
    users in general.

    \b
        lm_eval run --tasks gsm8k --apply_chat_template --system_instruction "$(personafeedback persona NAME)" --log_samples ...
    """
    told = told_by(setting, name, data)("", {})
    assert told is not None  # only no_persona has no text
    click.echo(told.text.encode("utf-8") + os.linesep.encode())  # bytes: UTF-8 whatever the terminal has


@click.command()
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=RUN)
@value_option
@json_option
@out_option("Folder for cost.md, cost.json and cost.html, a page with every sample's answers side by side.")
def cost(logs: tuple[Path, ...], values: tuple[str, ...], json_file: Path | None, out: Path | None) -> None:
    """Say what knowing the user costs in other tasks: the change of each task's own score with a profile in context.

    LOG is a log, or a folder of logs, from `with_user` in Inspect or from lm-eval with a text that `persona` printed.
    Each run with a message is compared with the run of the same task and model without one, paired by sample.

    \b
        personafeedback cost logs
        personafeedback cost logs --out cost
        personafeedback cost results --value exact_match,strict-match
    """
    from ..analysis.other_tasks import CostDocument, costs_of
    from ..logs.other_tasks import read_tasks
    from ..reports import cost_text, files

    costs = costs_of(read_tasks(logs, values, note_skipped))
    document = CostDocument(costs=[one.entry for one in costs])
    made = files.cost_files(costs, document) if out else {}
    publish(document, lambda: cost_text.blocks(document), json_file, out=out, files=made)
