"""Change of another task's score by a message about a user: runs with and without it, paired by sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..logs.errors import RunError
from ..logs.other_tasks import NO_PERSONA, SampleResult, TaskRun, read_tasks
from ..stats.estimates import Estimate, mean, paired

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


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One run with a message, beside the run without any."""

    run: TaskRun
    control: TaskRun
    before: float  # mean of the samples that both have
    after: float
    by_sample: Estimate  # the change of the score; samples are independent
    by_user: Estimate | None  # the change with samples clustered by user; None where no user repeats
    samples: Sequence[Changed]
    left_out: int  # samples that only one of both has

    @property
    def void(self) -> bool:
        # nothing follows unless the message reached the model in every call
        missed, calls = self.run.missed
        return missed > 0 or not calls

    @property
    def title(self) -> str:
        """Its task, model and message, for people."""
        told = f" ({self.run.told})" if self.run.told else ""
        return f"{self.run.task}, {self.run.model}, {ABOUT[self.run.setting]}{told}"

    @property
    def why_void(self) -> str:
        """The warning where it is void."""
        missed, calls = self.run.missed
        what = (
            f"is missing in {missed:,} of {calls:,} calls" if calls else "could not be looked for: the log has no call"
        )
        return f"VOID: {self.title}: the message about the user {what} of the main model."

    @property
    def is_share(self) -> bool:
        """Whether every value is from 0 to 1."""
        return all(0 <= one.value <= 1 for pair in self.samples for one in (pair.told, pair.without))

    @property
    def name(self) -> str:
        """Its name beside other measures: `cost on gsm8k`."""
        return f"cost on {self.run.task}{f' (profile {self.run.told})' if self.run.told else ''}"

    @property
    def lost(self) -> Estimate:
        """How much worse the message makes the score, by the wider of both intervals. Below 0 it makes it better."""
        known = [one for one in (self.by_sample, self.by_user) if one is not None and not math.isnan(one.low)]
        found = max(known, key=lambda one: one.high - one.low, default=self.by_sample)
        if not self.run.higher_is_better:
            return found
        return replace(found, value=0.0 - found.value, low=0.0 - found.high, high=0.0 - found.low)

    @property
    def harmed(self) -> list[Changed]:
        """The samples whose value the message makes worse."""
        return [one for one in self.samples if one.gain < 0]

    @property
    def helped(self) -> list[Changed]:
        """The samples whose value the message makes better."""
        return [one for one in self.samples if one.gain > 0]


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
                "same with setting=no_persona (lm-eval: without --system_instruction) and pass its log as well."
            )
        found.append(_cost(run, control))
    if not found:
        raise RunError("Found no run with a message about a user, expected one beside each run without.")
    return found


def _cost(run: TaskRun, control: TaskRun) -> Cost:
    for name in ("value", "higher_is_better"):
        if getattr(run, name) != getattr(control, name):
            raise RunError(
                f"{run.path}: found the number {run.value}, and {control.value} in {control.path}, expected the same. "
                "Pass --value NAME."
            )
    for name, value in run.conditions.items():
        if control.conditions.get(name) != value:
            raise RunError(
                f"{run.path}: found {name} {value[:200]}, and {control.conditions.get(name, '')[:200]} in "
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
    changes = [sign * one.gain for one in samples]
    users = [one.told.user for one in samples]
    repeat = all(users) and max(Counter(users).values()) > 1 and len(set(users)) > 1
    return Cost(
        run=run,
        control=control,
        before=mean(one.without.value for one in samples),
        after=mean(one.told.value for one in samples),
        by_sample=paired(changes, common),
        by_user=paired(changes, users) if repeat else None,
        samples=samples,
        left_out=len(run.samples.keys() ^ control.samples.keys()),
    )


def costs_in(logs: Sequence[Path], values: Sequence[str], say: Callable[[str], object]) -> list[Cost]:
    """The costs of profiles in runs of other tasks; `say` gets a line on each log in a folder that is skipped."""
    runs, passed = read_tasks(logs, values)
    for line in passed:
        say(f"Passed over {line}")
    return costs_of(runs)


def costs_of_models(
    logs: Sequence[Path], values: Sequence[str], names: Mapping[str, str], say: Callable[[str], object]
) -> dict[str, dict[str, Estimate]]:
    """Identity of a model -> `Cost.name` -> `Cost.lost`, of the runs in `logs` with users' own profiles.

    Args:
        names: the user's names for models.
        say: gets a line on each void run, which is left out, and on logs that are skipped.

    Raises:
        RunError: a score is no share.
    """
    found: dict[str, dict[str, Estimate]] = {}
    for cost in costs_in(logs, values, say) if logs else ():
        if cost.void:
            say(cost.why_void)
        if cost.void or cost.run.setting != "persona":
            continue
        if not cost.is_share:
            raise RunError(
                f"{cost.run.path}: found values of {cost.run.value} below 0 or above 1, expected shares, which have "
                "points in common with a gain. Leave it out: `personafeedback cost` shows it."
            )
        found.setdefault(names.get(cost.run.model, cost.run.model), {})[cost.name] = cost.lost
    return found
