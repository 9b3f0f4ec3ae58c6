"""A trained filter as a step of the chain: what acceptance and over-selection come to with and without it, on the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...common.jackknife import estimate_of
from ...common.statistics import Estimate
from ...common.text import same_text
from ..funnel import MadeChain
from ..judgments import Judgments, about_attribute, about_prompt
from ..rows import Extraction, JudgedRow
from .judge import FilterJudge


class FilteredRow(NamedTuple):
    """A row that people judged and the filter was asked about.

    Attributes:
        good: whether people accept the attribute, or find it relevant.
        made: whether the model extracted or selected it.
        kept: whether it did, and the filter lets it through.
    """

    user: str
    prompt: str
    good: bool
    made: bool
    kept: bool


Measure = Callable[[Sequence[FilteredRow], Callable[[FilteredRow], bool]], float]
"""(rows, which of them are there) -> a share or a ratio; nan where it is undefined."""


def _of_made(rows: Sequence[FilteredRow], there: Callable[[FilteredRow], bool]) -> float:
    return _ratio(sum(row.good for row in rows if there(row)), sum(map(there, rows)))


def _of_good(rows: Sequence[FilteredRow], there: Callable[[FilteredRow], bool]) -> float:
    return _ratio(sum(row.good for row in rows if there(row)), sum(row.good for row in rows))


OVER_SELECTION = "over_selection"
"""The one measure that is no share."""

MEASURES: Mapping[str, Mapping[str, tuple[str, Measure]]] = {
    "extraction": {
        "accepted": ("accepted", _of_made),
        "kept_accepted": ("accepted ones that are there", _of_good),
    },
    "relevance": {
        OVER_SELECTION: (
            "selected, times as often as people",
            lambda rows, there: _ratio(sum(map(there, rows)), sum(row.good for row in rows)),
        ),
        "irrelevant": ("irrelevant of selected", lambda rows, there: 1 - _of_made(rows, there)),
        "selected": ("selected of relevant", _of_good),
    },
}
"""Stage -> measure -> (its name, how it is computed)."""


@dataclass(frozen=True)
class FilterEffect:
    """
    Attributes:
        stage: of the filter.
        measures: of MEASURES -> (without the filter, with it, with minus without: paired, with its jackknife error).
        rows: on how many rows.
        left_out: rows of users that the filter was trained on without a prediction of a model that has not seen them: they would flatter it.
    """

    stage: str
    measures: Mapping[str, tuple[Estimate, Estimate, Estimate]]
    rows: int
    left_out: int


def effect_of(judge: FilterJudge, made: MadeChain, people: Judgments) -> FilterEffect | None:
    """What a filter does to one model's chain; None where people judged nothing that the model made and the filter is about."""
    stage = judge.stage
    found = _extracted(made, people) if stage.row is Extraction else _shown(made, people)
    rows, left_out = [], 0
    for row, prompt, there in found:
        if not judge.unbiased(row, stage.texts(row)):
            left_out += 1
            continue
        good = bool(row.judgment) is not stage.drops
        rows.append(FilteredRow(row.user_id, prompt, good, there, there and not judge.drops(row)))
    if not rows:
        return None
    users, prompts = [row.user for row in rows], [row.prompt for row in rows]
    also = prompts if all(prompts) else None
    measures = {}
    for name, (_, measure) in MEASURES[stage.name].items():
        most = math.inf if name == OVER_SELECTION else 1.0
        measures[name] = (
            estimate_of(_at(measure, _made), rows, users, (0.0, most), also),
            estimate_of(_at(measure, _kept), rows, users, (0.0, most), also),
            estimate_of(_changed(measure), rows, users, (-most, most), also),
        )
    return FilterEffect(stage.name, measures, len(rows), left_out)


def _at(measure: Measure, there: Callable[[FilteredRow], bool]) -> Callable[[Sequence[FilteredRow]], float]:
    return lambda rows: measure(rows, there)


def _changed(measure: Measure) -> Callable[[Sequence[FilteredRow]], float]:
    return lambda rows: measure(rows, _kept) - measure(rows, _made)


def _extracted(made: MadeChain, people: Judgments) -> Iterator[tuple[JudgedRow, str, bool]]:
    """(row, no prompt, that it is there) of each extracted attribute that people judged."""
    for one in made.extracted or ():
        row = people.extraction.rows.get(about_attribute(one.conversation_id, one.attribute))
        if row is not None:
            yield row, "", True


def _shown(made: MadeChain, people: Judgments) -> Iterator[tuple[JudgedRow, str, bool]]:
    """(row, its prompt, whether the model selected it) of each attribute that the model could select and people judged."""
    for one in made.selected or ():
        chosen = {same_text(attribute) for attribute in one.selected or ()}
        for attribute in one.attributes:
            row = people.relevance.rows.get(about_prompt(one.user_id, one.prompt, attribute))
            if row is not None:
                yield row, one.prompt_id, same_text(attribute) in chosen


def _made(row: FilteredRow) -> bool:
    return row.made


def _kept(row: FilteredRow) -> bool:
    return row.kept


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
