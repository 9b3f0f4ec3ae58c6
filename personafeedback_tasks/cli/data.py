"""The commands for what one should know before a run: plan, audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..common.errors import DataError
from ..core.asked import asked_for
from ..core.cases import shown_source
from ..core.plan import make_plan
from ..core.usage import Prices
from ..personafeedback import audit, baselines
from ..personafeedback.cases import PersonaCases, load_present
from .options import given_options, json_option, price_option, task_option
from .output import publish, say


@click.command()
@click.argument("task", metavar="TASK")
@task_option("for example data=FOLDER, setting=persona,no_persona or method=cot")
@click.option(
    "--reply-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="Expected tokens per reply, thinking included. Default: the method's limit, an upper bound.",
)
@price_option
@json_option
def plan(
    task: str, given: tuple[str, ...], reply_tokens: int | None, prices: Prices | None, json_file: Path | None
) -> None:
    """Plan a run: calls, tokens, price, and the smallest difference that it can show.

    TASK is a task name in either harness. No model is called. The data are checked as in a run, so an error here is
    the one that the run would raise.

    \b
        personafeedback plan personafeedback_general_hard -T data=FOLDER
        personafeedback plan personafeedback -T data=FOLDER -T method=cot -T setting=no_persona
        personafeedback plan personafeedback -T data=FOLDER -T setting=persona,other_persona,no_persona --price 2.5,10
        personafeedback plan personafeedback_write -T data=sample --json plan.json
        personafeedback plan recenter_relevance_select -T data=sample
    """
    from ..reports import plan_text  # before the work: it names a missing extra

    made = make_plan(asked_for(task, given_options(given)), reply=reply_tokens, prices=prices)
    publish(made, lambda: plan_text.blocks(made), json_file)


@click.command("audit")
@click.option(
    "--data",
    help="A folder with data/ and persona/, `sample`, or a Hub dataset id. Default: PERSONAFEEDBACK_DATA, else the "
    "pinned Hub release.",
)
@json_option
def audit_command(data: str | None, json_file: Path | None) -> None:
    """Find what could mislead in the data, and what shortcuts reach without a model.

    Compares counts with the paper's Table 2, or with a set's set.json; finds response pairs that occur in several rows,
    with the same label or opposite ones, and the label ceiling that follows. Then the accuracy of shortcuts in each
    cell:

    \b
        longest        the longer response
        overlap        the response that shares more terms with the persona
        overlap_share  the response with the larger share of such terms
        name           the response that says the user's name

    The last two tables show how much the shortcuts that read the persona depend on the right one; the other persona is
    that of setting=other_persona. Tables are in percent; --json has shares, and the case ids of every finding. A tie
    counts one half. Intervals are clustered by user.

    \b
        personafeedback audit --data FOLDER
        personafeedback audit --data sample --json audit.json
    """
    from ..reports import audit_text  # before the work: it names a missing extra

    cases = present(data)
    audited, acc = audit.audit(cases), baselines.baselines(cases)
    other, why_not = None, ""
    try:
        other = baselines.with_other_persona(cases)
    except DataError as error:
        why_not = str(error).replace(cases.source, shown_source(cases.source))
    document = audit.document_of(audited, acc, other)
    missing = [cell for cell in cases.release.counts if cell not in cases.cells]
    if missing:
        say(f"No file for {', '.join(missing)}: only the other cells are included.", err=True)
    publish(document, lambda: audit_text.blocks(document, why_not), json_file)


def present(data: str | None) -> PersonaCases:
    # `counts` is `checked` where every cell that is present has the number of cases that it must have
    cases = load_present(data, counts="any")
    expected = cases.release.counts
    whole = all(len(of_cell) == expected[cell] for cell, of_cell in cases.cells.items())
    return replace(cases, counts="checked") if whole else cases
