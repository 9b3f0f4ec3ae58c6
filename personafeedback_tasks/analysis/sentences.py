"""The verdict on a run, and caveats in words: one sentence for each, the same in every output."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..logs.caveat import Caveat
from ..logs.run import Run
from ..stats.estimates import Estimate, percent
from .documents import CaveatText, Judges
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
        what = "was not asked"
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


SENTENCES: Mapping[str, str] = {
    # a run
    "prompts_cut": "PROMPTS CUT: {cut:,} prompts did not fit into the model's window. What is cut first is their "
    "beginning, which is the persona: the numbers are void. Run again with a longer window (lm-eval: max_length; "
    "vLLM: --max-model-len; Ollama: num_ctx) or less room for replies.",
    "prompts_not_checked": "Prompts not checked: window unknown.",
    "missing_replies": "MISSING REPLIES: {percent:.1f} % of the replies have no text at all and count as wrong. A "
    "server that returns status 200 with an error or without a choice leaves such replies: then the score describes "
    "the server, not the model. Check its log and run again{again}.",
    "by_place": "It picks the {place} response in {percent:.1f} % of the calls: this measures place, not what the model "
    "knows. In {cases:.1f} % of the cases every order picks the same place. {free}",
    "control_by_place": "The control {value} picks the {place} response in {percent:.1f} % of the calls: differences to "
    "it measure place, not what the {known} is worth. {free}",
    "place_cancels": "It picks the {place} response in {percent:.1f} % of the calls, so acc measures place. Its "
    "score, {score}, comes from log-odds averaged over all orders, in which place cancels.",
    "demonstration": "DEMONSTRATION on the bundled sample: not evidence about any model.",
    "missing_samples": "MISSING SAMPLES: {log} has {found:,} of the {claimed:,} samples that its header counts. "
    "Use the log as the harness wrote it.",
    "joined": "JOINED: one run of {logs}.",
    "partial": "PARTIAL: {cells}. A partial mean does not estimate the cell's mean.",
    "unfinished": "The run is {state}. {advice}",
    "left_out": "LEFT OUT: samples that do not count ({samples}). `inspect eval-retry LOG` reruns invalidated and "
    "failed ones; for those that hit a limit, raise it and run again.",
    "asked_otherwise": "The runs had different conditions: {how}.",
    "cached": "Replies may come from a cache ({cache}). lm-eval's --use_cache file returns replies of any model: use "
    "one file per model.",
    "other_version": "The run has task version {version}. All numbers here were recomputed from its replies with the "
    "installed version {installed}.",
    "prompts_unchecked": "{log}: its prompts were not compared with its options: {why}",
    "prompts_wrapped": "OTHER PROMPTS: {log}: {why} Run again, or report only what the model was asked with our "
    "prompts.",
    "counts_unchecked": "The number of cases in the data was not checked (counts=any).",
    "bounds": "In {count:,} of {replies:,} calls a label is not among the most likely tokens that the server "
    "returned. The pick counts; the log-odds take the highest probability that such a label can have, so p_chosen "
    "and acc_sym are bounds there.",
    # its data
    "no_data": "{why} So there are no baselines and nothing else from the texts, and errors do not allow for "
    "prompts that several users share, as in the swap task: they may be too small. Pass --data.",
    "other_data": "The data that were read for this report (sha256 {read}) are not those of the run (sha256 "
    "{asked}): every case of the run has the same texts in both, but other cells or personas differ. The audit and "
    "the label ceiling describe the data that were read.",
    # its score
    "no_right_answer": "These cases have no labels, so the run has no score.",
    "no_case": "The log contains no answered case. A killed run may have kept them elsewhere: `inspect log "
    "recover` restores them, `inspect eval-retry` resumes the run.",
    "one_user": "Only one user: no standard error and no interval.",
    "few_users": "Only {users} users: 95 % intervals are rough. In simulations with 8 and 10 users they covered the "
    "true value in 94 to 99 % of runs.",
    "errors_per_row": "Each row counts as a user of its own: errors are per row.",
    "equal_users": "All cases have the same score, which says nothing about how far other cases differ, so no "
    "interval is given.",
    "near_end": "This close to 0 or 100 %, an interval misses failures of a few users who are not in the data: if "
    "the model always fails for 2 % of all users, the interval covers the true value in 81 % of runs with 101 "
    "users.",
    "unreadable": "{percent:.1f} % of the replies{where} are unreadable ({reasons}): this measures the setup, not "
    "the model. {remedy}",
    "few_unreadable": "{percent:.1f} % of the replies are unreadable ({reasons}) and count as wrong.",
    "refusals": "{percent:.1f} % of the replies are refusals and count as wrong: the score reflects them as much as "
    "the picks.",
    "shortcut": "The run picks {picks} in {percent:.1f} % of the cases: its accuracy is that of the baseline "
    "{name}, which understands nothing.",
    # its controls
    "control_partial": "PARTIAL control {value}: {cells}.",
    "control_harness": "The control {value} was run by {other}, the run by {harness}, under {how}.",
    "control_prompts_cut": "PROMPTS CUT in the control {value}: {cut:,} did not fit into the model's window. The "
    "difference to it is void.",
    "control_missing_replies": "MISSING REPLIES in the control {value}: {percent:.1f} % have no text at all. The "
    "difference to it is void.",
    "control_unreadable": "{percent:.1f} % of the replies of the control {value}{where} are unreadable "
    "({reasons}): differences to it measure the setup, not the model. {remedy}",
    "few_control_unreadable": "{percent:.1f} % of the replies of the control {value} are unreadable ({reasons}) "
    "and count as wrong, as do {own:.1f} % of the run's.",
    "gain_in_part": "The {gain} covers the {common:,} of {cases:,} cases that the control also answered.",
    # two runs side by side
    "only_in_one": "{count:,} cases are only in the run of {run} and left out: {shown}.",
    "other_titles": "The runs are of {a} and of {b}, with the same texts.",
    "other_options": "The runs also differ in {name}: {a} and {b}. The difference is not due to the model alone.",
    "other_conditions": "The conditions differ: {a}; and {b}.",
    # a judge of duels
    "ties_left_out": "Ties and empty replies are left out: the run has not answered all of its duels.",
}


OF_A_MODEL: Mapping[str, str] = {
    "partial": "partial, {cells}",
    "unfinished": "{state}",
    "few_unreadable": "{percent:.0f} % of its replies are unreadable and count as wrong",
    "few_control_unreadable": "{percent:.0f} % of the replies of its control {value} are unreadable",
    "place_cancels": "picks the {place} response in {percent:.0f} % of the calls, which {score} leaves out",
    "shortcut": "picks {picks} in {percent:.0f} % of the cases",
}
"""Caveats that follow a model's name in a list of several, where they make no number void: key -> words."""


def texts_of(caveats: Iterable[Caveat]) -> list[CaveatText]:
    """Caveats as documents have them."""
    found = []
    for one in caveats:
        text, short = (words.get(one.key, "").format(**one.values) for words in (SENTENCES, OF_A_MODEL))
        found.append(CaveatText(key=one.key, severity=one.severity, about=one.about, sentence=text, short=short))
    return found


def sentence(caveat: CaveatText) -> str:
    """A caveat in words, after the names of the runs that it is about."""
    about = ", ".join(filter(None, caveat.about))
    return f"{about}: {caveat.sentence}" if about else caveat.sentence


def first_sentence(caveat: CaveatText) -> str:
    """A caveat in short."""
    return _NEXT_SENTENCE.split(sentence(caveat), maxsplit=1)[0]
