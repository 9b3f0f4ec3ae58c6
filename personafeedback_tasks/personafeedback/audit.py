"""Pairs that occur in several rows, and the label ceiling: higher accuracies mean nothing where labels contradict each other.

An audit lists and counts; it changes no case and repairs nothing. Texts are compared exactly, without normalization.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from statistics import fmean

import msgspec

from .. import __version__
from ..common.outputs import Output
from ..stats.estimates import Estimate, percent, share
from .baselines import CHANCE, Estimates
from .cases import PersonaCase, PersonaCases
from .cells import CATEGORIES
from .manifest import LabelNoise

AUDIT_VERSION = "4"
"""Rises whenever the same data can give different findings."""

MEANINGS = {
    "repeat": "The same user, question and pair of responses occur in several rows, always with the same label.",
    "contradiction": "The same user, question and pair of responses occur in several rows, with opposite labels.",
}
"""Every kind of finding, including those that the data do not have."""

CONTRADICTIONS = (
    "Label ceiling: an order-blind judge has at most this acc over the cells of the run (contradictory labels)"
)
ANOTHER_NINE = (
    "Label ceiling: the majority of another nine annotators like those who voted would have at most this acc over the cells of the run, as "
    "estimated from the votes (shortcuts that all annotators take are not in it; contradictory labels are)"
)


@dataclass(frozen=True)
class Finding:
    """One kind of possible flaw; `ids` of its cases are in the order of the release: by cell, then by line."""

    meaning: str
    ids: tuple[str, ...]

    @cached_property
    def cells(self) -> dict[str, int]:
        return dict(Counter(case_id.partition(":")[0] for case_id in self.ids))


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
    def flagged(self) -> frozenset[str]:
        """The ids of every row of a pair that occurs in several."""
        return frozenset(case.id for rows in self.repeats for case in rows)

    @cached_property
    def ceilings(self) -> dict[str, float]:
        """Category, and `total` over both -> highest accuracy of an order-blind judge, given contradictory labels."""
        present = [category for category in CATEGORIES if any(case.category == category for case in self.cases)]
        found = {category: self._ceiling([category]) for category in present}
        return {**found, "total": self._ceiling(present)} if len(present) > 1 else found

    def _ceiling(self, categories: Collection[str]) -> float:
        # For the same user, question and pair such a judge always picks the same response, so that of these rows only
        # those with the more frequent label can be right.
        wrong = 0
        for rows in self.repeats:
            labels = Counter(case.chosen for case in rows if case.category in categories)
            wrong += labels.total() - max(labels.values(), default=0)
        count = sum(case.category in categories for case in self.cases)
        return (count - wrong) / count

    def within(self, cells: Collection[str]) -> Audit:
        """Repeats and ceilings among the cases of some cells alone. The findings stay those of all."""
        some = replace(self.cases, cases=tuple(case for case in self.cases if case.cell in cells))
        repeats = (tuple(case for case in rows if case.cell in cells) for rows in self.repeats)
        return replace(self, cases=some, repeats=tuple(rows for rows in repeats if len(rows) > 1))

    def same_label(self, cells: Collection[str]) -> Estimate:
        """Share of repeated pairs whose label is always the same, among pairs with a row in `cells`."""
        pairs = [rows for rows in self.repeats if any(case.cell in cells for case in rows)]
        return share([float(not _opposite(rows)) for rows in pairs], [rows[0].user_id for rows in pairs])

    def document(self, found: Estimates, other: tuple[Estimates, Estimates] | None) -> AuditDocument:
        """What programs get of it.

        Args:
            found, other: results of `baselines.baselines` and `with_other_persona`.
        """
        wrong, difference = other or (None, None)
        return AuditDocument(
            audit_version=AUDIT_VERSION,
            version=__version__,
            data=self.cases.revision,
            cells={cell: self._describe(cell) for cell in self.cases.cells},
            users=len({case.user_id for case in self.cases}),
            findings={
                name: AuditFinding(finding.meaning, len(finding.ids), finding.cells, finding.ids)
                for name, finding in self.findings.items()
            },
            repeats=[
                Repeat([case.id for case in rows], "opposite" if _opposite(rows) else "same") for rows in self.repeats
            ],
            ceiling=self.ceilings,
            baselines=BaselineScores(chance=CHANCE, acc=found, other_persona=wrong, right_minus_wrong=difference),
        )

    def _describe(self, cell: str) -> AuditedCell:
        cases = self.cases.cells[cell]
        expected = self.cases.release.counts[cases[0].category, cases[0].difficulty]
        languages = Counter(case.language for case in cases)
        return AuditedCell(len(cases), expected, len({case.user_id for case in cases}), languages)


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
        cases: number of cases.
        cells: cell -> number of cases.
        ids: of the cases.
    """

    meaning: str
    cases: int
    cells: Mapping[str, int]
    ids: Sequence[str]


