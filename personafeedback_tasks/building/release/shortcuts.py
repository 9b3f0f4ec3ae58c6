"""Reasons against a release: shortcuts that predict the chosen response on Hard, and contradictory labels; and controls that cannot run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from ...common.errors import DataError
from ...common.records import short_list
from ...common.statistics import Estimate, percent, share
from ...personafeedback.audit import audit
from ...personafeedback.baselines import BASELINES, estimate
from ...personafeedback.cases import PersonaCase, PersonaCases
from ...personafeedback.cells import DIFFICULTIES
from ...personafeedback.others import assign

MOST = 0.6
"""Accuracy of a shortcut on Hard above which the set measures the shortcut."""

WRITER = "writer"
"""The shortcut of `writer_shortcut`, where responses have writers."""

_WITHOUT = "a model could score as high without reading a persona"
STOPPING: Mapping[str, str] = {
    "longest": _WITHOUT,
    "overlap": "a model could score as high by counting the words of the persona that a response repeats",
    "name": "a model could score as high by looking for the user's name",
    WRITER: f"{_WITHOUT}, by knowing who writes better",
}
"""Shortcut with a limit on Hard -> meaning of its accuracy."""

CONTRADICTION = "contradiction"
NAMES = (*STOPPING, CONTRADICTION)
"""Values of --accept."""


Shortcuts = Mapping[str, Mapping[str, Estimate]]
"""Baseline -> tier -> its accuracy, with a standard error by user."""


def shortcut_table(shortcuts: Shortcuts, quote: str = "") -> tuple[list[str], list[list[str]]]:
    """(header, rows): accuracy of each baseline in each tier, in percent. `quote` encloses a baseline's name."""
    rows = [
        [f"{quote}{name}{quote}", *(percent(estimate.value, stderr=estimate.stderr) for estimate in of_tier.values())]
        for name, of_tier in shortcuts.items()
    ]
    return ["", *next(iter(shortcuts.values()))], rows


def writer_shortcut(cases: Iterable[PersonaCase]) -> dict[str, float]:
    """Case id -> `acc` of picking the response of the model that more often wrote the chosen one, over all other users; 0.5 for a tie.

    Empty if no two responses are of different models.
    """
    of_user: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    models = {case.id: (case, *map(case.extra.get("models", {}).get, ("chosen", "reject"))) for case in cases}
    for case, chosen, rejected in models.values():
        if chosen != rejected:
            of_user[case.user_id].update([(chosen, True), (rejected, False)])
    if not of_user:
        return {}
    total = sum(of_user.values(), Counter[tuple[str, bool]]())

    def won(model: str, user: str) -> float:
        wins, losses = (total[model, won] - of_user[user][model, won] for won in (True, False))
        return wins / (wins + losses) if wins + losses else 0.5

    acc = {}
    for name, (case, chosen, rejected) in models.items():
        lead = 0.0 if chosen == rejected else won(chosen, case.user_id) - won(rejected, case.user_id)
        acc[name] = 0.5 if not lead else float(lead > 0)
    return acc


def check(cases: PersonaCases) -> tuple[Shortcuts, dict[str, str]]:
    """(the shortcuts of a set, name of NAMES -> a sentence on why it stops the release)."""
    acc = {name: {case.id: baseline(case) for case in cases} for name, baseline in BASELINES.items()}
    if by_writer := writer_shortcut(cases):
        acc[WRITER] = by_writer
    tiers = {tier: [case for case in cases if case.difficulty == tier] for tier in DIFFICULTIES}
    shortcuts = {
        name: {tier: estimate([of[case.id] for case in of_tier], of_tier) for tier, of_tier in tiers.items() if of_tier}
        for name, of in acc.items()
    }
    stopping = {}
    for name, meaning in STOPPING.items():
        if name not in acc or not tiers["hard"]:
            continue
        hard = share([acc[name][case.id] for case in tiers["hard"]], [case.user_id for case in tiers["hard"]])
        if hard.value > MOST and not hard.low <= MOST:  # of one user there is no interval
            stopping[name] = (
                f"{name} is right in {percent(hard.value, stderr=hard.stderr)} % of {hard.n:,} Hard cases, more than {100 * MOST:.0f} % beyond chance: {meaning}."
            )
    if opposite := audit(cases).findings[CONTRADICTION].ids:
        stopping[CONTRADICTION] = (
            f"{len(opposite):,} cases have the same two texts as another one with the opposite label: {', '.join(opposite[:4])}."
        )
    return shortcuts, stopping


def idle_control(cases: PersonaCases) -> str:
    """Why setting=other_persona, or setting=rag where users have memories, cannot run on a set; empty if it can."""
    why = []
    try:
        assign(cases.release.others.personas.values())
    except DataError as error:
        why.append(f"The control setting=other_persona cannot run on this set: {error}")
    remembered = {
        case.user_id: case.persona.memory_file is not None and case.persona.memory_file.is_file() for case in cases
    }
    without = [user for user, has in remembered.items() if not has]
    if 0 < len(without) < len(remembered):
        why.append(
            f"setting=rag cannot run on this set: {len(without):,} of {len(remembered):,} users have no memory ({short_list(without)}). Give them "
            "one: memory/<user_id>.jsonl."
        )
    return " ".join(why)


def refuse(stopping: Mapping[str, str], accepted: Collection[str], command: str, written: bool) -> None:
    """Raise DataError for a reason against the release that is not accepted.

    Args:
        stopping: name -> sentence, from `check`.
        command: releases the set; the message adds --accept.
        written: models wrote answers in this build.
    """
    if sentences := [sentence for name, sentence in stopping.items() if name not in accepted]:
        flags = " ".join(f"--accept {name}" for name in stopping)
        lengths = (
            "Against lengths: see that each prompt of answers has {{words}}, so that all answers to a question have one target, and name more models "
            "for the step answers. "
            if written and "longest" in stopping
            else ""
        )
        raise DataError(
            f"The set is not released. {' '.join(sentences)} {lengths}Add pairs and have them voted on; dropping pairs that were voted on is the last "
            f"resort, since it chooses by the outcome. Or accept it, which the card will say: {command} {flags}"
        )
