"""A run of a step that has models write texts: ask, check, ask again for what was refused, and a summary.

Refused texts stay in refused.jsonl, so that no run pays for them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from ...annotation.study import Say
from ...common.errors import DataError, OptionError, PersonaFeedbackError, require
from ...common.row_files import Changes, FileRow
from ..build import Build
from ..rows import OWN, Origin, Refused
from ..steps import Step
from . import checks
from .prompts import Prompt, load

if TYPE_CHECKING:
    from ...inspect_harness.generation import WrittenText

Reply: TypeAlias = "WrittenText"

ROUNDS = 3
"""How often a refused text is asked for again."""

HOPELESS = 20
"""If a round brings this many texts and all are refused, the prompt or the model is wrong: no more are requested."""


@dataclass(frozen=True)
class Models:
    """Models of a step, with their options."""

    names: tuple[str, ...]  # the first writes personas and questions; all answer. None to take only a team's texts
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of all models
    max_tokens: int | None = None  # of each text; the provider's if None
    batch: bool = False  # whether the provider's batch interface is used
    show: Callable[[str], None] = field(default=lambda line: None, compare=False)  # gets a line of progress

    def __post_init__(self) -> None:
        if not self.names and (self.arguments or self.max_tokens or self.batch):
            raise OptionError("-M, --batch and --max-tokens are for models, and none is named. Pass --model MODEL.")


class Refusal(Exception):
    """A check turns a text down: the reason and the text."""


class Ask(NamedTuple):
    """A call to a model."""

    prompt: Prompt
    texts: Mapping[str, str]  # to fill in
    about: str = ""  # topic of a call on an existing text; empty for the call that writes it


Writing: TypeAlias = Generator[Ask, Reply, None]
"""How one text comes about: it yields each call and gets its reply, and raises Refusal or takes the text."""


class TextRun:
    """A run of a step on a build as it is. It asks nothing before `write`, and changes no file.

    Attributes:
        step: which has a run of its own.
        needs: rows that the next step needs, a word for one of them, and advice where none was made or refused.
        models: that may be asked.
        model: the first model; empty if the step only takes texts that a team brought.
        origins: id -> row of provenance.jsonl.
        done: ids of existing texts.
        refused: all rows of refused.jsonl.
    """

    step: ClassVar[Step]
    needs: tuple[type[FileRow], str, str]

    def __init__(self, build: Build, models: Models, say: Say):
        self.build, self.settings, self.say = build, build.settings, say
        self.models, self.model = models, next(iter(models.names), "")
        self.origins, self.refused = build.by_id(Origin), build.read(Refused)
        self.done: set[str] = set()
        self._refused_before = len(self.refused)
        self._times = Counter(text.id for text in self.refused if text.step == self.step.name)
        self._failures: dict[str, str] = {}
        self._error: PersonaFeedbackError | None = None

    def wanted(self) -> Iterable[str]:
        """Ids of the texts that models are to write, as far as they are known, those that are there included."""
        raise NotImplementedError

    def write(self) -> Changes:
        """Ask for the missing texts: what becomes of the step's files. Raises DataError if a file is broken."""
        raise NotImplementedError

    def missing(self, names: Iterable[str]) -> list[str]:
        """The ids that still need a text: none was written, and none refused for good."""
        return [name for name in names if name not in self.done and self.time(name) <= ROUNDS]

    def time(self, name: str) -> int:
        """Number of refusals of a text."""
        return self._times[name]

    def draw(self, name: str) -> str:
        """Name of the random choices for a text, others after each refusal, so that the next request differs."""
        return f"{name}:{self.time(name)}" if self.time(name) else name

    def prompt(self, name: str) -> Prompt:
        """A prompt of the build, in the build's language."""
        return load(self.build.root, name, self.settings.language)

    def complete(
        self,
        names: Iterable[str],
        write: Callable[[str], Writing],
        finish: Callable[[list[str]], None] = lambda names: None,
        model: str = "",
    ) -> None:
        """Have a model (the first if empty) write the texts of these ids that are missing, and replace refused ones.

        Args:
            write: id -> how its text comes about; all texts get their first call, then those that passed the second.
            finish: gets the ids that passed all calls, in order; it may refuse some.
        """
        left = self.missing(names)
        while left:
            times = {name: self.time(name) for name in left}
            writing = {name: write(name) for name in left}
            asked, passed = {name: next(calls) for name, calls in writing.items()}, set[str]()
            while asked:
                following = dict[str, Ask]()
                for name, reply in self.ask(asked, model).items():
                    try:
                        following[name] = writing[name].send(reply)
                    except Refusal as refusal:
                        self.refuse(name, *refusal.args)
                    except StopIteration:
                        passed.add(name)
                asked = following
            finish([name for name in left if name in passed])
            refused = [name for name in left if self.time(name) > times[name]]  # what failed waits for the next run
            if len(refused) >= HOPELESS and self.done.isdisjoint(left):
                break
            left = self.missing(refused)

    def ask(self, asked: Mapping[str, Ask], model: str = "") -> dict[str, Reply]:
        """Make the calls: id -> reply of those that came, in order. Replies withheld by the provider are refused:
        another may pass its filter. Raises OptionError if one of the models does not exist, or cannot be started.
        """
        require("inspect_ai", extra="build")
        from ...inspect_harness.generation import GenerationError, check_models, generate

        if not asked:
            return {}
        models, step, ended = self.models, self.step.name, count(1)
        check_models(models.names, models.arguments)
        requests, seeds = dict[str, str](), dict[str, int]()
        for name, call in asked.items():
            time = self.time(name)
            requests[name] = "~".join(filter(None, (name, str(time or ""), call.about)))
            if time:
                seeds[requests[name]] = self.settings.seed + time
        topics = " ".join(filter(None, dict.fromkeys((step, *(call.about for call in asked.values())))))
        try:
            texts, failures = generate(
                {requests[name]: call.prompt.filled(**call.texts) for name, call in asked.items()},
                model or self.model, self.build.root, step=step, seeds=seeds,
                model_args=models.arguments, batch=models.batch, max_tokens=models.max_tokens,
                came=lambda: models.show(f"{topics}: {next(ended):,} of {len(asked):,}"),
            )  # fmt: skip
        except GenerationError as error:
            self._error = self._error or error
            return {}
        self._failures |= failures
        replies = {name: texts[request] for name, request in requests.items() if request in texts}
        withheld = [name for name, reply in replies.items() if reply.withheld]
        for name in withheld:
            self.refuse(name, checks.WITHHELD, "")
            del replies[name]
        return replies

    def refuse(self, name: str, reason: str, text: str) -> None:
        """Turn a text down."""
        self.refused.append(Refused(id=name, step=self.step.name, reason=reason, text=text))
        self._times[name] += 1

    def bring(self, name: str, *parents: str) -> None:
        """Record a text of the team's own."""
        self.origins[name] = Origin(id=name, kind=self.step.text, model=OWN, parents=parents)

    def take(self, name: str, prompt: str, *parents: str, model: str = "") -> None:
        """Record the origin of a text that a model wrote; `prompt` is a version, or several."""
        by, seed = model or self.model, self.settings.seed
        self.origins[name] = Origin(id=name, kind=self.step.text, model=by, prompt=prompt, seed=seed, parents=parents)
        self.done.add(name)

    def changes(self, rows: Changes) -> Changes:
        """New rows, after the origins of their texts and refusals."""
        return {Origin: self.origins.values(), Refused: self.refused, **rows}

    def report(self) -> None:
        """Report refusals and failures, once the changes are in the build. Raises GenerationError if a model wrote
        nothing, DataError if nothing is left for the next step."""
        if now := self.refused[self._refused_before :]:
            self.say(f"Refused {len(now)}: {_counts(now)} (refused.jsonl has the texts)")
        if self._failures:
            name, why = next(iter(self._failures.items()))
            self.say(
                f"Failed {len(self._failures)}: {name}: {why} Run the step again, with the same options, to ask for "
                "them again."
            )
        if self._error is not None:
            raise self._error
        if not self._failures and (self.build.root / "cache" / self.step.name).is_dir():
            from ...inspect_harness.generation import forget

            forget(self.build.root, self.step.name)
        kind, unit, advice = self.needs
        if all(getattr(row, "keep", "") == "no" for row in self.build.read(kind)):
            because, refused = "", [text for text in self.refused if text.step == self.step.name]
            if refused:
                because = f" (refused: {_counts(refused)})"
                advice = (
                    "Edit the prompts, or raise --max-tokens; remove the texts from refused.jsonl, and run the step "
                    "again."
                )
            raise DataError(f"{self.build.path(kind)}: found no {unit}{because}, expected at least one. {advice}")


def _counts(refused: Iterable[Refused]) -> str:
    counts = Counter(text.reason for text in refused)
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
