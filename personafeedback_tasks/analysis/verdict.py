"""A judge's votes on a model's replies -> how often the replies win, beside how good the judge is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from ..common.outputs import Output
from ..core.cases import CaseSet
from ..core.duels import Duels, NotAsked
from ..core.result import Result
from ..core.rewards import TOTAL
from ..logs.caveat import FORBIDS, VOID, WEAKENS, Caveat, caveat, grouped, ordered
from ..logs.errors import RunError
from ..logs.names import signature_line
from ..logs.run import Run, text
from ..stats.corrected import EQUAL, Corrected, Known, Votes, corrected, errors
from ..stats.estimates import Estimate, by_user, linearized, mean, percent, share
from ..stats.human_votes import LEAST_USERS, Powered, prediction_powered
from . import caveats
from .documents import Record
from .void import is_void


@dataclass(frozen=True)
class VerdictGroup:
    """One line of a verdict: a cell, or several.

    Attributes:
        name: `general_hard`, `general`, `total`.
        rate: of all duels, also those that were not asked, uncorrected.
        won: number of asked duels whose calls all picked the reply.
        split: number of those whose calls disagree, or some of them picked no text.
        lost: number of those whose calls all picked the other side.
        neither: number of those where no call picked a text: no answer can be read, or both rewards are equal.
        not_asked: reason (`tie`, `empty`, `other_empty`) -> number of duels.
        consistency: share of the duels with readable answers whose calls picked the same text; nan without orders.
        unreadable: share of the calls that picked neither text.
        calibration: the judge's accuracy on the same cells.
    """

    name: str
    rate: Estimate
    won: int
    split: int
    lost: int
    neither: int
    not_asked: Mapping[str, int]
    consistency: float
    unreadable: float
    calibration: Estimate

    @property
    def asked(self) -> int:
        return self.won + self.split + self.lost + self.neither


class VerdictEntry(Record, frozen=True, kw_only=True):
    """A verdict on one run of duels.

    Attributes:
        title: the writer, the other side and the judge, with what its run was asked.
        sentence: the verdict in a sentence.
        writer: who wrote the replies.
        against: the other side.
        judge: the judge's model.
        caveats: what a reader must know first.
        groups: group of duels -> its votes; the last one has all.
        corrected: the rate without the judge's errors.
        people: duels with people's votes.
        people_users: users of these.
        prediction_powered: the rate with people's votes; null without, or with those of few users.
        signature: of the run on duels.
        calibration: signature of the calibration set.
    """

    title: str
    sentence: str
    writer: str
    against: str
    judge: str
    caveats: Sequence[Caveat]
    groups: Mapping[str, VerdictGroup]
    corrected: Corrected
    people: int
    people_users: int
    prediction_powered: Powered | None
    signature: str
    calibration: str

    @property
    def overall(self) -> VerdictGroup:
        """The group of all duels."""
        return [*self.groups.values()][-1]


class VerdictDocument(Output, frozen=True, kw_only=True):
    """`personafeedback verdict --json`.

    Attributes:
        verdicts: one for each run on duels.
    """

    verdicts: Sequence[VerdictEntry]


def differences(run: Run, calibration: Run) -> list[str]:
    """Differences between a run and its judge's calibration set that must not be: `model: found A, expected B`."""
    here, there = run.signature.defining, calibration.signature.defining
    names = [name for name in here if name not in run.benchmark.signed]  # which are digests of data
    pairs = [("model", run.model, calibration.model)]
    pairs += [(name, text(here[name]), text(there.get(name))) for name in names]
    pairs += [(name, *values) for name, values in run.other_conditions(calibration).items()]
    return [f"{name}: found {its}, expected {own}" for name, own, its in pairs if own != its]


def refuse_other_judge(run: Run, calibration: Run) -> None:
    """Raise RunError unless the calibration set is of the run's judge, asked in the same way, with the same cells."""
    found = differences(run, calibration)
    if found:
        raise RunError(
            f"{calibration.logs[0]}: found the calibration run of another judge than in {run.logs[0]} "
            f"({'; '.join(found)}). Run the judge with the same options on the benchmark."
        )
    missing = [cell for cell in run.cells if cell not in calibration.answered]
    if missing:
        raise RunError(
            f"{calibration.logs[0]}: found no case of {', '.join(missing)} in the calibration set, expected the "
            f"cells of {run.logs[0]}. Run the judge on these, too."
        )


