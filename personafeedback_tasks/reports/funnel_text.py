"""Where the chain breaks, as a table of all models and their parts, with what the ratings depend on and what filters do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..analysis.filtered import MEASURES, OVER_SELECTION, FilterEffect
from ..analysis.funnel import STEPS, Funnel, MadeChain
from ..analysis.rating import AT_EQUAL_LENGTH, DOUBLING, MENTION, RatingModel
from ..common.statistics import Estimate, percent
from ..common.strict_json import jsonable
from ..engine.report import Published
from ..runs.signature_line import signature_line
from .blocks import Block, bullets, paragraph, signatures
from .report_text import figure_tables
from .table import NOTHING, Column, Table, ratio, signed, with_ends, with_interval

TITLE = "Where the chain breaks"

TERMS = {
    AT_EQUAL_LENGTH: "rating at equal length, no attribute named",
    DOUBLING: "twice the length adds",
    MENTION: "naming an attribute adds",
}

COMPARABLE = (
    "Of these only the share of replies that are no better than generic is also a column above; its people, prompts and models differ. "
    "F1 and kappa are of judges of relevance: `personafeedback report` has them for a run of recenter_relevance."
)
"""What is comparable of the published figures."""


@dataclass(frozen=True)
class ChainReport:
    """All that is said of one model's chain.

    Attributes:
        rating: None where too few replies are rated.
        filters: one for each filter that was asked and had something to filter.
    """

    made: MadeChain
    funnel: Funnel
    rating: RatingModel | None
    filters: Sequence[FilterEffect]


def blocks(reports: Sequence[ChainReport], published: Sequence[Published]) -> list[Block]:
    """The report of some models."""
    found = [step for step in STEPS if any(step.name in report.funnel.steps for report in reports)]
    return [
        *(bullets(report.funnel.notes, f"{report.funnel.model}:") for report in reports),
        _table(reports),
        bullets([f"{step.label}: {step.meaning}." for step in found]),
        *_ratings(reports),
        *_filters(reports),
        *_published(published),
        signatures({f"{report.funnel.model}, {name}": signature_line(run) for report in reports for name, run in report.made.runs.items()}),
    ]  # fmt: skip


def _table(reports: Sequence[ChainReport]) -> Table:
    rows: list[tuple[str, Mapping[str, Estimate]]] = []
    for report in reports:
        rows.append((report.funnel.model, report.funnel.steps))
        for split, parts in report.funnel.parts.items():
            name = {"source": "{}", "sensitive": "{} prompts", "attributes": "{} attributes"}[split]
            rows += [(f"  {name.format(part)}", steps) for part, steps in parts.items()]
    columns = [
        column
        for step in STEPS
        for column in with_interval(step.label, [steps.get(step.name) for _, steps in rows], strong=False)
    ]
    return Table("", tuple(label for label, _ in rows), tuple(columns), whole=True)


def _ratings(reports: Sequence[ChainReport]) -> list[Block]:
    rated = [report for report in reports if report.rating]
    if not rated:
        return []
    columns = []
    for name, title in TERMS.items():
        number = partial(ratio if name == AT_EQUAL_LENGTH else signed, digits=2)
        of_runs = [report.rating.terms.get(name) for report in rated if report.rating]
        columns.append(Column(title, tuple(NOTHING if one is None else with_ends(one, number) for one in of_runs)))
    columns.append(Column("replies", tuple(f"{report.rating.replies:,}" for report in rated if report.rating)))
    names = tuple(report.funnel.model for report in rated)
    return [
        Table("What ratings depend on", names, tuple(columns), corner="1 to 5", whole=True),
        paragraph(
            "Least squares of people's mean rating (3: as good as the generic reply) on the binary logarithm of the length ratio and on whether a "
            "sentence of the reply names an attribute; errors from a jackknife over users and prompts."
        ),
    ]


def _filters(reports: Sequence[ChainReport]) -> list[Block]:
    """Each measure of each filter, without and with it."""
    found: list[Block] = []
    effects = [(report.funnel.model, effect) for report in reports for effect in report.filters]
    rows = [
        (f"{model}: {MEASURES[effect.stage][name][0]}", name, estimates)
        for model, effect in effects
        for name, estimates in effect.measures.items()
    ]
    if rows:
        titles = ("without the filter", "with it", "with minus without, paired")
        columns = [
            Column(title, tuple(_shown(name, estimates[place], place == 2) for _, name, estimates in rows))
            for place, title in enumerate(titles)
        ]
        found.append(
            Table("What the filters change", tuple(row[0] for row in rows), tuple(columns), "% or ratio", whole=True)
        )
    notes = [
        f"{model}, {effect.stage}: {effect.rows:,} judged rows, each answered by a model that had not seen its user."
        + (f" {effect.left_out:,} more are left out: the filter was trained on their users." if effect.left_out else "")
        for model, effect in effects
    ]  # fmt: skip
    return [*found, bullets(notes)]


def _published(published: Sequence[Published]) -> list[Block]:
    if not published:
        return []
    whys = dict.fromkeys(one.why for one in published)
    return [*map(paragraph, whys), paragraph(COMPARABLE), *(table for one in published for table in figure_tables(one))]


def _shown(name: str, of: Estimate, difference: bool) -> str:
    if name == OVER_SELECTION:
        return with_ends(of, partial(signed if difference else ratio, digits=2))
    return with_ends(of, partial(percent, sign=difference))


def document(reports: Sequence[ChainReport], published: Sequence[Published]) -> dict[str, Any]:
    """Ready for JSON: shares from 0 to 1. A share that cannot be formed is not there."""
    return jsonable(
        {
            "models": [
                {
                    "model": report.funnel.model,
                    "signatures": {name: signature_line(run) for name, run in report.made.runs.items()},
                    "steps": report.funnel.steps,
                    "parts": report.funnel.parts,
                    "rating": {"replies": report.rating.replies, "terms": report.rating.terms} if report.rating else None,
                    "filters": [
                        {
                            "stage": effect.stage,
                            "rows": effect.rows,
                            "left_out": effect.left_out,
                            "measures": {
                                name: dict(zip(("without", "with", "difference"), estimates, strict=True))
                                for name, estimates in effect.measures.items()
                            },
                        }
                        for effect in report.filters
                    ],
                    "notes": report.funnel.notes,
                }
                for report in reports
            ],
            "published": [
                {"why": one.why, "figures": {line.title: values for line, values in one.figures}} for one in published
            ],
        }
    )  # fmt: skip
