"""`build tiers`: votes -> tiers.jsonl and below.jsonl, and how far annotators agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from ...common.errors import DataError
from ...common.files import write
from ...common.records import json_text, jsonable
from ..coins import LEAST_VOTES
from ..folder import Folder
from ..rows import Below, Pair, Tiered
from ..steps import RELEASE, TIERS, Say, ShowTable
from ..votes.pairs import counted, outdated
from .preferences import RISK, SHARED
from .tiers import REASONS, label_noise, sort_into_tiers
from .voting import CIRCULAR, CODINGS, agreement, agreement_table, risk_table


def make_tiers(folder: Folder, say: Say, show_table: ShowTable) -> None:
    """Make labels and tiers of the votes that count, and show how far annotators agree.

    Raises:
        DataError: there are no votes, one is broken, see `counted`; or no pair became a case, which is written.
    """
    with folder.step(TIERS):
        votes = counted(folder)
        cases, below = sort_into_tiers(folder, votes)
        agreements = agreement(folder.read(Pair), [*cases, *below], votes)
        noise = label_noise([*cases, *below], folder.read(Pair))
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
    say(f"Next: {RELEASE.line(folder.root)}")