def make_verdict(
    run: Run,
    calibration: Run,
    duels: Duels,
    cases: CaseSet[Any],
    examined: CaseSet[Any] | None,
    people: Mapping[str, Sequence[float]] | None = None,
    why_not: str = "",
) -> VerdictEntry:
    """The verdict on one run of duels.

    Args:
        examined: the cases of the calibration set, for their lengths; None if they are not at hand.
        people: case id of the duel -> people's votes; None without any.
        why_not: why the cases of the calibration set are not at hand.

    Raises:
        RunError: the calibration set is of another judge, or of other cells; or the run has no answered case.
    """
    refuse_other_judge(run, calibration)
    mine, theirs = votes_of(run, cases), votes_of(calibration, examined)
    # Of a run that is not finished, nobody knows how many of them belong to the cases that it answered.
    not_asked = [one for one in duels.not_asked if one.cell in run.cells] if not run.partial else []
    if not run.cases and not not_asked:
        raise RunError(f"{run.logs[0]}: found no answered duel in it, expected some. Run it again.")
    known = _known(not_asked)
    columns = run.benchmark.columns({*mine.cells, *(one.cell for one in not_asked)})
    groups = {name: _group(name, cells, mine, theirs, not_asked) for name, cells in columns.items()}
    people = people or {}
    of_people = [mean(people[case_id]) if case_id in people else None for case_id in sorted(run.cases)]
    voters = len({user for user, vote in zip(mine.users, of_people, strict=True) if vote is not None})
    void = is_void(run)  # then only the votes as they are remain
    if void or is_void(calibration):
        why_not = "The numbers of the run, or of its judge's calibration set, are void."
    elif examined is None:
        why_not = f"The calibration set's texts were not found. {why_not}"
    else:
        why_not = ""
    unknown = Corrected(None, math.nan, math.nan, math.nan, why_not=why_not)
    remarks = f" ({', '.join(run.remarks)})" if run.remarks else ""
    entry = VerdictEntry(
        title=f"{duels.writer} against {duels.against}, judged by {run.model}{remarks}",
        sentence="",
        writer=duels.writer,
        against=duels.against,
        judge=run.model,
        caveats=_caveats(run, calibration, duels, [*groups.values()][-1].rate),
        groups=groups,
        corrected=unknown if why_not else corrected(mine, theirs, known),
        people=len(of_people) - of_people.count(None),
        people_users=voters,
        prediction_powered=prediction_powered(of_people, mine, known) if voters >= LEAST_USERS and not void else None,
        signature=signature_line(run),
        calibration=signature_line(calibration),
    )
    return structs.replace(entry, sentence=in_a_sentence(entry, duels))


def _caveats(run: Run, calibration: Run, duels: Duels, rate: Estimate) -> list[Caveat]:
    found = grouped([("", caveats.of_run(run)), ("the calibration set", caveats.of_run(calibration))])
    if run.partial and duels.not_asked:
        found.append(caveat("ties_left_out", WEAKENS))
    return ordered([*found, *caveats.of_interval(rate)])


def in_a_sentence(entry: VerdictEntry, duels: Duels) -> str:
    """A sentence for hasty readers: the best rate over all duels, and how far it can be trusted."""
    if any(caveat.severity in (VOID, FORBIDS) for caveat in entry.caveats):
        return f"No verdict on {entry.writer}: the warnings below say why."
    replies = f"The replies of {entry.writer}"
    other = f"those of {entry.against}" if len(duels.models) > 1 else f"the benchmark's {entry.against} responses"
    if entry.prediction_powered is not None:
        rate, trust = entry.prediction_powered.rate, "people's votes are part of that"
    elif entry.corrected.rate is not None:
        rate = entry.corrected.rate
        trust = "this judge's errors are corrected, assuming that it errs here as in its calibration set"
    else:
        rate, trust = entry.overall.rate, "the judge's errors are not corrected"
    won = f"in {percent(rate.value)} % of the duels"
    if math.isnan(rate.low):
        return f"{replies} win against {other} {won}; the uncertainty is unknown."
    won += f" ({percent(rate.low)} to {percent(rate.high)} %)"
    if rate.low > 0.5:
        return f"{replies} win against {other} {won}; {trust}."
    if rate.high < 0.5:
        return f"{replies} lose to {other}: they win {won}; {trust}."
    return f"{replies} and {other} are not significantly different: the replies win {won}; {trust}."


