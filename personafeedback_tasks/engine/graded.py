"""A second model that judges what the first one wrote, in the same run. Inspect only, since lm-eval has one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .outcome import Answers


@dataclass(frozen=True)
class Ask:
    """One comparison.

    Attributes:
        name: what is compared, for logs: `chosen general_hard:17`.
        prompts: call -> prompt; empty where no grader needs to be asked.
        known: what the comparison comes to without a grader: metric -> value.
    """

    name: str
    prompts: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What is asked of the grader.

    Attributes:
        role: of the model: `--model-role ROLE=MODEL`.
        option: the option that turns it on: a tuple of what is compared, of `compared`.
        compared: all that can be.
        room: limit on the new tokens of its replies.
        asks: (case, what its log says of it, what is compared, the text of the reply) -> the rows of a table, each with its comparisons by name.
        read: (text of a reply, whether it was cut off) -> a label or a reason.
        score: answers in the order of the calls -> metric -> value.
    """

    role: str
    option: str
    compared: tuple[str, ...]
    room: int
    asks: Callable[[Any, Mapping[str, Any], Sequence[str], str], list[dict[str, Ask]]]
    read: Callable[[str, bool], str]
    score: Callable[[Answers], dict[str, float]]

    def values(self, row: Mapping[str, Ask], answers: Mapping[str, Answers]) -> dict[str, float]:
        """Metric -> value of a row: each metric with what was compared behind it, `win_chosen`.

        Args:
            row: see `asks`.
            answers: name of a comparison -> its answers, where a grader was asked.
        """
        return {
            f"{metric}_{compared}": value
            for compared, ask in row.items()
            for metric, value in (self.score(answers[ask.name]) if ask.prompts else ask.known).items()
        }
