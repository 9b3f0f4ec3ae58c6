"""The command that needs only the data: audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..common.errors import DataError
from ..core.cases import shown_source
from ..personafeedback import audit, baselines
from ..personafeedback.cases import PersonaCases, load_present
from .options import json_option, release_option
from .output import needs_tables, say, show, write_json


@click.command("audit")
@release_option
@json_option
def audit_command(data: str | None, json_file: Path | None) -> None:
    """Find what could mislead in the data, and what shortcuts reach without a model.

    Compares counts with the paper's Table 2, or with a set's set.json; finds response pairs that occur in several rows, with the same label or
    opposite ones, and the label ceiling that follows. Then the accuracy of shortcuts in each cell:

    \b
        longest        the longer response
        overlap        the response that shares more terms with the persona
        overlap_share  the response with the larger share of such terms
        name           the response that says the user's name

    `overlap, other persona` is the same with the persona of another user, as under setting=other_persona: what
    remains does not need the right person. Tables are in percent; --json has shares, and the case ids of every finding. Chance is 50 %; a tie
    counts one half. Standard errors are clustered by user.

    \b
        personafeedback audit --data FOLDER
        personafeedback audit --data sample --json audit.json
    """
    needs_tables(json_file)
    cases = present(data)
    made = audit.audit(cases)
    accuracies = baselines.baselines(cases)
    other, why_not = _other_persona(cases)
    document = made.document(accuracies, other)
    if _is_shown(json_file, document, cases):
        from .audit_text import audit_blocks, baseline_blocks

        show([*audit_blocks(made, document.cells), *baseline_blocks(accuracies, other, why_not)])


def present(data: str | None) -> PersonaCases:
    """The cases of every cell that has a file. `counts` is `checked` where their numbers are those that they must have."""
    cases = load_present(data, counts="any")
    expected = cases.release.counts
    whole = all(len(some) == expected[some[0].category, some[0].difficulty] for some in cases.cells.values())
    return replace(cases, counts="checked") if whole else cases


def _other_persona(cases: PersonaCases) -> tuple[tuple[baselines.Estimates, baselines.Estimates] | None, str]:
    try:
        return baselines.with_other_persona(cases), ""
    except DataError as error:
        return None, str(error).replace(cases.source, shown_source(cases.source))


def _is_shown(json_file: Path | None, document: audit.AuditDocument, cases: PersonaCases) -> bool:
    is_free = write_json(json_file, document)
    if is_free:
        say(f"Data: {cases.revision}")
    if missing := baselines.absent(cases):
        say(f"No file for {', '.join(missing)}: only the other cells are included.", err=not is_free)
    if is_free:
        say()
    return is_free
