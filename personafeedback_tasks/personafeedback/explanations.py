"""A score in plain words, for readers of single cases: what was picked in which order, and what the data say about the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..choice.orders import CHOSEN_LETTER, ORDERS
from ..replies.answers import LETTERS
from .audit import FLAGGED, audit
from .cases import CaseSet
from .conversations import SIDES

_IN_WORDS = {"chosen_first": "chosen first", "rejected_first": "rejected first"}


def facts(cases: CaseSet) -> dict[str, dict[str, Any]]:
    """Case id -> what an explanation says of its texts: which response is longer, and what the audit flags.

    Like the audit, it sees the repeats among these cases only.
    """
    findings = audit(cases).findings
    flags = {name: set(findings[name].ids) for name in FLAGGED}
    found: dict[str, dict[str, Any]] = {}
    for case in cases:
        chosen, rejected = len(case.chosen), len(case.rejected)
        longer = "neither" if chosen == rejected else SIDES[chosen < rejected]
        found[case.id] = {"longer": longer}
        if flagged := [name for name, ids in flags.items() if case.id in ids]:
            found[case.id]["flags"] = flagged
    return found


def of_answers(answers: Sequence[str], about: Mapping[str, Any]) -> str:
    """What the answers of a case mean.

    Args:
        answers: in the order of ORDERS.
        about: see `facts`; empty in a log from before there were any.
    """
    picked = [_picked(answer, order) for answer, order in zip(answers, ORDERS, strict=True)]
    if None not in picked and picked[0] == picked[1]:
        return _joined(f"picked the {picked[0]} response in both orders", _length_of_it(picked[0], about), about)
    if None not in picked:
        (right,) = (order for order, side in zip(ORDERS, picked, strict=True) if side == SIDES[0])
        first = "first" if answers[0] == LETTERS[0] else "second"
        said = (
            f"picked the chosen response in one order ({_IN_WORDS[right]}) and the rejected one in the other: "
            f"the {first} one shown each time"
        )
        return _joined(said, _length(about), about)
    reasons = [answer for answer, side in zip(answers, picked, strict=True) if side is None]
    if len(reasons) == len(ORDERS):
        return _joined(
            f"unreadable replies in both orders ({', '.join(dict.fromkeys(reasons))})", _length(about), about
        )
    (bad,) = (order for order, side in zip(ORDERS, picked, strict=True) if side is None)
    (side,) = (side for side in picked if side is not None)
    shown = "chosen" if CHOSEN_LETTER[bad] == LETTERS[0] else "rejected"
    said = f"unreadable reply when the {shown} response was first ({reasons[0]}); picked the {side} response in the other order"
    return _joined(said, _length(about), about)


def of_rewards(better: float, worse: float, about: Mapping[str, Any]) -> str:
    """The same of the rewards of the chosen and the rejected response."""
    if better == worse:
        return _joined(f"both responses have the same reward ({better:.4g}), which is no pick", _length(about), about)
    side = SIDES[better < worse]
    said = f"the {side} response has the higher reward, by {abs(better - worse):.4g} (chosen {better:.4g}, rejected {worse:.4g})"
    return _joined(said, _length_of_it(side, about), about)


def _picked(answer: str, order: str) -> str | None:
    """The response that an answer picked; None if it is unreadable."""
    return SIDES[answer != CHOSEN_LETTER[order]] if answer in LETTERS else None


def _length_of_it(picked: str | None, about: Mapping[str, Any]) -> str | None:
    if about.get("longer") in SIDES:
        return f"it is the {'longer' if picked == about['longer'] else 'shorter'} one"
    return _length(about)


def _length(about: Mapping[str, Any]) -> str | None:
    if "longer" not in about:
        return None
    return f"the {about['longer']} one is longer" if about["longer"] in SIDES else "both are equally long"


def _joined(said: str, length: str | None, about: Mapping[str, Any]) -> str:
    flags = ", ".join(about.get("flags") or ())
    return "; ".join(part for part in (said, length, f"audit: {flags}" if flags else None) if part)
