"""The record of PersonaFeedback: everything that the harness rooms, the log readers and the reports know about it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from .. import TASK_VERSION
from ..common.errors import DataError
from ..common.records import cut, decoded, short
from ..core.cases import digest_of
from ..core.duels import Duels
from ..core.method import RewardMethod
from ..core.report import CardSpec, Examined, Shown
from ..core.rewards import Message
from ..pairwise.benchmark import PairwiseBenchmark
from ..pairwise.orders import TWO
from ..pairwise.report import OTHER_PERSONA, PADDING, SIMILAR_PERSONA, control, report_of, shown_of
from ..stats.significance import Comparison
from . import card, conversations, memory, prompts
from .audit import AUDIT_VERSION, audit, ceiling_sentence, label_ceilings, repeated_labels
from .baselines import BASELINES, READ_PERSONA, acc_of, over_other
from .cases import PersonaCase, PersonaCases, load_cases, load_present
from .cells import CATEGORIES, CELLS, DIFFICULTIES, PAPER_COUNTS, columns
from .manifest import BENCHMARK, CHOSEN, REJECTED
from .prompts import Template
from .rag_filter import RagFilter
from .release import ENVIRONMENT_VARIABLE, HUB_ID, HUB_REVISION, SAMPLE_CASES_PER_CELL
from .system import NEUTRAL

FILTER = RagFilter()

# --- the data --------------------------------------------------------------------------------------------------------

SELECTIONS: dict[str, dict[str, str]] = {
    "": {},
    **{category: {"category": category} for category in CATEGORIES},
    **{difficulty: {"difficulty": difficulty} for difficulty in DIFFICULTIES},
    **{"_".join(cell): dict(zip(("category", "difficulty"), cell, strict=True)) for cell in PAPER_COUNTS},
}


SIGNED: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "memory": lambda options: options["setting"] == "rag",
    "others": lambda options: options["setting"] in prompts.OF_ANOTHER,
    "padding": lambda options: options["setting"] == PADDING,
}


# --- reports ---------------------------------------------------------------------------------------------------------


def examine(cases: PersonaCases, asked: Collection[str]) -> Examined:
    """Baselines on the cases of the run, findings among all cases, and the label ceiling of the run's cells."""
    audited = audit(cases)
    asked_cases = [case for case in cases if case.id in asked]
    cells = {case.cell for case in asked_cases}
    within = audited.within(cells or cases.cells)

    def chosen_is(longer: Callable[[int, int], bool]) -> frozenset[str]:
        return frozenset(case.id for case in asked_cases if longer(len(case.chosen), len(case.rejected)))

    return Examined(
        baselines=acc_of(asked_cases),
        subsets={
            "not_flagged": ("not flagged by the audit", frozenset(case.id for case in asked_cases) - audited.flagged),
            "chosen_longer": ("chosen is longer", chosen_is(int.__gt__)),
            "chosen_shorter": ("chosen is shorter", chosen_is(int.__lt__)),
            **{name: (name, ids) for name, ids in _by_fault(asked_cases).items()},
        },
        ceiling=label_ceilings(within),
        label_note=repeated_labels(audited, cells),
        ceiling_note=f"{ceiling_sentence(cases)}: {{}}.",
        version=AUDIT_VERSION,
        # The logarithm of the ratio: 100 characters more are much for a short response and little for a long one.
        covariate={case.id: math.log(len(case.chosen) / len(case.rejected)) for case in asked_cases},
        counted=cache(
            lambda: {name: {case.id: over_other(name, case) for case in asked_cases} for name in READ_PERSONA}
        ),
        flags={name: (finding.meaning, frozenset(finding.ids)) for name, finding in audited.findings.items()},
    )


class _Faults(Struct, forbid_unknown_fields=True):
    asked: Annotated[int, Meta(ge=1)]
    chosen: dict[str, int]
    reject: dict[str, int]


def _by_fault(cases: Iterable[PersonaCase]) -> dict[str, frozenset[str]]:
    # a fault that at least half of the people asked found
    found: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        if "faults" in case.extra:
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
                f"{cases.source}, {cut(case.id)}: found source = {short(source)}, expected the id of the benchmark's case. "
                "Make the folder again with `personafeedback duel`."
            )
        sources[case.id] = source
    return Duels(**structs.asdict(duel), sources=sources)


