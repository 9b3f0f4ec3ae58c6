"""A report as a table: the same lines on a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from ..common import foreign
from ..common.statistics import Estimate
from ..personafeedback.baselines import CHANCE
from .report import Group, Report
from .terminal import line, table

NOTHING = "–"
"""What is undefined or unknown."""


@dataclass(frozen=True)
class Line:
    """One line of the table: what it is, and its text per group."""

    label: str
    texts: tuple[str, ...]
    strong: bool = False


def percent(value: float, sign: bool = False) -> str:
    """0.7351 -> 73.5."""
    return NOTHING if math.isnan(value) else f"{100 * value:{'+' if sign else ''}.1f}"


def interval(estimate: Estimate | None, sign: bool = False) -> str:
    """The 95 % interval in per cent."""
    if estimate is None or math.isnan(estimate.low):
        return NOTHING
    between = " to " if sign or estimate.low < 0 else "–"
    return f"{percent(estimate.low, sign)}{between}{percent(estimate.high, sign)}"


def lines(report: Report) -> list[Line]:
    """The table of a report, one text per group. Accuracies and shares are per cent, the rest says what it is."""
    groups = report.groups

    def row(label: str, texts: Iterable[str], strong: bool = False) -> Line:
        return Line(label, tuple(texts), strong)

    def measure(label: str, name: str, strong: bool = False) -> Line:
        return row(label, (percent(group.measures[name].value) for group in groups), strong)

    def count(group: Group) -> str:
        return f"{group.cases:,}" if group.cases == group.of else f"{group.cases:,} of {group.of:,}"

    found = [
        row("cases", map(count, groups)),
        row("users", (f"{group.measures['acc'].users:,}" if group.replies else NOTHING for group in groups)),
        measure("acc", "acc", strong=True),
        row("  95 % interval", (interval(group.measures["acc"]) for group in groups)),
        measure("ties, half right each", "tie"),
    ]
    if not groups[-1].replies:
        found.append(row("  stderr, by user", (percent(group.measures["acc"].stderr) for group in groups)))
    for name in ("acc_sym", "p_chosen"):
        if any(not math.isnan(group.measures[name].value) for group in groups):
            found += [
                measure(name, name, strong=True),
                row("  95 % interval", (interval(group.measures[name]) for group in groups)),
            ]
    if any(group.persona_gain for group in groups):
        gains = [group.persona_gain for group in groups]
        found += [
            row("persona gain", (percent(gain.value, sign=True) if gain else NOTHING for gain in gains), strong=True),
            row("  95 % interval", (interval(gain, sign=True) for gain in gains)),
        ]
    for name in groups[-1].baselines:
        found.append(row(f"baseline: {name}", (percent(group.baselines[name].value) for group in groups)))
    found.append(row("chance", (percent(CHANCE) for _ in groups)))
    for name, label in (
        ("not_flagged", "acc, not flagged by the audit"),
        ("chosen_longer", "acc, chosen is longer"),
        ("chosen_shorter", "acc, chosen is shorter"),
    ):
        if name in groups[-1].subsets:
            subsets = [group.subsets[name] for group in groups]
            found += [
                row(label, (percent(subset.value) for subset in subsets)),
                row("  95 % interval", map(interval, subsets)),
                row("  cases", (f"{subset.n:,}" for subset in subsets)),
            ]
    found += [
        measure("acc_both", "acc_both"),
        measure("consistency", "consistency"),
        measure("bias_first", "bias_first"),
        measure("bias_second", "bias_second"),
        row(
            "preference fairness",
            (NOTHING if math.isnan(g.preference_fairness) else f"{g.preference_fairness:+.3f}" for g in groups),
        ),
        measure("first_rate", "first_rate"),
        measure("invalid", "invalid"),
    ]
    for reason in sorted({reason for group in groups for reason in group.reasons}):
        found.append(row(f"  replies: {reason}", (f"{group.reasons.get(reason, 0):,}" for group in groups)))
    found.append(measure("acc, readable replies only", "acc_readable"))
    return [entry for entry in found if not all(text == NOTHING for text in entry.texts)]


def facts(report: Report) -> list[str]:
    """What stands above the table, most important first, and the ceiling."""
    found = list(report.notes)
    if report.ceiling:
        places = ", ".join(f"{name} {percent(value)}" for name, value in report.ceiling.items())
        found.append(
            f"Highest acc that a judge which ignores order can reach over all cells of the data (contradictory labels): {places}."
        )
    return found


def terminal(report: Report) -> list[RenderableType]:
    """What `terminal.show` prints."""
    entries = lines(report)
    parts: list[RenderableType] = [
        *(line(f"! {note}") for note in facts(report)),
        line(report.run.label, style="bold"),
        table(
            ["%", *(group.name for group in report.groups)],
            [(entry.label, *entry.texts) for entry in entries],
            bold=[number for number, entry in enumerate(entries) if entry.strong],
        ),
        *map(line, unread(report)),
        line(f"signature: {report.signature}", style="dim"),
    ]
    if report.control:
        parts.append(line(f"control: {report.control_signature}", style="dim"))
    return parts


def unread(report: Report) -> list[str]:
    """Some of the replies that could not be read, so that a reader can see what they were."""
    if not report.unread:
        return []
    count = sum(report.overall.reasons.values())
    return [
        f"Unreadable replies ({len(report.unread)} of {count:,}):",
        *(f"  {case} {reason}: {said or '(empty)'}" for case, reason, said in report.unread),
    ]


def markdown(report: Report, level: int = 2) -> str:
    """A section of a Markdown file."""
    header = ["%", *(group.name.replace("_", " ") for group in report.groups)]
    rows = [[_label(entry), *(_strong(entry, text) for text in entry.texts)] for entry in lines(report)]
    control = f"\n\nControl: {foreign.code(report.control_signature)}" if report.control_signature else ""
    parts = [
        f"{'#' * level} {foreign.markdown(report.run.label)}",
        "\n".join(f"> {foreign.markdown(note)}  " for note in facts(report)),
        grid(header, rows),
        foreign.fenced("\n".join(unread(report))) if report.unread else "",
        f"Signature: {foreign.code(report.signature)}{control}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column left, the others right."""
    ruler = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ruler, *rows))


def _label(entry: Line) -> str:
    indent = "&nbsp;&nbsp;" if entry.label.startswith("  ") else ""
    text = indent + foreign.markdown(entry.label)
    return f"**{text}**" if entry.strong else text


def _strong(entry: Line, text: str) -> str:
    return f"**{text}**" if entry.strong else text
