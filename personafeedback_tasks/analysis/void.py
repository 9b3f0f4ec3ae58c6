"""Void runs, whose numbers are not those of the model: no output has a difference, verdict, p value or rank of one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from ..core.messages import remedy
from ..core.result import Result
from ..logs.caveat import VOID, Caveat, caveat
from ..logs.run import Run
from ..parsing.answers import IMPOSSIBLE
from ..stats.clusters import Clusters
from ..stats.estimates import Estimate, mean, share

MOST_MISSING = 0.01
"""Share of replies without text up to which a report does not mention them first."""

_AGAIN = {
    "lm-eval": " without the --use_cache file, which keeps them; a thinking model that ran out of tokens looks the "
    "same: raise max_gen_toks"
}
"""Harness -> how to run again after missing replies, where it has options for that."""

MOST_UNREADABLE = 0.10
"""Share of unreadable replies of a run or a cell from which on its numbers measure the setup, not the model."""


_VOID: WeakKeyDictionary[Run, bool] = WeakKeyDictionary()


def is_void(*runs: Run) -> bool:
    """Whether any of these runs is void: the only place that decides it."""
    for run in runs:
        if run not in _VOID:
            _VOID[run] = next(reasons(run), None) is not None
    return any(_VOID[run] for run in runs)


def reasons(run: Run) -> Iterator[Caveat]:
    """Why a run is void; nothing for a sound one."""
    if cut := run.cut_prompts:
        yield caveat("prompts_cut", VOID, cut=cut)
    if (missing := missing_share(run)) > MOST_MISSING:
        yield caveat("missing_replies", VOID, percent=100 * missing, again=_AGAIN.get(run.program, ""))
    _, unreadable = unreadable_part(run)
    if unreadable["void"]:
        yield caveat("unreadable", VOID, **unreadable)
    if place := by_place(run):
        yield caveat("by_place", VOID, **place.shown, cases=100 * place.cases.value, free=free_of_place(run))
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


# --- place ----------------------------------------------------------------------------------------------------------

MOST, OFTEN = 0.5, 0.9
"""Shares above which place decides: of the cases answered by place, and of the calls that pick one place."""


@dataclass(frozen=True)
class Place:
    """How far place decides a run's picks."""

    name: str  # of the place that is picked most: `first`
    calls: Estimate  # share of the readable picks in that place, mean over cases
    # share of the cases in which every order picks the same place, among those with all replies readable. Of two
    # responses, consistency is the rest.
    cases: Estimate

    @property
    def decides(self) -> bool:
        """Whether the whole interval of `cases` is above MOST, or that of `calls` above OFTEN.

        The estimate counts where there is no interval, and where it is 1.
        """
        return any(
            found.value == 1 or (found.value if math.isnan(found.low) else found.low) > bound
            for found, bound in ((self.cases, MOST), (self.calls, OFTEN))
        )

    @property
    def shown(self) -> dict[str, Any]:
        """What sentences say of it."""
        return {"place": self.name, "percent": 100 * self.calls.value}


_PLACES: WeakKeyDictionary[Run, Place | None] = WeakKeyDictionary()


def place_of(run: Run) -> Place | None:
    """The place of a run's picks; None where no reply picks one: rewards, and benchmarks without orders."""
    if run not in _PLACES:
        _PLACES[run] = _place_of(run)
    return _PLACES[run]


def _place_of(run: Run) -> Place | None:
    labels = run.benchmark.labels
    users = Clusters.of([case.user_id for case in run.cases.values()])
    answers = [[*chain.from_iterable(result.answers for result in epochs)] for epochs in run.by_case.values()]
    picks = [[answer for answer in of_case if answer in labels] for of_case in answers]
    found = []
    for name, label in zip(run.benchmark.report.places, labels, strict=False):
        shares = [mean(float(pick == label) for pick in of_case) for of_case in picks]
        found.append((name, share(shares, users)))
    if not found or not any(picks):
        return None
    same = [_of_same_place(epochs, labels) for epochs in run.by_case.values()]
    name, calls = max(found, key=lambda item: item[1].value)
    return Place(name, calls, share(same, users))


def _of_same_place(epochs: Iterable[Result], labels: Iterable[str]) -> float:
    return mean(float(len({*result.answers}) == 1) for result in epochs if {*result.answers} <= {*labels})


def by_place(run: Run) -> Place | None:
    """The place that decides a run's score: log-odds cancel it, but nothing is left if they are tied in every case."""
    place = place_of(run)
    decides = place and place.decides and (not run.method.primary or cannot_move([run], run.cases))
    return place if decides else None


def cannot_move(runs: Iterable[Run], ids: Iterable[str]) -> bool:
    """Whether place answers all cases: then scores are chance whatever the runs know, and their difference is 0."""
    ids = list(ids)
    for run in runs:
        for case_id in ids:
            is_chance = run.cases[case_id].value(run.primary) == run.benchmark.report.chance
            if not is_chance or _of_same_place(run.by_case[case_id], run.benchmark.labels) != 1:
                return False
    return bool(ids)


def free_of_place(run: Run) -> str:
    """How to ask so that place cancels, in a sentence; or why it does not where it should."""
    ways = [] if run.method.primary else [method for method in run.benchmark.methods.values() if method.primary]
    if not ways:
        return (
            "Its log-odds do, too: averaged over the orders, they tie exactly. Half precision and truncated "
            "probabilities round to such ties (hf: softmax_dtype=float32)."
        )
    asked = {"lm-eval": "the _{0.suffix} tasks in lm-eval", "inspect": "-T method={0.name} in Inspect"}
    shown = " or ".join(asked[harness].format(method) for method in ways for harness in method.harnesses)
    return f"Log-odds may still tell the responses apart: ask with {shown}."
