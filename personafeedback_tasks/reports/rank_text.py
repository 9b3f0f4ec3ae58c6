"""A ranking on a terminal, in Markdown, as JSON and as CSV: the same measures everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size

from ..analysis.balance import COST, GAIN, SWAP, Balance, balances
from ..analysis.measures import SCORE, Measure
from ..analysis.ranking import Ranked, Ranking
from ..common import foreign
from ..common.statistics import ALPHA, Estimate
from ..core.report import DIFFERENCE, SIGNED, Line
from ..logs.caveat import Caveat
from ..logs.run import Run
from ..logs.signature_line import signature_line
from .blocks import Block, bullets, heading, paragraph, signatures, warnings
from .headline import none_of
from .sentences import OF_A_MODEL, of_a_model, uses_known
from .table import (
    INTERVAL,
    NOTHING,
    Column,
    Table,
    gain,
    interval,
    number,
    percent,
    ratio,
    signed,
    spaced,
    with_interval,
)

PLACE = (
    "place: the order by {score}. In parentheses: the places that the model may really have; in 95 % of rankings these ranges hold for all models at once. "
    "tied: the places of the models that it cannot be told apart from. The sentences on single models are corrected for the number of models "
    "(Bonferroni); intervals are those of each model alone."
)
LEGEND = (
    f"{{score}} in percent; intervals clustered by user. {PLACE} Models are compared in pairs, case by case: t over users, which allows for skew, at the 5 % level with "
    "Holm's correction. Differences to a baseline or a control are in points, on the cases that both answered."
)
OF_TWO = (
    "Difference: place 1 minus place 2, in points. p: of the last row the test, of the others with Holm's correction among them. detectable: the minimum detectable "
    "difference at 80 % power."
)
BALANCE = (
    (GAIN, "with the persona minus without, in points"),
    (SWAP, "50 without the person"),
    (COST, "of the calls that are right without the user's memory, those that its wrong memory turns; lower is better"),
)
MATRIX = "Row minus column, in points; a star marks pairs that are told apart"

VOID = "void"
"""In place of the place of a void run."""

NOT_ASKED = "not asked"
"""Text for a difference whose control is missing."""

SHORTEST = 16
"""Characters that a model's name keeps at least."""


def title(ranking: Ranking) -> str:
    """A line on what the runs of a ranking share."""
    options = ranking.runs[0].benchmark.options
    remarks = [*options.remarks(ranking.asked)] or ["default options"]
    return (
        f"{ranking.runs[0].title}, {', '.join(remarks)}, prompt {ranking.asked['fingerprint']}, task version "
        f"{ranking.asked['task_version']}: {ranking.cases:,} cases of {ranking.users:,} users"
        f"{' (' + ', '.join(ranking.cells) + ')' if ranking.cells else ''}"
    )


def blocks(ranking: Ranking, full: bool = False, width: int | None = None) -> list[Block]:
    """One ranking.

    Args:
        full: with every measure and all pairs.
        width: how wide the short table may be; None leaves every name as it is.
    """
    runs = {f"{place}": signature_line(run) for place, run in enumerate(ranking.runs, 1)}
    below = [caveat for caveat in ranking.caveats if caveat.about and caveat.key in OF_A_MODEL]
    names = {f"{place}": name for place, name in enumerate(_names(ranking), 1) if place in ranking.void}
    above = [
        replace(caveat, about=tuple(names.get(place, place) for place in caveat.about))
        for caveat in ranking.caveats
        if caveat not in below
    ]
    return [
        heading(title(ranking)),
        warnings(above),
        *_tables(ranking, full, width),
        bullets(_about_models(ranking, below)),
        signatures(runs, printed=False),
    ]


def all_blocks(rankings: Sequence[Ranking], full: bool = False, width: int | None = None) -> list[Block]:
    """Several rankings, and why they are several."""
    scores = " or ".join(dict.fromkeys(score for ranking in rankings for score in ranking.scores))
    return [
        *(block for ranking in rankings for block in blocks(ranking, full, width)),
        paragraph((LEGEND if full else PLACE).format(score=scores), dim=True),
        *map(paragraph, reasons(rankings)),
        *balance(balances(rankings)),
    ]


