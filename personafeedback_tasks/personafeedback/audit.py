"""Pairs that occur in several rows, and the label ceiling, above which accuracies mean nothing.

An audit lists and counts; it changes no case and repairs nothing. Texts are compared exactly, without normalization.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan
from statistics import fmean

import msgspec

from .. import __version__
from ..common.outputs import Output
from ..pairwise.orders import TWO
from ..stats.estimates import Estimate, percent, share
from .baselines import Estimates
from .cases import PersonaCase, PersonaCases
from .cells import CATEGORIES, category_of, difficulty_of

AUDIT_VERSION = "4"
"""Rises whenever the same data can give different findings."""

MEANINGS = {
    "repeat": "The same user, question and pair of responses occur in several rows, always with the same label.",
    "contradiction": "The same user, question and pair of responses occur in several rows, with opposite labels.",
}
"""Every kind of finding, including those that the data do not have."""


@dataclass(frozen=True)
class Audit:
    """What was found in some cases."""

    cases: PersonaCases
    # of MEANINGS -> the rows of each such pair, in the order of the release: by cell, then by line
    repeats: Mapping[str, Sequence[Sequence[PersonaCase]]]

    def found(self, finding: str) -> list[PersonaCase]:
        """The cases of one of MEANINGS."""
        return [*chain.from_iterable(self.repeats[finding])]

    def ceilings(self, cells: Collection[str]) -> dict[str, float]:
        """Category, and `total` over both -> highest accuracy of an order-blind judge over these cells, in [0, 1]."""
        # For the same user, question and pair such a judge always picks the same response: of these rows only those
        # with the more frequent label can be right.
        found = {}
        for group, within in _groups(cells).items():
            count = sum(len(self.cases.cells[cell]) for cell in within)
            wrong = 0
            for rows in self.repeats["contradiction"]:
                labels = Counter(case.chosen for case in rows if case.cell in within)
                wrong += labels.total() - max(labels.values(), default=0)
            found[group] = (count - wrong) / count
        return found


def _groups(cells: Collection[str]) -> dict[str, list[str]]:
    # category -> its cells among these; `total`: all of them, where both categories are there
    found: dict[str, list[str]] = {}
    for cell in sorted(cells, key=lambda cell: CATEGORIES.index(category_of(cell))):
        found.setdefault(category_of(cell), []).append(cell)
    return {**found, "total": [*cells]} if len(found) > 1 else found


def audit(cases: PersonaCases) -> Audit:
    """Search the cases for pairs that occur in several rows. Repeats in other cells are not seen."""
    pairs: dict[object, list[PersonaCase]] = defaultdict(list)
    for cell in cases.cells.values():
        for case in sorted(cell, key=lambda case: case.line):
            pairs[case.user_id, case.question, frozenset(case.responses)].append(case)
    repeats: dict[str, list[list[PersonaCase]]] = {name: [] for name in MEANINGS}
    for rows in pairs.values():
        if len(rows) > 1:
            labels = {case.chosen for case in rows}
            repeats["repeat" if len(labels) == 1 else "contradiction"].append(rows)
    return Audit(cases, repeats)


def label_ceilings(audited: Audit, cells: Collection[str]) -> tuple[dict[str, float], str]:
    """(category, or `total` -> the label ceiling over some cells in [0, 1], how reports say it).

    Where a set has the risk of its labels, it is 1 minus the mean risk of the cases, if that is lower than what
    contradictory labels leave.
    """
    ceilings, manifest = audited.ceilings(cells), audited.cases.release.manifest
    risks = manifest.noise.by_tier if manifest and manifest.noise else {}
    if not {difficulty_of(cell) for cell in cells} <= risks.keys():
        return ceilings, (
            "Label ceiling: an order-blind judge has at most this acc over the cells of the run (contradictory labels): {}."
        )
    for group, within in _groups(cells).items():
        risk = fmean(risks[case.difficulty] for cell in within for case in audited.cases.cells[cell])
        ceilings[group] = min(ceilings[group], 1 - risk)
    return ceilings, (
        "Label ceiling: the majority of another nine annotators like those who voted would have at most this acc over "
        "the cells of the run, as estimated from the votes (shortcuts that all annotators take are not in it; "
        "contradictory labels are): {}."
    )


def repeated_labels(audited: Audit, cells: Collection[str]) -> str:
    """How often people gave a pair of these cells the same label twice, in a sentence; empty without such pairs."""
    alike, users = [], []
    for name, pairs in audited.repeats.items():
        for rows in pairs:
            if any(case.cell in cells for case in rows):
                alike.append(float(name == "repeat"))
                users.append(rows[0].user_id)
    if not alike:
        return ""
    same = share(alike, users)
    ends = "" if isnan(same.low) else f" (95 % interval {percent(same.low)} to {percent(same.high)})"
    return (
        f"Of {same.n:,} pairs in these cells that the data have twice, in any cells, {percent(same.value)} %{ends} "
        "got the same label both times."
    )


# --- what programs get ------------------------------------------------------------------------------------------------


class AuditedCell(msgspec.Struct, frozen=True):
    """A cell of the data.

    Attributes:
        cases: cases at hand.
        expected: cases that there must be; null if unknown.
        users: number of users.
        languages: language -> cases.
    """

    cases: int
    expected: int | None
    users: int
    languages: Mapping[str, int]


class AuditFinding(msgspec.Struct, frozen=True):
    """Cases with something to know about.

    Attributes:
        meaning: the finding in words.
        cells: cell -> number of cases.
        repeats: ids of the cases, in a list for each pair, in the order of the release: by cell, then by line.
    """

    meaning: str
    cells: Mapping[str, int]
    repeats: Sequence[Sequence[str]]


class BaselineScores(msgspec.Struct, frozen=True, kw_only=True):
    """What shortcuts reach without a model: judges that see the texts alone.

    Attributes:
        chance: accuracy of chance, a share.
        acc: baseline -> group -> accuracy.
        other_persona: the same with another user's persona; null where no case has one.
        right_minus_wrong: their difference.
    """

    chance: float
    acc: Mapping[str, Mapping[str, Estimate]]
    other_persona: Mapping[str, Mapping[str, Estimate]] | None
    right_minus_wrong: Mapping[str, Mapping[str, Estimate]] | None


class AuditDocument(Output, frozen=True, kw_only=True):
    """`personafeedback audit --json`.

    Attributes:
        audit_version: the audit's version.
        version: the package's version.
        data: the data and their revision.
        cells: cell -> what it has.
        users: number of users.
        findings: finding -> its cases, none where the data do not have it.
        ceiling: group -> highest accuracy of an order-blind judge, a share.
        baselines: what shortcuts reach.
    """

    audit_version: str
    version: str
    data: str
    cells: Mapping[str, AuditedCell]
    users: int
    findings: Mapping[str, AuditFinding]
    ceiling: Mapping[str, float]
    baselines: BaselineScores


def document_of(audited: Audit, acc: Estimates, other: tuple[Estimates, Estimates] | None) -> AuditDocument:
    """What programs get of an audit and of `baselines.baselines` and `baselines.with_other_persona`."""
    cases = audited.cases
    wrong, difference = other or (None, None)
    return AuditDocument(
        audit_version=AUDIT_VERSION,
        version=__version__,
        data=cases.revision,
        cells={
            name: AuditedCell(
                cases=len(cell),
                expected=cases.release.counts[name],
                users=len({case.user_id for case in cell}),
                languages=Counter(case.language for case in cell),
            )
            for name, cell in cases.cells.items()
        },
        users=len({case.user_id for case in cases}),
        findings={
            name: AuditFinding(
                meaning=meaning,
                cells=Counter(case.cell for case in audited.found(name)),
                repeats=[[case.id for case in rows] for rows in audited.repeats[name]],
            )
            for name, meaning in MEANINGS.items()
        },
        ceiling=audited.ceilings(cases.cells),
        baselines=BaselineScores(chance=TWO.chance, acc=acc, other_persona=wrong, right_minus_wrong=difference),
    )
