"""Inspect's early stopping: no user enters once it is decided. What was being asked then may finish, and does not count."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from math import nan
from typing import Any, cast

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSpec
from inspect_ai.scorer import SampleScore
from inspect_ai.util import EarlyStop, EarlyStopping

from ..common.errors import OptionError
from ..common.outputs import jsonable
from ..core.benchmark import Benchmark
from ..core.method import Method
from ..core.signature import KEY
from ..core.stopping import StopPlan, StopState, difference_of, read_rule
from .evidence import score_name

logger = logging.getLogger(__name__)


@dataclass
class RunValues:
    """The values of one running task."""

    values: dict[str, float] = field(default_factory=dict)
    known: StopState | None = None

    @property
    def decided(self) -> bool:
        return self.known is not None and self.known.decision is not None


# one task is run on several models at once; each has a context of its own
_SEEN: ContextVar[RunValues] = ContextVar("seen")


@dataclass(frozen=True)
class Stop(EarlyStopping):
    """
    Attributes:
        measure: the value of a sample that the rule is about.
    """

    plan: StopPlan
    measure: str
    scorer: str

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        expected = [case_id for ids in self.plan.cases for case_id in ids]
        if [str(sample.id) for sample in samples] != expected[: len(samples)]:
            raise OptionError(
                "stop needs the cases in the order of its users: leave out --sample-id, --sample-shuffle and the first number of --limit."
            )
        if epochs > 1:
            raise OptionError(f"stop is for one epoch, got --epochs {epochs}. Leave one of them out.")
        _SEEN.set(RunValues())
        logger.warning(
            f"stop={self.plan.rule.written}: the users enter in a random order, and none does once it is decided. So the calls above are the "
            "most. Cases that are being asked then are asked in vain: --max-samples 10 keeps them few."
        )
        return f"{KEY} stop={self.plan.rule.written}"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        known = _SEEN.get().known
        if known is None or known.decision is None:
            return None
        return EarlyStop(
            id=id, epoch=epoch, reason=f"decided after {known.users} of {known.of} users: {known.decision}"
        )

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, SampleScore]) -> None:
        seen = _SEEN.get()
        value = scores[self.scorer].score.value if self.scorer in scores else None
        if seen.decided or not isinstance(value, Mapping):
            return  # decided, or not all of its calls were answered
        seen.values[str(id)] = cast(float, value.get(self.measure, nan))
        if self.plan.complete(seen.values) > (seen.known.users if seen.known else 0):
            seen.known = self.plan.known(seen.values)

    async def complete_task(self) -> dict[str, Any]:
        seen = _SEEN.get()
        known = seen.known or self.plan.known({})
        name = self.measure if known.accuracy else self.measure.replace("_", " ")
        logger.warning(f"stop={known.rule}: {known.said(name)}.")
        return jsonable(asdict(known))


def stop_of(
    benchmark: Benchmark, method: Method, documents: Sequence[Any], settings: Sequence[str], value: Any
) -> Stop:
    """The stop rule of `-T stop=...`. Raises OptionError if it is no rule, or none for this task."""
    if benchmark.units:
        raise OptionError(f"stop counts users one by one, and a {benchmark.units.name} has cases of two. Leave it out.")
    rule = read_rule(value)
    measure = benchmark.measure_of_gain(method)
    if not rule.accuracy:
        measure = difference_of(benchmark, settings).key
    users: Mapping[str, str] = {document.id: document.user_id for document in documents}
    return Stop(StopPlan.of(rule, users), measure, score_name(benchmark, method))
