"""A verdict on replies as lines and tables: the same ones on a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..analysis.verdict import VerdictDocument, VerdictEntry
from ..stats.human_votes import LEAST_USERS
from .blocks import Block, apart, bullets, heading, paragraph, signatures, warnings
from .table import Column, Table, in_unit, percent, spaced, with_interval

LEGEND = (
    "Win rates: the mean over both orders of each duel. A tie (the reply equals the other side) counts "
    "half, and an empty side loses; neither is asked. Won, lost: all calls picked the reply, or the other side; "
    "{neither}split: the rest. Calibration: the same judge's accuracy on the benchmark's pairs of the same cells. "
    "Consistency: both orders picked the same text. Intervals are clustered by user."
)
NEITHER = "neither: no call picked a text; "


def tables(verdict: VerdictEntry) -> list[Table]:
    """The rates over all duels, the votes by cell, and the counts."""
    groups = [*verdict.groups.values()]
    labels = tuple(spaced(group.name) for group in groups)
    powered = verdict.prediction_powered
    rates = {"votes as they are": verdict.overall.rate, "corrected by calibration": verdict.corrected.rate}
    rates["with people's votes"] = powered.rate if powered else None
    known = {name: rate for name, rate in rates.items() if rate is not None}
    overall = (
        Column("duels", tuple(f"{rate.n:,}" for rate in known.values())),
        *with_interval("win rate", list(known.values())),
    )
    votes = (
        Column("duels", tuple(f"{group.rate.n:,}" for group in groups)),
        *with_interval("win rate", [group.rate for group in groups]),
        *with_interval("calibration", [group.calibration for group in groups], strong=False),
        Column(in_unit("consistency"), tuple(percent(group.consistency) for group in groups)),
    )
    counts = [
        Column(name, tuple(f"{getattr(group, name):,}" for group in groups))
        for name in ("asked", "won", "split", "lost")
    ]
    if groups[-1].neither:
        counts.append(Column("neither", tuple(f"{group.neither:,}" for group in groups)))
    for why in groups[-1].not_asked:
        counts.append(Column(spaced(why), tuple(f"{group.not_asked[why]:,}" for group in groups)))
    if any(group.unreadable > 0 for group in groups):
        counts.append(Column(in_unit("unreadable"), tuple(percent(group.unreadable) for group in groups)))
    return [
        Table("Win rates", tuple(known), overall),
        Table("Votes", labels, votes),
        Table("Counts", labels, tuple(counts)),
    ]


def notes(verdict: VerdictEntry) -> Iterator[str]:
    """Notes on the meaning of the numbers, and their assumptions."""
    calibration = verdict.overall.calibration.value
    if not math.isnan(calibration):
        ends = sorted((calibration, 1 - calibration))
        yield (
            f"A judge that is right in {percent(calibration)} % of its calibration set gives about "
            f"{percent(ends[1])} % to a writer that always wins and {percent(ends[0])} % to one that never does: raw "
            "votes cannot show more."
        )
    correction = verdict.corrected
    if correction.rate is None:
        yield f"No corrected win rate. {correction.why_not}"
    else:
        yield (
            "Corrected: assumes that the judge errs on new replies as on the pairs of its calibration set, by their "
            f"length. {percent(correction.outside)} % of the replies have a length ratio outside the range of nine in "
            "ten better responses there."
        )
        rate = percent(correction.unclipped)
        if rate != percent(min(max(correction.unclipped, 0.0), 1.0)):
            yield f"The corrected rate came to {rate} %, outside of what is possible, and is cut off."
    if verdict.prediction_powered is not None:
        yield (
            f"With people's votes on {verdict.people:,} duels: prediction-powered, the judge's votes weighing "
            f"{verdict.prediction_powered.weight:.2f}; the intervals are ours, clustered by user. It holds whatever the "
            "judge's errors, if these duels were drawn at random."
        )
    elif verdict.people:
        yield (
            f"People's votes are left out: they are on duels of {verdict.people_users} users, and at least "
            f"{LEAST_USERS} users are needed."
        )


def blocks(document: VerdictDocument) -> list[Block]:
    """The verdicts."""
    return apart(map(_of_verdict, document.verdicts))


def _of_verdict(verdict: VerdictEntry) -> list[Block]:
    return [
        heading(verdict.title),
        paragraph(verdict.sentence),
        warnings(verdict.caveats),
        *tables(verdict),
        bullets(list(notes(verdict))),
        paragraph(LEGEND.format(neither=NEITHER if verdict.overall.neither else ""), dim=True),
        signatures({"duels": verdict.signature, "calibration": verdict.calibration}),
    ]
