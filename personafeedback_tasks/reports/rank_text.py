"""A ranking on a terminal and in Markdown: the same measures everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..analysis.balance import COST, GAIN, SWAP
from ..analysis.documents import Balance, RankDocument, RankedRun, RankingEntry
from ..analysis.measures import SCORE
from ..core.report import DIFFERENCE, Line
from . import pairs_text
from .blocks import Block, bullets, heading, paragraph, signatures, warnings
from .table import INTERVAL, NOTHING, Column, Table, interval, number, with_interval

LEGEND = (
    "{score} in percent, differences to a baseline or a control in points, on the cases that both answered; intervals are "
    "clustered by user. place: the order by {score}. In parentheses: the places that the model may really have; in 95 % "
    "of rankings these ranges hold for all models at once. tied: the places of the models that it is not significantly "
    "different from. The sentences on single models are corrected for the number of models (Bonferroni); intervals are "
    "those of each model alone."
)
PAIRED = (
    " Models are compared in pairs, case by case: t over users, which allows for skew, at the 5 % level with Holm's "
    "correction."
)
VOID = "void"
"""In place of the place of a void run."""

MEANINGS = {
    GAIN: "with the persona minus without, in points",
    SWAP: "50 without the person",
    COST: "of the answers that are right without the user's memory, those that are wrong with it; lower is better",
}
OF_TASKS = (
    "cost on a task: the points of its own score that a user's profile takes; lower is better, and below 0 the profile "
    "helps."
)

NOT_ASKED = "not asked"
"""Text for a difference whose control is missing."""


def blocks(ranking: RankingEntry, full: bool = False, number: int | None = None) -> list[Block]:
    """One ranking.

    Args:
        full: with every measure and all pairs.
        number: of the ranking, where there are several.
    """
    void = {f"{place}": run.shown for place, run in enumerate(ranking.runs, 1) if run.void}
    above = [
        replace(caveat, about=[void.get(place, place) for place in caveat.about])
        for caveat in ranking.caveats
        if not (caveat.about and caveat.short)
    ]
    return [
        heading(f"Ranking {number}: {ranking.title}" if number else ranking.title),
        warnings(above),
        *(_every_table(ranking) if full else [short_table(ranking)]),
        bullets(_about_models(ranking)),
        signatures({f"{place}": run.signature for place, run in enumerate(ranking.runs, 1)}, printed=False),
    ]


def all_blocks(document: RankDocument, full: bool = False) -> list[Block]:
    """Several rankings, why they are several, and gains beside costs."""
    rankings = document.rankings
    scores = " or ".join(dict.fromkeys(score for ranking in rankings for score in ranking.scores))
    numbers = range(1, len(rankings) + 1) if len(rankings) > 1 else [None]
    return [
        *(block for ranking, number in zip(rankings, numbers, strict=True) for block in blocks(ranking, full, number)),
        paragraph(f"{LEGEND.format(score=scores)}{PAIRED if full else ''}", dim=True),
        *map(paragraph, reasons(rankings)),
        *gain_beside_cost(document.balance),
    ]


def _every_table(ranking: RankingEntry) -> list[Block]:
    first = [measure for measure in ranking.measures.values() if measure.kind == "score" and ranking.has(measure.key)]
    first += [ranking.measures[key] for key in ranking.gains if any(ranking.values(key))]
    others = [measure for key, measure in ranking.measures.items() if measure not in first and ranking.has(key)]
    made: list[Block] = [
        _table_of(ranking, _shown(ranking, first, absent=NOT_ASKED)),
        _of_places(ranking, _shown(ranking, others)),
    ]
    if len(ranking.pairs) == 1 and ranking.pairs[0].groups:
        return [*made, *pairs_text.of_two(ranking)]
    return [*made, *pairs_text.matrix(ranking)] if ranking.pairs else made


def short_table(ranking: RankingEntry) -> Table:
    """Place, model, score, gain from knowing the user, and ties."""
    scores = [measure for measure in ranking.measures.values() if measure.key == SCORE or measure.kind == "beside"]
    gains = [ranking.measures[key] for key in ranking.gains]
    return _table_of(ranking, [*_shown(ranking, scores), *_shown(ranking, gains, absent=NOT_ASKED)])


def _about_models(ranking: RankingEntry) -> list[str]:
    lines = []
    for place, run in enumerate(ranking.runs, 1):
        parts = ["void: no rank, no difference and no verdict"] if run.void else []
        parts += [run.verdict] if run.verdict else []
        parts += [caveat.short for caveat in ranking.caveats if f"{place}" in caveat.about and caveat.short]
        if parts:
            lines.append(f"{run.shown if run.void else f'{place} {run.shown}'}: {'; '.join(parts)}.")
    return lines


def _table_of(ranking: RankingEntry, columns: Sequence[Column]) -> Table:
    places = tuple(_place(place, run) for place, run in enumerate(ranking.runs, 1))
    model = Column("model", tuple(run.shown for run in ranking.runs), left=True)
    measured = Column("score", tuple(run.primary for run in ranking.runs), left=True)
    tied = Column("tied", tuple(ranges(run.tied) for run in ranking.runs))
    every = (model, *([measured] if len(ranking.scores) > 1 else []), *columns, tied)
    return Table("", places, every, corner="place", undefined=True, whole=True)


def _place(place: int, run: RankedRun) -> str:
    # `2`, or `2 (1–3)`: its place in the table, and the places that it may have
    if run.ranks is None:
        return VOID
    return f"{place} ({run.ranks[0]}–{run.ranks[1]})" if run.ranks[0] < run.ranks[1] else f"{place}"


def _of_places(ranking: RankingEntry, columns: Sequence[Column]) -> Table:
    places = tuple(VOID if run.void else f"{place}" for place, run in enumerate(ranking.runs, 1))
    return Table("", places, tuple(columns), corner="place", undefined=True, whole=True)


def _shown(ranking: RankingEntry, measures: Sequence[Line], absent: str = NOTHING) -> list[Column]:
    # beside a share its interval, if any run has one; `absent` is for a run that lacks the measure
    columns = []
    for measure in measures:
        values = ranking.values(measure.key)
        texts = tuple(absent if value is None else number(measure, value.value) for value in values)
        columns.append(Column(measure.label, texts))
        ends = tuple(interval(value, sign=measure.unit == DIFFERENCE) for value in values)
        if measure.is_share and measure.kind not in ("own", "beside") and any(text != NOTHING for text in ends):
            columns.append(Column(INTERVAL, ends, joined=True))
    return columns


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
        values = "; ".join(f"{name} {other.asked.get(name)} instead of {first.asked[name]}" for name in apart)
        lines.append(f"Ranking {place} is separate from ranking 1: {values or 'its cases have no labels'}.")
    return lines


def gain_beside_cost(found: Sequence[Balance]) -> list[Block]:
    """Each model's gain from knowing the user, and its cost; nothing where not both are known."""
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
    return [
        Table(
            "Gain where the person matters, cost where the person must not matter",
            tuple(one.model for one in found),
            tuple(columns),
            corner="model",
        ),
        paragraph(" ".join(said), dim=True),
    ]
