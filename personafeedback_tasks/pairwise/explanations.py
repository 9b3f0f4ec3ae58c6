"""A score in plain words, for readers of single cases: what was picked in which order, and what the data say about the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.benchmark import Explanations
from .orders import Orders


def explanations(orders: Orders, flags: Callable[[Any], Mapping[str, Sequence[str]]]) -> Explanations:
    """What a benchmark's scores mean; `flags`: cases -> case id -> what may be wrong with it, by name."""
    two = len(orders.letters) == 2
    named = [f"{side} response" if two else side.replace("_", " ") for side in orders.sides]

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

    def explained(said: str, about: Mapping[str, Any], picked: int | None = None) -> str:
        """A sentence, and what the data say of the case: `about` is of `facts`, empty in logs from before these."""
        length = _longest(orders, named, about["longer"], picked) if "longer" in about else ""
        names = ", ".join(about.get("flags") or ())
        return "; ".join(part for part in (said, length, names and f"audit: {names}") if part)

    def of_answers(answers: Sequence[str], about: Mapping[str, Any]) -> str:
        picks = orders.picks(answers)
        if None not in picks and len({*picks}) == 1:
            return explained(f"picked the {named[picks[0] or 0]} in {orders.all_names}", about, picks[0])
        return explained((_of_two if two else _of_many)(orders, named, answers, picks), about)

    def of_rewards(rewards: Sequence[float], about: Mapping[str, Any]) -> str:
        most, best = max(rewards), rewards.index(max(rewards))
        each = ", ".join(
            f"{name} {value:.4g}" for name, value in zip(orders.sides if two else named, rewards, strict=True)
        )
        if rewards.count(most) > 1:
            tied = (
                f"both responses have the same reward ({most:.4g})"
                if two
                else f"several responses have the highest reward ({each})"
            )
            return explained(f"{tied}, which is no pick", about)
        higher = f"higher reward, by {abs(rewards[0] - rewards[1]):.4g}" if two else "highest reward"
        return explained(f"the {named[best]} has the {higher} ({each})", about, best)

    return Explanations(facts=facts, of_answers=of_answers, of_rewards=of_rewards)


def _longest(orders: Orders, named: Sequence[str], longer: str, picked: int | None) -> str:
    two = len(orders.letters) == 2
    if longer not in orders.sides:
        return "both are equally long" if two else "several are the longest"
    longest = orders.sides.index(longer)
    if not two:
        return f"the {named[longest]} is the longest"
    if picked is None:
        return f"the {orders.sides[longest]} one is longer"
    return f"it is the {'longer' if picked == longest else 'shorter'} one"


def _of_two(orders: Orders, named: Sequence[str], answers: Sequence[str], picks: Sequence[int | None]) -> str:
    # Answers that do not pick the same one of two responses in both orders.
    unread = [place for place, pick in enumerate(picks) if pick is None]
    if not unread:
        when = orders.names[picks.index(0)].replace("_", " ")
        place = orders.places[orders.letters.index(answers[0])]
        return f"picked the {named[0]} in one order ({when}) and the {orders.sides[1]} one in the other: the {place} one shown each time"
    reasons = [answers[place] for place in unread]
    if len(unread) == len(picks):
        return f"unreadable replies in both orders ({', '.join(dict.fromkeys(reasons))})"
    picked = named[picks[1 - unread[0]] or 0]
    return (
        f"unreadable reply when the {named[unread[0]]} was first ({reasons[0]}); picked the {picked} in the other order"
    )


def _of_many(orders: Orders, named: Sequence[str], answers: Sequence[str], picks: Sequence[int | None]) -> str:
    readable = sorted(pick for pick in picks if pick is not None)
    if not readable:
        return f"unreadable replies in {orders.all_names}"
    times = Counter(readable).items()
    said = f"picked {', '.join(f'the {named[pick]} in {count} of {len(picks)} orders' for pick, count in times)}"
    if len(set(answers)) == 1:
        said += f": the {orders.places[orders.letters.index(answers[0])]} one shown each time"
    reasons = [answer for answer in answers if answer not in orders.letters]
    return said + (f"; {len(reasons)} unreadable ({', '.join(dict.fromkeys(reasons))})" if reasons else "")
