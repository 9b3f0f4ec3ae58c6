"""Possible flaws of the labels: repeated pairs, the ceiling that their contradictions set, and shortcuts.

An audit lists and counts; it changes no case and repairs nothing. Texts are compared exactly, without normalization.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

from .. import __version__
from ..common.errors import choose
from ..common.statistics import Estimate, share
from .baselines import BASELINES, CHANCE, absent, as_json, by_group
from .cases import PersonaCase, PersonaCases
from .cells import PAPER_COUNTS
from .release import Release

AUDIT_VERSION = "4"
"""Rises whenever the same data can give different findings."""

MEANINGS = {
    "repeat": "The same user, question and pair of responses occur in several rows, always with the same label.",
    "contradiction": "The same user, question and pair of responses occur in several rows, with opposite labels.",
}
"""Every kind of finding, including those that the data do not have."""

SHORTCUTS = ("longest", "overlap", "name")
"""The baselines that are measured where they decide."""


@dataclass(frozen=True)
class Finding:
    """One kind of possible flaw; `ids` of its cases are in the order of the release: by cell, then by line."""

    meaning: str
    ids: tuple[str, ...]

    @cached_property
    def cells(self) -> dict[str, int]:
        return dict(Counter(id_.partition(":")[0] for id_ in self.ids))


@dataclass(frozen=True)
class Audit:
    """Findings on some cases.

    Attributes:
        findings: name -> finding, for every kind; one that the data do not have has no ids.
        repeats: the rows of each pair that occurs in several rows, in the order of the release.
    """

    cases: PersonaCases
    findings: dict[str, Finding]
    repeats: tuple[tuple[PersonaCase, ...], ...]

    @cached_property
    def shortcuts(self) -> dict[str, dict[str, Estimate]]:
        """Name -> group -> accuracy of that shortcut among the cases where it decides, which are its `n`."""
        return {name: _shortcut(BASELINES[name], self.cases) for name in SHORTCUTS}

    @cached_property
    def flagged(self) -> frozenset[str]:
        """The ids of every row of a pair that occurs in several."""
        return frozenset(id_ for finding in self.findings.values() for id_ in finding.ids)

    def ceiling(self, category: str | None = None) -> float:
        """Label ceiling: highest accuracy of an order-blind judge, given contradictory labels.

        For the same user, question and pair of responses it always picks the same response, so that of these rows
        only those with the more frequent label can be right.
        """
        categories = {case.category for case in self.cases}
        if category is not None:
            choose("category", category, tuple(sorted(categories)))
        wrong = 0
        for same in self.repeats:
            labels = Counter(case.chosen for case in same if category in (None, case.category))
            wrong += labels.total() - max(labels.values(), default=0)
        count = sum(category in (None, case.category) for case in self.cases)
        return (count - wrong) / count

    @cached_property
    def ceilings(self) -> dict[str, float]:
        """The label ceiling of every category that is present, and of `total` if both are."""
        categories = dict.fromkeys(category for category, _ in PAPER_COUNTS)
        present = {case.category for case in self.cases}
        of_category = {category: self.ceiling(category) for category in categories if category in present}
        return {**of_category, "total": self.ceiling()} if len(of_category) > 1 else of_category

    def within(self, cells: Collection[str]) -> Audit:
        """Repeats and ceilings among the cases of some cells alone. The findings stay those of all."""
        some = replace(self.cases, cases=tuple(case for case in self.cases if case.cell in cells))
        repeats = (tuple(case for case in rows if case.cell in cells) for rows in self.repeats)
        return replace(self, cases=some, repeats=tuple(rows for rows in repeats if len(rows) > 1))

    def same_label(self, cells: Collection[str]) -> Estimate:
        """Share of repeated pairs whose label is always the same, among pairs with a row in `cells`."""
        pairs = [rows for rows in self.repeats if any(case.cell in cells for case in rows)]
        return share([float(not _opposite(rows)) for rows in pairs], [rows[0].user_id for rows in pairs])

    def as_dict(self) -> dict[str, Any]:
        release = self.cases.release
        return {
            "audit_version": AUDIT_VERSION,
            "version": __version__,
            "data": self.cases.revision,
            "cells_absent": absent(self.cases),
            "counts_from": release.counts_from,
            "cells": {cell: _describe(cases, release) for cell, cases in self.cases.cells.items()},
            "users": len({case.user_id for case in self.cases}),
            "findings": {
                name: {
                    "meaning": finding.meaning,
                    "cases": len(finding.ids),
                    "cells": finding.cells,
                    "ids": list(finding.ids),
                }
                for name, finding in self.findings.items()
            },
            "flagged": [case.id for case in _in_release_order(self.cases) if case.id in self.flagged],
            "repeats": [
                {"ids": [case.id for case in rows], "label": "opposite" if _opposite(rows) else "same"}
                for rows in self.repeats
            ],
            "pairs_across_cells": pairs_across_cells(self.repeats),
            "ceiling": self.ceilings,
            "shortcuts": as_json(self.shortcuts),
        }


def audit(cases: PersonaCases) -> Audit:
    """Search the cases for pairs that occur in several rows. Repeats in other cells are not seen."""
    rows = _in_release_order(cases)
    pairs: dict[object, list[PersonaCase]] = defaultdict(list)
    for case in rows:
        pairs[_pair(case)].append(case)
    repeats = tuple(tuple(same) for same in pairs.values() if len(same) > 1)
    ids = {
        "repeat": {case.id for same in repeats if not _opposite(same) for case in same},
        "contradiction": {case.id for same in repeats if _opposite(same) for case in same},
    }
    findings = {
        name: Finding(meaning, tuple(case.id for case in rows if case.id in ids[name]))
        for name, meaning in MEANINGS.items()
    }
    return Audit(cases, findings, repeats)


def pairs_across_cells(repeats: Iterable[tuple[PersonaCase, ...]]) -> dict[str, dict[str, int]]:
    """Cells in which a pair occurs, joined by ` + ` -> number of such pairs with the same label, and with opposite."""
    counts: dict[str, dict[str, int]] = {}
    for rows in repeats:
        label = "opposite" if _opposite(rows) else "same"
        counts.setdefault(" + ".join(case.cell for case in rows), {"same": 0, "opposite": 0})[label] += 1
    return counts


def _pair(case: PersonaCase) -> object:
    return case.user_id, case.question, frozenset(case.responses)


def _opposite(rows: Iterable[PersonaCase]) -> bool:
    return len({case.chosen for case in rows}) > 1


def _in_release_order(cases: PersonaCases) -> list[PersonaCase]:
    return [case for cell in cases.cells.values() for case in sorted(cell, key=_line)]


def _line(case: PersonaCase) -> int:
    return int(case.id.partition(":")[2])


def _shortcut(judge: Callable[[PersonaCase], float], cases: PersonaCases) -> dict[str, Estimate]:
    return by_group(cases, {case.id: acc for case in cases if (acc := judge(case)) != CHANCE})


def _describe(cases: tuple[PersonaCase, ...], release: Release) -> dict[str, Any]:
    return {
        "cases": len(cases),
        "expected": release.counts[cases[0].category, cases[0].difficulty],
        "users": len({case.user_id for case in cases}),
        "languages": dict(Counter(case.language for case in cases)),
        "median_characters": {
            "persona": float(median(len(case.persona.text) for case in cases)),
            "question": float(median(len(case.question) for case in cases)),
            "chosen": float(median(len(case.chosen) for case in cases)),
            "rejected": float(median(len(case.rejected) for case in cases)),
        },
    }