REPORT = report_of(
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
    wording=("prompt",),
    drawn={"longest": ("Longest", "-"), "overlap": ("Persona overlap", ":")},
    card=CardSpec(
        dataset=HUB_ID,
        revision=HUB_REVISION,
        measures=("acc", "acc_sym"),
        baselines={"longest": "the longer response"},
        measured=card.measured,
        caveats=card.caveats,
    ),
    load=lambda data, counts: load_present(data, counts=counts),
    environment=ENVIRONMENT_VARIABLE,
    asks="Each case is a persona, a question and two responses, asked in both orders. The model picks the response that suits this user.",
)


# --- before a run -----------------------------------------------------------------------------------------------------

_CORRELATION, _ACCURACY = 0.035, 0.75

COMPARISONS = (
    *(Comparison(f"paired, {100 * share:.0f} % differ", share, _CORRELATION) for share in (0.1, 0.25, 0.4)),
    Comparison("unpaired", _ACCURACY * (1 - _ACCURACY), _CORRELATION, paired=False),
)
"""What a plan assumes, from the baselines on the General half, which are judges without a model.

Paired: in which share of the cases one of the two runs is right and the other wrong, which is the variance of the difference.
It is 0.10 for `overlap` and `overlap_share`, which are alike, and 0.25 and 0.37 for `longest` and each of them; an `acc` of 0.5
(different answers in the two orders) makes it smaller. Unpaired: an accuracy of 75 %, as of two of them. Two cases
of a user correlate by 0.01 to 0.03, accuracies as well as differences.
"""


class PersonaFeedback(PairwiseBenchmark):
    """Which of two responses suits this user better?"""

    name = "personafeedback"
    title = BENCHMARK
    version = TASK_VERSION
    options: type[Template] = Template
    cells = CELLS
    selections = SELECTIONS
    report = REPORT
    stage = FILTER
    signed = SIGNED
    comparisons = COMPARISONS

    def load(self, options: Template, selection: Mapping[str, str]) -> PersonaCases:
        return load_cases(options.data, selection.get("category"), selection.get("difficulty"), options.counts)

    def columns(self, cells: Collection[str]) -> dict[str, list[str]]:
        return columns(cells)

    def prompt(self, case: PersonaCase, options: Template, call: str) -> str:
        return prompts.build(case, options, call)

    def conversation(self, case: PersonaCase, options: Template, side: str) -> list[Message]:
        return conversations.conversation(case, options, side)

    def check(self, options: Template, cases: PersonaCases) -> None:
        if options.method == "reward":
            conversations.check(options)
        options.check(cases)

    def fingerprint(self, options: Template) -> str:
        # rewards depend on conversations alone, and the other methods on prompts
        rewards = options.method == "reward"
        alike = [name for name, method in self.methods.items() if isinstance(method, RewardMethod) is rewards]
        return self.fingerprint_of("conversations" if rewards else options.prompt, prompts.stand_ins(options, alike))

    def sizes(self, cases: Any, options: Any) -> dict[str, int]:
        if cases.named_set is not None:
            return dict(cases.named_set.counts)
        if cases.demonstration:
            return dict.fromkeys(CELLS, SAMPLE_CASES_PER_CELL)
        return {"_".join(cell): count for cell, count in PAPER_COUNTS.items()}

    def signs(self, cases: PersonaCases, options: Template) -> dict[str, Any]:
        """Digests of what the setting reads beside the cases, of all users; None for the rest."""
        others = cases.release.given(options.setting)
        return {
            "memory": memory.digest(cases.release.root) if SIGNED["memory"](vars(options)) else None,
            "others": others.digest if SIGNED["others"](vars(options)) else None,
            "padding": digest_of([*NEUTRAL.items()]) if SIGNED["padding"](vars(options)) else None,
        }


PERSONAFEEDBACK = PersonaFeedback()
METHODS = PERSONAFEEDBACK.methods
