"""A judge that may abstain: which of its verdicts on duels count at the risk that the user accepts, by its exam."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..common.risk import Judged, Threshold, answered_and_wrong, least_users, parts_of, wrong_among_answered
from ..common.sampling import rates_right
from ..common.statistics import Estimate, share
from ..engine.outcome import ScoredCase
from ..runs.run import Run, RunError
from .votes import picked

LEAST_USERS = 30
"""Of an exam that a threshold is chosen by."""

PROBABILITY, AGREEMENT = "p_chosen", "agreement"
"""How certainty is measured: the probability of the text that it picks, or the share of its calls that pick it."""

DIFFERS, FEW_USERS, NO_THRESHOLD = "differs", "few_users", "no_threshold"
"""Why nothing is promised: people's votes contradict the exam, it has too few users, or it allows no threshold that accepts a verdict."""

ANSWERED_AND_WRONG, WRONG_AMONG_ANSWERED = "answered and wrong", "wrong among answered"


@dataclass(frozen=True)
class Opinion:
    """A judge's verdict on a pair of texts.

    Attributes:
        first: whether it picks the first text: the better one of an exam, the reply of a duel.
        certainty: in (0, 1]; 0 where it picks neither.
    """

    first: bool
    certainty: float


@dataclass(frozen=True, kw_only=True)
class Promise:
    """One guarantee about the accepted verdicts.

    Attributes:
        name: ANSWERED_AND_WRONG or WRONG_AMONG_ANSWERED.
        threshold: see `risk.Threshold`; its value is inf where nothing is accepted.
        coverage: share of a user's pairs that is accepted, of users that the threshold was not chosen by, in the exam.
        wrong: what the promise is about, of the same users.
        accepted, left: number of duels whose verdicts count, and of those that are left for people.
        rate: share of the accepted verdicts that are for the reply.
        why_not: DIFFERS, FEW_USERS or NO_THRESHOLD; empty where something is promised.
    """

    name: str
    threshold: Threshold
    coverage: Estimate
    wrong: Estimate
    accepted: int
    left: int
    rate: Estimate
    why_not: str = ""


@dataclass(frozen=True)
class Abstaining:
    """A run on duels whose judge may abstain.

    Attributes:
        risk: in (0, 1).
        certainty: PROBABILITY or AGREEMENT.
        promises: one of each name.
        users, chose: number of users of the duels, and of those among them by whose pairs of the exam the thresholds were chosen.
    """

    risk: float
    certainty: str
    promises: tuple[Promise, ...]
    users: int
    chose: int


def opinions(run: Run, certainty: str) -> dict[str, Opinion]:
    """Case id -> the verdict of a run's judge, over both orders and all epochs."""
    return {case_id: _opinion(run, case, certainty) for case_id, case in run.cases.items()}


def _opinion(run: Run, case: ScoredCase, certainty: str) -> Opinion:
    if certainty == PROBABILITY:
        first = case.value(run.benchmark.report.probability)
        second = 1 - first
    else:
        first, second, _ = picked(case, run)
    return Opinion(first > second, max(first, second) if first != second and not math.isnan(first) else 0.0)


def certainty_of(*runs: Run) -> str:
    """PROBABILITY if every run has log-probabilities, else AGREEMENT."""
    names = [run.benchmark.report.probability for run in runs]
    known = all(
        any(not math.isnan(case.value(name)) for case in run.cases.values())
        for run, name in zip(runs, names, strict=True)
    )
    return PROBABILITY if known else AGREEMENT


def examined(exam: Run, certainty: str, cells: Sequence[str]) -> Judged:
    """The verdicts of an exam, its cells weighing as much as in some duels.

    Args:
        cells: the cell of each duel; other cells of the exam are left out.

    Raises:
        RunError: it has fewer than LEAST_USERS users, or its own answers decided how many.
    """
    if exam.stopped is not None and exam.stopped_early:
        raise RunError(
            f"{exam.logs[0]}: found an exam that {exam.stopped_line}, expected one that did not end by its answers: a threshold from it keeps no "
            f"promise. Run the judge again without stop={exam.stopped.rule}."
        )
    there = Counter(cells)
    found = opinions(exam, certainty)
    ids = [case_id for case_id, case in exam.cases.items() if case.cell in there]
    users = [exam.cases[case_id].user_id for case_id in ids]
    if (count := len(set(users))) < LEAST_USERS:
        raise RunError(
            f"{exam.logs[0]}: found an exam of {count} users in the cells of the duels, expected at least {LEAST_USERS} for --risk. Run "
            "the judge on more of the benchmark, or leave --risk out."
        )
    return Judged(
        [found[case_id].certainty for case_id in ids],
        [not found[case_id].first for case_id in ids],
        [there[exam.cases[case_id].cell] / exam.answered[exam.cases[case_id].cell] for case_id in ids],
        users,
    )