class Repeat(msgspec.Struct, frozen=True):
    """Cases with the same pair.

    Attributes:
        ids: of the cases.
        label: whether their labels agree: `same` or `opposite`.
    """

    ids: Sequence[str]
    label: str


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
        schema: the version of keys and units of all outputs.
        audit_version: the audit's version.
        version: the package's version.
        data: the data and their revision.
        cells: cell -> what it has.
        users: number of users.
        findings: finding -> its cases.
        repeats: cases with the same pair.
        ceiling: group -> highest accuracy of an order-blind judge, a share.
        baselines: what shortcuts reach.
    """

    audit_version: str
    version: str
    data: str
    cells: Mapping[str, AuditedCell]
    users: int
    findings: Mapping[str, AuditFinding]
    repeats: Sequence[Repeat]
    ceiling: Mapping[str, float]
    baselines: BaselineScores


def audit(cases: PersonaCases) -> Audit:
    """Search the cases for pairs that occur in several rows. Repeats in other cells are not seen."""
    in_order = [case for cell in cases.cells.values() for case in sorted(cell, key=_line)]
    pairs: dict[object, list[PersonaCase]] = defaultdict(list)
    for case in in_order:
        pairs[case.user_id, case.question, frozenset(case.responses)].append(case)
    repeats = tuple(tuple(rows) for rows in pairs.values() if len(rows) > 1)
    kind = {case.id: "contradiction" if _opposite(rows) else "repeat" for rows in repeats for case in rows}
    findings = {
        name: Finding(meaning, tuple(case.id for case in in_order if kind.get(case.id) == name))
        for name, meaning in MEANINGS.items()
    }
    return Audit(cases, findings, repeats)


def _opposite(rows: Iterable[PersonaCase]) -> bool:
    return len({case.chosen for case in rows}) > 1


def _line(case: PersonaCase) -> int:
    return int(case.id.partition(":")[2])


# --- the ceiling of a run ---------------------------------------------------------------------------------------------


def noise_of(cases: PersonaCases) -> LabelNoise | None:
    """The noise of these labels; None without a set.json that has it for every difficulty of the cases."""
    noise = cases.release.manifest.noise if cases.release.manifest else None
    return noise if noise and {case.difficulty for case in cases} <= noise.by_tier.keys() else None


def ceiling_sentence(cases: PersonaCases) -> str:
    """How the ceiling of these cases was found, without a full stop."""
    return ANOTHER_NINE if noise_of(cases) else CONTRADICTIONS


def label_ceilings(audited: Audit) -> dict[str, float]:
    """Category, or `total` -> the label ceiling, in [0, 1]: 1 minus the mean risk of its cases where that is lower."""
    noise = noise_of(audited.cases)
    if noise is None:
        return audited.ceilings
    found = {}
    for group, ceiling in audited.ceilings.items():
        risks = [noise.by_tier[case.difficulty] for case in audited.cases if group in ("total", case.category)]
        found[group] = min(ceiling, 1 - fmean(risks))
    return found


def repeated_labels(audited: Audit, cells: Collection[str]) -> str:
    """How often people gave a pair of these cells the same label twice, in a sentence; empty without such pairs."""
    same = audited.same_label(cells)
    if not same.n:
        return ""
    ends = "" if isnan(same.low) else f" (95 % interval {percent(same.low)} to {percent(same.high)})"
    return (
        f"Of {same.n:,} pairs in these cells that the data have twice, in any cells, {percent(same.value)} %{ends} got the same label "
        "both times."
    )
