"""A ranking on a terminal and in Markdown: the same measures everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..analysis.balance import COST, GAIN, NO_TASKS, SWAP, Balance, OfTasks, balances
from ..analysis.measures import SCORE, Measure
from ..analysis.ranking import Ranked, Ranking
from ..analysis.sentences import OF_A_MODEL, none_of, of_a_model, uses_known
from ..core.report import DIFFERENCE
from ..logs.caveat import Caveat
from ..logs.names import signature_line
from ..logs.run import Run
from . import pairs_text
from .blocks import Block, bullets, heading, paragraph, signatures, warnings
from .table import INTERVAL, NOTHING, Column, Table, interval, number, with_interval

PLACE = (
    "place: the order by {score}. In parentheses: the places that the model may really have; in 95 % of rankings these ranges hold for all models at once. "
    "tied: the places of the models that it is not significantly different from. The sentences on single models are corrected for the number of models "
    "(Bonferroni); intervals are those of each model alone."
)
LEGEND = (
    f"{{score}} in percent; intervals clustered by user. {PLACE} Models are compared in pairs, case by case: t over users, which allows for skew, at the 5 % level with "
    "Holm's correction. Differences to a baseline or a control are in points, on the cases that both answered."
)
VOID = "void"
"""In place of the place of a void run."""

MEANINGS = {
    GAIN: "with the persona minus without, in points",
    SWAP: "50 without the person",
    COST: "of the answers that are right without the user's memory, those that are wrong with it; lower is better",
}
OF_TASKS = "cost on a task: the points of its own score that a user's profile takes; lower is better, and below 0 the profile helps."

NOT_ASKED = "not asked"
"""Text for a difference whose control is missing."""


def title(ranking: Ranking) -> str:
    """A line on what the runs of a ranking share."""
    options = ranking.runs[0].benchmark.options
    remarks = [*options.remarks(ranking.asked)] or ["default options"]
    return (
        f"{ranking.runs[0].title}, {', '.join(remarks)}, prompt {ranking.asked['fingerprint']}, task version "
        f"{ranking.asked['task_version']}: {ranking.cases:,} cases of {ranking.users:,} users"
        f"{' (' + ', '.join(ranking.cells) + ')' if ranking.cells else ''}"
    )


def blocks(ranking: Ranking, full: bool = False, number: int | None = None) -> list[Block]:
    """One ranking.

    Args:
        full: with every measure and all pairs.
        number: of the ranking, where there are several.
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
        heading(f"Ranking {number}: {title(ranking)}" if number else title(ranking)),
        warnings(above),
        *(_every_table(ranking) if full else [short_table(ranking)]),
        bullets(_about_models(ranking, below)),
        signatures(runs, printed=False),
    ]


def all_blocks(rankings: Sequence[Ranking], full: bool = False, of_tasks: OfTasks = NO_TASKS) -> list[Block]:
    """Several rankings, why they are several, and gains beside costs."""
    scores = " or ".join(dict.fromkeys(score for ranking in rankings for score in ranking.scores))
    numbers = range(1, len(rankings) + 1) if len(rankings) > 1 else [None]
    return [
        *(block for ranking, number in zip(rankings, numbers, strict=True) for block in blocks(ranking, full, number)),
        paragraph((LEGEND if full else PLACE).format(score=scores), dim=True),
        *map(paragraph, reasons(rankings)),
        *gain_beside_cost(balances(rankings, of_tasks)),
    ]


def _every_table(ranking: Ranking) -> list[Block]:
    first = [measure for measure in ranking.measures if measure.kind == "score" and ranking.has(measure)]
    first += [measure for measure in of_person(ranking) if any(row.values[measure.key] for row in ranking.rows)]
    others = [measure for measure in ranking.measures if measure not in first]
    made: list[Block] = [
        _table_of(ranking, _shown(ranking, first, absent=NOT_ASKED)),
        _of_places(ranking, _shown(ranking, list(filter(ranking.has, others)))),
    ]
    if len(ranking.pairs) == 1 and ranking.pairs[0].groups:
        return [*made, *pairs_text.of_two(ranking)]
    return [*made, *pairs_text.matrix(ranking)] if ranking.pairs else made


def short_table(ranking: Ranking) -> Table:
    """Place, model, score, gain from knowing the user, and ties."""
    scores = [measure for measure in ranking.measures if measure.key == SCORE or measure.kind == "beside"]
    return _table_of(ranking, [*_shown(ranking, scores), *_shown(ranking, of_person(ranking), absent=NOT_ASKED)])


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
    of_name = {measure.label: measure for measure in ranking.measures}
    further = {one.name for one in control.named if one.further}
    return [of_name[name] for name in names if name not in further or ranking.has(of_name[name])]


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


def _table_of(ranking: Ranking, columns: Sequence[Column]) -> Table:
    places = tuple(_place(place, row) for place, row in enumerate(ranking.rows, 1))
    model = Column("model", tuple(_names(ranking)), left=True)
    measured = Column("score", tuple(run.primary for run in ranking.runs), left=True)
    tied = Column("tied", tuple(ranges(row.tied) for row in ranking.rows))
    every = (model, *([measured] if len(ranking.scores) > 1 else []), *columns, tied)
    return Table("", places, every, corner="place", undefined=True, whole=True)


def _place(place: int, row: Ranked) -> str:
    # `2`, or `2 (1–3)`: its place in the table, and the places that it may have
    if row.ranks is None:
        return VOID
    return f"{place} ({row.ranks[0]}–{row.ranks[1]})" if row.ranks[0] < row.ranks[1] else f"{place}"


def _names(ranking: Ranking) -> list[str]:
    return told_apart([_name(run) for run in ranking.runs], ranking)


def told_apart(names: Sequence[str], ranking: Ranking) -> list[str]:
    """The name of each run, with its conditions or harness, its options or its log where another run has the same."""
    found = list(names)
    for others in (
        [f"{name} ({run.apart or run.program})" for name, run in zip(names, ranking.runs, strict=True)],
        [run.label for run in ranking.runs],
        [f"{name} ({'/'.join(run.logs[0].parts[-2:])})" for name, run in zip(names, ranking.runs, strict=True)],
    ):
        found = [other if found.count(name) > 1 else name for name, other in zip(found, others, strict=True)]
    return found


def _of_places(ranking: Ranking, columns: Sequence[Column]) -> Table:
    places = tuple(VOID if row.rank is None else f"{place}" for place, row in enumerate(ranking.rows, 1))
    return Table("", places, tuple(columns), corner="place", undefined=True, whole=True)


def _shown(ranking: Ranking, measures: Sequence[Measure], absent: str = NOTHING) -> list[Column]:
    # beside a share its interval, if any run has one; `absent` is for a run that lacks the measure
    columns = []
    for measure in measures:
        values = [row.values[measure.key] for row in ranking.rows]
        texts = (
            absent if value is None else number(measure, value.value)
            for row, value in zip(ranking.rows, values, strict=True)
        )
        columns.append(Column(measure.label, tuple(texts)))
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


def gain_beside_cost(found: Sequence[Balance]) -> list[Block]:
    """Each model's gain from knowing the user, and its cost; nothing where not both are known."""
    if not found:
        return []
    names = dict.fromkeys([*MEANINGS, *(name for one in found for name in one.costs)])
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
