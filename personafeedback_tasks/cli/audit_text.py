"""Tables of an audit of the data and of shortcuts, for a terminal."""

from __future__ import annotations

from ..personafeedback.audit import AuditDocument
from ..reports.blocks import Block, paragraph
from ..reports.table import of_rows, spaced
from ..stats.estimates import Estimate, percent


def blocks(audit: AuditDocument, why_not: str) -> list[Block]:
    """The tables of an audit; without baselines with other personas, `why_not`."""
    cells, findings, scores = audit.cells, audit.findings, audit.baselines
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
            [(name, percent(value)) for name, value in audit.ceiling.items()],
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
