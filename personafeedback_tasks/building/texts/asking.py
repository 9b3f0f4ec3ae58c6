"""One run of a step that has models write texts: who writes, what is added to the build, and what the step says at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...common.errors import DataError, PersonaFeedbackError, require
from ..folder import Folder
from ..rows import OWN, BuildRow, Origin, Refused
from ..steps import Say, Step
from . import checks

if TYPE_CHECKING:
    from ...inspect_harness.generation import Reply


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


@dataclass
class StepReport:
    """What a step read, wrote and refused.

    Attributes:
        read, wrote, notes: lines.
        refused: reason -> texts that a check turned down.
        failed: of the requests that brought no text: id -> why. A later run asks for these again.
        again: the command of the step itself; next: the command to go on with.
        error: why nothing is there to go on with: raised once all else is said.
    """

    read: list[str] = field(default_factory=list)
    wrote: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    again: str = ""
    next: str = ""
    error: PersonaFeedbackError | None = None

    def show(self, say: Say) -> None:
        """Say it, line by line.

        Raises:
            PersonaFeedbackError: the `error`, after everything else.
        """
        for label, lines in (("Read ", self.read), ("Wrote ", self.wrote), ("", self.notes)):
            for line in lines:
                say(f"{label}{line}")
        if self.refused:
            say(f"Refused {self.refused.total()}: {_counts(self.refused)} (refused.jsonl has the texts)")
        if self.failed:
            name, why = next(iter(self.failed.items()))
            say(
                f"Failed {len(self.failed)}: {name}: {why} Run the step again, with the same options, to ask for them again."
            )
        if self.error is not None:
            raise self.error
        if self.refused[checks.CUT]:
            say("Run the step again with a higher --max-tokens to ask again for those that were cut off.")
        say(f"Next: {self.again if self.failed else self.next}")


class TextRun:
    """One run of a step: the texts that the build has, and those that come to it.

    Attributes:
        origins: id -> its row, of every text.
        refused: all rows of refused.jsonl.
        report: what the run says at its end.

    Raises:
        DataError: a file of the build is broken.
    """

    def __init__(self, folder: Folder, step: Step):
        self.folder, self.settings, self.step = folder, folder.settings, step
        self.origins = folder.by_id(Origin)
        self.refused = folder.read(Refused)
        self.report = StepReport(again=step.line(folder.root))

    def settled(self) -> set[str]:
        """The ids of the step's refused texts that are not asked for again.

        Those that were cut off are: with a higher limit a model may finish them, and with the same one the cache answers.
        """
        return {text.id for text in self._refused_here() if text.reason != checks.CUT}

    def ask(self, models: Models, model: str, prompts: Mapping[str, str]) -> list[tuple[str, Reply]]:
        """Have one of the models write; (id, reply) of the texts that came, in the order of the prompts.

        A text that was refused before and came again is refused no longer, unless `refuse` says so.

        Args:
            prompts: id of a text -> what the model is told.

        Raises:
            OptionError: one of the models does not exist, or cannot be started.
        """
        require("inspect_ai", extra="build")
        from ...inspect_harness.generation import GenerationError, Request, check_models, generate

        if not prompts:
            return []
        check_models(models.names, models.arguments)
        try:
            generated = generate(
                [Request(name, prompt) for name, prompt in prompts.items()], model, self.folder.root, step=self.step.name,
                model_args=models.arguments, max_tokens=models.max_tokens, temperature=models.temperature,
            )  # fmt: skip
        except GenerationError as error:
            self.report.error = self.report.error or error
            return []
        self.report.failed |= generated.failures
        replies = generated.replies
        self.refused = [text for text in self.refused if text.step != self.step.name or text.id not in replies]
        return [(name, replies[name]) for name in prompts if name in replies]

    def refuse(self, name: str, reason: str, text: str, like: str = "") -> None:
        """Turn a text down.

        Args:
            like: id of the text that it repeats.
        """
        self.refused.append(Refused(id=name, step=self.step.name, reason=reason, text=text, like=like))
        self.report.refused[reason] += 1

    def add_origin(self, name: str, kind: str, parents: tuple[str, ...], model: str = OWN, prompt: str = "") -> None:
        """Say where a text is from."""
        seed = 0 if model == OWN else self.settings.seed
        self.origins[name] = Origin(id=name, kind=kind, model=model, prompt=prompt, seed=seed, parents=parents)

    def refuse_nothing_left(self, kind: type[BuildRow], what: str, otherwise: str) -> None:
        """Let the run end with an error, unless it has one: it leaves nothing to the next step.

        Args:
            kind: of the file that lacks it.
            otherwise: what to do where no text was refused.
        """
        reasons = Counter(text.reason for text in self._refused_here())
        nothing = f"no {what}"
        if reasons:
            raised = "Raise --max-tokens for those that were cut off. " if reasons[checks.CUT] else ""
            edited = "Edit the prompts and remove the texts from refused.jsonl. " if set(reasons) - {checks.CUT} else ""
            nothing, otherwise = f"{nothing} (refused: {_counts(reasons)})", f"{raised}{edited}Then run the step again."
        self.report.error = self.report.error or DataError(
            f"{self.folder.path(kind)}: found {nothing}, expected at least one. {otherwise}"
        )

    def _refused_here(self) -> list[Refused]:
        return [text for text in self.refused if text.step == self.step.name]


def _counts(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
