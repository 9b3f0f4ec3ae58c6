"""Rankings and the cases behind them -> one HTML file to look at, which asks the network for nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..analysis.documents import SCORE, Balance, RankedRun
from ..analysis.persona_use import PersonaUse
from ..analysis.ranking import Ranking
from ..analysis.sentences import opening
from ..common import web
from ..core.report import Line
from ..logs.caveat import VOID, Caveat
from ..stats.estimates import ALPHA, Estimate, percent
from . import page_plots, rank_text
from .page_data import Part, data, parts_of
from .table import in_unit, interval, number, spaced

FILES = Path(__file__).with_suffix("")
"""The template, the style and the scripts."""

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


def render(rankings: Sequence[Ranking], balance: Sequence[Balance]) -> str:
    """The page."""
    parts = parts_of(rankings)
    document = data(parts)
    return web.page(
        FILES / "page",
        document,
        scripts=("ranking", "list", "case"),
        title=", ".join(dict.fromkeys(part.first.title for part in parts)),
        cases=len(document["cases"]),
        users=len({case["user"] for case in document["cases"]}),
        runs=len(document["runs"]),
        parts=[_section(part, len(parts) > 1) for part in parts],
        planes=page_plots.planes(balance),
        reasons=rank_text.reasons([part.entry for part in parts]),
        place_meaning=PLACE,
    )


def _section(part: Part, several: bool) -> dict[str, Any]:
    first, entry, numbers = part.first, part.entry, part.numbers
    pairs: dict[int, list[tuple[str, bool]]] = {}  # half a matrix: differences to the runs below, whether significant
    for pair in entry.pairs:
        pairs.setdefault(pair.first, []).append((percent(pair.difference.value, sign=True), pair.p < ALPHA))
    return {
        "heading": f"Ranking {numbers[0].partition('.')[0]}: {first.title}" if several else first.title,
        "about": _about(part),
        "asks": first.benchmark.report.asks,
        "title": entry.title,
        "lead": _lead(part),
        "caveats": [
            (", ".join(numbers[int(place) - 1] for place in caveat.about), caveat.sentence)
            for caveat in entry.caveats
            if not _is_of_models(caveat)
        ],
        "has_texts": part.shown is not None,
        "rows": [_row(part, place, run) for place, run in enumerate(entry.runs)],
        "columns": _columns(part),
        "score": _score_name(part).capitalize(),
        "forest": page_plots.forest(part.ranking),
        "pairs": [*pairs.values()],
    }


def _about(part: Part) -> str:
    # the cells, how many cases and users, how they were asked, and when
    first, entry = part.first, part.entry
    every = first.benchmark.cells
    whole = len(entry.cells) == len(every) > 1
    cells = f"All {len(every)} cells" if whole else ", ".join(spaced(cell) for cell in entry.cells)
    options = first.benchmark.options.remarks(entry.asked)
    days = sorted(run.date[:10] for run in part.ranking.runs)
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    users = f"{entry.users:,} user{'' if entry.users == 1 else 's'}"
    text = "; ".join(filter(None, [f"{cells}: {entry.cases:,} cases of {users}", ", ".join(options), dates]))
    return f"{text[:1].upper()}{text[1:]}"


def _score_name(part: Part) -> str:
    # `accuracy`, or `accuracy (acc_sym)`; of runs with several measures the first word alone
    names = {run.score for run in part.entry.runs}
    return (names.pop() if len(names) == 1 else part.first.benchmark.report.score).lower()


def _is_of_models(caveat: Caveat) -> bool:
    # whether it goes below the names of its models; VOID ones go above the table
    return caveat.severity != VOID and (len(caveat.about) == 1 or bool(caveat.about and caveat.short))


# --- the table --------------------------------------------------------------------------------------------------------


def _row(part: Part, place: int, run: RankedRun) -> dict[str, Any]:
    best, worst = (part.numbers[rank - 1] for rank in run.ranks) if run.ranks else ("", "")
    notes = ["No verdict: its numbers are void."] if run.void else []
    notes += [opening(run.verdict)] if run.verdict else []
    own = [caveat for caveat in part.entry.caveats if f"{place + 1}" in caveat.about and _is_of_models(caveat)]
    return {
        "number": part.numbers[place],
        "name": run.shown,
        "possible": rank_text.VOID if run.void else f"{best}–{worst}" if best != worst else "",
        "notes": [*notes, *(caveat.sentence for caveat in own)],
        "signature": run.signature,
    }


def _columns(part: Part) -> list[dict[str, Any]]:
    # after the models' one: heading, meaning, whether it is shown at first, its cells and their picture
    entry, keys = part.entry, part.entry.short
    short = [_column(part, key, is_short=True) for key in keys]
    long = [_column(part, key) for key in entry.measures if key not in keys and entry.has(key)]
    if len(entry.scores) > 1:
        named = [{"text": run.primary, "aside": "", "sort": run.primary} for run in entry.runs]
        short.insert(0, {"heading": "score", "meaning": SCORES, "short": True, "cells": named, "plots": None})
    if len(entry.runs) > 1:
        tied = [{"text": _tied(run, part.numbers), "aside": "", "sort": len(run.tied)} for run in entry.runs]
        short.append({"heading": "ties", "meaning": TIED, "short": True, "cells": tied, "plots": None})
    return [*short, *long]


def _column(part: Part, key: str, is_short: bool = False) -> dict[str, Any]:
    entry, measure = part.entry, part.entry.measures[key]
    name = _score_name(part) if key == SCORE else measure.label.replace("_", " ")
    return {
        "heading": in_unit(name, measure.unit),
        "meaning": measure.meaning,
        "short": is_short,
        "cells": [_cell(measure, value, rank_text.absent(entry, key)) for value in entry.values(key)],
        "plots": page_plots.bars(entry, key) if key in entry.gains[:1] and entry.has(key) else None,
    }


def _cell(measure: Line, value: Estimate | None, absent: str) -> dict[str, Any]:
    # `text`; `aside`, its interval; `sort`, the number that orders it, empty where it is undefined
    if value is None:
        return {"text": absent, "aside": "", "sort": ""}
    text = number(value.value, measure.unit)
    if math.isnan(value.value):
        return {"text": text, "aside": "", "sort": ""}
    aside = interval(value, measure.unit) if measure.is_share and measure.kind != "own" else ""
    return {"text": text, "aside": aside, "sort": f"{value.value:.9g}"}


def _tied(run: RankedRun, numbers: Sequence[str]) -> str:
    # neighbors as a range: `2–4, 6`
    return re.sub(r"\d+", lambda place: numbers[int(place[0]) - 1], rank_text.ranges(run.tied))


# --- the sentences above it: the most accurate model, models that use who the user is, and void ones --------------------

Sentence = list[tuple[str, bool]]
"""Parts of a sentence: (text, whether it is the name of a model)."""


def _lead(part: Part) -> list[Sentence]:
    runs = part.entry.runs
    if len(runs) < 2:
        return []
    sound = [place for place, run in enumerate(runs) if not run.void]
    if not sound:
        return [[("No verdict: the numbers are void.", False)]]
    sentences = _verdict(part, sound)
    if void := [place for place, run in enumerate(runs) if run.void]:
        sentences.append([("The numbers of ", False), *_names(part, void), (" are void.", False)])
    return sentences


def _verdict(part: Part, sound: Sequence[int]) -> list[Sentence]:
    runs, control = part.entry.runs, part.first.benchmark.report.control
    best = runs[sound[0]]
    firsts = [place for place in sound if runs[place].rank == best.rank]
    score = best.measures[SCORE]
    assert score is not None  # every run has it
    has, differs = ("has", "is") if len(firsts) == 1 else ("share", "are")
    first = [*_names(part, firsts), (f" {has} the highest {_score_name(part)}, {percent(score.value)} %", False)]
    if tied := [place - 1 for place in best.tied if place - 1 in sound and place - 1 not in firsts]:
        first += [(f", but {differs} not significantly different from ", False), *_names(part, tied)]
    if all(run.controlled is None for run in runs):
        return [[*first, (".", False)]]
    asked = [place for place in sound if runs[place].controlled]
    with_both = f"asked with another user's {control.known} and {control.without} too"
    if not asked:
        nothing = f". Whether a model uses this user's {control.known} needs both controls: no model was {with_both}, on the same cases."
        return [[*first, (nothing, False)]]
    using = [place for place in asked if runs[place].use == PersonaUse.USES.value]
    of, none = f"Of {len(asked)} models that were {with_both}, ", "none"
    if len(asked) == 1:
        of, none = f"One model was {with_both}: ", "nothing"
    if not using:
        return [[*first, (f". {of}{none} shows that it uses this user's {control.known}.", False)]]
    using_it = f" use{'s' if len(using) == 1 else ''} this user's {control.known}."
    return [[*first, (".", False)], [(of, False), *_names(part, using), (using_it, False)]]


def _names(part: Part, places: Sequence[int]) -> Sentence:
    names = [(part.entry.runs[place].shown, True) for place in places[:MOST_NAMES]]
    if more := len(places) - len(names):
        names.append((f"{more} other{'' if more == 1 else 's'}", False))
    parts: Sentence = names[:1]
    for count, name in enumerate(names[1:], start=2):
        parts += [(" and " if count == len(names) else ", ", False), name]
    return parts
