"""The tables of a page's ranking: its runs with their measures, a few of them shown at first, and every pair."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ..analysis.documents import CaveatText, RankedRun, RankingEntry
from ..analysis.measures import SCORE
from ..analysis.persona_use import NONE, WRONG, PersonaUse
from ..analysis.ranking import Ranking
from ..analysis.sentences import opening
from ..core.report import DIFFERENCE, SHARE, Line
from ..logs.caveat import VOID
from ..stats.estimates import ALPHA, Estimate, percent
from . import rank_text
from .page_data import names as names_of
from .page_plots import Axis
from .table import NOT_MEASURED, NOTHING, interval, number

PLACE = (
    "the places that the data allow: below every run that is significantly better, above every run that is "
    "significantly worse; in 95 % of rankings the places of all runs are right"
)
TIED = (
    "the runs that this one is not significantly different from: paired by case, at the 5 % level for all pairs "
    "together; their places need not be neighbors"
)
SCORES = "the measure that is the score of a run: where log-odds are known, the accuracy without position bias"

MOST_NAMES = 3
"""Models that a sentence names."""

Cell = dict[str, Any]
"""Content of a cell: `text`; `aside`, its interval; `sort`, the number that orders it, empty where it is undefined."""


def columns(ranking: Ranking, numbers: Sequence[str]) -> list[dict[str, Any]]:
    """The columns after the models' one: heading, meaning, whether it is shown at first, its cells and their
    picture."""
    entry = ranking.entry
    first = [key for key, measure in entry.measures.items() if key == SCORE or measure.kind == "beside"]
    short = [*first, *entry.gains]
    long = [key for key in entry.measures if key not in short and entry.has(key)]

    def column(key: str) -> dict[str, Any]:
        measure = entry.measures[key]
        return {
            "heading": _heading(measure, ranking),
            "meaning": measure.meaning,
            "short": key in short,
            "cells": [_cell(measure, value) for value in entry.values(key)],
            "plots": _plots(entry, key) if key in entry.gains[:1] and entry.has(key) else None,
        }

    tied = [{"text": _tied(run, numbers), "aside": "", "sort": len(run.tied)} for run in entry.runs]
    ties = {"heading": "ties", "meaning": TIED, "short": True, "cells": tied, "plots": None}
    measured = [{"text": run.primary, "aside": "", "sort": run.primary} for run in entry.runs]
    named = {"heading": "score", "meaning": SCORES, "short": True, "cells": measured, "plots": None}
    several = [named] if len(entry.scores) > 1 else []
    return [*several, *map(column, short), *([ties] if len(entry.runs) > 1 else []), *map(column, long)]


def possible(ranking: RankingEntry, numbers: Sequence[str]) -> list[str]:
    """The places that each run may have; empty where that is the only one; `void` for void runs."""
    return [
        "void"
        if row.ranks is None
        else f"{numbers[row.ranks[0] - 1]}–{numbers[row.ranks[1] - 1]}"
        if row.ranks[0] < row.ranks[1]
        else ""
        for row in ranking.runs
    ]


Sentence = list[tuple[str, bool]]
"""Parts of a sentence: (text, whether it is the name of a model)."""


def lead(ranking: Ranking) -> list[Sentence]:
    """The sentences of a ranking: the most accurate model, models that use who the user is, and void ones."""
    runs = ranking.entry.runs
    if len(runs) < 2:
        return []
    void = [place for place, run in enumerate(runs) if run.void]
    sound = [place for place, run in enumerate(runs) if not run.void]
    if not sound:
        return [[("No verdict: the numbers are void.", False)]]
    left_out: list[Sentence] = (
        [[("The numbers of ", False), *_names(ranking, void), (" are void.", False)]] if void else []
    )
    return [*_verdict(ranking, sound), *left_out]


def _verdict(ranking: Ranking, sound: Sequence[int]) -> list[Sentence]:
    spec, runs = ranking.runs[0].benchmark.report, ranking.entry.runs
    best = runs[sound[0]]
    firsts = [place for place in sound if runs[place].rank == best.rank]
    score = best.measures[SCORE]
    assert score is not None  # every run has it
    has = "has" if len(firsts) == 1 else "share"
    first: Sentence = [
        *_names(ranking, firsts),
        (f" {has} the highest {score_name(ranking)}, {percent(score.value)} %", False),
    ]
    if tied := [place - 1 for place in best.tied if place - 1 in sound and place - 1 not in firsts]:
        differs = "is" if len(firsts) == 1 else "are"
        first += [(f", but {differs} not significantly different from ", False), *_names(ranking, tied)]
    control, uses = spec.control, ranking.uses
    if not any(uses):
        return [[*first, (".", False)]]
    asked = [place for place in sound if (use := uses[place]) and {WRONG, NONE} <= use.differences.keys()]
    with_both = f"asked with another user's {control.known} and {control.without} too"
    if not asked:
        nothing = f". Whether a model uses this user's {control.known} needs both controls: no model was {with_both}."
        return [[*first, (nothing, False)]]
    using = [place for place in asked if (use := uses[place]) and use.uses]
    of, none = f"Of {len(asked)} models that were {with_both}, ", "none"
    if len(asked) == 1:
        of, none = f"One model was {with_both}: ", "nothing"
    if not using:
        return [[*first, (f". {of}{none} shows that it uses this user's {control.known}.", False)]]
    using_it = f" use{'s' if len(using) == 1 else ''} this user's {control.known}."
    return [[*first, (".", False)], [(of, False), *_names(ranking, using), (using_it, False)]]


def _names(ranking: Ranking, places: Sequence[int]) -> Sentence:
    every = names_of(ranking)
    names = [(every[place], True) for place in places[:MOST_NAMES]]
    if more := len(places) - len(names):
        names.append((f"{more} other{'' if more == 1 else 's'}", False))
    parts: Sentence = names[:1]
    for count, name in enumerate(names[1:], start=2):
        parts += [(" and " if count == len(names) else ", ", False), name]
    return parts


def notes(ranking: RankingEntry) -> list[list[str]]:
    """Sentences on each run: void numbers, whether it uses who the user is, and its own caveats."""
    made = []
    for place, run in enumerate(ranking.runs, 1):
        texts = ["No verdict: its numbers are void."] if run.void else []
        texts += [opening(run.verdict)] if run.verdict else []
        own = [caveat for caveat in ranking.caveats if f"{place}" in caveat.about and is_of_models(caveat)]
        made.append([*texts, *(caveat.sentence for caveat in own)])
    return made


def is_of_models(caveat: CaveatText) -> bool:
    """Whether a caveat goes below the names of its models; VOID ones go above the table."""
    return caveat.severity != VOID and (len(caveat.about) == 1 or bool(caveat.about and caveat.short))


def pairs(ranking: RankingEntry) -> list[list[tuple[str, bool]]]:
    """Half a matrix: each run's differences to those below it, in points, and whether they are significant."""
    rows: dict[int, list[tuple[str, bool]]] = {}
    for pair in sorted(ranking.pairs, key=lambda pair: (pair.first, pair.second)):
        cell = (percent(pair.difference.value, sign=True), pair.p < ALPHA)
        rows.setdefault(pair.first, []).append(cell)
    return [*rows.values()]


