"""The scenario of a case, where its row has one, by the eight categories of the paper's Table 5.

The release at hand has no such key.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from .cases import Case
from .paper.tables import table

KEY = "scenario"
"""Of a row: a scenario or a category, as Table 5 prints it."""

OTHER = "other scenarios"
"""Of a value that Table 5 does not have."""


def scenarios(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Category of Table 5, or OTHER -> its cases, in the order of the table. Those that no case has are left out."""
    found: dict[str, list[Case]] = {name: [] for name in (*_categories().values(), OTHER)}
    for case in cases:
        value = case.extra.get(KEY)
        if value is not None:
            found[_categories().get(value, OTHER) if isinstance(value, str) else OTHER].append(case)
    return {name: members for name, members in found.items() if members}


@cache
def _categories() -> dict[str, str]:
    """Scenario or category -> category."""
    return {value: row.name for row in table("5").rows for value in (row.name, *row.about["scenarios"])}
