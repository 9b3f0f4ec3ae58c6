"""Where the chain breaks, in words and as JSON: one table of all models and their parts, and one of the filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..common.records import jsonable
from ..common.statistics import Estimate, percent
from ..recenter.effect import MEASURES, OVER_SELECTION, FilterEffect
from ..recenter.funnel import SENSITIVE, STEPS, Funnel
from ..reports.blocks import Block, bullets, markdown, paragraph, signatures
from ..reports.table import Column, Table, points, ratio, signed, with_ends, with_interval

ABOUT = "Intervals: over users, and over prompts as well where users share them."

NOUNS = {"source": "conversations", SENSITIVE: "prompts"}
"""Split -> what its parts are of."""


class ChainResult(NamedTuple):
    """One model's chain, and the effect of each filter that had something to filter."""

    funnel: Funnel
    filters: Sequence[FilterEffect]


def blocks(results: Sequence[ChainResult], of_runs: Mapping[str, str]) -> list[Block]:
    """The output, with the signature of each run."""
    rows = [row for one in results for row in _rows(one.funnel)]
    found = [step for step in STEPS if any(step.name in shares for _, shares in rows)]
    columns = [
        column
        for step in found
        for column in with_interval(step.label, [shares.get(step.name) for _, shares in rows], strong=False)
    ]
    return [
        *(bullets(list(one.funnel.notes), f"{one.funnel.model}:") for one in results),
        Table("", tuple(label for label, _ in rows), tuple(columns), whole=True),
        bullets([*(f"{step.label}: {step.meaning}." for step in found), ABOUT]),
        *_filters(results),
        signatures(of_runs),
    ]


def _rows(funnel: Funnel) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
    yield funnel.model, funnel.steps
    for split, parts in funnel.parts.items():
        for part, steps in parts.items():
            yield f"  {part} {NOUNS[split]}", steps


def _filters(results: Sequence[ChainResult]) -> list[Block]:
    effects = [(one.funnel.model, effect) for one in results for effect in one.filters if effect.rows]
    labels, cells = [], []
    for model, effect in effects:
        for name, (without, with_it, difference) in effect.measures.items():
            is_ratio = name == OVER_SELECTION
            share, change = (_ratio, _change) if is_ratio else (percent, points)
            labels.append(f"{model}: {MEASURES[name][0]}")
            cells.append((with_ends(without, share), with_ends(with_it, share), with_ends(difference, change)))
    if not effects:
        return []
    titles = ("without the filter", "with it", "with minus without, paired")
    columns = tuple(Column(title, of) for title, of in zip(titles, zip(*cells, strict=True), strict=True))
    table = Table("What the filters change", tuple(labels), columns, corner="% or ratio", whole=True)
    return [table, paragraph(" ".join(f"{model}: {effect.note}" for model, effect in effects)), paragraph()]


def _ratio(value: float) -> str:
    return ratio(value, digits=2)


def _change(value: float) -> str:
    return signed(value, digits=2)


def text(results: Sequence[ChainResult], of_runs: Mapping[str, str]) -> str:
    """chain.md."""
    return f"# Where the chain breaks\n\n{markdown(blocks(results, of_runs))}"


def document(results: Sequence[ChainResult], of_runs: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """For JSON: shares from 0 to 1; a share without judgments is absent. `of_runs`: model -> stage -> signature."""
    models = [
        {
            "model": funnel.model,
            "signatures": of_runs[funnel.model],
            "steps": funnel.steps,
            "parts": funnel.parts,
            "filters": [
                {
                    "rows": effect.rows,
                    "left_out": effect.left_out,
                    "measures": {
                        name: dict(zip(("without", "with", "difference"), estimates, strict=True))
                        for name, estimates in effect.measures.items()
                    },
                }
                for effect in filters
            ],
            "notes": funnel.notes,
        }
        for funnel, filters in results
    ]
    found: dict[str, Any] = jsonable({"models": models})
    return found
