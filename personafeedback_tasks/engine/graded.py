"""A second model that judges what the first one wrote, in the same run. Inspect only, since lm-eval has one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .cases import CaseSet
from .outcome import Answers


@dataclass(frozen=True)
class Ask:
    """One comparison.

    Attributes:
        name: what is compared, for logs: `chosen general_hard:17`.
        case: the same as a case of `Graded.benchmark`, whose better response is the reply.
        prompts: call -> prompt; empty where no grader needs to be asked.
        known: what the comparison comes to without a grader: metric -> value.
        why_not: why no grader needs to be asked, see `duels.NotAsked`; empty where one is.
    """

    name: str
    case: Any
    prompts: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What is asked of the grader.

    Attributes:
        role: of the model: `--model-role ROLE=MODEL`.
        benchmark: the name of the one whose cases the comparisons are, under its default options.
        option: the option that turns it on: a tuple of what is compared, of `compared`.
        room: limit on the new tokens of its replies.
        asks: (case, what its log says of it, what is compared, the text of the reply) -> the rows of a table, each with its comparisons by name.
        read: (text of a reply, whether it was cut off) -> a label or a reason.
        score: answers in the order of the calls -> metric -> value.
        cases: (what was written for, some comparisons as cases) -> these as the data of a run; None in place of these: all cases that
            could be compared.
    """

    role: str
    benchmark: str
    option: str
    compared: tuple[str, ...]
    room: int
    asks: Callable[[Any, Mapping[str, Any], Sequence[str], str], list[dict[str, Ask]]]
    read: Callable[[str, bool], str]
    score: Callable[[Answers], dict[str, float]]
    cases: Callable[[Any, Sequence[Any] | None], CaseSet[Any]]

    def values(self, row: Mapping[str, Ask], answers: Mapping[str, Answers]) -> dict[str, float]:
        """Metric -> value of a row: each metric with what was compared behind it, `win_chosen`.

        Args:
            answers: name of a comparison -> its answers, where a grader was asked.
        """
        return {
            f"{metric}_{compared}": value
            for compared, ask in row.items()
            for metric, value in (self.score(answers[ask.name]) if ask.prompts else ask.known).items()
        }
