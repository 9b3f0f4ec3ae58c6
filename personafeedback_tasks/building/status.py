"""`build status`: what is done, what it took, what was refused, and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from ..annotation.items import CANNOT
from ..annotation.rows import PackItem, Vote
from ..common.columns import in_columns
from ..common.errors import DataError
from ..common.row_files import Row
from .folder import Folder
from .models import NOBODY, Models
from .release.release_folder import files, make
from .rows import FULL, OWN, SPLITS, TEST, Answer, Below, Origin, Pair, Person, Question, Refused, Tiered, kept
from .spending import TOKENS, spent, usage_rows, used_models
from .steps import (
    ANSWERS,
    MEMORY,
    PACKS,
    PERSONAS,
    PILOT,
    QUESTIONS,
    RELEASE,
    STEPS,
    TIERS,
    TRAINING,
    VOTES,
    Say,
    Step,
    command,
    taken,
)
from .texts.answers import FIRST, REWRITES, answer_id
from .texts.asking import settled
from .texts.checks import CUT
from .texts.general import general_slot
from .texts.memories import memory_slot
from .texts.pairs import balance
from .texts.personas import names, other_seed
from .texts.sources import slots
from .votes.shown_texts import refuse_edited_labels, refuse_edited_votes
from .yields import HEADER, yield_rows


def show_status(folder: Folder, say: Say) -> None:
    """Print where a build is: each step, the lengths of its pairs, what was refused and spent, and the command to go on with.

    Raises:
        DataError: a file of the build is broken.
    """
    build = _Files(folder)
    steps = taken(STEPS, folder.root)
    lacking = {step: _lacking(build, step) for step in steps}
    again = {step: f"; {count} lacking: run it again" if count else "" for step, count in lacking.items()}
    if build.outdated:
        again[build.outdated] = "; no longer what the files give: run it again"
    for line in in_columns([("step", "done"), *((step.name, f"{_DONE[step](build)}{again[step]}") for step in steps)]):
        say(line)
    for kind in balance(build.read(Pair), build.read(Answer)):
        say(kind.line)
    if rows := yield_rows(folder):
        say("")
        for line in in_columns([HEADER, *rows]):
            say(line)
    if refused := Counter((text.step, text.reason) for text in build.read(Refused)):
        say("")
        counts = ((*key, str(count)) for key, count in sorted(refused.items()))
        for line in in_columns([("refused in", "reason", "texts"), *counts]):
            say(line)
    _say_spent(folder, say)
    say("")
    if edited := _refusal(refuse_edited_votes, folder) or ("" if build.read(Vote) else _old_labels(build)):
        say(f"! {edited}")
        say("Next: put these texts back, or have the pairs voted on again.")
    else:
        say(_next_line(build))


def next_line(folder: Folder, models: Models = NOBODY) -> str:
    """The command to go on with, or that all is done.

    Args:
        models: to name where it asks some; without them, those that were used.

    Raises:
        DataError: a file of the build is broken.
    """
    return _next_line(_Files(folder), models)


def _next_line(build: _Files, models: Models = NOBODY) -> str:
    folder = build.folder
    step = _next(build)
    if step == PERSONAS and not folder.settings.personas:  # all are a team's own
        return f"Next: {command(step.name, folder.root)}"
    if step is not None and step.asks_models and not any(_asked(build, one) for one in STEPS if one.asks_models):
        return f"Next: {PILOT.line(folder.root)}"
    if step is not None:
        return f"Next: {step.line(folder.root, models if models.names else used_models(folder, step))}"
    return f"Done: {folder.root / 'release'}"


class _Files:
    """Where a build is."""

    def __init__(self, folder: Folder):
        self.folder, self.settings, self.read = folder, folder.settings, folder.read
        self.people = kept(self.read(Person))
        users = {person.user_id for person in self.people}
        self.questions = [question for question in kept(self.read(Question)) if question.user_id in users]
        self.has_test = any(person.split == TEST for person in self.people)
        self.released = (folder.root / "release" / "set.json").is_file()

    @cached_property
    def outdated(self) -> Step | None:
        """TIERS if the labels are not what votes and settings give now; RELEASE if the release is not what labels and texts give."""
        if not self.read(Tiered):
            return None
        try:
            contents = files(self.folder, make(self.folder))
        except DataError:
            return TIERS
        place = self.folder.root / "release"
        same = all(
            (place / name).is_file()
            and (place / name).read_bytes() == (text.encode() if isinstance(text, str) else text)
            for name, text in contents.items()
        )
        return RELEASE if self.released and not same else None


def _next(build: _Files) -> Step | None:
    """The first step that is not done."""
    testing = build.has_test or build.read(Pair)
    for step in taken(STEPS if testing else (PERSONAS, MEMORY, QUESTIONS, ANSWERS, TRAINING), build.folder.root):
        made: tuple[type[Row], ...] = (*step.writes[-1:], *step.instead)
        if step == ANSWERS and not build.has_test:
            made = (Answer,)
        done = any(map(build.read, made)) if step not in _SHOWN_BY_FILES else _SHOWN_BY_FILES[step](build)
        if not done or _lacking(build, step) or step == build.outdated:
            return step
    return None


def _remembered(build: _Files) -> list[str]:
    """The users who have a memory."""
    return [person.user_id for person in build.people if build.folder.has_memory(person.user_id)]


def _asked(build: _Files, step: Step) -> bool:
    """Whether a model wrote something in a step, or tried to."""
    written = any(origin.kind == step.text and origin.model != OWN for origin in build.read(Origin))
    return written or any(text.step == step.name for text in build.read(Refused))


_SHOWN_BY_FILES: Mapping[Step, Callable[[_Files], bool]] = {
    MEMORY: lambda build: len(_remembered(build)) == len(build.people) or _asked(build, MEMORY),
    RELEASE: lambda build: build.released,
}
"""Step that writes no rows -> whether it was done. A corpus is for all who have no memory, also where some brought theirs."""


def _personas(build: _Files) -> str:
    splits = Counter(person.split for person in build.people)
    seed = other_seed(build.settings, build.read(Origin))
    changed = "" if seed is None else f"; written with seed {seed}, build.yaml has {build.settings.seed}: put it back"
    counts = ", ".join(f"{splits[split]} {split}" for split in SPLITS)
    return f"{len(build.people)} ({counts}){_dropped(build.read(Person), build.people)}{changed}"


def _questions(build: _Files) -> str:
    asked = build.questions
    return f"{len(asked)}{_counts(question.category for question in asked)}{_dropped(build.read(Question), asked)}"


def _answers(build: _Files) -> str:
    answers = build.read(Answer)
    return f"{len(answers)}{_counts(answer.strategy for answer in answers)}; {len(build.read(Pair))} pairs"


def _packs(build: _Files) -> str:
    items = build.read(PackItem)
    return f"{len({item.annotator for item in items})} annotators, {len(items)} items"


def _votes(build: _Files) -> str:
    each, pairs = build.settings.votes, {pair.id for pair in build.read(Pair)}
    votes = [
        vote for vote in build.read(Vote) if vote.chosen != CANNOT and vote.pair_id in pairs
    ]  # attention items are no pairs
    cast = len({(vote.annotator, vote.pair_id) for vote in votes})
    voters = len({vote.annotator for vote in votes})
    return f"{cast} of {len(pairs) * each} ({each} to each pair) by {voters}"


def _tiers(build: _Files) -> str:
    tiered = build.read(Tiered)
    return f"{len(tiered)} cases{_counts(pair.difficulty for pair in tiered)}; {len(build.read(Below))} below"


_DONE: Mapping[Step, Callable[[_Files], str]] = {
    PERSONAS: _personas,
    MEMORY: lambda build: f"{len(_remembered(build))} of {len(build.people)} persons have one",
    QUESTIONS: _questions,
    ANSWERS: _answers,
    PACKS: _packs,
    VOTES: _votes,
    TIERS: _tiers,
    RELEASE: lambda build: "release/" if build.released else "none",
}
"""Step -> what says how much of it is done."""


def _persona_ids(build: _Files) -> Iterable[str]:
    return names(build.settings) if other_seed(build.settings, build.read(Origin)) is None else ()


def _memory_ids(build: _Files) -> Iterable[str]:
    remembered = _remembered(build)
    return (memory_slot(build.settings, person.user_id) for person in build.people if person.user_id not in remembered)


def _question_ids(build: _Files) -> Iterable[str]:
    general = Counter(question.user_id for question in build.read(Question) if question.category == "general")
    for person in build.people:
        yield from slots(build.settings, person.user_id)
        if general[person.user_id] < build.settings.general:
            yield general_slot(build.settings, person.user_id)


def _answer_ids(build: _Files) -> Iterable[str]:
    answers, asked = build.read(Answer), {question.id for question in build.questions}
    for model in {answer.model for answer in answers if answer.strategy in FIRST}:
        yield from (answer_id(question, strategy, model) for question in asked for strategy in FIRST)
    test = {person.user_id for person in build.read(Person) if person.split == TEST}
    for answer in answers:
        if answer.strategy == FULL and answer.user_id in test and answer.question_id in asked:
            for strategy in REWRITES:
                yield answer_id(answer.question_id, strategy, answer.model, answer.id)


_TEXT_IDS: Mapping[Step, Callable[[_Files], Iterable[str]]] = {
    PERSONAS: _persona_ids,
    MEMORY: _memory_ids,
    QUESTIONS: _question_ids,
    ANSWERS: _answer_ids,
}
"""Step that asks models -> the ids of the texts that models were to write."""


def _lacking(build: _Files, step: Step) -> int:
    """How many texts of a step neither came nor were refused for good: they failed, or the step was killed.

    Only where a model has written something: a team may bring all of it.
    """
    if not step.asks_models:
        return 0
    origins = build.read(Origin)
    if step != ANSWERS and not any(origin.kind == step.text and origin.model != OWN for origin in origins):
        return 0
    refused = [text for text in build.read(Refused) if text.step == step.name]
    done = {part for origin in origins for part in (origin.id, *origin.parents)}
    done |= (
        settled(refused, step)
        | {text.id for text in refused if text.reason == CUT}
        | {answer.id for answer in build.read(Answer)}
    )
    return sum(name not in done for name in _TEXT_IDS[step](build))


def _say_spent(folder: Folder, say: Say) -> None:
    """What the calls took, by step and model."""
    if not any((folder.root / "logs").glob("*/*.eval")):
        return
    usage, broken = spent(folder.root)
    if usage:
        say("")
        for line in in_columns([("spent in", "model", "calls", *TOKENS), *usage_rows([*usage.items()])]):
            say(line)
    if broken:
        say(f"{broken} logs under logs/ could not be read: their tokens are not counted.")


def _refusal(check: Callable[..., None], *arguments: object) -> str:
    """What a check refuses; empty if it finds nothing."""
    try:
        check(*arguments)
    except DataError as error:
        return str(error)
    return ""


def _old_labels(build: _Files) -> str:
    return _refusal(refuse_edited_labels, build.folder, build.read(Tiered))


def _counts(values: Iterable[str]) -> str:
    """` (3 full, 2 masked)`; empty for none."""
    counts = Counter(values).items()
    return f" ({', '.join(f'{count} {value}' for value, count in counts)})" if counts else ""


def _dropped(lines: Sequence[object], left: Sequence[object]) -> str:
    return f", {len(lines) - len(left)} dropped" if len(lines) > len(left) else ""
