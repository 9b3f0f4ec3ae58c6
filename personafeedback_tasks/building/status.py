"""`build status`: progress, spending, refusals, and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..annotation.rows import PackItem, Vote
from ..annotation.study import Say, Study
from ..common.errors import require
from ..common.text import in_columns
from .build import Build
from .release import is_current, is_there
from .rows import OWN, SPLITS, TEST, Answer, Origin, Pair, Person, Question, Refused
from .steps import ANSWERS, PACKS, PERSONAS, PILOT, QUESTIONS, RELEASE, STEPS, TEXTS, TRAINED, TRAINING, VOTES, Step
from .texts.runner import todo
from .votes import study_of


def show_status(build: Build, say: Say) -> None:
    """Print steps, refusals, spending, and the next command. Raises DataError for a broken file."""
    status, lines = _Status(build), [("step", "done")]
    for step in STEPS:
        left = status.lacking.get(step, 0)
        more = f"; {left} lacking: run it again" if left else ""
        if step == status.next == RELEASE and is_there(build):
            more = "; no longer what the files give: run it again"
        lines.append((step.name, f"{status.made(step)}{more}"))
    for line in in_columns(lines):
        say(line)
    refused = Counter((text.step, text.reason) for text in build.read(Refused))
    _show(("refused in", "reason", "texts"), [(*key, str(count)) for key, count in sorted(refused.items())], say)
    if any((build.root / "logs").glob("*/*.eval")):
        _show_spent(build, say)
    say("")
    say(status.next_line)


def show_texts(build: Build, say: Say) -> None:
    """Print what the steps that write texts have made, and the next command. Raises DataError for a broken file."""
    status = _Status(build)
    for line in in_columns([(step.name, status.made(step)) for step in TEXTS]):
        say(line)
    say(status.next_line)


def next_line(build: Build) -> str:
    """The next command, or that all is done. Raises DataError for a broken file."""
    return _Status(build).next_line


def _show(header: Sequence[str], rows: Sequence[Sequence[str]], say: Say) -> None:
    for line in ["", *in_columns([header, *rows])] if rows else []:
        say(line)


def _show_spent(build: Build, say: Say) -> None:
    require("inspect_ai", extra="build")
    from ..inspect_harness.generation import spent

    usage, without = spent(build.root)
    rows = [[model, f"{took.input:,.0f}", f"{took.output:,.0f}"] for model, took in usage.items()]
    _show(("model", "input tokens", "output tokens"), rows, say)
    if without:
        say(f"{without} logs under logs/ are of runs that were killed: their tokens are not counted.")


class _Status:
    # What a build has; `lacking`: step -> number of texts that it has yet to write.

    def __init__(self, build: Build):
        self._build, self._tests = build, bool(build.people(TEST))
        self.lacking = {step: len(todo(build, step)) for step in TEXTS}

    @cached_property
    def _study(self) -> Study:
        return study_of(self._build, self._build.read(Question))

    @cached_property
    def next(self) -> Step | None:
        steps = STEPS if self._tests or not self._build.people() else (*TEXTS, TRAINING)
        return next((step for step in steps if not self._is_done(step) or self.lacking.get(step)), None)

    @property
    def next_line(self) -> str:
        build, step = self._build, self.next
        if step is None:
            return f"Done: {build.root / (RELEASE if self._tests else TRAINING).name}"
        if step == PERSONAS and not build.settings.personas:  # all are a team's own
            return f"Next: {step.command(build.root)}"
        asked = build.read(Refused) or any(origin.model != OWN for origin in build.read(Origin))
        if step in TEXTS and not asked:  # before all is paid
            step = PILOT
        return f"Next: {step.line(build.root)}"

    def _is_done(self, step: Step) -> bool:
        build = self._build
        if step == RELEASE:
            return is_there(build) and is_current(build, self._study)
        if step == TRAINING:
            return (build.root / TRAINED).is_file()
        if step == ANSWERS and not self._tests:
            return bool(build.read(Answer))
        has_labels = any(pair.label for pair in build.read(Pair))  # of imported pairs
        if step in (PACKS, VOTES) and (has_labels or build.read(Vote)):
            return True
        return any(map(build.read, step.writes[-1:]))

    def made(self, step: Step) -> str:
        """A short summary of what a step has produced so far."""
        build = self._build
        people, questions, pairs = build.people(), build.questions(), build.read(Pair)
        if step == PERSONAS:
            splits = Counter(person.split for person in people)
            counts = ", ".join(f"{splits[split]} {split}" for split in SPLITS)
            return f"{len(people)} ({counts}){_dropped(build.read(Person), people)}"
        if step == QUESTIONS:
            return f"{_counted(one.category for one in questions)}{_dropped(build.read(Question), questions)}"
        if step == ANSWERS:
            return f"{_counted(answer.strategy for answer in build.read(Answer))}; {len(pairs)} pairs"
        if step == PACKS:
            items = build.read(PackItem)
            return f"{len({item.annotator for item in items})} annotators, {len(items)} items"
        if step == RELEASE:
            return "in release/" if is_there(build) else "none released"
        if not pairs:
            return "0"
        tested, asked = {question.id for question in build.questions(TEST)}, self._study.asked.by_id
        voted_on = {pair.id for pair in pairs if pair.question_id in tested and pair.id in asked}
        voters = [vote.annotator for item, vote in self._study.counted() if item.id in voted_on]
        each = build.settings.votes
        return f"{len(voters)} of {len(voted_on) * each} ({each} to each pair) by {len(set(voters))}"


def _counted(values: Iterable[str]) -> str:
    # `5 (3 full, 2 masked)`; `0` for none
    counts = Counter(values)
    each = ", ".join(f"{count} {value}" for value, count in counts.items())
    return f"{counts.total()}{f' ({each})' if each else ''}"


def _dropped(lines: Sequence[object], left: Sequence[object]) -> str:
    return f", {len(lines) - len(left)} dropped" if len(lines) > len(left) else ""
