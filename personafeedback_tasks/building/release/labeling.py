"""Votes -> labels and tiers, and the annotators' agreement. Kappa depends on how votes are coded, so each number names its coding."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from ...annotation.rows import Vote
from ...common.agreement import alpha, randolph
from ...common.errors import DataError
from ...common.files import write
from ...common.jackknife import estimate_of
from ...common.records import json_text, jsonable
from ...common.statistics import Estimate
from ..coins import LEAST_VOTES
from ..folder import Folder
from ..rows import Below, Pair, Tiered
from ..steps import Say, ShowTable
from ..votes import counted, outdated
from .preferences import RISK, SHARED
from .tiers import ALL, BELOW, EASY, HARD, MEDIUM, REASONS, label_noise, sort_into_tiers

HEADLINE = "kappa, random sides"
"""The coefficient that is reported: 0 for random votes, although the two answers of a pair have no names in common with other pairs."""

CODINGS = {
    HEADLINE: "2 P - 1, where P is the share of pairs of annotators who agree: what Fleiss' kappa comes to where each pair's votes are "
    "coded by a side drawn at random",
    "alpha, random sides": "Krippendorff's alpha with a side drawn for each pair: for unequal numbers of votes",
}
"""Coefficient -> coding of a vote."""

CIRCULAR = (
    "Quote the value over all pairs that were voted on. Tiers are made of agreement, so kappa by tier is circular: annotators who toss coins "
    "agree in the upper tiers, too. Intervals are over users, for these annotators: others may agree more or less."
)

PAPER, PAPERS = "kappa, the paper's", {MEDIUM: "> 0.60", HARD: "0.40 to 0.60"}
"""The name of its line, and its ranges of Fleiss' kappa; it has none for the others."""


@dataclass(frozen=True)
class Voting:
    """The agreement on pairs with two votes or more.

    Attributes:
        users: of these pairs.
        votes: fewest and most to a pair.
        coefficients: name of CODINGS -> value with a 95 % interval over users, for these annotators (jackknife); nan where undefined.
    """

    pairs: int
    users: int
    votes: tuple[int, int]
    coefficients: Mapping[str, Estimate]


class Labels(NamedTuple):
    """Labels by the votes as they are now: the votes that count, pairs that become cases, and the others."""

    votes: list[Vote]
    cases: list[Tiered]
    below: list[Below]

    @property
    def every(self) -> list[Tiered]:
        return [*self.cases, *self.below]


def labels_now(folder: Folder) -> Labels:
    """Labels of a build; empty before people have voted."""
    votes = counted(folder)
    return Labels(votes, *(sort_into_tiers(folder, votes) if folder.has(Vote) else ([], [])))


def outdated_labels(folder: Folder, labels: Labels) -> list[int]:
    """Line numbers in tiers.jsonl that differ from what votes and build.yaml give now. Lines that a team took out stay out."""
    voted = folder.has(Vote)  # of annotators who were dropped, too
    now = {label.pair_id: label for label in labels.every}
    lines = enumerate(folder.read(Tiered), start=1)
    return [number for number, label in lines if now.get(label.pair_id) != label and (voted or any(label.votes))]


def are_due(folder: Folder, labels: Labels) -> bool:
    """Whether people voted, and tiers.jsonl is empty or differs from their votes."""
    return folder.has(Vote) and (not folder.read(Tiered) or bool(outdated_labels(folder, labels)))


def make_tiers(folder: Folder, labels: Labels, say: Say, show_table: ShowTable) -> None:
    """Write tiers.jsonl and below.jsonl from the votes that count, and show the annotators' agreement.

    Raises:
        DataError: a vote is broken, or no pair became a case, after the files are written.
    """
    votes, cases, below = labels
    agreements = agreement(folder.read(Pair), labels.every, votes)
    noise = label_noise(labels.every, folder.read(Pair))
    document = {
        "codings": CODINGS,
        "agreement": {name: asdict(voting) for name, voting in agreements.items()},
        "noise": {"measure": RISK, "by_tier": {tier: asdict(risk) for tier, risk in noise.items()}},
    }
    write(folder.root / "tiers.json", json_text(jsonable(document)))
    folder.write(Below, below)
    folder.write(Tiered, cases)
    if edited := outdated(folder):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    category = {question.id: question.category for question in folder.questions()}
    cells = Counter(f"{category.get(case.question_id, 'dropped')} {case.difficulty}" for case in cases)
    counts = ", ".join(f"{cell} {count:,}" for cell, count in sorted(cells.items()))
    say(f"{len(cases):,} pairs become cases: {counts or 'none'}")
    if dropped := sum(case.question_id not in category for case in cases):
        say(f"{dropped:,} of them will be left out of the release: their question or person has keep = no")
    for reason, count in Counter(pair.reason for pair in below).most_common():
        say(f"{count:,} are below, {reason}: {REASONS[reason]}")
    show_table("Agreement of the annotators, with 95 % intervals", *agreement_table(agreements, "–"))
    say(CIRCULAR)
    for name, meaning in CODINGS.items():
        say(f"{name}: {meaning}.")
    show_table("How sure the labels are, in percent, with 95 % intervals over users", *risk_table(noise, "–"))
    say(SHARED)
    if not cases:
        raise DataError(
            f"{folder.path(Tiered)}: no pair became a case, see above. A pair needs {LEAST_VOTES} votes or more; the paper has nine."
        )


