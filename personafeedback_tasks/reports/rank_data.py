"""A ranking as JSON and CSV, with the same measures whatever is at hand; `common/outputs.schema.json` has the keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..analysis.balance import balances
from ..analysis.measures import KINDS, SCORE, Measure
from ..analysis.ranking import Ranked, Ranking
from ..common.outputs import SCHEMA, jsonable
from ..common.tables import lines_text
from ..logs.signature_line import signature_line
from .sentences import as_dicts, use_name, uses_known


def document(rankings: Sequence[Ranking]) -> dict[str, Any]:
    """Ready for JSON; nan becomes None."""
    return jsonable(
        {
            "rankings": list(map(_document, rankings)),
            "balance": [{"model": one.model, "values": one.values} for one in balances(rankings)],
        }
    )


def _document(ranking: Ranking) -> dict[str, Any]:
    return {
        "asked": ranking.asked,
        "cases": ranking.cases,
        "users": ranking.users,
        "cells": ranking.cells,
        "caveats": as_dicts(ranking.caveats),
        "measures": {
            measure.key: {"heading": measure.heading, "unit": measure.unit, "kind": measure.kind}
            for measure in ranking.measures
        },
        "runs": [
            {
                "model": row.run.model,
                "name": row.run.name,
                "label": row.run.label,
                "harness": row.run.harness,
                "method": row.run.method.name,
                "primary": row.run.primary,
                "signature": signature_line(row.run),
                "partial": bool(row.run.partial),
                "void": row.rank is None,
                "rank": row.rank,
                "ranks": row.ranks,
                "tied": row.tied,
                "verdict": uses_known(use) if use else None,
                "use": use_name(use) if use else None,
                "measures": {measure.key: row.values[measure.key] for measure in ranking.measures},
            }
            for row, use in zip(ranking.rows, ranking.uses, strict=True)
        ],
        "pairs": ranking.pairs,
    }


def as_csv(rankings: Sequence[Ranking]) -> str:
    """One row per run. The columns follow from the benchmarks; what a run lacks is empty."""
    of_key = {measure.key: measure for ranking in rankings for measure in ranking.measures}
    listed = sorted(of_key.values(), key=lambda measure: KINDS.index(measure.kind))
    main, others = (
        [part for measure in listed if (measure.kind == "score") is first for part in _parts(measure)]
        for first in (True, False)
    )
    lines: list[list[Any]] = [
        [
            "schema", "ranking", "place", "void", "rank", "rank_low", "rank_high", "tied", "verdict", "use", "name", "model", "harness", "method", "primary",
            "partial", *main, "cases", "users", *others, "caveats", "signature",
        ]
    ]  # fmt: skip
    for number, ranking in enumerate(rankings, start=1):
        for place, (row, use) in enumerate(zip(ranking.rows, ranking.uses, strict=True), start=1):
            run = row.run
            caveats = [caveat.key for caveat in ranking.caveats if not caveat.about or f"{place}" in caveat.about]
            numbers = {name: text for measure in ranking.measures for name, text in _parts(measure, row).items()}
            lines.append([
                SCHEMA, number, place, int(row.rank is None), *_ranks(row), " ".join(map(str, row.tied)), uses_known(use) if use else "", (use_name(use) if use else None) or "", run.name, run.model,
                run.harness, run.method.name, run.primary, int(bool(run.partial)), *(numbers.get(name, "") for name in main), ranking.cases,
                ranking.users, *(numbers.get(name, "") for name in others), " ".join(caveats), signature_line(run),
            ])  # fmt: skip
    return lines_text(lines)


def _ranks(row: Ranked) -> tuple[object, ...]:
    return ("", "", "") if row.ranks is None else (row.rank, *row.ranks)


def _parts(measure: Measure, row: Ranked | None = None) -> dict[str, str]:
    """Column of the CSV file -> its text for a run; empty where undefined."""
    value = row.values[measure.key] if row else None
    prefix = "" if measure.key == SCORE else f"{measure.key}_"
    names = {measure.key: "value", **{f"{prefix}{end}": end for end in ("low", "high")}}
    numbers = {name: getattr(value, field, math.nan) for name, field in names.items()}
    return {name: "" if math.isnan(number) else f"{number:.6f}" for name, number in numbers.items()}
