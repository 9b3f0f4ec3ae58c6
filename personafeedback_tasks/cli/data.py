"""The command that needs only the data: audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.errors import DataError
from ..core.cases import shown_source
from ..personafeedback import audit, baselines
from ..personafeedback.cases import PersonaCases, load_present
from ..stats.estimates import Estimate, percent
from .options import json_option, release_option
from .output import needs_tables, say, show, write_json

if TYPE_CHECKING:
    from ..reports.blocks import Block


@click.command("audit")
@release_option
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

    `overlap, other persona` is the same with the persona of another user, as under setting=other_persona: what
    remains does not need the right person. Tables are in percent; --json has shares, and the case ids of every finding.
    Chance is 50 %; a tie counts one half. Standard errors are clustered by user.

    \b
        personafeedback audit --data FOLDER
        personafeedback audit --data sample --json audit.json
    """
    needs_tables(json_file)
    cases = present(data)
    audited, acc = audit.audit(cases), baselines.baselines(cases)
    other, why_not = None, ""
    try:
        other = baselines.with_other_persona(cases)
    except DataError as error:
        why_not = str(error).replace(cases.source, shown_source(cases.source))
    document = audit.document_of(audited, acc, other)
    is_free = write_json(json_file, document)
    if is_free:
        say(f"Data: {cases.revision}")
    missing = [cell for cell in cases.release.counts if cell not in cases.cells]
    if missing:
        say(f"No file for {', '.join(missing)}: only the other cells are included.", err=not is_free)
    if is_free:
        say()
        show(tables(document, why_not))


def present(data: str | None) -> PersonaCases:
    # `counts` is `checked` where every cell that is present has the number of cases that it must have
    cases = load_present(data, counts="any")
    expected = cases.release.counts
    whole = all(len(of_cell) == expected[cell] for cell, of_cell in cases.cells.items())
    return replace(cases, counts="checked") if whole else cases


def tables(document: audit.AuditDocument, why_not: str) -> list[Block]:
    """The tables of an audit; without baselines with other personas, `why_not`."""
    from ..reports.blocks import paragraph
    from ..reports.table import of_rows, spaced

    cells, findings, scores = document.cells, document.findings, document.baselines
    found: list[Block] = [
        of_rows(
            "Cells",
            ["cell", "cases", "expected", "users", "en", "zh"],
            [
                (name, one.cases, one.expected, one.users, *(one.languages.get(code, 0) for code in ("en", "zh")))
                for name, one in cells.items()
            ],
        ),
        of_rows(
            "Findings, in cases",
            ["finding", *map(spaced, cells), "total"],
            [(name, *(one.cells.get(cell, 0) for cell in cells), one.cases) for name, one in findings.items()],
        ),
        *(paragraph(f"{name}: {one.meaning}") for name, one in findings.items()),
        paragraph(),
        of_rows(
            "Label ceiling: an order-blind judge has at most this accuracy, in percent",
            ["cases", "accuracy"],
            [(name, percent(value)) for name, value in document.ceiling.items()],
        ),
    ]
    groups = next(iter(scores.acc.values()))
    rows: dict[str, list[str]] = {group: [_accuracy(acc[group]) for acc in scores.acc.values()] for group in groups}
    found.append(
        of_rows(
            "Accuracy ± standard error, in percent",
            ["cell", *scores.acc, "chance"],
            [(group, *texts, percent(scores.chance)) for group, texts in rows.items()],
        )
    )
    if scores.other_persona is None or scores.right_minus_wrong is None:
        return [*found, paragraph(f"No baseline with another persona: {why_not}")]
    headings, rows = ["cell"], {group: [] for group in groups}
    for name, wrong in scores.other_persona.items():
        headings += [f"{name}, other persona", "right minus wrong"]
        for group, texts in rows.items():
            gap = scores.right_minus_wrong[name][group]
            texts += [_accuracy(wrong[group]), percent(gap.value, sign=True, stderr=gap.stderr)]
    title = "With another user's persona, in percent; differences in points"
    return [*found, of_rows(title, headings, [(group, *texts) for group, texts in rows.items()])]


def _accuracy(estimate: Estimate) -> str:
    return percent(estimate.value, stderr=estimate.stderr)