def _known(not_asked: Sequence[NotAsked]) -> Known:
    return Known([one.won for one in not_asked], [one.user_id for one in not_asked])


def _group(
    name: str, cells: Sequence[str], votes: Votes, calibration: Votes, not_asked: Sequence[NotAsked]
) -> VerdictGroup:
    there = [place for place, cell in enumerate(votes.cells) if cell in cells]
    unasked = [one for one in not_asked if one.cell in cells]
    known = _known(unasked)
    won, lost = [votes.won[place] for place in there], [votes.lost[place] for place in there]
    whys = [one.why for one in unasked]
    neither = sum(not picks for picks in map(sum, zip(won, lost, strict=True)))
    return VerdictGroup(
        name=name,
        rate=share([*won, *known.won], [*(votes.users[place] for place in there), *known.users]),
        won=won.count(1),
        split=len(there) - won.count(1) - lost.count(1) - neither,
        lost=lost.count(1),
        neither=neither,
        not_asked={why: whys.count(why) for why in dict.fromkeys(one.why for one in not_asked)},
        consistency=mean(votes.consistent[place] for place in there),
        unreadable=mean(1 - a - b for a, b in zip(won, lost, strict=True)),
        calibration=accuracy(calibration, [votes.cells[place] for place in there]),
    )


def accuracy(calibration: Votes, cells: Sequence[str]) -> Estimate:
    """The accuracy in a calibration set whose cells weigh as in `cells`, those of some duels; nan without any."""
    found = errors(calibration, cells)
    there = [place for place, weight in enumerate(found.weights) if weight]
    users = [calibration.users[place] for place in there]
    if len({found.weights[place] for place in there}) <= 1:
        return share([calibration.won[place] for place in there], users)
    value, part = found.right[EQUAL], found.weights / found.weights.sum()
    moves = zip(users, (float(part[place] * (calibration.won[place] - value)) for place in there), strict=True)
    return linearized(value, by_user(moves), len(there)).within(0.0, 1.0)


def votes_of(run: Run, cases: CaseSet[Any] | None) -> Votes:
    """The votes of a run on its answered cases, by id; without `cases`, all lengths count as equal."""
    ids = sorted(run.cases)
    rows = [run.cases[case_id] for case_id in ids]
    picks = [_picked(run.by_case[case_id], run) for case_id in ids]
    ratios = [0.0] * len(ids)
    if cases is not None and run.benchmark.report.shown is not None:
        texts = run.benchmark.report.shown(cases, set(ids)).responses
        ratios = [math.log(len(texts[case_id][0]) / len(texts[case_id][1])) for case_id in ids]
    won, lost, consistent = zip(*picks, strict=True) if picks else ((), (), ())
    return Votes(won, lost, ratios, [row.user_id for row in rows], [row.cell for row in rows], consistent)


def _picked(results: Sequence[Result], run: Run) -> tuple[float, float, float]:
    # `won`, `lost` and `consistent` of a case, over all epochs. Where log-odds are known in all orders, the debiased
    # score takes the place of the first two.
    pairs = [result.rewards[TOTAL] for result in results if result.rewards]
    if pairs:
        return mean(float(a > b) for a, b in pairs), mean(float(a < b) for a, b in pairs), math.nan
    won, lost, consistent = list[float](), list[float](), list[float]()
    for epoch in results:
        read = [answer in run.benchmark.labels for answer in epoch.answers]
        right = [answer == target for answer, target in zip(epoch.answers, epoch.targets, strict=True)]
        won += map(float, right)
        lost += [float(is_read and not is_right) for is_read, is_right in zip(read, right, strict=True)]
        if len(read) > 1 and all(read):
            consistent.append(float(len({*right}) == 1))
    case = run.cases[results[0].case_id]
    if run.method.primary and not math.isnan(case.value(run.benchmark.report.probability)):
        return case.value(run.primary), 1 - case.value(run.primary), mean(consistent)
    return mean(won), mean(lost), mean(consistent)
