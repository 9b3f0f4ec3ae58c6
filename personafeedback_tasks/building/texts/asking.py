"""One run of a step that has models write texts: who writes, what is added to the build, and what the step says at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...common.errors import DataError, PersonaFeedbackError, require
from ..folder import Folder
from ..rows import OWN, BuildRow, Origin, Refused
from ..steps import Say, Step
from . import checks

if TYPE_CHECKING:
    from ...inspect_harness.generation import WrittenText


@dataclass(frozen=True)
class Models:
    """Those that write in a step. Without limits and temperature, the provider's are used."""

    names: tuple[str, ...]  # as Inspect has them
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of each of them
    max_tokens: int | None = None  # of each text
    temperature: float | None = None


class TextRun:
    """One run of a step: the texts that the build has, and those that come to it.

    Attributes:
        origins: id -> its row, of every text.
        refused: all rows of refused.jsonl.

    Raises:
        DataError: a file of the build is broken.
    """

    def __init__(self, folder: Folder, step: Step, say: Say):
        self.folder, self.settings, self.step, self.say = folder, folder.settings, step, say
        self.origins = folder.by_id(Origin)
        self.refused = folder.read(Refused)
        self._refused_now: Counter[str] = Counter()
        self._failures: dict[str, str] = {}
        self._error: PersonaFeedbackError | None = None

    def settled(self) -> set[str]:
        """The ids of the step's refused texts that are not asked for again.

        Those that were cut off are: with a higher limit a model may finish them, and with the same one the cache answers.
        """
        return {text.id for text in self.refused if text.step == self.step.name and text.reason != checks.CUT}

    def ask(self, models: Models, model: str, prompts: Mapping[str, str]) -> list[tuple[str, WrittenText]]:
        """Have one of the models write; (id, text) of those that came, in the order of the prompts.

        A text that was refused before and came again is refused no longer, unless `refuse` says so.

        Args:
            prompts: id of a text -> what the model is told.

        Raises:
            OptionError: one of the models does not exist, or cannot be started.
        """
        require("inspect_ai", extra="build")
        from ...inspect_harness.generation import GenerationError, check_models, generate

        if not prompts:
            return []
        check_models(models.names, models.arguments)
        try:
            texts, failures = generate(
                prompts, model, self.folder.root, step=self.step.name, model_args=models.arguments, max_tokens=models.max_tokens,
                temperature=models.temperature,
            )  # fmt: skip
        except GenerationError as error:
            self._error = self._error or error
            return []
        self._failures |= failures
        self.refused = [text for text in self.refused if text.step != self.step.name or text.id not in texts]
        return [(name, texts[name]) for name in prompts if name in texts]

    def refuse(self, name: str, reason: str, text: str, like: str = "") -> None:
        """Turn a text down.

        Args:
            like: id of the text that it repeats.
        """
        self.refused.append(Refused(id=name, step=self.step.name, reason=reason, text=text, like=like))
        self._refused_now[reason] += 1

    def origin(self, name: str, kind: str, parents: tuple[str, ...], model: str = OWN, prompt: str = "") -> Origin:
        """Where a text of this run is from."""
        seed = 0 if model == OWN else self.settings.seed
        return Origin(id=name, kind=kind, model=model, prompt=prompt, seed=seed, parents=parents)

    def end(
        self, following: Step, kind: type[BuildRow], left: Collection[object], unit: str, no_text_refused: str
    ) -> None:
        """Say what was refused, what failed, and the command to go on with.

        Args:
            following: the next step.
            kind: of the file whose rows the next step needs; left: these rows; unit: what one of them is.
            no_text_refused: what to do where there are none, and none was refused.

        Raises:
            GenerationError: a model wrote nothing.
            DataError: nothing is left for the next step.
        """
        if self._refused_now:
            counts = _counts(self._refused_now)
            self.say(f"Refused {self._refused_now.total()}: {counts} (refused.jsonl has the texts)")
        if self._failures:
            name, why = next(iter(self._failures.items()))
            self.say(
                f"Failed {len(self._failures)}: {name}: {why} Run the step again, with the same options, to ask for them again."
            )
        if self._error is not None:
            raise self._error
        if not left:
            reasons = Counter(text.reason for text in self.refused if text.step == self.step.name)
            raised = "Raise --max-tokens for those that were cut off. " if reasons[checks.CUT] else ""
            edited = "Edit the prompts and remove the texts from refused.jsonl. " if set(reasons) - {checks.CUT} else ""
            remedy = f"{raised}{edited}Then run the step again." if reasons else no_text_refused
            because = f" (refused: {_counts(reasons)})" if reasons else ""
            raise DataError(f"{self.folder.path(kind)}: found no {unit}{because}, expected at least one. {remedy}")
        if self._refused_now[checks.CUT]:
            self.say("Run the step again with a higher --max-tokens to ask again for those that were cut off.")
        self.say(f"Next: {(self.step if self._failures else following).line(self.folder.root)}")


def _counts(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
