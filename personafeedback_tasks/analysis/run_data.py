"""Some runs -> their rankings, with what the data add."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from ..logs.data import RunData, first_with
from .measures import Contender
from .ranking import Ranking, alike, make_ranking


def _scored(some: Sequence[Contender]) -> list[Sequence[Contender]]:
    # runs without right answers are ranked alone
    scored = [one for one in some if not one.run.cases or not all(map(isnan, one.run.values(one.run.primary).values()))]
    return [*([scored] if scored else []), *([one] for one in some if one not in scored)]


def ranked(contenders: Sequence[Contender], data: Sequence[RunData]) -> list[Ranking]:
    """The rankings of some runs.

    Args:
        data: where their data may be; the last place counts where no other fits.
    """
    rankings = []
    for some in (part for group in alike(contenders) for part in _scored(group)):
        place = first_with(some[0].run, data)
        rankings.append(make_ranking(some, place.texts(some[0].run), *place.of(some[0].run)))
    return rankings
