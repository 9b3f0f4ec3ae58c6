"""What shortcuts are worth on the data: judges that need no model and do not understand a word.

A baseline gives the `acc` of one case, averaged over both orders like that of a model. One that measures something of
each response picks the larger measure; on a tie the first one shown, which is worth 0.5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import add
from typing import Any, NamedTuple

from .. import __version__
from ..common.statistics import clustered_stderr, mean
from .cases import Case, CaseSet, columns
from .judges import first_of, longest_of
from .orders import ORDERS, shown
from .release import PAPER_COUNTS
from .scoring import score_answers

_LETTER = r"[A-Za-z\u00c0-\u024f]"
_IDEOGRAPH = r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]"
_RUN = re.compile(f"{_LETTER}+|{_IDEOGRAPH}+")
_CHINESE_NAME = re.compile(f"{_IDEOGRAPH}{{2,}}")  # one character alone stands in every text
_LATIN_NAME = re.compile(rf"{_LETTER}(?:{_LETTER}|['’. -])*")
_LONGEST_NAME = 100
"""Characters; those of the release have at most 8. Every name in a longer one would be looked for at every place of a text."""
_TITLES = {"mr", "mrs", "ms", "miss", "dr", "prof"}


class Estimate(NamedTuple):
    """The mean of `acc` over some cases.

    Attributes:
        acc: nan without a case.
        stderr: standard error, clustered by user; nan with a single user.
        n: number of cases.
    """

    acc: float
    stderr: float
    n: int


def random(case: Case) -> float:
    """A fair coin: its expectation, 0.5, not a draw, so that a run repeats exactly."""
    return 0.5


def first(case: Case) -> float:
    """The response shown first: the judge `personafeedback/first`. 0.5, since both orders are asked."""
    return _acc(case, first_of)


def longest(case: Case) -> float:
    """The response with more characters: the judge `personafeedback/longest`."""
    return _acc(case, longest_of)


def shortest(case: Case) -> float:
    """The response with fewer characters."""
    return _more(case, lambda response: -len(response))


def overlap(case: Case) -> float:
    """The response of which more distinct terms stand in the values of the persona.

    The count grows with the length too; `overlap_share` is free of that, and on the data we have the weaker warning.
    """
    known = _persona_terms(case)
    return _more(case, lambda response: len(terms(response) & known))


def overlap_share(case: Case) -> float:
    """The response of whose distinct terms the larger share stands in the values of the persona."""
    known = _persona_terms(case)

    def share(response: str) -> float:
        found = terms(response)
        return len(found & known) / len(found) if found else 0.0

    return _more(case, share)


def names(case: Case) -> float:
    """The response that says the user's name; 0.5 where both do or neither."""
    name = case.persona.profile.get("Name")
    return _more(case, lambda response: isinstance(name, str) and says(name, response))


BASELINES: dict[str, Callable[[Case], float]] = {
    baseline.__name__: baseline for baseline in (random, first, longest, shortest, overlap, overlap_share, names)
}


@lru_cache(maxsize=4)  # who asks one case after the other for every baseline has its terms at hand
def terms(text: str) -> frozenset[str]:
    """The distinct lower-cased Latin words of a text, and the pairs of neighbouring Chinese characters."""
    found: set[str] = set()
    for run in _RUN.findall(text.lower()):
        if run[0] < "\u3400":
            found.add(run)
        else:
            found.update(map(add, run, run[1:]))
    return frozenset(found)


def says(name: str, text: str) -> bool:
    """Whether a text says a name.

    A Chinese name counts wherever it stands, a Latin one as whole words in its own upper and lower case (Will is no
    "will"), complete or by its first word. `李明 (Dr. Ming Li)` is said by 李明, by Ming Li and by Ming. A name of more
    than 100 characters is not looked for.
    """
    return len(name) <= _LONGEST_NAME and _name(name).search(text) is not None


@lru_cache(maxsize=4096)
def _name(name: str) -> re.Pattern[str]:
    latin = []
    for part in _LATIN_NAME.findall(name):
        words = [word for word in part.split() if word.rstrip(".").lower() not in _TITLES]
        latin += [" ".join(words), *words[:1]]
    # No \b: Chinese characters are word characters too, and a Latin name stands between them without a space.
    patterns = [rf"(?<!{_LETTER}){re.escape(alias)}(?!{_LETTER})" for alias in latin if alias]
    return re.compile("|".join([*_CHINESE_NAME.findall(name), *patterns]) or r"(?!)")  # nothing matches the empty name


def groups(cases: CaseSet) -> dict[str, tuple[Case, ...]]:
    """Name -> cases: the cells that are present, the categories of several cells, and `total` if both categories are.

    The cells are in the order of the paper.
    """
    return {
        name: tuple(case for cell in cells for case in cases.cells[cell])
        for name, cells in columns(cases.cells).items()
    }


def estimate(values: Iterable[float], cases: Iterable[Case]) -> Estimate:
    """Mean and clustered standard error of one value per case."""
    values, users = list(values), [case.user_id for case in cases]
    return Estimate(mean(values), clustered_stderr(values, users), len(values))


def baselines(cases: CaseSet) -> dict[str, dict[str, Estimate]]:
    """Every baseline on every group of cases: name -> group -> (acc, stderr, n).

    Args:
        cases: of any cells, see `dataset.load_cases`. The groups are those of `groups`.
    """
    acc = acc_of(cases)
    return {
        name: {
            group: estimate([acc[case.id][name] for case in members], members)
            for group, members in groups(cases).items()
        }
        for name in BASELINES
    }


def acc_of(cases: Iterable[Case]) -> dict[str, dict[str, float]]:
    """Case id -> name of a baseline -> its `acc` in that case."""
    return {case.id: {name: baseline(case) for name, baseline in BASELINES.items()} for case in cases}


def as_dict(cases: CaseSet, found: dict[str, dict[str, Estimate]]) -> dict[str, Any]:
    """What `baselines` found in these cases, ready for JSON. An undefined standard error is null."""
    return {
        "version": __version__,
        "data": cases.revision,
        "cells_absent": absent(cases),
        "baselines": {
            name: {group: plain(value) for group, value in by_group.items()} for name, by_group in found.items()
        },
    }


def absent(cases: CaseSet) -> list[str]:
    """The cells of the paper that are not among the cases."""
    return [cell for cell in map("_".join, PAPER_COUNTS) if cell not in cases.cells]


def plain(value: Estimate) -> dict[str, float | None]:
    """An estimate for JSON, which knows no nan."""
    return {key: None if math.isnan(number) else number for key, number in value._asdict().items()}


def _persona_terms(case: Case) -> frozenset[str]:
    return _terms_of(case.persona.values)


@lru_cache(maxsize=4096)
def _terms_of(values: str) -> frozenset[str]:
    """`terms`, kept: a user asks many questions."""
    return terms(values)


def _acc(case: Case, judge: Callable[[str, str], str]) -> float:
    return score_answers([judge(*shown(case, order)) for order in ORDERS]).acc


def _more(case: Case, measure: Callable[[str], float]) -> float:
    """1 if the chosen response measures more, 0 if less; 0.5 on a tie: in each order the other one is shown first."""
    chosen, rejected = measure(case.chosen), measure(case.rejected)
    return 0.5 if chosen == rejected else float(chosen > rejected)
