"""A ranking on a terminal and in Markdown: the same measures everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from ..analysis.balance import COST, GAIN, SWAP
from ..analysis.documents import Balance, RankDocument, RankedRun, RankingEntry
from ..analysis.sentences import named
from ..core.report import DIFFERENCE, SIGNED
from ..stats.estimates import ALPHA, percent
from .blocks import Block, bullets, heading, paragraph, signatures, warnings
from .table import INTERVAL, NOTHING, Column, Table, in_unit, interval, measured, number, spaced, with_interval

LEGEND = (
    "Differences to a baseline or a control are on the cases that both answered; intervals are clustered by user. place: "
    "the order by {score}. In parentheses: the places that the model may really have; in 95 % of rankings these ranges "
    "hold for all models at once. tied: the places of the models that it is not significantly different from. The "
    "sentences on single models are corrected for the number of models (Bonferroni); intervals are those of each model "
    "alone."
)
PAIRED = (
    " Models are compared in pairs, case by case: t over users, which allows for skew, at the 5 % level with Holm's "
    "correction."
)
VOID = "void"
"""In place of the place of a void run."""

MEANINGS = {
    GAIN: "with the persona minus without",
    SWAP: "50 without the person",
    COST: "of the answers that are right without the user's memory, those that are wrong with it; lower is better",
}
OF_TASKS = (
    "cost on a task: the points of its own score that a user's profile takes; lower is better, and below 0 the profile "
    "helps."
)

NOT_ASKED = "not asked"
"""Text for a difference whose control is missing."""


def blocks(document: RankDocument, full: bool = False) -> list[Block]:
    """Several rankings, why they are several, and gains beside costs; `full` has every measure and all pairs."""
    rankings = document.rankings
    scores = " or ".join(dict.fromkeys(score for ranking in rankings for score in ranking.scores))
    made: list[Block] = []
    for place, ranking in enumerate(rankings, 1):
        title = f"Ranking {place}: {ranking.title}" if len(rankings) > 1 else ranking.title
        made += [heading(title), *_of_ranking(ranking, full)]
    return [
        *made,
        paragraph(f"{LEGEND.format(score=scores)}{PAIRED if full else ''}", dim=True),
        *map(paragraph, reasons(rankings)),
        *_gain_beside_cost(document.balance),
    ]


def _of_ranking(ranking: RankingEntry, full: bool) -> list[Block]:
    void = {f"{place}": run.shown for place, run in enumerate(ranking.runs, 1) if run.void}
    above = [
        structs.replace(caveat, about=tuple(void.get(place, place) for place in caveat.about))
        for caveat in ranking.caveats
        if not (caveat.about and caveat.short)
    ]
    return [
        warnings(above),
        *(_every_table(ranking) if full else [short_table(ranking)]),
        bullets(_about_models(ranking)),
        signatures({f"{place}": run.signature for place, run in enumerate(ranking.runs, 1)}, printed=False),
    ]


def _every_table(ranking: RankingEntry) -> list[Block]:
    first = [key for key, one in ranking.measures.items() if one.kind == "score" and ranking.has(key)]
    first += [key for key in ranking.gains if any(ranking.values(key))]
    others = [key for key in ranking.measures if key not in first and ranking.has(key)]
    places = tuple(VOID if run.void else f"{place}" for place, run in enumerate(ranking.runs, 1))
    of_others = Table("", places, tuple(_shown(ranking, others)), corner="place", undefined=True, whole=True)
    made: list[Block] = [_table_of(ranking, first), of_others]
    if len(ranking.pairs) == 1 and ranking.pairs[0].groups:
        return [*made, *of_two(ranking)]
    return [*made, *_matrix(ranking)] if ranking.pairs else made


def short_table(ranking: RankingEntry) -> Table:
    """Place, model, score, gain from knowing the user, and ties."""
    return _table_of(ranking, ranking.short)


def _about_models(ranking: RankingEntry) -> list[str]:
    lines = []
    for place, run in enumerate(ranking.runs, 1):
        parts = ["void: no rank, no difference and no verdict"] if run.void else []
        parts += [run.verdict] if run.verdict else []
        parts += [caveat.short for caveat in ranking.caveats if f"{place}" in caveat.about and caveat.short]
        if parts:
            lines.append(f"{run.shown if run.void else f'{place} {run.shown}'}: {'; '.join(parts)}.")
    return lines


def _table_of(ranking: RankingEntry, keys: Sequence[str]) -> Table:
    places = tuple(_place(place, run) for place, run in enumerate(ranking.runs, 1))
    model = Column("model", tuple(run.shown for run in ranking.runs), left=True)
    score = Column("score", tuple(run.primary for run in ranking.runs), left=True)
    tied = Column("tied", tuple(ranges(run.tied) for run in ranking.runs))
    every = (model, *([score] if len(ranking.scores) > 1 else []), *_shown(ranking, keys), tied)
    return Table("", places, every, corner="place", undefined=True, whole=True)


def _place(place: int, run: RankedRun) -> str:
    # `2`, or `2 (1–3)`: its place in the table, and the places that it may have
    if run.ranks is None:
        return VOID
    return f"{place} ({run.ranks[0]}–{run.ranks[1]})" if run.ranks[0] < run.ranks[1] else f"{place}"


def _shown(ranking: RankingEntry, keys: Sequence[str]) -> list[Column]:
    # beside a share its interval, if any run has one
    columns = []
    for key in keys:
        measure, values = ranking.measures[key], ranking.values(key)
        known = any(value is not None and not math.isnan(value.low) for value in values)
        has_ends = measure.is_share and measure.kind not in ("own", "beside") and known
        line = replace(measure, interval=has_ends, strong=False, none="")
        columns += measured(line, values, absent(ranking, key))
    return columns


def absent(ranking: RankingEntry, key: str) -> str:
    """The text to show where a run has no value for a measure."""
    return NOT_ASKED if key in ranking.gains else NOTHING


def ranges(places: Sequence[int]) -> str:
    """Ascending places with their runs as ranges: `2–4, 6`."""
    groups: list[list[int]] = []
    for place in places:
        if groups and place == groups[-1][-1] + 1:
            groups[-1].append(place)
        else:
            groups.append([place])
    return ", ".join(f"{group[0]}–{group[-1]}" if len(group) > 1 else f"{group[0]}" for group in groups) or NOTHING


def reasons(rankings: Sequence[RankingEntry]) -> list[str]:
    """Why the runs do not share one ranking."""
    first, *others = rankings
    lines = []
    for place, other in enumerate(others, start=2):
        apart = [name for name, value in first.asked.items() if other.asked.get(name) != value]
        if "benchmark" in apart:  # which other options there are, follows from it
            apart = ["benchmark"]
        # an option that only one of them has, such as the digest of `other_persona`, follows from another one
        apart = [name for name in apart if None not in (first.asked[name], other.asked.get(name))] or apart
        values = "; ".join(
            f"{name} {named(other.asked.get(name))} instead of {named(first.asked[name])}" for name in apart
        )
        lines.append(f"Ranking {place} is separate from ranking 1: {values or 'its cases have no labels'}.")
    return lines


def _gain_beside_cost(found: Sequence[Balance]) -> list[Block]:
    # nothing where not both are known
    if not found:
        return []
    names = dict.fromkeys([*MEANINGS, *(name for one in found for name in one.values)])
    columns: list[Column] = []
    said = []
    for name in names:
        estimates = [one.values.get(name) for one in found]
        if any(estimates):
            columns += with_interval(name, estimates, sign=name not in (SWAP, COST))
            said += [f"{name}: {MEANINGS[name]} ({found[0].titles[name]})."] if name in MEANINGS else []
    said += [OF_TASKS] if {*names} - {*MEANINGS} else []
    heading = "Gain where the person matters, cost where the person must not matter"
    return [
        Table(heading, tuple(one.model for one in found), tuple(columns), corner="model"),
        paragraph(" ".join(said), dim=True),
    ]


# --- pairs ------------------------------------------------------------------------------------------------------------

MATRIX = "Row minus column, in points; a star marks significant differences"

OF_TWO = {
    "difference (points)": "place 1 minus place 2",
    "p": "the last row has the test over all cases; the other rows are Holm-corrected among themselves",
    "detectable (points)": "the minimum detectable difference at 80 % power; none where it is above 100",
}
"""Heading of a column -> what it has."""


def _matrix(ranking: RankingEntry) -> list[Block]:
    gap = {(pair.first, pair.second): pair for pair in ranking.pairs}
    places = range(1, 1 + sum(not run.void for run in ranking.runs))

    def cell(a: int, b: int) -> str:
        if a == b:
            return ""
        pair = gap[min(a, b), max(a, b)]
        value = pair.difference.value if a < b else -pair.difference.value
        return percent(value, sign=True) + ("*" if pair.p < ALPHA else "")

    columns = tuple(Column(f"{b}", tuple(cell(a, b) for a in places)) for b in places)
    labels = tuple(f"{place}" for place in places)
    return [paragraph(MATRIX), Table("", labels, columns, corner="place", undefined=True, whole=True)]


def of_two(ranking: RankingEntry) -> list[Block]:
    """The difference between two runs, in each group and in each measure that is no mean over cases."""
    (pair,) = ranking.pairs
    gaps = pair.groups.values()
    columns = (
        Column("cases", tuple(f"{gap.difference.n:,}" for gap in gaps)),
        Column("users", tuple(f"{gap.difference.users:,}" for gap in gaps)),
        *with_interval("difference", [gap.difference for gap in gaps], sign=True),
        Column("p", tuple(_p(gap.p) for gap in gaps), joined=True),
        Column(in_unit("detectable", DIFFERENCE), tuple(percent(gap.detectable) for gap in gaps)),
    )
    labels, texts, ends = [], [], []
    for line in ranking.compared.values():
        found, unit = pair.measures[line.key], DIFFERENCE if line.is_share else SIGNED
        labels.append(in_unit(line.label, unit))
        texts.append(number(found.value, unit))
        ends.append(interval(found, unit))
    others = (Column("difference", tuple(texts), strong=True), Column(INTERVAL, tuple(ends), joined=True))
    of_groups = Table("Difference", tuple(map(spaced, pair.groups)), columns)
    shown = {column.heading for column in of_groups.shown}
    return [
        of_groups,
        Table("Over all cases", tuple(labels), others),
        paragraph(" ".join(f"{name}: {text}." for name, text in OF_TWO.items() if name in shown), dim=True),
    ]


def _p(p: float) -> str:
    return NOTHING if math.isnan(p) else f"{p:.4f}" if p >= 0.0001 else "< 0.0001"
