"""The record of PersonaFeedback: everything that the harness rooms, the log readers and the reports know about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .. import TASK_VERSION
from ..choice import scoring
from ..choice.orders import CHOSEN_LETTER, ORDERS
from ..common.power import Comparison
from ..common.statistics import mean
from ..engine.benchmark import Benchmark, Explanations, Stage
from ..engine.evidence import LogLikelihoods
from ..engine.method import Method, Metric
from ..engine.outcome import Answers, ScoredCase
from ..engine.report import CardSpec, Control, Covariate, Difference, Examined, Line, ReportSpec, Shown
from ..engine.rewards import TOTAL, score_pair
from ..engine.signature import set_of
from ..replies.answers import LETTERS, read_last_line, read_reply
from ..replies.letter_probabilities import read_top
from . import card, conversations, explanations, prompts
from .attributes import attributes
from .audit import AUDIT_VERSION, audit
from .baselines import CHANCE, acc_of
from .cases import Case, CaseSet, load_cases, load_present
from .cells import CATEGORIES, CELLS, DIFFICULTIES, PAPER_COUNTS, columns
from .conversations import SIDES
from .duels import duels
from .judges import JUDGES
from .paper.beside import beside
from .prompts import Template
from .rag import filter as rag_filter
from .rag import memory
from .release import ENVIRONMENT_VARIABLE, HUB_ID, HUB_REVISION, SAMPLE_CASES_PER_CELL
from .scenarios import scenarios

# --- how a choice is read --------------------------------------------------------------------------------------------

_CASE_METRICS = (
    Metric("acc"),
    Metric("acc_both"),
    Metric("invalid", higher_is_better=False),
    Metric("consistency", defined=False),
    Metric("first_rate", higher_is_better=None, defined=False),  # 0.5 is best: no direction is better
    *(Metric(name, defined=False, harnesses=()) for name in ("bias_first", "bias_second", "acc_readable")),
)
_SYMMETRIC = (*_CASE_METRICS[:2], Metric("acc_sym"), *_CASE_METRICS[2:])


def _of_letters(targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods]) -> dict[str, float]:
    return scoring.score_answers(answers)


def _of_two_log_likelihoods(
    targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods]
) -> dict[str, float]:
    both: list[scoring.LogLikelihoods] = [(a, b) for a, b in pairs]
    return {
        **_of_letters(targets, answers, pairs),
        "acc_sym": scoring.score_symmetric(both),
        "p_chosen": scoring.p_chosen(both),
    }


METHODS = {
    method.name: method
    for method in (
        Method(
            name="generate", help="the letter in the reply", evidence="reply", harnesses=("lm-eval", "inspect"), calls=ORDERS,
            per_case="both orders", score=_of_letters, metrics=_CASE_METRICS, room=1024, read=read_reply,
        ),
        Method(
            name="cot", help="the same in the last line, after reasons, 4,096 tokens", evidence="reply",
            harnesses=("lm-eval", "inspect"), calls=ORDERS, per_case="both orders", score=_of_letters, metrics=_CASE_METRICS,
            suffix="cot", room=4096, read=read_last_line,
        ),
        Method(
            name="mc", help="log-likelihoods of the two letters", evidence="log_likelihoods", harnesses=("lm-eval",), calls=ORDERS,
            per_case="both orders", score=_of_two_log_likelihoods, metrics=(*_SYMMETRIC, Metric("p_chosen", defined=False, harnesses=())),
            suffix="mc",
        ),
        Method(
            name="logprobs", help="probabilities of the letters among the top ones (OpenAI, vLLM, local)", evidence="top_tokens",
            harnesses=("inspect",), calls=ORDERS, per_case="both orders", score=_of_two_log_likelihoods,
            metrics=(*_SYMMETRIC, Metric("p_chosen", defined=False)), suffix="logprobs", read_tokens=read_top,
        ),
        Method(
            name="reward", help="a reward model's score of each response", evidence="rewards", harnesses=("inspect",), calls=SIDES,
            per_case="both responses", score=None, metrics=(Metric("acc"), Metric("acc_half"), Metric("tie", higher_is_better=None)),
            suffix="reward", conversation=conversations.conversation,
        ),
    )
}  # fmt: skip
"""How the model's choice is read. All ask for a letter but `cot`, which reasons first, and `reward`."""

