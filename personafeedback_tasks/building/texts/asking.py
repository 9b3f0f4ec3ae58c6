"""One step's dealings with models, and what it says of itself at its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...common.errors import DataError, PersonaFeedbackError, require
from ..rows import Refused
from . import checks

if TYPE_CHECKING:
    from ...inspect_harness.generation import Generated


@dataclass
class Report:
    """What a step read, wrote and refused.

    Attributes:
        read, wrote, notes: lines.
        refused: reason -> texts that a check turned down.
        failed: of the requests that brought no text: id -> why. A later run asks for these again.
        next: the command to go on with.
        error: a model wrote none of its texts: raised by the command once all else is written.
    """

    read: list[str] = field(default_factory=list)
    wrote: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    next: str = ""
    error: PersonaFeedbackError | None = None


@dataclass(frozen=True)
class Models:
    """Those that write in a step.

    Attributes:
        names: as Inspect has them.
        arguments: of each of them.
        max_tokens: limit on each text; the provider's if None.
        temperature: the provider's if None.
    """

    names: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    temperature: float | None = None

    def write(self, name: str, prompts: Mapping[str, str], root: Path, step: str, report: Report) -> Generated:
        """Have one of them write.

        Args:
            prompts: id of a text -> what the model is told.
            report: gets what failed.

        Raises:
            OptionError: one of them all does not exist, or cannot be started.
        """
        require("inspect_ai", extra="build")
        from ...inspect_harness.generation import Generated, GenerationError, Request, check_models, generate

        if prompts:
            check_models(self.names, self.arguments)
        try:
            found = generate(
                [Request(one, prompt) for one, prompt in prompts.items()], name, root, step=step, model_args=self.arguments,
                max_tokens=self.max_tokens, temperature=self.temperature,
            )  # fmt: skip
        except GenerationError as error:
            report.error = report.error or error
            return Generated({}, {})
        report.failed |= found.failures
        return found


def short_reason(reason: str) -> str:
    """A reason as counts have it: without the text that this one repeats."""
    return re.split(" (?:of|to) ", reason, maxsplit=1)[0]


def settled(refused: Iterable[Refused], step: str) -> set[str]:
    """The ids of a step's refused texts that are not asked for again.

    Those that were cut off are: with a higher limit a model may finish them, and with the same one the cache answers.
    """
    return {one.id for one in refused if one.step == step and one.reason != checks.CUT}


def still_refused(refused: Iterable[Refused], step: str, replies: Collection[str]) -> list[Refused]:
    """The refused texts without those that a step has got another reply to."""
    return [one for one in refused if one.step != step or one.id not in replies]


def nothing_left(path: Path, what: str, refused: Iterable[Refused], step: str, otherwise: str) -> DataError:
    """The error of a step that leaves nothing to the next one.

    Args:
        path: of the file that lacks it.
        otherwise: what to do where no text was refused.
    """
    reasons = Counter(short_reason(one.reason) for one in refused if one.step == step)
    raised = "Raise --max-tokens for those that were cut off. " if reasons[checks.CUT] else ""
    edited = "Edit the prompts and remove the texts from refused.jsonl. " if set(reasons) - {checks.CUT} else ""
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    found = f"no {what} (refused: {counts})" if reasons else f"no {what}"
    do = f"{raised}{edited}Then run the step again." if reasons else otherwise
    return DataError(f"{path}: found {found}, expected at least one. {do}")
