"""An audit as text: problems in the data, the label ceiling, and the accuracy of baselines."""

from __future__ import annotations

from collections.abc import Mapping

from ..personafeedback.audit import AuditDocument
from ..stats.estimates import Estimate, percent
from .blocks import Block, paragraph
from .table import Table, of_rows, spaced, with_interval


def blocks(document: AuditDocument, why_not: str) -> list[Block]:
    """The tables of an audit; `why_not` says why there are no baselines with other personas."""
    cells, findings, scores = document.cells, document.findings, document.baselines
    sizes = [
        (name, one.cases, one.expected, one.users, *(one.languages.get(code, 0) for code in ("en", "zh")))
        for name, one in cells.items()
    ]
    counts = [
        (name, *(one.cells.get(cell, 0) for cell in cells), sum(one.cells.values())) for name, one in findings.items()
    ]
    return [
        paragraph(f"Data: {document.data}"),
        paragraph(),
        of_rows("Cells", ["cell", "cases", "expected", "users", "en", "zh"], sizes),
        of_rows("Findings, in cases", ["finding", *map(spaced, cells), "total"], counts),
        *(paragraph(f"{name}: {one.meaning}") for name, one in findings.items()),
        paragraph(),
        of_rows(
            "Label ceiling: an order-blind judge has at most this accuracy, in percent",
            ["cases", "accuracy"],
            [(name, percent(value)) for name, value in document.ceiling.items()],
        ),
        _baselines(f"Accuracy of baselines; chance is {percent(scores.chance)}", scores.acc),
        _baselines("Accuracy with another user's persona", scores.other_persona),
        _baselines(
            "Right minus wrong: accuracy minus that with another user's persona",
            scores.right_minus_wrong,
            sign=True,
        ),
        *([paragraph(f"No baseline with another persona: {why_not}")] if why_not else []),
    ]


def _baselines(heading: str, found: Mapping[str, Mapping[str, Estimate]] | None, sign: bool = False) -> Table:
    # none where there are no other personas
    columns = []
    for name, groups in (found or {}).items():
        columns += with_interval(name, [*groups.values()], sign, strong=False)
    labels = next(iter(found.values())) if found else ()
    return Table(heading, tuple(map(spaced, labels)), tuple(columns))
