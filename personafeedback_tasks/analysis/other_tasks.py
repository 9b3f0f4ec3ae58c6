"""Change of another task's score by a message about a user: runs with and without it, paired by sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..common.errors import OptionError
from ..common.outputs import Output
from ..logs.errors import RunError
from ..logs.other_tasks import NO_PERSONA, SampleResult, TaskRun, read_tasks
from ..logs.run import text
from ..stats.estimates import Estimate, mean, paired
from .documents import Record

ABOUT = {
    "persona": "this user's profile",
    "other_persona": "another user's profile",
    "padding": "neutral text of the same length",
}
"""Setting -> the message that it puts before a task, for people."""


@dataclass(frozen=True)
class Changed:
    """A sample with and without the message. `gain` is above 0 where the message helps."""

    without: SampleResult
    told: SampleResult
    gain: float


class CostOfUser(Record, frozen=True, kw_only=True):
    """A run of another task with a message about a user, beside the run without.

    Attributes:
        task: as its log names it.
        model: as its log names it.
        harness: `Inspect` or `lm-eval`.
        setting: what the message holds: `persona`, `other_persona` or `padding`.
        told: whose message it is, where all samples have the same one: the user's id, in lm-eval the first digits of
            the text's SHA-256; else empty.
        value: the number that counts, of those that the task reports.
        higher_is_better: whether a higher score is the better one.
        share: whether each sample's value is from 0 to 1.
        void: why its numbers do not count; null if they do.
        before: the score without the message, over the samples that both runs have.
        after: the score with it.
        by_sample: the change, over samples.
        by_user: the change, over users; null where these do not repeat.
        samples: number of samples that both runs have.
        left_out: number of samples that one of both has.
        helped: ids of the samples that the message makes better.
        harmed: ids of the samples that it makes worse.
        logs: names of both logs, that without first.
    """

    task: str
    model: str
    harness: str
    setting: str
    told: str
    value: str
    higher_is_better: bool
    share: bool
    void: str | None
    before: float
    after: float
    by_sample: Estimate | None
    by_user: Estimate | None
    samples: int
    left_out: int
    helped: Sequence[str]
    harmed: Sequence[str]
    logs: Sequence[str]

    @property
    def title(self) -> str:
        """Its task, model and message, for people."""
        told = f" ({self.told})" if self.told else ""
        return f"{self.task}, {self.model}, {ABOUT[self.setting]}{told}"

    @property
    def warning(self) -> str:
        """What people are told where it is void; else empty."""
        return f"VOID: {self.title}: {self.void}." if self.void else ""


class CostDocument(Output, frozen=True, kw_only=True):
    """`personafeedback cost --json`, `cost.json`: other tasks with a user.

    Attributes:
        costs: one for each run with a message.
    """

    costs: Sequence[CostOfUser]


@dataclass(frozen=True)
class Cost:
    """A run with a message beside the run without any, and the samples that both have."""

    entry: CostOfUser
    samples: Sequence[Changed]


def costs_of(runs: Iterable[TaskRun]) -> list[Cost]:
    """Each run with a message beside the one without, of the same task and model; of repeated logs the later counts.

    Raises:
        RunError: the run without a message is missing, was asked otherwise, or has other samples.
    """
    last = {(run.task, run.model, run.program, run.setting, run.told): run for run in runs}
    controls = {key[:3]: run for key, run in last.items() if run.setting == NO_PERSONA}
    found = []
    for key, run in last.items():
        if run.setting == NO_PERSONA:
            continue
        if run.setting not in ABOUT:
            raise RunError(f"{run.path}: found the setting {run.setting}, expected one of {', '.join(ABOUT)}.")
        if (control := controls.get(key[:3])) is None:
            raise RunError(
                f"{run.path}: found no run of {run.task} by {run.model} without a message, expected one. Run the "
                "same task with setting=no_persona (lm-eval: without --system_instruction) and pass its log as well."
            )
        found.append(_cost(run, control))
    if not found:
        raise RunError("Found no run with a message about a user, expected one beside each run without.")
    return found


def _cost(run: TaskRun, control: TaskRun) -> Cost:
    if run.value != control.value:
        raise RunError(
            f"{run.path}: found the number {run.value}, and {control.value} in {control.path}, expected the same. "
            "Pass --value NAME."
        )
    for name, value in run.conditions.items():
        if control.conditions.get(name) != value:
            raise RunError(
                f"{run.path}: found {name} {text(value)}, and {text(control.conditions.get(name, ''))} in "
                f"{control.path}, expected the same. Only the setting may differ."
            )
    common = sorted(run.samples.keys() & control.samples.keys(), key=lambda name: (len(name), name))  # 2 before 10
    if not common:
        raise RunError(
            f"{run.path}: found no sample of {control.path} in it, expected the same samples. Run both on the same "
            "data."
        )
    sign = 1 if run.higher_is_better else -1
    samples = []
    for name in common:
        told, without = run.samples[name], control.samples[name]
        if (told.asked, told.target) != (without.asked, without.target):
            raise RunError(
                f"{run.path}: sample {told.id} has other texts than in {control.path}, expected the same. Run both on "
                "the same data."
            )
        samples.append(Changed(without, told, sign * (told.value - without.value)))
    void = _void(run)
    sound = [] if void else samples
    changes = [sign * one.gain for one in sound]
    users = [one.told.user for one in sound]
    repeat = all(users) and len(users) > len(set(users)) > 1
    entry = CostOfUser(
        task=run.task,
        model=run.model,
        harness=run.program,
        setting=run.setting,
        told=run.told,
        value=run.value,
        higher_is_better=run.higher_is_better,
        share=all(0 <= one.value <= 1 for pair in samples for one in (pair.told, pair.without)),
        void=void,
        before=mean(one.without.value for one in sound),
        after=mean(one.told.value for one in sound),
        by_sample=None if void else paired(changes, common),
        by_user=paired(changes, users) if repeat else None,
        samples=len(samples),
        left_out=len(run.samples.keys() ^ control.samples.keys()),
        helped=[one.told.id for one in sound if one.gain > 0],
        harmed=[one.told.id for one in sound if one.gain < 0],
        logs=[control.path.name, run.path.name],
    )
    return Cost(entry, samples)


def _void(run: TaskRun) -> str | None:
    # nothing follows unless the message reached the model in every call
    missed, calls = run.missed
    if not calls:
        return "the message about the user could not be checked: the log has no call of the main model"
    if missed:
        return f"the message about the user is missing in {missed:,} of {calls:,} calls of the main model"
    return None


def costs_of_models(
    logs: Sequence[Path], values: Sequence[str], names: Mapping[str, str], say: Callable[[str], object]
) -> dict[str, dict[str, Estimate]]:
    """Identity of a model -> `cost on TASK` -> how much worse its users' own profiles make the score of that task.

    Args:
        names: the user's names for models.
        say: gets a line on each void run, which is left out, and on logs that are skipped.

    Raises:
        OptionError: a value is named, but no log.
        RunError: a score is no share.
    """
    if values and not logs:
        raise OptionError(
            f"value {', '.join(values)} is of other tasks, and cost names no log of one. Pass --cost LOG."
        )
    found: dict[str, dict[str, Estimate]] = {}
    for one in costs_of(read_tasks(logs, values, say)) if logs else ():
        cost = one.entry
        if cost.void:
            say(cost.warning)
        if cost.by_sample is None or cost.setting != "persona":
            continue
        if not cost.share:
            raise RunError(
                f"{cost.logs[-1]}: found values of {cost.value} below 0 or above 1, expected shares, which compare "
                "with a gain in points. Leave this log out; `personafeedback cost` shows it."
            )
        known = [one for one in (cost.by_sample, cost.by_user) if one is not None and not math.isnan(one.low)]
        wider = max(known, key=lambda one: one.high - one.low, default=cost.by_sample)
        if cost.higher_is_better:
            wider = replace(wider, value=0.0 - wider.value, low=0.0 - wider.high, high=0.0 - wider.low)
        name = f"cost on {cost.task}{f' (profile {cost.told})' if cost.told else ''}"
        found.setdefault(names.get(cost.model, cost.model), {})[name] = wider
    return found
