"""What a judge says in people's place, as lines and tables: the same ones on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.shares import ShareVerdict
from ..common.human_votes import LEAST_USERS
from ..common.statistics import Estimate
from ..engine.share import JudgedShare
from ..runs.signature_line import signature_line
from .blocks import Block, bullets, heading, paragraph, signatures, warnings
from .table import Column, Table, percent, with_interval

LEGEND = (
    "Shares in percent; an unreadable reply counts as not so. Corrected: (share - false alarms) / (sensitivity - false alarms), with both errors of "
    "the exam (Rogan and Gladen 1978), which is weighted to the cells of this run. Intervals have the errors of both runs, clustered by user."
)


def _shares(found: JudgedShare) -> Iterator[tuple[str, Estimate]]:
    yield "as the judge says", found.said
    if found.corrected.rate is not None:
        yield "corrected by the exam", found.corrected.rate
    if found.powered is not None:
        yield "with people's votes", found.powered.rate
    yield "to people, in the exam", found.of_exam


def notes(found: JudgedShare) -> Iterator[str]:
    """What the numbers assume, and why one is missing."""
    correction = found.corrected
    if correction.rate is None:
        yield f"No corrected share. {correction.why_not}"
    else:
        yield (
            f"Corrected: assumes that the judge errs on these cases as in its exam, where it says so in {percent(correction.longer)} % of the cases of "
            f"which it is so, and in {percent(1 - correction.shorter)} % of the others."
        )
        if not 0 <= correction.unclipped <= 1:
            yield f"The corrected share came to {percent(correction.unclipped)} %, outside of what is possible, and is cut off."
    if found.powered is not None:
        yield (
            f"With people's votes on {found.people:,} cases: prediction-powered, the judge's answers weighing {found.powered.weight:.2f}. It holds "
            "whatever the judge's errors, if these cases were drawn at random."
        )
    elif found.people:
        yield f"People's votes are left out: they are on cases of {found.users} users, and at least {LEAST_USERS} users are needed."


def blocks(verdict: ShareVerdict) -> list[Block]:
    """One verdict."""
    shares = dict(_shares(verdict.found))
    columns = (
        Column("cases", tuple(f"{share.n:,}" for share in shares.values())),
        *with_interval(verdict.of.name, list(shares.values())),
    )
    return [
        heading(f"{verdict.run.benchmark.title}, judged by {verdict.run.model}"),
        warnings(verdict.caveats),
        Table("Shares", tuple(shares), columns),
        bullets(list(notes(verdict.found))),
        paragraph(LEGEND, dim=True),
        signatures({"run": signature_line(verdict.run), "exam": signature_line(verdict.exam)}),
    ]
