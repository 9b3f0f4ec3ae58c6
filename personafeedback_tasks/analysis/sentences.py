"""The verdict on a run, and caveats in words: one sentence for each, the same in every output."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from ..logs.caveat import Caveat
from ..logs.run import Run
from ..stats.estimates import Estimate, percent
from .documents import Judges
from .measures import over
from .persona_use import NONE, WRONG, PersonaUse, Use
from .void import is_void

_NEXT_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z`])")


def verdict(run: Run, found: Mapping[str, Estimate], use: Use | None, judges: Judges | None) -> str:
    """The first sentence about a run: how good it is, and whether it is about the user; empty without an answer.

    Args:
        found: its measures over all cases.
    """
    spec, score = run.benchmark.report, found[run.primary]
    if math.isnan(score.value):
        return ""
    if is_void(run):
        return "No verdict: the numbers are void."
    clause = none_of(run, found)
    margins = spec.card.baselines if spec.card else {}
    for name, picks in margins.items():
        if (margin := found.get(over(name))) and not clause:
            clause = beyond(margin, f"always picking {picks}")
    if not clause:
        if spec.chance is not None:
            above = {end: getattr(score, end) - spec.chance for end in ("value", "low", "high")}
            clause = beyond(replace(score, **above), "chance")
        else:
            clause = f"{run.score_name} {percent(score.value)} %{_best_baseline(run.primary, judges)}"
    harms = [harmed(word, found[word]) for word in dict.fromkeys(spec.control.harm.values()) if word in found]
    return opening(clause, "; ".join(harms) or (uses_known(use) if use else ""))


def opening(*clauses: str) -> str:
    """A sentence of clauses; empty without any."""
    text = "; ".join(filter(None, clauses))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def named(value: object) -> str:
    """A value in a sentence; `none` where it is empty, or one of two runs does not have it."""
    return "none" if value in (None, "") else f"{value}"


def none_of(run: Run, values: Mapping[str, Estimate | None]) -> str:
    """A clause on what the run never does, from `Line.none`; empty where its score is not made of picks."""
    if run.primary != run.benchmark.report.primary:
        return ""
    zero = ((line, value) for line in run.headline if line.none and (value := values.get(line.key)))
    return next((line.none.format(n=value.n) for line, value in zero if value.value == 0), "")


def _best_baseline(primary: str, judges: Judges | None) -> str:
    baselines = judges.baselines if judges else {}
    scores = {name: measures[primary].value for name, measures in baselines.items() if primary in measures}
    if not scores:
        return ""
    best = max(scores, key=lambda name: scores[name])
    return f"; the best baseline, {best}, reaches {percent(scores[best])} %"


def beyond(margin: Estimate, what: str) -> str:
    """A clause on `margin`: the score minus another one, such as that of `always picking the longer response`."""
    if margin.low > 0 or margin.high < 0:
        return f"{abs(100 * margin.value):.1f} points {'above' if margin.value > 0 else 'below'} {what}"
    if math.isnan(margin.low):
        return f"{percent(margin.value, sign=True)} points from {what}, with an unknown error"
    return f"not significantly different from {what} ({percent(margin.value, sign=True)} points)"


def harmed(word: str, lost: Estimate) -> str:
    """A clause on the share of answers right without the message that are wrong with it; `word` is one of HARMS."""
    ends = "" if math.isnan(lost.low) else f" ({percent(lost.low)} to {percent(lost.high)})"
    return f"{HARMS[word]} in {percent(lost.value)}{ends} of 100 answers that are right without"


HARMS = {
    "yields": "it yields to what it is told about the user",
    "distracted": "what it is told about another user misleads it",
}

_VERDICTS: Mapping[PersonaUse, str] = {
    PersonaUse.USES: "it uses this user's {known}",
    PersonaUse.COUNTING: "no sign that it does more than count the terms that a response shares with the {known} "
    "({over_counting} points beyond that)",
    PersonaUse.KIND: "this kind of person helps it; no sign that it must be this one ({over_similar} points over a "
    "similar user's {known})",
    PersonaUse.MISLED: "a wrong {known} misleads it ({wrong_over_none}); no sign that the right one adds anything "
    "({over_none})",
    PersonaUse.ANY: "any {known} helps it",
    PersonaUse.NO_SIGN: "no sign that it uses this user's {known}",
}

_WHOSE: Mapping[int | None, str] = {
    1: "answers depend on whose it is",
    0: "no sign that it must be this user's",
    -1: "it does worse with this user's than with another user's",
    None: "whether it matters whose was not asked",
}
"""Sign of right minus wrong, None for not asked -> a clause."""

_WITHOUT: Mapping[int | None, str] = {
    1: "it does better with it than without",
    0: "no sign that the right one helps",
    -1: "it does worse with it than without ({over_none})",
    None: "whether the right one helps was not asked",
}
"""Sign of right minus none -> a clause."""


def uses_known(use: Use) -> str:
    """Whether a run uses who its user is, in a clause."""
    said = _uses_alone(use)
    if said != _uses_alone(replace(use, unread={})):
        most = percent(max(map(abs, use.unread.values())))
        said += f" (replies without a pick count as wrong, and settings differ by up to {most} points in these)"
    elif said != _uses_alone(replace(use, models=1)):
        said += f" (corrected for {use.models} models)"
    return said


def _uses_alone(use: Use) -> str:
    verdict = use.verdict
    if verdict is None:
        if use.void:
            return f"whether it uses this user's {use.known} is unknown: a control is void"
        what = "was asked on a part of the cases only" if use.in_part else "was not asked"
        if asked := [use.differences[key] for key in (WRONG, NONE) if key in use.differences]:
            alike = ": the difference is the same for all users"
            what = f"cannot be determined{' with one user' if asked[0].users < 2 else alike}"
        return f"whether it uses this user's {use.known} {what}"
    remark = _remark(verdict, use.sign(WRONG), use.sign(NONE))
    missing = f" (not asked: {', '.join(use.missing)})" if use.missing and verdict is PersonaUse.USES else ""
    said = _VERDICTS[verdict]
    if verdict is PersonaUse.MISLED and use.sign(NONE) == -1:
        said = "any {known} harms it ({over_none}), a wrong one more ({wrong_over_none})"
    shown = {key: _with_ends(difference) for key, difference in use.differences.items()}
    return f"{said}{remark}{missing}".format(known=use.known, **shown)


def _remark(verdict: PersonaUse, wrong: int | None, none: int | None) -> str:
    if verdict is PersonaUse.ANY:
        return f"; {_WHOSE[wrong]}"
    if verdict is not PersonaUse.NO_SIGN:
        return ""
    # what cannot be seen is said only beside what can
    clauses = [_WHOSE[wrong]] if wrong != 0 or none == 1 else []
    clauses += [_WITHOUT[none]] if none != 0 or wrong == 1 else []
    return f": {', and '.join(clauses)}" if clauses else ""


def _with_ends(difference: Estimate) -> str:
    if math.isnan(difference.low):
        return percent(difference.value, sign=True)
    value, low, high = (percent(end, sign=True) for end in (difference.value, difference.low, difference.high))
    return f"{value}, {low} to {high}"


def sentence(caveat: Caveat) -> str:
    """A caveat in words, after the names of the runs that it is about."""
    about = ", ".join(filter(None, caveat.about))
    return f"{about}: {caveat.sentence}" if about else caveat.sentence


def first_sentence(caveat: Caveat) -> str:
    """A caveat in short."""
    return _NEXT_SENTENCE.split(sentence(caveat), maxsplit=1)[0]