def rates_of(run: Run, exam: Run) -> dict[str, float]:
    """Case id of the duel -> how often a judge is right, in (0, 1), where it is so certain as there: by its exam, on the same cells.

    Args:
        exam: see `verdict.refuse_other_judge`.
    """
    certainty = certainty_of(run, exam)
    mine, cells = opinions(run, certainty), {case.cell for case in run.cases.values()}
    known = [opinion for case_id, opinion in opinions(exam, certainty).items() if exam.cases[case_id].cell in cells]
    sure = [opinion.certainty for opinion in known]
    rates = rates_right([opinion.certainty for opinion in mine.values()], sure, list(map(_first, known)))
    return dict(zip(mine, rates, strict=True))


def beliefs(run: Run, exam: Run) -> dict[str, float]:
    """Case id of the duel -> the probability that the reply is better, in (0, 1), by a judge's verdict and its exam."""
    mine = opinions(run, certainty_of(run, exam))
    return {
        case_id: 0.5 + (2 * _first(mine[case_id]) - 1) * (rate - 0.5) for case_id, rate in rates_of(run, exam).items()
    }


def _first(opinion: Opinion) -> float:
    """1 if it picks the first text, 0 if the second, one half if neither."""
    return float(opinion.first) if opinion.certainty else 0.5


def abstaining(run: Run, exam: Run, risk: float, differs: bool) -> Abstaining:
    """The guarantees that a judge's exam gives for its verdicts on duels.

    Args:
        risk: in (0, 1).
        differs: whether people's votes show that the judge errs on the duels otherwise than in its exam: then nothing is promised.

    Raises:
        RunError: see `examined`.
    """
    certainty = certainty_of(run, exam)
    asked = examined(exam, certainty, [case.cell for case in run.cases.values()])
    parts = parts_of(asked.users)
    ordering, choosing, shown = map(asked.of, parts)
    found = {
        ANSWERED_AND_WRONG: answered_and_wrong(choosing, risk),
        WRONG_AMONG_ANSWERED: wrong_among_answered(choosing, ordering, risk),
    }
    mine, users = opinions(run, certainty), {case.user_id for case in run.cases.values()}
    return Abstaining(
        risk, certainty, tuple(_promise(name, threshold, shown, run, mine, risk, differs) for name, threshold in found.items()),
        len(users), len(users & parts[1]),
    )  # fmt: skip


def _promise(
    name: str, threshold: Threshold, shown: Judged, run: Run, mine: dict[str, Opinion], risk: float, differs: bool
) -> Promise:
    why_not = ""
    if differs:
        why_not = DIFFERS
    elif threshold.value == math.inf:
        few = name == ANSWERED_AND_WRONG and threshold.users < least_users(risk)
        why_not = FEW_USERS if few else NO_THRESHOLD
    least = math.inf if why_not else threshold.value
    accepted = [case_id for case_id, opinion in mine.items() if opinion.certainty >= least]
    users = [run.cases[case_id].user_id for case_id in accepted]
    coverage, both, among = of_users(shown, threshold.value)
    return Promise(
        name=name,
        threshold=threshold,
        coverage=coverage,
        wrong=both if name == ANSWERED_AND_WRONG else among,
        accepted=len(accepted),
        left=len(mine) - len(accepted),
        rate=share([float(mine[case_id].first) for case_id in accepted], users),
        why_not=why_not,
    )


def of_users(judged: Judged, threshold: float) -> tuple[Estimate, Estimate, Estimate]:
    """(accepted, accepted and wrong, wrong among accepted): the mean over users of the share of their cases."""
    names = list(dict.fromkeys(judged.users))
    shares: list[tuple[float, float, float]] = []
    for name in names:
        own = judged.of({name})
        taken = [weight * (sure >= threshold) for sure, weight in zip(own.certainty, own.weights, strict=True)]
        lost = math.fsum(weight for weight, wrong in zip(taken, own.wrong, strict=True) if wrong)
        whole, answered = math.fsum(own.weights), math.fsum(taken)
        shares.append((answered / whole, lost / whole, lost / answered if answered else math.nan))
    accepted, both, among = (share(list(column), names) for column in zip(*shares, strict=True))
    return accepted, both, among
