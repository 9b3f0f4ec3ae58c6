"""Tables of an audit of the data and of shortcuts, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from ..personafeedback import baselines
from ..personafeedback.audit import Audit, AuditedCell
from ..reports.blocks import Block, paragraph
from ..reports.table import of_rows, spaced
from ..stats.estimates import Estimate, percent


def audit_blocks(audit: Audit, cells: Mapping[str, AuditedCell]) -> list[Block]:
    """The tables of an audit, and the meaning of its findings."""
    return [
        of_rows(
            "Cells",
            ["cell", "cases", "expected", "users", "en", "zh"],
            [
                (
                    cell, content.cases, content.expected, content.users, *(content.languages.get(code, 0) for code in ("en", "zh")),
                )
                for cell, content in cells.items()
            ],
        ),
        of_rows(
            "Findings, in cases",
            ["finding", *map(spaced, cells), "total"],
            [
                (name, *(finding.cells.get(cell, 0) for cell in cells), len(finding.ids))
                for name, finding in audit.findings.items()
            ],
        ),
        *(paragraph(f"{name}: {finding.meaning}") for name, finding in audit.findings.items()),
        paragraph(),
        of_rows(
            "Label ceiling: an order-blind judge has at most this accuracy, in percent",
            ["cases", "accuracy"],
            [(name, percent(value)) for name, value in audit.ceilings.items()],
        ),
    ]  # fmt: skip


def baseline_blocks(
    accuracies: baselines.Estimates, other: tuple[baselines.Estimates, baselines.Estimates] | None, why_not: str
) -> list[Block]:
    """The accuracies of the baselines; without those with other personas (`other` is None), `why_not`."""
    groups = next(iter(accuracies.values()))
    blocks: list[Block] = [
        of_rows(
            "Accuracy ± standard error, in percent",
            ["cell", *accuracies, "chance"],
            [
                (group, *(_accuracy(scores[group]) for scores in accuracies.values()), percent(baselines.CHANCE))
                for group in groups
            ],
        )
    ]
    if other is None:
        return [*blocks, paragraph(f"No baseline with another persona: {why_not}")]
    pairs = [(name, wrong, other[1][name]) for name, wrong in other[0].items()]
    table = of_rows(
        "With another user's persona, in percent; differences in points",
        ["cell", *(text for name, _, _ in pairs for text in (f"{name}, other persona", "right minus wrong"))],
        [
            (
                group,
                *(
                    text
                    for _, wrong, gap in pairs
                    for text in (
                        _accuracy(wrong[group]),
                        percent(gap[group].value, sign=True, stderr=gap[group].stderr),
                    )
                ),
            )
            for group in groups
        ],
    )
    return [*blocks, table]


def _accuracy(estimate: Estimate) -> str:
    return percent(estimate.value, stderr=estimate.stderr)
