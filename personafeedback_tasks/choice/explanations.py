"""A score in plain words, for readers of single cases: what was picked in which order, and what the data say about the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..engine.benchmark import Explanations
from .orders import Orders


def explanations(orders: Orders, flags: Callable[[Any], Mapping[str, Sequence[str]]]) -> Explanations:
    """What a benchmark's scores mean.

    Args:
        flags: cases -> case id -> what may be wrong with it, by name; cases without a flag may be left out.
    """
    words = _OfTwo(orders) if len(orders.letters) == 2 else _OfMany(orders)

    def facts(cases: Any) -> dict[str, dict[str, Any]]:
        """Case id -> what an explanation says of its texts: which response is the longest, and its flags."""
        flagged = flags(cases)
        of_cases: dict[str, dict[str, Any]] = {}
        for case in cases:
            lengths = [len(response) for response in case.responses]
            longest = max(lengths)
            is_alone = lengths.count(longest) == 1
            of_cases[case.id] = {"longer": orders.sides[lengths.index(longest)] if is_alone else "neither"}
            if names := flagged.get(case.id):
                of_cases[case.id]["flags"] = list(names)
        return of_cases

    return Explanations(facts=facts, of_answers=words.of_answers, of_rewards=words.of_rewards)


class _OfTwo:
    """Sentences on two responses."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders

    def of_answers(self, answers: Sequence[str], about: Mapping[str, Any]) -> str:
        """What the answers of a case mean.

        Args:
            about: see `facts`; empty in a log from before there were any.
        """
        orders, right = self.orders, self.orders.sides[0]
        picks = [None if pick is None else orders.sides[pick] for pick in orders.picks(answers)]
        if None not in picks and picks[0] == picks[1]:
            return _joined(f"picked the {picks[0]} response in both orders", self._length_of(picks[0], about), about)
        if None not in picks:
            when = orders.names[picks.index(right)].replace("_", " ")
            said = (
                f"picked the {right} response in one order ({when}) and the {orders.sides[1]} one in the other: "
                f"the {orders.places[orders.letters.index(answers[0])]} one shown each time"
            )
            return _joined(said, self._length(about), about)
        unread = [place for place, pick in enumerate(picks) if pick is None]
        reasons = [answers[place] for place in unread]
        if len(unread) == len(picks):
            said = f"unreadable replies in both orders ({', '.join(dict.fromkeys(reasons))})"
        else:
            said = (
                f"unreadable reply when the {orders.sides[unread[0]]} response was first ({reasons[0]}); "
                f"picked the {picks[1 - unread[0]]} response in the other order"
            )
        return _joined(said, self._length(about), about)

    def of_rewards(self, rewards: Sequence[float], about: Mapping[str, Any]) -> str:
        """The same of the rewards of both responses, that of the right one first."""
        better, worse = rewards
        if better == worse:
            return _joined(
                f"both responses have the same reward ({better:.4g}), which is no pick", self._length(about), about
            )
        side = self.orders.sides[better < worse]
        each = ", ".join(f"{name} {value:.4g}" for name, value in zip(self.orders.sides, rewards, strict=True))
        said = f"the {side} response has the higher reward, by {abs(better - worse):.4g} ({each})"
        return _joined(said, self._length_of(side, about), about)

    def _length_of(self, picked: str | None, about: Mapping[str, Any]) -> str | None:
        if about.get("longer") in self.orders.sides:
            return f"it is the {'longer' if picked == about['longer'] else 'shorter'} one"
        return self._length(about)

    def _length(self, about: Mapping[str, Any]) -> str | None:
        if "longer" not in about:
            return None
        return (
            f"the {about['longer']} one is longer" if about["longer"] in self.orders.sides else "both are equally long"
        )


class _OfMany:
    """Sentences on more than two responses."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.sides = [side.replace("_", " ") for side in orders.sides]

    def of_answers(self, answers: Sequence[str], about: Mapping[str, Any]) -> str:
        """As `_OfTwo.of_answers`."""
        picks = self.orders.picks(answers)
        readable = [pick for pick in picks if pick is not None]
        if len(readable) == len(picks) and len(set(picks)) == 1:
            return _joined(
                f"picked the {self.sides[readable[0]]} in {self.orders.all_names}", self._length(about), about
            )
        times = Counter(sorted(readable))
        said = ", ".join(f"the {self.sides[pick]} in {count} of {len(picks)} orders" for pick, count in times.items())
        said = f"picked {said}" if said else f"unreadable replies in {self.orders.all_names}"
        if len(set(answers)) == 1 and readable:
            said += f": the {self.orders.places[self.orders.letters.index(answers[0])]} one shown each time"
        reasons = [answer for answer in answers if answer not in self.orders.letters]
        if readable and reasons:
            said += f"; {len(reasons)} unreadable ({', '.join(dict.fromkeys(reasons))})"
        return _joined(said, self._length(about), about)

    def of_rewards(self, rewards: Sequence[float], about: Mapping[str, Any]) -> str:
        """As `_OfTwo.of_rewards`."""
        most = max(rewards)
        each = ", ".join(f"{name} {value:.4g}" for name, value in zip(self.sides, rewards, strict=True))
        if rewards.count(most) > 1:
            return _joined(
                f"several responses have the highest reward ({each}), which is no pick", self._length(about), about
            )
        return _joined(
            f"the {self.sides[rewards.index(most)]} has the highest reward ({each})", self._length(about), about
        )

    def _length(self, about: Mapping[str, Any]) -> str | None:
        if "longer" not in about:
            return None
        if about["longer"] not in self.orders.sides:
            return "several are the longest"
        return f"the {self.sides[self.orders.sides.index(about['longer'])]} is the longest"


def _joined(said: str, length: str | None, about: Mapping[str, Any]) -> str:
    flags = ", ".join(about.get("flags") or ())
    return "; ".join(part for part in (said, length, f"audit: {flags}" if flags else None) if part)
