"""Void runs, whose numbers are not those of the model: no output has a difference, verdict, p value or rank of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from ..core.messages import remedy
from ..logs.caveat import VOID, Caveat
from ..logs.run import Run
from ..parsing.answers import IMPOSSIBLE
from .place import by_place, place_free, place_of

MOST_MISSING = 0.01
"""Share of replies without text up to which a report does not mention them first."""

MOST_UNREADABLE = 0.10
"""Share of unreadable replies of a run or a cell from which on its numbers measure the setup, not the model."""


def is_void(*runs: Run) -> bool:
    """Whether any of these runs is void: the only place that decides it."""
    return any(_is_void(run) for run in runs)


# id of a run -> the run, so that its id stays its own while it is here
_SOUND: WeakValueDictionary[int, Run] = WeakValueDictionary()


def _is_void(run: Run) -> bool:
    if _SOUND.get(id(run)) is run:
        return False
    found = next(reasons(run), None) is not None
    if not found:
        _SOUND[id(run)] = run
    return found


def reasons(run: Run) -> Iterator[Caveat]:
    """Why a run is void; nothing for a sound one."""
    if cut := run.cut_prompts:
        yield Caveat("prompts_cut", VOID, {"cut": cut})
    if (share := missing_share(run)) > MOST_MISSING:
        yield Caveat("missing_replies", VOID, {"percent": 100 * share})
    _, unreadable = unreadable_part(run)
    if unreadable["void"]:
        yield Caveat("unreadable", VOID, unreadable)
    if by_place(run) and (place := place_of(run)) is not None:
        values = {"place": place.name, "percent": 100 * place.calls.value, "cases": 100 * place.cases.value}
        yield Caveat("by_place", VOID, {**values, "ways": place_free(run)})
    yield from (caveat for caveat in run.unchecked if caveat.severity == VOID)


def missing_share(run: Run) -> float:
    """Share of a run's replies without text, but for those that thinking or a token limit ended; 0 without replies."""
    missing = sum(result.unread.count(("no_response", "")) for result in run.results)
    return missing / run.replies if missing else 0.0


def unreadable_part(run: Run) -> tuple[float, dict[str, Any]]:
    """(share in [0, 1] of replies that are neither a label nor a refusal, the values of a caveat about them).

    The caveat is VOID from MOST_UNREADABLE on, or with one log-likelihood that no model gives. The worst cell counts
    where it reaches MOST_UNREADABLE and the whole run does not.
    """
    answers: dict[str, list[str]] = {"": []}
    for result in run.results:
        answers[""] += result.answers
        answers.setdefault(result.cell, []).extend(result.answers)
    readable = (*run.benchmark.labels, "refusal")
    reasons = {place: Counter(answer for answer in found if answer not in readable) for place, found in answers.items()}
    shares = {place: reasons[place].total() / len(found) if found else 0.0 for place, found in answers.items()}
    worst = max(shares, key=lambda place: shares[place])
    place = worst if shares[""] < MOST_UNREADABLE <= shares[worst] else ""
    most = sorted(reasons[place].most_common(), key=lambda item: item[0] not in IMPOSSIBLE)
    return shares[place], {
        "void": shares[place] >= MOST_UNREADABLE or not reasons[""].keys().isdisjoint(IMPOSSIBLE),
        "percent": 100 * shares[place],
        "where": f" in {place.replace('_', ' ')}" if place else "",
        "reasons": ", ".join(f"{reason} {100 * count / len(answers[place]):.1f} %" for reason, count in most),
        "remedy": remedy(run.benchmark, run.method, most[0][0], run.program) if most else "",
    }
