"""The paper's Table 4, for a report on a reward model with several outputs."""

from __future__ import annotations

from ...engine.report import PublishedAspects
from .tables import table


def published() -> PublishedAspects:
    """The accuracy of each HelpSteer2 aspect per cell and category."""
    found = table("4")
    return PublishedAspects(
        label="paper",
        source=f"paper: Table {found.number}, {found.caption}. Whether that model saw the persona is not said.",
        acc={f"{row.group}_{row.name}".removesuffix("_whole"): row.cells for row in found.rows},
    )
