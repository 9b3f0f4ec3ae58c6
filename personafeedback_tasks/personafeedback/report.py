"""What reports say of a run on these data: shortcuts, findings of the audit, texts of a case, the model card."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache
from typing import Annotated

from msgspec import Meta, Struct, structs

from ..common.errors import DataError
from ..common.records import cut, decoded, short
from ..core.duels import Duels
from ..core.report import CardSpec, Examined, Shown
from ..pairwise.orders import TWO
from ..pairwise.report import OTHER_PERSONA, SIMILAR_PERSONA, control, report_spec, shown_of
from . import card
from .audit import AUDIT_VERSION, MEANINGS, audit, label_ceilings, repeated_labels
from .baselines import BASELINES, acc_of, over_other
from .cases import PersonaCase, PersonaCases, load_present
from .manifest import CHOSEN, REJECTED
from .release import ENVIRONMENT_VARIABLE, HUB_ID


def examine(cases: PersonaCases, asked: Collection[str]) -> Examined:
    """Baselines on the cases of the run, findings among all cases, and the label ceiling of the run's cells."""
    audited = audit(cases)
    asked_cases = [case for case in cases if case.id in asked]
    cells = {case.cell for case in asked_cases}
    ceiling, note = label_ceilings(audited, cells or cases.cells)
    flags: dict[str, tuple[str, frozenset[str]]] = {}
    not_flagged = frozenset(case.id for case in asked_cases)
    for name, meaning in MEANINGS.items():
        ids = frozenset(case.id for case in audited.found(name))
        flags[name] = meaning, ids
        not_flagged -= ids

    def chosen_is(longer: Callable[[int, int], bool]) -> frozenset[str]:
        return frozenset(case.id for case in asked_cases if longer(len(case.chosen), len(case.rejected)))

    return Examined(
        baselines=acc_of(asked_cases),
        subsets={
            "not_flagged": ("not flagged by the audit", not_flagged),
            "chosen_longer": ("chosen is longer", chosen_is(int.__gt__)),
            "chosen_shorter": ("chosen is shorter", chosen_is(int.__lt__)),
            **{name: (name, ids) for name, ids in _by_fault(asked_cases).items()},
        },
        ceiling=ceiling,
        label_note=repeated_labels(audited, cells),
        ceiling_note=note,
        version=AUDIT_VERSION,
        # The logarithm of the ratio: 100 characters more are much for a short response and little for a long one.
        covariate={case.id: math.log(len(case.chosen) / len(case.rejected)) for case in asked_cases},
        counted=cache(lambda: over_other(asked_cases)),
        flags=flags,
    )


class _Faults(Struct, forbid_unknown_fields=True):
    asked: Annotated[int, Meta(ge=1)]
    chosen: dict[str, int]
    reject: dict[str, int]


def _by_fault(cases: Iterable[PersonaCase]) -> dict[str, frozenset[str]]:
    # faults that at least half of the people asked found
    found: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        if "faults" not in case.extra:
            continue
        faults = decoded(f"{cut(case.id)}, faults", case.extra["faults"], _Faults)
        for side, counts in (("chosen", faults.chosen), ("rejected", faults.reject)):
            for fault, count in counts.items():
                if 2 * count >= faults.asked:
                    found[f"{side} is {fault}"].add(case.id)
    return {name: frozenset(found[name]) for name in sorted(found)}


def shown(cases: PersonaCases, asked: Collection[str]) -> Shown:
    """Texts of a case for readers, and whose persona its user got under `other_persona` and `similar_persona`."""
    made = shown_of("Persona", (CHOSEN, REJECTED))(cases, asked)
    return replace(
        made,
        told={
            OTHER_PERSONA: lambda user: cases.release.others.of(user).user_id,
            SIMILAR_PERSONA: lambda user: cases.release.similar.of(user).user_id,
        },
    )


def duels(cases: PersonaCases) -> Duels | None:
    """The manifest's duel and its rows' sources; None for other cases. Raises DataError if a row names no source."""
    duel = cases.release.manifest and cases.release.manifest.duel
    sources: dict[str, str] = {}
    if not duel:
        return None
    for case in cases:
        source = case.extra.get("source")
        if not isinstance(source, str):
            raise DataError(
                f"{cases.source}, {cut(case.id)}: found source = {short(source)}, expected the id of the benchmark's "
                "case. Make the folder again with `personafeedback duel`."
            )
        sources[case.id] = source
    return Duels(**structs.asdict(duel), sources=sources)


REPORT = report_spec(
    TWO,
    baselines=tuple(BASELINES),
    adjusted="at equal length",
    shortcuts={
        "longest": "the longer response",
        "overlap": "the response with more words of the persona",
        "name": "the response that says the user's name",
    },
    examine=examine,
    shown=shown,
    duels=duels,
    control=control(
        "persona",
        others=("rag",),
        alike={OTHER_PERSONA: ("hide",), SIMILAR_PERSONA: ("hide",)},
        further=True,
    ),
    drawn={"longest": "Longest", "overlap": "Persona overlap"},
    card=CardSpec(
        dataset=HUB_ID,
        baselines={"longest": "the longer response"},
        measured=card.measured,
        caveats=card.caveats,
    ),
    load=lambda data, counts: load_present(data, counts=counts),
    environment=ENVIRONMENT_VARIABLE,
    asks=(
        "Each case is a persona, a question and two responses, asked in both orders. The model picks the response that "
        "suits this user."
    ),
)