FILTER = Stage(
    name="rag_filter",
    room=1024,
    applies=lambda options: options.rag_filter,
    prompt=lambda case, options: rag_filter.build(case, options, options.pieces(case)),
    about=lambda case, options: {"pieces": len(options.pieces(case))},
    read=lambda reply, about: rag_filter.said(rag_filter.read_numbers(reply, about["pieces"]), about["pieces"]),
    apply=rag_filter.applied,
    warning=rag_filter.warning,
)

# --- the data --------------------------------------------------------------------------------------------------------

SELECTIONS: dict[str, dict[str, str]] = {
    "": {},
    **{category: {"category": category} for category in CATEGORIES},
    **{difficulty: {"difficulty": difficulty} for difficulty in DIFFICULTIES},
    **{"_".join(cell): dict(zip(("category", "difficulty"), cell, strict=True)) for cell in PAPER_COUNTS},
}


def _load(options: Template, selection: Mapping[str, str]) -> CaseSet:
    return load_cases(options.data, selection.get("category"), selection.get("difficulty"), options.counts)


def _check(options: Template, cases: CaseSet) -> None:
    if options.method == "reward":
        conversations.check(options)
    options.check(cases)


def _fingerprint(options: Template) -> str:
    return conversations.fingerprint(options) if options.method == "reward" else options.fingerprint()


SIGNED: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "memory": lambda options: options["setting"] == "rag",
    "others": lambda options: options["setting"] == "other_persona",
}


def _signs(cases: CaseSet, options: Template) -> dict[str, Any]:
    """Digests of what the setting reads of all users, in the run or not: their memories, or who gets whose persona; else None."""
    return {
        "memory": memory.digest(cases.release.root) if SIGNED["memory"](vars(options)) else None,
        "others": cases.release.others.digest if SIGNED["others"](vars(options)) else None,
    }


def _sizes(signature: Mapping[str, Any]) -> dict[str, int]:
    """Those of the set, of the bundled sample, or of the paper's Table 2."""
    if (named := set_of(signature)) is not None:
        return dict(named.counts)
    if signature["demonstration"]:
        return dict.fromkeys(CELLS, SAMPLE_CASES_PER_CELL)
    return {"_".join(cell): count for cell, count in PAPER_COUNTS.items()}


# --- reports ---------------------------------------------------------------------------------------------------------

_PAIRS, _REPLIES = "Both orders of a case", "Single replies"


def picked(row: ScoredCase) -> float:
    """The share of a case's picks that are the chosen response: of the readable replies in both orders, or of the pairs of
    rewards without a tie; nan without one."""
    rewards = [outcome.rewards[TOTAL] for outcome in row if outcome.rewards]
    if rewards:
        decided = [score_pair(*pair) for pair in rewards]
        return mean(right for right, tie in decided if not tie)
    letters = [pair for outcome in row for pair in zip(outcome.answers, ORDERS, strict=True)]
    return mean(float(answer == CHOSEN_LETTER[order]) for answer, order in letters if answer in LETTERS)


def examine(cases: CaseSet, asked: Collection[str]) -> Examined:
    """The baselines on the cases of the run, the audit's findings among all cases, and their label ceiling."""
    found = audit(cases)
    there = [case for case in cases if case.id in asked]

    def chosen_is(longer: Callable[[int, int], bool]) -> frozenset[str]:
        return frozenset(case.id for case in there if longer(len(case.chosen), len(case.rejected)))

    return Examined(
        baselines=acc_of(there),
        subsets={
            "not_flagged": ("not flagged by the audit", frozenset(case.id for case in there) - found.flagged),
            "chosen_longer": ("chosen is longer", chosen_is(int.__gt__)),
            "chosen_shorter": ("chosen is shorter", chosen_is(int.__lt__)),
            "rewrite_pairs": ("rewrite pairs", frozenset(found.findings["rewrite_pairs"].ids)),
            "name_in_one": ("name in one response", frozenset(found.findings["name_in_one"].ids)),
            **{
                f"scenario: {name}": (f"scenario: {name}", frozenset(case.id for case in members))
                for name, members in scenarios(there).items()
            },
        },
        ceiling=found.ceilings,
        ceiling_note="Label ceiling: an order-blind judge has at most this acc over all cells of the data (contradictory labels): {}.",
        version=AUDIT_VERSION,
        # The logarithm of the ratio: 100 characters more are much for a short response and little for a long one.
        covariate=Covariate(
            "at equal length",
            {case.id: math.log(len(case.chosen) / len(case.rejected)) for case in there},
        ),
        people={user: attributes(persona) for user, persona in {case.user_id: case.persona for case in there}.items()},
        flags={name: (finding.meaning, frozenset(finding.ids)) for name, finding in found.findings.items()},
    )