def agreement(pairs: Sequence[Pair], tiered: Sequence[Tiered], votes: Sequence[Vote]) -> dict[str, Voting]:
    """Tier, BELOW or ALL -> its agreement; left out without a pair that has two votes.

    Args:
        tiered: all pairs, also those below: pairs are released by agreement, so that kappa over released ones is circular.
        votes: those that count.
    """
    of_pair: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        of_pair[vote.pair_id].append(vote)
    first = {pair.id: pair.first for pair in pairs}
    groups: dict[str, list[Tiered]] = defaultdict(list)
    for pair in tiered:
        if len(of_pair[pair.pair_id]) > 1:
            groups[pair.difficulty or BELOW].append(pair)
            groups[ALL].append(pair)
    measures: dict[str, Callable[[Sequence[Sequence[str]]], float]] = {
        HEADLINE: lambda rows: randolph(rows, 2),
        "alpha, random sides": lambda rows: alpha(rows, ("first", "second"), "nominal"),
    }
    agreements = {}
    for name in (tier for tier in (EASY, MEDIUM, HARD, BELOW, ALL) if groups[tier]):
        group = groups[name]
        counts, users = [len(of_pair[pair.pair_id]) for pair in group], [pair.user_id for pair in group]
        rows = [[_side(first, vote) for vote in of_pair[pair.pair_id]] for pair in group]
        coefficients = {coefficient: _estimated(measure, rows, users) for coefficient, measure in measures.items()}
        agreements[name] = Voting(len(group), len(set(users)), (min(counts), max(counts)), coefficients)
    return agreements


def agreement_table(agreements: Mapping[str, Voting], to: str) -> tuple[list[str], list[list[str]]]:
    """(header, rows): a column for each tier, a row for each coefficient; below the headline the paper's ranges. `to` joins interval ends."""
    voting = agreements.values()
    rows = [[name, *(_with_interval(tier.coefficients[name], to) for tier in voting)] for name in CODINGS]
    rows.insert(0, ["pairs", *(f"{tier.pairs:,}" for tier in voting)])
    rows.insert(2, [PAPER, *(PAPERS.get(name, "–") for name in agreements)])
    return ["", *agreements], rows


def risk_table(risks: Mapping[str, Estimate], to: str) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of the risk in percent with its interval, a column for each tier. `to` joins interval ends."""
    shown = [
        f"{100 * risk.value:.1f}"
        + ("" if math.isnan(risk.low) else f" ({100 * risk.low:.1f}{to}{100 * risk.high:.1f})")
        for risk in risks.values()
    ]
    return ["", *risks], [
        ["pairs", *(f"{risk.n:,}" for risk in risks.values())],
        [RISK, *shown],
    ]


def _with_interval(kappa: Estimate, to: str) -> str:
    if math.isnan(kappa.value):
        return "–"
    interval = "" if math.isnan(kappa.low) else f" ({kappa.low:.2f}{to}{kappa.high:.2f})"
    return f"{kappa.value:.2f}{interval}"


def _side(first: Mapping[str, str], vote: Vote) -> str:
    # `first` and `second` are in an order that says nothing.
    return "first" if vote.chosen == first[vote.pair_id] else "second"


def _estimated(
    measure: Callable[[Sequence[Sequence[str]]], float], rows: Sequence[Sequence[str]], users: Sequence[str]
) -> Estimate:
    if len(set(users)) > 1:
        return estimate_of(measure, rows, users, (-1.0, 1.0))
    return Estimate(measure(rows), math.nan, math.nan, math.nan, len(rows), len(set(users)))
