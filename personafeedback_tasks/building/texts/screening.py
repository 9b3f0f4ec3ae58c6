"""The reasons for which people drop a persona or a question: those of the paper's Appendices B and C and two of ours, as words for a table.

A table takes any reason; these are offered, so that a report can count them.
"""

from __future__ import annotations

from collections.abc import Mapping

PERSONAS: Mapping[str, str] = {
    "implausible": "job, behavior or way of life has no place in today's society",
    "idealized": "too good to be anybody, or contradicts itself",
    "stereotype": "theatrical, or a cliché",
    "common_job": "too many of this profession",
    "common_interests": "interests and habits are those of many others",
}
"""Appendix B: the first three of its first round, on each persona; the others of its second, on all of them together."""

QUESTIONS: Mapping[str, str] = {
    "illogical": "makes no sense",
    "forced": "joins topics that have nothing to do with each other",
    "awkward": "nobody would put it so",
    "gives_away": "tells what the answer should have to know about the user",
    "factual": "has one right answer for everybody",
}
"""Appendix C has the first three. The others are ours, after section 3.2."""


def as_text(reasons: Mapping[str, str]) -> str:
    """One line per reason, for a command's help."""
    width = max(map(len, reasons))
    return "\n".join(f"  {name:<{width}}  {meaning}" for name, meaning in reasons.items())
