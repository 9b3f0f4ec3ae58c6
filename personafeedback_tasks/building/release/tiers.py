"""Votes -> labels and tiers: which answer of a pair is chosen, and how hard it is to see.

The rule is the shares in build.yaml, and nothing else: how far annotators agree on the whole is a check, see voting.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from fractions import Fraction

from ...common.errors import DataError
from ...common.files import write
from ...common.strict_json import json_text
from ...personafeedback.cells import DIFFICULTIES
from ..folder import Folder
from ..rows import Answer, Below, Pair, Question, Tiered, Vote
from ..settings import Settings
from ..steps import RELEASE, Say, ShowTable
from ..votes.collected import counted, outdated
from ..votes.shown_texts import ShownTexts
from .voting import CODINGS, agreement, agreement_table

EASY, MEDIUM, HARD = DIFFICULTIES

REASONS = {
    "few votes": "it has votes of half of the annotators or fewer",
    "even": "both answers have as many votes",
    "little agreement": "fewer agree than the tier hard needs",
    "not as built": "most votes are against the answer that should win by construction",
    "same text": "both answers are the same text",
    "twice": "an earlier pair of this question has the same two texts",
}
"""Why a pair reaches no tier -> in words."""


def make_tiers(folder: Folder, say: Say, show_table: ShowTable) -> None:
    """Make labels and tiers of the votes that count, and show how far annotators agree.

    Raises:
        DataError: there are no votes, one is broken, see `counted`; or no pair became a case, which is written.
    """
    with folder.locked():
        folder.need(Vote)
        votes = counted(folder)
        cases, below = sort_into_tiers(folder, votes)
        agreements = agreement(folder.read(Pair), folder.read(Answer), [*cases, *below], votes)
        document = {"codings": CODINGS, "agreement": {name: one.as_dict() for name, one in agreements.items()}}
        write(folder.root / "tiers.json", json_text(document))
        folder.write(Below, below)
        folder.write(Tiered, cases)
    if edited := outdated(folder):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    category = {question.id: question.category for question in folder.questions()}
    cells = Counter(f"{category.get(case.question_id, 'dropped')} {case.difficulty}" for case in cases)
    counts = ", ".join(f"{cell} {count:,}" for cell, count in sorted(cells.items()))
    say(f"{len(cases):,} pairs become cases: {counts or 'none'}")
    for reason, count in Counter(pair.reason for pair in below).most_common():
        say(f"{count:,} are below, {reason}: {REASONS[reason]}")
    show_table("Agreement of the annotators, with 95 % intervals over users", *agreement_table(agreements, "–"))
    for name, meaning in CODINGS.items():
        say(f"{name}: {meaning}.")
    if not cases:
        settings = folder.settings
        raise DataError(
            f"{folder.path(Tiered)}: no pair became a case, see above. A pair needs {settings.least_votes} votes or more, since build.yaml says "
            f"annotators: {settings.annotators}."
        )
    say(f"Next: {RELEASE.line(folder.root)}")


def sort_into_tiers(folder: Folder, votes: Sequence[Vote]) -> tuple[list[Tiered], list[Below]]:
    """(the pairs that become cases, those below), both in the order of pairs.jsonl.

    Args:
        votes: those that count, see `votes.counted`.

    Raises:
        DataError: there are no pairs, or a persona is broken.
    """
    settings, shown = folder.settings, ShownTexts(folder)
    texts = {answer.id: " ".join(answer.text.split()) for answer in folder.read(Answer)}
    asked = {question.id: " ".join(question.question.split()) for question in folder.read(Question)}
    of_pair: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        of_pair[vote.pair_id][vote.chosen] += 1
    cases: list[Tiered] = []
    below: list[Below] = []
    seen: set[object] = set()
    for pair in folder.need(Pair):
        both = frozenset((texts.get(pair.first), texts.get(pair.second)))
        key = (pair.user_id, asked.get(pair.question_id), both)
        tiered = replace(_tiered(pair, of_pair[pair.id], settings), texts=shown.of(pair))
        if len(both) == 1 or key in seen:
            tiered = replace(tiered, difficulty="", reason="same text" if len(both) == 1 else "twice")
        seen.add(key)
        if tiered.difficulty:
            cases.append(tiered)
        else:
            below.append(Below(**asdict(tiered)))
    return cases, below


def _tiered(pair: Pair, votes: Counter[str], settings: Settings) -> Tiered:
    first, second = votes[pair.first], votes[pair.second]
    chosen, rejected = (pair.first, pair.second) if first >= second else (pair.second, pair.first)
    tier, reason = _tier(pair, chosen, max(first, second), first + second, settings)
    return Tiered(
        pair_id=pair.id, question_id=pair.question_id, user_id=pair.user_id, difficulty=tier, chosen=chosen, rejected=rejected,
        votes=(votes[chosen], votes[rejected]), reason=reason,
    )  # fmt: skip


def _tier(pair: Pair, chosen: str, agreeing: int, votes: int, settings: Settings) -> tuple[str, str]:
    """(the tier, or empty; why it is empty)."""
    if votes < settings.least_votes:
        return "", "few votes"
    if 2 * agreeing == votes:
        return "", "even"
    share = Fraction(agreeing, votes)
    if share < settings.hard:
        return "", "little agreement"
    if pair.easy:
        return (EASY, "") if chosen == pair.easy else ("", "not as built")
    return (MEDIUM if share >= settings.medium else HARD), ""