def balance(found: Sequence[Balance]) -> list[Block]:
    """Each model's gain from knowing the user, and its cost; nothing where not both are known."""
    if not found:
        return []
    columns: list[Column] = []
    for name in (GAIN, SWAP, COST):
        estimates = [one.values.get(name) for one in found]
        if any(estimates):
            columns += with_interval(name, estimates, sign=name == GAIN)
    names, titles = tuple(one.model for one in found), found[0].titles
    return [
        Table(
            "Gain where the person matters, cost where the person must not matter",
            names,
            tuple(columns),
            corner="model",
        ),
        paragraph(
            " ".join(
                f"{name}: {said} ({titles[name]})."
                for name, said in BALANCE
                if any(name in one.values for one in found)
            ),
            dim=True,
        ),
    ]


def _tables(ranking: Ranking, full: bool, width: int | None) -> list[Block]:
    if not full:
        return [short_table(ranking)] if width is None else [*_within(ranking, width)]
    first = [measure for measure in ranking.measures if measure.kind == "score" and ranking.has(measure)]
    first += [measure for measure in of_person(ranking) if any(row.values[measure.key] for row in ranking.rows)]
    others = [measure for measure in ranking.measures if measure not in first]
    made: list[Block] = [
        _table_of(ranking, _shown(ranking, first, absent=NOT_ASKED), _tied(ranking)),
        _of_places(ranking, _shown(ranking, list(filter(ranking.has, others)))),
    ]
    if len(ranking.pairs) == 1 and ranking.pairs[0].groups:
        return [*made, *pair_tables(ranking)]
    return [*made, paragraph(MATRIX), matrix(ranking)] if ranking.pairs else made


# --- what a model is asked first ---------------------------------------------------------------------------------------


def short_table(ranking: Ranking) -> Table:
    """Place, model, score, gain from knowing the user, and ties."""
    return _table_of(ranking, [*_scores(ranking), *_differences(ranking)], _tied(ranking))


def _within(ranking: Ranking, width: int) -> list[Table]:
    # where the table cannot be that narrow, the differences to the controls are a table of their own below it
    scores, differences = _scores(ranking), _differences(ranking)
    whole = _no_wider(ranking, [*scores, *differences], width)
    if whole.width <= width or not differences:
        return [whole]
    return [_no_wider(ranking, scores, width), _of_places(ranking, differences)]


def _no_wider(ranking: Ranking, columns: Sequence[Column], width: int) -> Table:
    # if too wide, long lists of ties become their number, and then names are shortened to SHORTEST
    tied = _tied(ranking)
    made = _table_of(ranking, columns, tied)
    if made.width <= width:
        return made
    counted = [f"{len(row.tied)} others" for row in ranking.rows]
    longest = max(map(len, counted))
    tied = replace(tied, texts=tuple(a if len(a) <= longest else b for a, b in zip(tied.texts, counted, strict=True)))
    over = _table_of(ranking, columns, tied).width - width
    names = _names(ranking)
    return _table_of(ranking, columns, tied, shortened(names, max(SHORTEST, max(map(cell_len, names)) - over)))


def _scores(ranking: Ranking) -> list[Column]:
    return _shown(
        ranking,
        [measure for measure in ranking.measures if measure.key == SCORE or measure.kind in ("given", "beside")],
    )


def _differences(ranking: Ranking) -> list[Column]:
    # a judge of duels is seldom asked about another persona, so then it has no such columns
    person = of_person(ranking)
    of_duels = any(measure.kind == "given" for measure in ranking.measures)
    return [] if of_duels and not any(map(ranking.has, person)) else _shown(ranking, person, absent=NOT_ASKED)