def shown(cases: CaseSet, asked: Collection[str]) -> Shown:
    """What a reader of a case sees: the whole persona, whatever the setting of a run showed of it."""
    there = [case for case in cases if case.id in asked]
    return Shown(
        about="Persona",
        people={case.user_id: case.persona.text for case in there},
        questions={case.id: case.question for case in there},
        labels=SIDES,
        responses={case.id: (case.chosen, case.rejected) for case in there},
    )


REPORT = ReportSpec(
    primary="acc",
    score="Accuracy",
    chance=CHANCE,
    headline=(
        Line("acc", strong=True, interval=True),
        Line("tie", "ties (wrong in acc)"),
        Line("acc_half", "acc_half (a tie counts half)"),
        Line("acc_sym", strong=True, interval=True),
        Line("p_chosen", strong=True, interval=True),
    ),
    details=(
        Line("acc_both", table=_PAIRS),
        Line("consistency", table=_PAIRS),
        Line("bias_first", table=_PAIRS),
        Line("bias_second", table=_PAIRS),
        Line("preference_fairness", "preference fairness", share=False, table=_PAIRS),
        Line("first_rate", table=_REPLIES),
        Line("invalid", table=_REPLIES),
        Line("acc_readable", "acc, readable", table=_REPLIES),
    ),
    # The score of Shi et al. (arXiv 2406.07791), in [-1, 1]: 0 is fair, below it the first place is preferred. Their count
    # times share of inconsistent pairs, scaled by its extremes, comes to this difference for two orders; here over the
    # pairs with both replies readable.
    derived={"preference_fairness": lambda found: found["bias_second"].value - found["bias_first"].value},
    picked=picked,
    shortcuts={
        "longest": "the longer response",
        "overlap": "the response with more words of the persona",
        "name": "the response that says the user's name",
    },
    probability="p_chosen",
    examine=examine,
    shown=shown,
    duels=duels,
    control=Control(
        option="setting",
        value="no_persona",
        gain="persona gain",
        without="without the persona",
        others=("rag", "other_persona"),
        named=(
            Difference("persona", "other_persona", "right minus wrong", "what knowing this person is worth"),
            Difference("other_persona", "no_persona", "wrong minus none", "what any persona text at all is worth"),
        ),
        alike={"other_persona": ("hide",)},
    ),
    ranked=("consistency", "first_rate", "invalid"),
    macro=True,
    published=beside,
    wording=("prompt", "language"),
    drawn={"longest": ("Longest", "-"), "overlap": ("Persona overlap", ":")},
    card=CardSpec(
        dataset=HUB_ID,
        revision=HUB_REVISION,
        environment=ENVIRONMENT_VARIABLE,
        measures=("acc", "acc_sym"),
        baselines={"longest": "picks the longer response"},
        measured=card.measured,
        caveats=card.caveats,
    ),
    load=lambda data, counts: load_present(data, counts=counts),
    environment=ENVIRONMENT_VARIABLE,
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


def _about(case: Case) -> dict[str, str]:
    return {"category": case.category, "difficulty": case.difficulty}


PERSONAFEEDBACK = Benchmark(
    name="personafeedback",
    title="PersonaFeedback",
    version=TASK_VERSION,
    options=Template,
    methods=METHODS,
    labels=LETTERS,
    cells=CELLS,
    selections=SELECTIONS,
    load=_load,
    columns=columns,
    prompt=prompts.build,
    input=lambda case: case.question,
    targets=lambda case: [CHOSEN_LETTER[order] for order in ORDERS],
    fingerprint=_fingerprint,
    report=REPORT,
    about=_about,
    check=_check,
    sizes=_sizes,
    stage=FILTER,
    judges=JUDGES,
    signed=SIGNED,
    signs=_signs,
    explanations=Explanations(
        facts=explanations.facts, of_answers=explanations.of_answers, of_rewards=explanations.of_rewards
    ),
    comparisons=COMPARISONS,
)
