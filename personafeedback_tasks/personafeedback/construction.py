"""How the cases of one question hang together, which tells how they were made: counts, and an inference.

The annotators saw three options (the paper's Figure 5) and picked one. In the released General half the Easy and Hard cases
of a question are pairs of at most three responses; a Medium case is a pair of these, or of two others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from .cases import PersonaCase
from .cells import CATEGORIES
from .paper import tables

OPTIONS = 3
"""Responses on the annotators' screen."""

Combination = tuple[str, str, str]
"""Category, user and question."""


def combinations(cases: Iterable[PersonaCase]) -> dict[Combination, list[PersonaCase]]:
    """The cases of each user and question, in the order of `cases`."""
    grouped: dict[Combination, list[PersonaCase]] = {}
    for case in cases:
        grouped.setdefault((case.category, case.user_id, case.question), []).append(case)
    return grouped


def questions(cases: Sequence[PersonaCase]) -> dict[str, dict[str, Any]]:
    """Category -> its users, the fewest and the most questions of a user, combinations of user and question, and distinct
    questions.
    """
    counts = {}
    for category in CATEGORIES:
        asked = [(user, question) for of, user, question in combinations(cases) if of == category]
        if asked:
            per_user = Counter(user for user, _ in asked).values()
            counts[category] = {
                "users": len(per_user),
                "questions_per_user": {"min": min(per_user), "max": max(per_user)},
                "combinations": len(asked),
                "questions": len({question for _, question in asked}),
            }
    return counts


def with_options(cases: Sequence[PersonaCase]) -> dict[Combination, tuple[frozenset[str], list[PersonaCase]]]:
    """Combination -> the responses of its Easy and Hard cases, and all its cases.

    Only of combinations with an Easy case, and of categories with both of these cells: without one the options are not known.
    """
    cells = {case.cell for case in cases}
    known = {}
    for key, members in combinations(cases).items():
        if _known(key[0], cells) and any(case.difficulty == "easy" for case in members):
            shown = [case for case in members if case.difficulty != "medium"]
            known[key] = frozenset(text for case in shown for text in (case.chosen, case.rejected)), members
    return known


def options(cases: Sequence[PersonaCase]) -> dict[str, dict[str, Any]]:
    """Category -> how many combinations have 2, 3, ... responses in their Easy and Hard cases; which have more than OPTIONS."""
    counts: dict[str, dict[str, Any]] = {}
    for (category, _, _), (responses, members) in with_options(cases).items():
        of = counts.setdefault(category, {"combinations": Counter(), "more": []})
        of["combinations"][str(len(responses))] += 1
        if len(responses) > OPTIONS:
            ids = [case.id for case in members if case.difficulty != "medium"]
            of["more"].append({"responses": len(responses), "ids": ids})
    return counts


def rewrite_pairs(cases: Sequence[PersonaCase]) -> set[str]:
    """Ids of the Medium cases neither of whose responses is in an Easy or Hard case of the same user and question.

    They look like one option rewritten up against the same one rewritten down: in the General half both are mostly nearest
    to the same option, and every text with left-over tags of a rewriting prompt is among them. Without an Easy case the
    options are not known, so none is found.
    """
    return {
        case.id
        for responses, members in with_options(cases).values()
        for case in members
        if case.difficulty == "medium" and responses.isdisjoint((case.chosen, case.rejected))
    }


def not_searched(cases: Iterable[PersonaCase]) -> tuple[str, ...]:
    """The Medium cells whose category has no Easy or no Hard cell here, so that their rewrite pairs are unknown."""
    cells = {case.cell for case in cases}
    return tuple(
        f"{category}_medium" for category in CATEGORIES if f"{category}_medium" in cells and not _known(category, cells)
    )


def _known(category: str, cells: set[str]) -> bool:
    return {f"{category}_easy", f"{category}_hard"} <= cells


SCENARIO = "scenario"
"""The key of a row that has a scenario or a category, as Table 5 prints it. The release at hand has no such key."""

OTHER_SCENARIOS = "other scenarios"
"""Of a value that Table 5 does not have."""


def scenarios(cases: Iterable[PersonaCase]) -> dict[str, list[PersonaCase]]:
    """Category of Table 5, or OTHER_SCENARIOS -> its cases, in the order of the table. Those that no case has are left out."""
    by_scenario: dict[str, list[PersonaCase]] = {
        name: [] for name in (*_scenario_categories().values(), OTHER_SCENARIOS)
    }
    for case in cases:
        value = case.extra.get(SCENARIO)
        if value is not None:
            by_scenario[
                _scenario_categories().get(value, OTHER_SCENARIOS) if isinstance(value, str) else OTHER_SCENARIOS
            ].append(case)
    return {name: members for name, members in by_scenario.items() if members}


@cache
def _scenario_categories() -> dict[str, str]:
    """Scenario or category -> category."""
    return {value: row["name"] for row in tables()["5"]["rows"] for value in (row["name"], *row["scenarios"])}