def of_person(ranking: Ranking) -> list[Measure]:
    """The measures of gains from knowing the user: `right_minus_wrong`, `persona_gain`, and further ones that a run
    has.

    Empty where the benchmark or its settings have no control.
    """
    control = ranking.runs[0].benchmark.report.control
    if control is None:
        return []
    names = [one.name for one in control.named if one.more == ranking.asked.get(control.option)]
    if not control.named:
        names = [control.gain]
    of_name = {measure.heading: measure for measure in ranking.measures}
    further = {one.name for one in control.named if one.further}
    return [of_name[name] for name in names if name not in further or ranking.has(of_name[name])]


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Distinct names of at most `width` columns: without folders and providers, then without their middle."""
    whole = list(map(foreign.terminal, names))
    last = [name.rpartition("/")[2] for name in whole]
    of_each = [
        name if cell_len(name) <= width else short if last.count(short) == 1 else name
        for name, short in zip(whole, last, strict=True)
    ]
    cut = [_without_middle(name, width) for name in of_each]
    return [short if cut.count(short) == 1 else name for short, name in zip(cut, whole, strict=True)]


def _without_middle(name: str, width: int) -> str:
    # the end of a name tells variants apart as often as its beginning
    end = (width - 1) // 2
    return name if cell_len(name) <= width else f"{set_cell_size(name, width - 1 - end)}…{name[-end:]}"


def _about_models(ranking: Ranking, caveats: Sequence[Caveat]) -> list[str]:
    lines = []
    for place, (use, name) in enumerate(zip(ranking.uses, _names(ranking), strict=True), 1):
        parts = ["void: no rank, no difference and no verdict"] if place in ranking.void else []
        parts += filter(None, [none_of(ranking.runs[place - 1], ranking.rows[place - 1].values)])
        parts += [uses_known(use)] if use and use.asked else []
        parts += [of_a_model(caveat) for caveat in caveats if f"{place}" in caveat.about]
        if parts:
            lines.append(f"{f'{name}' if place in ranking.void else f'{place} {name}'}: {'; '.join(parts)}.")
    return lines


def _table_of(ranking: Ranking, columns: Sequence[Column], tied: Column, names: Sequence[str] | None = None) -> Table:
    places = tuple(_place(place, row) for place, row in enumerate(ranking.rows, 1))
    model = Column("model", tuple(names or _names(ranking)), left=True)
    measured = Column("score", tuple(run.primary for run in ranking.runs), left=True)
    every = (model, *([measured] if len(ranking.scores) > 1 else []), *columns, tied)
    return Table("", places, every, corner="place", undefined=True, whole=True)


def _place(place: int, row: Ranked) -> str:
    # `2`, or `2 (1–3)`: its place in the table, and the places that it may have
    if row.ranks is None:
        return VOID
    return f"{place} ({row.ranks[0]}–{row.ranks[1]})" if row.ranks[0] < row.ranks[1] else f"{place}"


def _tied(ranking: Ranking) -> Column:
    return Column("tied", tuple(ranges(row.tied) for row in ranking.rows))


def _names(ranking: Ranking) -> list[str]:
    return told_apart([_name(run) for run in ranking.runs], ranking)


def told_apart(names: Sequence[str], ranking: Ranking) -> list[str]:
    """The name of each run, with its conditions, its harness or its options where another run has the same."""
    named = [
        f"{name} ({run.apart or run.program})" if names.count(name) > 1 else name
        for name, run in zip(names, ranking.runs, strict=True)
    ]
    return [run.label if named.count(name) > 1 else name for name, run in zip(named, ranking.runs, strict=True)]


# --- everything --------------------------------------------------------------------------------------------------------


def matrix(ranking: Ranking) -> Table:
    """All pairs."""
    gap = {(pair.first, pair.second): pair for pair in ranking.pairs}
    places = range(1, len(ranking.rows) - len(ranking.void) + 1)

    def cell(a: int, b: int) -> str:
        if a == b:
            return ""
        pair = gap[min(a, b), max(a, b)]
        value = pair.difference.value if a < b else -pair.difference.value
        return percent(value, sign=True) + ("*" if pair.p < ALPHA else "")

    columns = tuple(Column(f"{b}", tuple(cell(a, b) for a in places)) for b in places)
    return Table("", tuple(f"{place}" for place in places), columns, corner="place", undefined=True, whole=True)


def pair_tables(ranking: Ranking) -> list[Block]:
    """The difference between two runs, in each group and in each measure that is no mean over cases."""
    (pair,), run = ranking.pairs, ranking.runs[0]
    gaps = pair.groups.values()
    columns = (
        Column("cases", tuple(f"{gap.difference.n:,}" for gap in gaps)),
        Column("users", tuple(f"{gap.difference.users:,}" for gap in gaps)),
        *with_interval("difference", [gap.difference for gap in gaps], sign=True),
        Column("p", tuple(_p(gap.p) for gap in gaps), joined=True),
        Column("detectable", tuple(percent(gap.detectable) for gap in gaps)),
    )
    lines = [line for line in run.benchmark.report.compared if line.measure in pair.measures]
    found = [pair.measures[line.measure] for line in lines]
    others = (
        Column("difference", tuple(_gap(line, one.value) for line, one in zip(lines, found, strict=True)), strong=True),
        Column(INTERVAL, tuple(_between(line, one) for line, one in zip(lines, found, strict=True)), joined=True),
    )
    labels = tuple(f"{line.title} (%)" if line.is_share else line.title for line in lines)
    return [
        Table("Difference", tuple(map(spaced, pair.groups)), columns),
        Table("Over all cases", labels, others, corner=""),
        paragraph(OF_TWO, dim=True),
    ]


def _p(p: float) -> str:
    return NOTHING if math.isnan(p) else f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def _gap(line: Line, value: float) -> str:
    return percent(value, sign=True) if line.is_share else number(replace(line, unit=SIGNED), value)


def _between(line: Line, found: Estimate) -> str:
    return NOTHING if math.isnan(found.low) else f"{_gap(line, found.low)} to {_gap(line, found.high)}"


def _of_places(ranking: Ranking, columns: Sequence[Column]) -> Table:
    places = tuple(VOID if row.rank is None else f"{place}" for place, row in enumerate(ranking.rows, 1))
    return Table("", places, tuple(columns), corner="place", undefined=True, whole=True)


def _shown(ranking: Ranking, measures: Sequence[Measure], absent: str = NOTHING) -> list[Column]:
    # beside a share its interval, if any run has one; `absent` is for a run that lacks the measure
    columns = []
    for measure in measures:
        values = [row.values[measure.key] for row in ranking.rows]
        texts = (
            absent if value is None else in_text(measure, value.value)
            for row, value in zip(ranking.rows, values, strict=True)
        )
        columns.append(Column(measure.heading, tuple(texts)))
        ends = tuple(interval(value, sign=measure.unit == DIFFERENCE) for value in values)
        if measure.is_share and measure.kind not in ("own", "beside") and any(text != NOTHING for text in ends):
            columns.append(Column(INTERVAL, ends, joined=True))
    return columns


def in_text(measure: Measure, value: float) -> str:
    """A value as tables show it."""
    if measure.is_share:
        return gain(value) if measure.kind == "difference" else percent(value, sign=measure.unit == DIFFERENCE)
    return signed(value) if measure.unit == SIGNED else ratio(value)


def ranges(places: Sequence[int]) -> str:
    """Ascending places with their runs as ranges: `2–4, 6`."""
    groups: list[list[int]] = []
    for place in places:
        if groups and place == groups[-1][-1] + 1:
            groups[-1].append(place)
        else:
            groups.append([place])
    return ", ".join(f"{group[0]}–{group[-1]}" if len(group) > 1 else f"{group[0]}" for group in groups) or NOTHING


def _name(run: Run) -> str:
    return run.name if run.method is next(iter(run.benchmark.methods.values())) else f"{run.name} ({run.method.name})"


def reasons(rankings: Sequence[Ranking]) -> list[str]:
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
        lines.append(
            f"Ranking {place} is separate from ranking 1: {values or 'nobody says what is right in its cases'}."
        )
    return lines
