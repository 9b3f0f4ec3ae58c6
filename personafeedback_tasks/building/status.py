"""`build DIR`: progress, spending, refusals, and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..annotation.rows import PackItem, Vote
from ..common.errors import require
from ..common.text import in_columns
from .folder import Folder
from .release import is_current, is_there
from .rows import OWN, SPLITS, TEST, Answer, Origin, Pair, Person, Question, Refused
from .steps import ANSWERS, PACKS, PERSONAS, PILOT, QUESTIONS, RELEASE, STEPS, TEXTS, TRAINING, VOTES, Say, Step
from .texts.pairs import balance
from .texts.runner import todo
from .votes import study_of


def show_status(folder: Folder, say: Say) -> None:
    """Print each step, the lengths of pairs, refusals, spending, and the next command. Raises DataError for a broken file."""
    following, lines = _next(folder), [("step", "done")]
    for step in STEPS:
        left = todo(folder, step)
        more = f"; {len(left)} lacking: run it again" if left else ""
        is_stale = step == following == RELEASE and is_there(folder)
        again = "; no longer what the files give: run it again" if is_stale else ""
        lines.append((step.name, f"{_made(folder, step)}{more}{again}"))
    for line in [*in_columns(lines), *balance(folder.read(Pair), folder.read(Answer))]:
        say(line)
    refused = Counter((text.step, text.reason) for text in folder.read(Refused))
    _show(("refused in", "reason", "texts"), [(*key, str(count)) for key, count in sorted(refused.items())], say)
    _show_spent(folder, say)
    say("")
    say(_line(folder, following))


def _show(header: Sequence[str], rows: Sequence[Sequence[str]], say: Say) -> None:
    for line in ["", *in_columns([header, *rows])] if rows else []:
        say(line)


def _show_spent(folder: Folder, say: Say) -> None:
    if not any((folder.root / "logs").glob("*/*.eval")):
        return
    require("inspect_ai", extra="build")
    from ..inspect_harness.generation import spent

    usage, broken = spent(folder.root)
    rows = [
        [model, *(f"{count:,.0f}" for count in (took.calls, took.input, took.output))] for model, took in usage.items()
    ]
    _show(("model", "calls", "input tokens", "output tokens"), rows, say)
    if broken:
        say(f"{broken} logs under logs/ could not be read: their tokens are not counted.")


def next_line(folder: Folder) -> str:
    """The next command, or that all is done. Raises DataError for a broken file."""
    return _line(folder, _next(folder))


def _line(folder: Folder, step: Step | None) -> str:
    if step is None:
        return f"Done: {folder.root / 'release'}"
    if step == PERSONAS and not folder.settings.personas:  # all are a team's own
        return f"Next: {step.command(folder.root)}"
    asked = folder.read(Refused) or any(origin.model != OWN for origin in folder.read(Origin))
    if step in TEXTS and not asked:  # before all is paid
        step = PILOT
    return f"Next: {step.line(folder.root)}"


def _next(folder: Folder) -> Step | None:
    steps = STEPS if folder.people(TEST) or not folder.people() else (*TEXTS, TRAINING)
    return next((step for step in steps if not _is_done(folder, step) or todo(folder, step)), None)


def _is_done(folder: Folder, step: Step) -> bool:
    if step == RELEASE:
        return is_current(folder)
    if step == ANSWERS and not folder.people(TEST):
        return bool(folder.read(Answer))
    if step in (PACKS, VOTES) and any(pair.label for pair in folder.read(Pair)):  # imported pairs have labels already
        return True
    if step == PACKS and folder.read(Vote):
        return True
    return any(map(folder.read, step.writes[-1:]))


def _made(folder: Folder, step: Step) -> str:
    people, pairs = folder.people(), folder.read(Pair)
    if step == PERSONAS:
        splits = Counter(person.split for person in people)
        counts = ", ".join(f"{splits[split]} {split}" for split in SPLITS)
        return f"{len(people)} ({counts}){_dropped(folder.read(Person), people)}"
    if step == QUESTIONS:
        asked = folder.questions()
        return f"{_counted(question.category for question in asked)}{_dropped(folder.read(Question), asked)}"
    if step == ANSWERS:
        return f"{_counted(answer.strategy for answer in folder.read(Answer))}; {len(pairs)} pairs"
    if step == PACKS:
        items = folder.read(PackItem)
        return f"{len({item.annotator for item in items})} annotators, {len(items)} items"
    if step == VOTES:
        if not pairs:
            return "0"
        study, each = study_of(folder, folder.questions(TEST)), folder.settings.votes
        voters = [vote.annotator for _, vote in study.counted()]
        return f"{len(voters)} of {len(study.asked.items) * each} ({each} to each pair) by {len(set(voters))}"
    return "in release/" if is_there(folder) else "none released"


def _counted(values: Iterable[str]) -> str:
    """`5 (3 full, 2 masked)`; `0` for none."""
    counts = Counter(values)
    each = ", ".join(f"{count} {value}" for value, count in counts.items())
    return f"{counts.total()}{f' ({each})' if each else ''}"


def _dropped(lines: Sequence[object], left: Sequence[object]) -> str:
    return f", {len(lines) - len(left)} dropped" if len(lines) > len(left) else ""
