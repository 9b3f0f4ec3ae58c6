"""`build DIR`: progress, spending, refusals, and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from ..annotation.items import CANNOT
from ..annotation.rows import PackItem, Vote
from ..common.columns import in_columns
from .folder import Folder
from .models import NOBODY, Models
from .release import is_current
from .rows import SPLITS, TEST, Answer, Origin, Pair, Person, Question, Refused, kept
from .spending import HEADER, SPENT, spent_rows, used_models, yield_rows
from .steps import (  # fmt: skip
    ANSWERS,
    PACKS,
    PERSONAS,
    PILOT,
    QUESTIONS,
    RELEASE,
    STEPS,
    TRAINING,
    VOTES,
    Say,
    Step,
)
from .texts.pairs import balance
from .texts.personas import other_seed
from .texts.runner import asked_questions, has_written, lacking


def show_status(folder: Folder, say: Say) -> None:
    """Print each step, the lengths of pairs, refusals, spending, and the next command. Raises DataError for a broken file."""
    following, lines = _next(folder), []
    for step in STEPS:
        left = lacking(folder, step)
        more = f"; {len(left)} lacking: run it again" if left else ""
        is_there = step == RELEASE and _is_released(folder)
        again = "; no longer what the files give: run it again" if step == following and is_there else ""
        lines.append((step.name, f"{_done(folder, step)}{more}{again}"))
    refused = Counter((text.step, text.reason) for text in folder.read(Refused))
    counts = [(*key, str(count)) for key, count in sorted(refused.items())]
    spent, broken = spent_rows(folder.root)
    for line in in_columns([("step", "done"), *lines]):
        say(line)
    for kind in balance(folder.read(Pair), folder.read(Answer)):
        say(kind.line)
    for header, rows in ((HEADER, yield_rows(folder)), (("refused in", "reason", "texts"), counts), (SPENT, spent)):
        if rows:
            say("")
            for line in in_columns([header, *rows]):
                say(line)
    if broken:
        say(f"{broken} logs under logs/ could not be read: their tokens are not counted.")
    say("")
    say(_line(folder, following))


def next_line(folder: Folder, models: Models = NOBODY, ran: Collection[Step] = ()) -> str:
    """The next command, or that all is done. Raises DataError for a broken file.

    Args:
        models: for the command; without them, those used before.
        ran: steps that these models have just written for; if one of them is next, it keeps the same limits.
    """
    return _line(folder, _next(folder), models, ran)


def _line(folder: Folder, step: Step | None, models: Models = NOBODY, ran: Collection[Step] = ()) -> str:
    if step is None:
        return f"Done: {folder.root / 'release'}"
    if step == PERSONAS and not folder.settings.personas:  # all are a team's own
        return f"Next: {step.command(folder.root)}"
    if step.asks_models and not any(_asked(folder, one) for one in STEPS):
        return f"Next: {PILOT.line(folder.root)}"
    named = models if models.names else used_models(folder, step)
    return f"Next: {step.line(folder.root, named, step in ran)}"


def _next(folder: Folder) -> Step | None:
    testing = any(person.split == TEST for person in kept(folder.read(Person)))
    steps = STEPS if testing or folder.read(Pair) else (PERSONAS, QUESTIONS, ANSWERS, TRAINING)
    labeled = any(pair.label for pair in folder.read(Pair))  # imported: nobody needs to vote
    for step in steps:
        made = (*step.writes[-1:], *step.instead) if step != ANSWERS or testing else (Answer,)
        done = any(map(folder.read, made))
        if step in (PACKS, VOTES):
            done = done or labeled
        elif step == RELEASE:
            done = _is_released(folder) and is_current(folder)
        if not done or lacking(folder, step):
            return step
    return None


def _is_released(folder: Folder) -> bool:
    return (folder.root / "release" / "set.json").is_file()


def _asked(folder: Folder, step: Step) -> bool:
    return has_written(folder, step) or any(text.step == step.name for text in folder.read(Refused))


def _done(folder: Folder, step: Step) -> str:
    people, pairs = kept(folder.read(Person)), folder.read(Pair)
    if step == PERSONAS:
        splits, seed = Counter(person.split for person in people), other_seed(folder.settings, folder.read(Origin))
        changed = f"; written with seed {seed}, build.yaml has {folder.settings.seed}: put it back"
        counts = ", ".join(f"{splits[split]} {split}" for split in SPLITS)
        return f"{len(people)} ({counts}){_dropped(folder.read(Person), people)}{changed * (seed is not None)}"
    if step == QUESTIONS:
        asked = asked_questions(folder)
        return f"{_counted(question.category for question in asked)}{_dropped(folder.read(Question), asked)}"
    if step == ANSWERS:
        return f"{_counted(answer.strategy for answer in folder.read(Answer))}; {len(pairs)} pairs"
    if step == PACKS:
        items = folder.read(PackItem)
        return f"{len({item.annotator for item in items})} annotators, {len(items)} items"
    if step == VOTES:
        each, known = folder.settings.votes, {pair.id for pair in pairs}  # attention items are no pairs
        votes = [vote for vote in folder.read(Vote) if vote.chosen != CANNOT and vote.pair_id in known]
        cast = len({(vote.annotator, vote.pair_id) for vote in votes})
        return f"{cast} of {len(pairs) * each} ({each} to each pair) by {len({vote.annotator for vote in votes})}"
    return "in release/" if _is_released(folder) else "none released"


def _counted(values: Iterable[str], unit: str = "") -> str:
    """`5 (3 full, 2 masked)`; `0` for none."""
    counts = Counter(values)
    each = ", ".join(f"{count} {value}" for value, count in counts.items())
    return f"{counts.total()}{unit}{f' ({each})' if each else ''}"


def _dropped(lines: Sequence[object], left: Sequence[object]) -> str:
    return f", {len(lines) - len(left)} dropped" if len(lines) > len(left) else ""
