"""How far people agree with each other: a model's agreement with them is compared with it.

Rows with even votes have no label to score a model against, but they count here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..common.agreement import Level, alpha
from ..common.jackknife import estimate_of
from ..core.report import HumanAgreement
from ..core.result import Result

NO_VOTES = "These data have labels without votes, so nothing says how far people agree with each other."


def agreement(rows: Sequence[tuple[str, Sequence[Any]]], values: Sequence[Any], level: Level) -> HumanAgreement:
    """Agreement from (user, votes) of every row: even votes included, none where only a label is known.

    Args:
        values: what a vote can be, in ascending order where `level` is ordinal.
    """
    several = [(user, votes) for user, votes in rows if len(votes) > 1]
    if not several:
        return HumanAgreement({}, (), NO_VOTES)
    users, votes = zip(*several, strict=True)
    fewest, most = min(map(len, votes)), max(map(len, votes))
    people = f"{fewest} to {most}" if fewest < most else f"{fewest}"
    left_out = f"; {len(rows) - len(several):,} rows have no votes or a single one" if len(several) < len(rows) else ""
    coefficient = estimate_of(lambda of: alpha(of, values, level), votes, users, (-1.0, 1.0))
    return HumanAgreement(
        {f"Krippendorff's alpha ({level})": coefficient},
        [(user, one) for user, of in several for one in against_rest(of)] if level == "nominal" else (),
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