def score_name(ranking: Ranking) -> str:
    """`accuracy`, or `accuracy (acc_sym)`; of runs with several measures the first word alone."""
    names = {run.score_name for run in ranking.runs}
    return (names.pop() if len(names) == 1 else ranking.runs[0].benchmark.report.score).lower()


def _heading(measure: Line, ranking: Ranking) -> str:
    unit = {SHARE: ", %", DIFFERENCE: ", points"}.get(measure.unit, "")
    name = score_name(ranking) if measure.key == SCORE else measure.label.replace("_", " ")
    return f"{name}{unit}"


def _cell(measure: Line, value: Estimate | None) -> Cell:
    if value is None or math.isnan(value.value):
        text = NOTHING
        if measure.kind == "difference":
            text = rank_text.NOT_ASKED if value is None else NOT_MEASURED
        return {"text": text, "aside": "", "sort": ""}
    aside = interval(value, sign=measure.unit == DIFFERENCE) if measure.is_share and measure.kind != "own" else ""
    return {"text": number(measure, value.value), "aside": aside, "sort": f"{value.value:.9g}"}


def _plots(ranking: RankingEntry, key: str) -> dict[str, Any]:
    values = ranking.values(key)
    there = [value for value in values if value is not None]
    axis = Axis.over([0.0, *(end for value in there for end in (value.value, value.low, value.high))], (-100.0, 100.0))
    return {
        "zero": axis.at(0),
        "bars": [value and axis.bar(value) for value in values],
        "signs": [
            "" if value is None else "yes" if run.use == PersonaUse.USES.value else "no"
            for value, run in zip(values, ranking.runs, strict=True)
        ],
    }


def _tied(run: RankedRun, numbers: Sequence[str]) -> str:
    # neighbors as a range: `2–4, 6`
    return re.sub(r"\d+", lambda place: numbers[int(place[0]) - 1], rank_text.ranges(run.tied))
