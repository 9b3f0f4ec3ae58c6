"""Sentences about what forbids or weakens a conclusion from a run: the same in a report and in a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..analysis.shortcuts import ONE_OF_THEM, Shortcuts
from ..analysis.users import FEW_USERS
from ..common.statistics import Estimate
from ..engine.cases import CaseSet
from ..runs.run import Run
from ..runs.unfinished import advice, state_of

MOST_MISSING = 0.01
"""Share of replies without text up to which a report does not speak of them first."""

_MISSING = "MISSING REPLIES"


def of_run(run: Run, name: str = "") -> Iterator[str]:
    """What forbids conclusions from a run.

    Args:
        name: its name beside other runs, such as `run A`; the sample is the same for all.
    """
    installed = run.benchmark.version
    yield from of_missing(run, name)
    if run.signature["demonstration"]:
        yield "DEMONSTRATION on the bundled sample: not evidence about any model."
    if run.partial:
        has = f"{name} has " if name else ""
        yield f"PARTIAL: {has}{run.unfinished}. A partial mean does not estimate the cell's mean."
    whose = f" of {name}" if name else ""
    if not run.finished:
        which = name or "the run"
        yield f"{which[0].upper()}{which[1:]} is {state_of(run.status)}. {advice(run.status, run.harness)}"
    if run.left_out:
        yield f"LEFT OUT: samples{whose} that do not count ({run.left_out_line}). `inspect eval-retry LOG` asks invalidated ones again."
    if run.signature["task_version"] != installed:
        yield (
            f"The replies{whose} were read by task version {run.signature['task_version']}; the installed "
            f"version {installed} reads {run.otherwise:,} of them differently."
        )
    yield from run.unchecked
    if run.signature["counts"] == "any" != run.benchmark.options.counts:  # of some benchmarks nobody knows the number
        yield f"The number of cases in the data{whose} was not checked (counts=any)."


def of_missing(run: Run, name: str = "") -> Iterator[str]:
    """The first sentence on a run whose server left replies out, see `missing_share`.

    Args:
        name: as `of_run`.
    """
    if (share := missing_share(run)) > MOST_MISSING:
        whose = f" of {name}" if name else ""
        yield (
            f"{_MISSING}: {100 * share:.1f} % of the replies{whose} have no text at all and count as wrong. A server that answers "
            "with an error or with no choice and the status 200 leaves such replies: then the score is that of the server. Check its log "
            f"and ask again (with lm-eval, without the --use_cache file, which keeps them). In lm-eval, a thinking model that ran out of tokens looks the same: give it room "
            "(max_gen_toks)."
        )


def of_runs(runs: Sequence[tuple[str, Run]]) -> list[tuple[str, str]]:
    """(names of the runs that it is about, sentence) of several runs, each sentence once; no names where it is about all.

    Args:
        runs: each with its name.
    """
    return grouped([(name, list(of_run(run))) for name, run in runs])


def grouped(said: Sequence[tuple[str, Iterable[str]]]) -> list[tuple[str, str]]:
    """(names, sentence) as `of_runs`, those on missing replies first.

    Args:
        said: name -> sentences.
    """
    found: dict[str, list[str]] = {}
    for name, sentences in said:
        for sentence in sentences:
            found.setdefault(sentence, []).append(name)
    ordered = sorted(found.items(), key=lambda one: not one[0].startswith(_MISSING))
    return [("" if len(about) == len(said) else ", ".join(about), sentence) for sentence, about in ordered]


def of_data(run: Run, cases: CaseSet[Any]) -> Iterator[str]:
    """Where the data of a report have the cases of the run, but are not the data of the run in every file."""
    if cases.digest != run.signature["data"]:
        yield (
            f"The data that were read for this report (sha256 {cases.digest}) are not those of the run (sha256 "
            f"{run.signature['data']}): every case of the run has the same texts in both, but other cells or personas differ. The "
            "audit and the label ceiling are those of the former."
        )


def of_interval(estimate: Estimate) -> Iterator[str]:
    """Where an interval is less reliable than it looks."""
    if estimate.users == 0:
        yield (
            "The log contains no answered case. A killed run may have kept them elsewhere: `inspect log recover` "
            "restores them, `inspect eval-retry` resumes the run."
        )
    elif estimate.users == 1:
        yield "Only one user: no standard error and no interval."
    elif estimate.users < FEW_USERS:
        yield (
            f"Only {estimate.users} users: 95 % intervals are rough. In simulations with 8 users they covered the true value in 94 to "
            "98 % of runs, and in 87 % where users differ much and the accuracy is 95 %."
        )
    if estimate.stderr == 0:
        yield "All users have the same score: a standard error of 0 says nothing about the spread."


def of_shortcuts(found: Shortcuts | None, picks: Mapping[str, str]) -> Iterator[str]:
    """Which baselines the run is.

    Args:
        picks: name -> what it picks, for a sentence.
    """
    for name, agreement in (found.baselines if found else {}).items():
        if agreement.all > ONE_OF_THEM:
            yield (
                f"The run picks {picks[name]} in {100 * agreement.all:.1f} % of the cases: its accuracy is that of the "
                f"baseline {name}, which understands nothing."
            )


def of_control(control: Run, value: str) -> Iterator[str]:
    """What weakens a difference to this control. A reply that cannot be read counts as wrong, and so makes a gain.

    Args:
        value: of the control's option.
    """
    yield from control.unchecked
    if control.partial:
        yield f"PARTIAL control {value}: {control.unfinished}."
    if share := unreadable_share(control):
        yield (
            f"{100 * share:.1f} % of the replies of the control {value} are unreadable and count as wrong, which inflates "
            "the difference to it."
        )


def missing_share(run: Run) -> float:
    """Share of a run's replies without any text; 0 without replies.

    Not one that thinking or a token limit ended: where the log knows, it has another reason, or an excerpt.
    """
    missing = sum(outcome.unread.count(("no_response", "")) for case in run.cases.values() for outcome in case)
    return missing / run.replies if missing else 0.0


def unreadable_share(run: Run) -> float:
    """Share of a run's replies that are neither a label nor a refusal; 0 without replies."""
    answers = [answer for case in run.cases.values() for outcome in case for answer in outcome.answers]
    labels = (*run.benchmark.labels, "refusal")
    return sum(answer not in labels for answer in answers) / len(answers) if answers else 0.0
