"""How far people agree with each other: a model's agreement with them is compared with it.

Rows with even votes have no label to score a model against, but they count here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..common.agreement import RowVotes, alpha, fleiss
from ..common.jackknife import estimate_of
from ..core.report import HumanAgreement
from ..core.result import Result

Coefficients = dict[str, Callable[[Sequence[RowVotes]], float]]
"""Name -> measure of the votes of all rows."""

NO_VOTES = "These data have labels without votes, so nothing says how far people agree with each other."


def of_labels(rows: Sequence[tuple[str, Sequence[str]]], labels: Sequence[str]) -> HumanAgreement:
    """Agreement on labels, from (user, votes) of every row: even votes included, none where only a label is known."""
    coefficients: Coefficients = {
        "Fleiss' kappa": fleiss,
        "Krippendorff's alpha": partial(alpha, values=labels, level="nominal"),
    }
    return _agreement(rows, coefficients, against_rest)


def of_ratings(rows: Sequence[tuple[str, Sequence[int]]], scale: Sequence[int]) -> HumanAgreement:
    """Agreement on a scale, such as 1 to 5, in ascending order."""
    coefficients: Coefficients = {
        "Krippendorff's alpha (ordinal)": partial(alpha, values=scale, level="ordinal"),
        "Krippendorff's alpha (interval)": partial(alpha, values=scale, level="interval"),
    }
    return _agreement(rows, coefficients, lambda votes: [])


def _agreement(
    rows: Sequence[tuple[str, Sequence[Any]]],
    coefficients: Coefficients,
    beside_others: Callable[[Sequence[Any]], list[Result]],
) -> HumanAgreement:
    several = [(user, votes) for user, votes in rows if len(votes) > 1]
    if not several:
        return HumanAgreement({}, (), NO_VOTES)
    users, votes = zip(*several, strict=True)
    fewest, most = min(map(len, votes)), max(map(len, votes))
    people = f"{fewest} to {most}" if fewest < most else f"{fewest}"
    left_out = f"; {len(rows) - len(several):,} rows have no votes or a single one" if len(several) < len(rows) else ""
    return HumanAgreement(
        {name: estimate_of(measure, votes, users, (-1.0, 1.0)) for name, measure in coefficients.items()},
        [(user, outcome) for user, votes in several for outcome in beside_others(votes)],
        f"{len(several):,} rows of {len(set(users)):,} users with votes of {people} people each, even votes included (intervals over users, for these annotators){left_out}",
    )


def against_rest(votes: Sequence[str]) -> list[Result]:
    """One outcome per person: what most others said (target), what this person said; none where the others are even."""
    outcomes: list[Result] = []
    counts = Counter(votes)
    for label, times in sorted(counts.items()):
        others = Counter(counts)
        others[label] -= 1
        (first, most), *rest = others.most_common()
        if all(fewer < most for _, fewer in rest):
            outcomes += [Result(targets=(first,), answers=(label,))] * times
    return outcomes
