"""What a report shows of a choice: the lines of the tables, and the control runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..core.cases import CaseSet
from ..core.report import Control, Difference, Line, ReportSpec, Shown
from ..core.result import Result
from ..core.rewards import TOTAL, right_and_tie
from ..parsing.answers import REASONS
from ..stats.estimates import mean
from .orders import Orders
from .scoring import DEBIASED

PERSONA, NO_PERSONA, OTHER_PERSONA = "persona", "no_persona", "other_persona"
"""Settings: the model is told about the user, about nobody, or about another user."""

SIMILAR_PERSONA, PADDING = "similar_persona", "padding"
"""Settings of some benchmarks: the model is told about a similar user, or reads as much text about nobody."""


ACC = (
    "share of the orders in which the model picks the right response, averaged over cases; a reply that could not be "
    "read counts as wrong"
)
INVALID = "share of the replies that could not be read as a choice"
ACC_SYM = (
    "share of the cases in which the log-odds of the right response, averaged over the orders, are positive, so that "
    "position bias cancels"
)


def share_picked(epochs: Sequence[Result]) -> float:
    """The share of a case's picks that are the right response; nan without one.

    Of the readable replies in all orders, of the log-odds averaged over these, or of the rewards without a tie.
    """
    picks = []
    for outcome in epochs:
        if outcome.rewards:
            right, tie = right_and_tie(*outcome.rewards[TOTAL])
            if not tie:
                picks.append(right)
        elif DEBIASED in outcome.values:
            if (debiased := outcome.values[DEBIASED]) in (0, 1):  # else a tie
                picks.append(debiased)
        else:
            for target, answer in zip(outcome.targets, outcome.answers, strict=True):
                if answer not in REASONS:
                    picks.append(float(answer == target))
    return mean(picks)


def report_spec(orders: Orders, **fields: Any) -> ReportSpec:
    """The report of a benchmark of this kind, with further fields of `ReportSpec`."""
    case_table = f"{orders.all_names.capitalize()} of a case"
    replies, picked = "Single replies", "share of the readable replies that pick the response"
    consistency = (
        f"share of the cases in which {orders.all_names} pick the same response, where every reply could be read"
    )
    two = len(orders.letters) == 2
    return ReportSpec(
        primary="acc",
        score="Accuracy",
        chance=orders.chance,
        headline=(
            Line("acc", strong=True, interval=True, meaning=ACC),
            Line("consistency", interval=True, meaning=consistency, ranked=True),
            Line("tie", "ties, wrong in acc"),
            Line("acc_half", "acc_half, a tie counts half" if two else "acc_half, a tie counts its share"),
            Line(DEBIASED, strong=True, interval=True, meaning=ACC_SYM),
            Line("p_chosen", strong=True, interval=True),
        ),
        details=(
            Line(orders.all_right, table=case_table),
            *(Line(bias, table=case_table) for bias in orders.biases),
            *(
                Line(rate, table=replies, ranked=rate == orders.rates[0], meaning=f"{picked} shown {rate[:-5]}")
                for rate in orders.rates
            ),
            Line("invalid", table=replies, meaning=INVALID, ranked=True),
            Line("acc_readable", "acc, readable", table=replies),
        ),
        picked=share_picked if two else None,
        places=orders.places,
        probability="p_chosen",
        macro=True,
        **fields,
    )


def shown_of(
    about: str, labels: tuple[str, str] = ("right", "wrong")
) -> Callable[[CaseSet[Any], Collection[str]], Shown]:
    """The function that gives what a reader of a case sees, whatever a run showed; `about`: what `people` has."""

    def shown(cases: CaseSet[Any], asked: Collection[str]) -> Shown:
        asked_cases = [case for case in cases if case.id in asked]
        return Shown(
            about=about,
            people={case.user_id: case.known for case in asked_cases},
            questions={case.id: case.question for case in asked_cases},
            labels=labels,
            responses={case.id: case.responses for case in asked_cases},
        )

    return shown


def control(
    known: str,
    others: tuple[str, ...] = (),
    alike: Mapping[str, tuple[str, ...]] | None = None,
    further: bool = False,
) -> Control:
    """The runs that show how much of a score needs what is known about the user.

    `further`: the settings SIMILAR_PERSONA and PADDING are there, and what `overlap` gains with the right persona.
    """
    people = {
        PERSONA: "the right person",
        SIMILAR_PERSONA: "a similar person",
        OTHER_PERSONA: "another person",
        PADDING: "a text about nobody",
        NO_PERSONA: "nobody",
    }
    right_minus_wrong = Difference(PERSONA, OTHER_PERSONA, "right minus wrong", "how far answers depend on whose it is")
    gain = Difference(PERSONA, NO_PERSONA, "persona gain", "what the persona is worth")
    any_text = Difference(OTHER_PERSONA, NO_PERSONA, "wrong minus none", "what any persona text at all is worth")
    more = []
    if further:
        this_person = "whether it is this person rather than this kind of person"
        beyond = "what the persona is worth beyond a text as long"
        more.append(Difference(PERSONA, SIMILAR_PERSONA, "right minus similar", this_person, further=True))
        more.append(Difference(PERSONA, PADDING, "right minus padding", beyond, further=True))
    else:
        del people[SIMILAR_PERSONA], people[PADDING]
    return Control(
        option="setting",
        value=NO_PERSONA,
        gain=gain.name,
        without=f"without the {known}",
        known=known,
        others=(*others, *[*people][1:-1]),
        named=(right_minus_wrong, gain, any_text, *more),
        alike=alike or {},
        people=people,
        of_one_run=(right_minus_wrong, gain, *more),
        similar=SIMILAR_PERSONA if further else "",
        counting="counting terms" if further else "",
    )
