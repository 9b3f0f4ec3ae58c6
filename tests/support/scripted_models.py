"""Two models behind a server: one writes for the users of the sample, one judges. Their replies depend on the prompt alone."""

from __future__ import annotations

import zlib

from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.pairwise.prompts import responses
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.writing.cases import questions
from personafeedback_tasks.writing.record import Writing, build

CASES = load_cases("sample")
WORTH = {case.chosen: 2.0 for case in CASES} | {case.rejected: 0.0 for case in CASES}


def chance(text: str) -> float:
    """A number in [0, 1) that a text decides."""
    return zlib.crc32(text.encode()) / 2**32


class Prompts(dict):
    """Prompt -> (what is asked for, the prompt)."""

    def __init__(self) -> None:
        super().__init__({build(one, Writing()): ("reply", one) for one in questions(CASES)})

    def __missing__(self, prompt):
        return "letter", prompt


def said(kind, asked):
    return _reply(asked) if kind == "reply" else _letter(asked)


def _reply(question) -> str:
    """Of four replies, one is the chosen response, one builds on it, one on the rejected response, one is short."""
    case, mood = question.pairs[0], int(4 * chance(question.question + question.user_id))
    first = case.chosen[: len(case.chosen) // 2]
    return [case.chosen, f"{case.chosen} {case.rejected[:40]}", f"{case.rejected} {first[:40]}", first][mood]


def _letter(prompt: str) -> str:
    """The better response by its own taste, wrong in one of six prompts."""
    taste = [_worth(text) for text in responses(prompt, TWO)]
    better = "AB"[taste[0] < taste[1]]
    return better if chance(prompt) > 1 / 6 else "AB"[better == "A"]


def _worth(text: str) -> float:
    """2 for a chosen response, 0 for a rejected one, and for what is made of them up to 1 less or more."""
    if text in WORTH:
        return WORTH[text]
    of = max((worth for known, worth in WORTH.items() if text.startswith(known)), default=1.0)
    return of + 2 * chance(text) - 1
