"""Change of another task's score by a message about a user: runs with and without it, paired by sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..logs.other_tasks import NO_PERSONA, SampleResult, TaskRun
from ..logs.run import RunError
from ..stats.estimates import Estimate, mean, paired


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
        if (control := controls.get(key[:3])) is None:
            raise RunError(
                f"{run.path}: found no run of {run.task} by {run.model} without a message, expected one. Run the same with setting=no_persona "
                "(lm-eval: without --system_instruction) and pass its log as well."
            )
        found.append(_cost(run, control))
    if not found:
        raise RunError("Found no run with a message about a user, expected one beside each run without.")
    return found


def _cost(run: TaskRun, control: TaskRun) -> Cost:
    for name in ("value", "higher_is_better"):
        if getattr(run, name) != getattr(control, name):
            raise RunError(
                f"{run.path}: found the number {run.value}, and {control.value} in {control.path}, expected the same. Pass --value NAME."
            )
    for name, value in run.conditions.items():
        if control.conditions.get(name) != value:
            raise RunError(
                f"{run.path}: found {name} {value[:200]}, and {control.conditions.get(name, '')[:200]} in {control.path}, expected the same. Only the setting may differ."
            )
    common = sorted(run.samples.keys() & control.samples.keys(), key=lambda name: (len(name), name))  # 2 before 10
    if not common:
        raise RunError(
            f"{run.path}: found no sample of {control.path} in it, expected the same samples. Run both on the same data."
        )
    sign = 1 if run.higher_is_better else -1
    samples = []
    for name in common:
        told, without = run.samples[name], control.samples[name]
        if (told.asked, told.target) != (without.asked, without.target):
            raise RunError(
                f"{run.path}: sample {told.id} has other texts than in {control.path}, expected the same. Run both on the same data."
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
