"""`build DIR`: progress, spending, refusals, and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..annotation.rows import PackItem
from ..common.columns import in_columns
from ..common.errors import require
from .folder import Folder
from .release import is_current
from .rows import OWN, SPLITS, TEST, Answer, Origin, Pair, Person, Question, Refused
from .steps import ANSWERS, PACKS, PERSONAS, PILOT, QUESTIONS, RELEASE, STEPS, TEXTS, TRAINING, VOTES, Say, Step
from .texts.pairs import balance
from .texts.runner import todo
from .votes import study_of


def show_status(folder: Folder, say: Say) -> None:
    """Print each step, the lengths of pairs, refusals, spending, and the next command. Raises DataError for a broken file."""
    following, lines = _next(folder), []
    for step in STEPS:
        left = todo(folder, step)
        more = f"; {len(left)} lacking: run it again" if left else ""
        is_there = step == RELEASE and _is_released(folder)
        again = "; no longer what the files give: run it again" if step == following and is_there else ""
        lines.append((step.name, f"{_done(folder, step)}{more}{again}"))
    for line in in_columns([("step", "done"), *lines]):
        say(line)
    for line in balance(folder.read(Pair), folder.read(Answer)):
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


def next_line(folder: Folder, models: Sequence[str] = ()) -> str:
    """The next command, or that all is done. Raises DataError for a broken file.

    Args:
        models: for the command; without them, those used before.
    """
    return _line(folder, _next(folder), models)


def _line(folder: Folder, step: Step | None, models: Sequence[str] = ()) -> str:
    if step is None:
        return f"Done: {folder.root / 'release'}"
    if step == PERSONAS and not folder.settings.personas:  # all are a team's own
        return f"Next: {step.command(folder.root)}"
    writers = models or _writers(folder)
    if step in TEXTS and not writers and not folder.read(Refused):  # before all is paid
        step = PILOT
    return f"Next: {step.line(folder.root, writers)}"


def _writers(folder: Folder) -> list[str]:
    # Of the last step that models wrote in: all of them answer, and the first writes what comes before.
    of_text: dict[str, dict[str, None]] = {}
    for origin in folder.read(Origin):
        if origin.model != OWN:
            of_text.setdefault(origin.kind, {})[origin.model] = None
    return list(next((of_text[step.text] for step in reversed(TEXTS) if step.text in of_text), ()))


def _next(folder: Folder) -> Step | None:
    testing = bool(folder.people(TEST))
    steps = STEPS if testing or not folder.people() else (*TEXTS, TRAINING)
    labeled = any(pair.label for pair in folder.read(Pair))  # imported: nobody needs to vote
    for step in steps:
        made = (*step.writes[-1:], *step.instead) if step != ANSWERS or testing else (Answer,)
        done = any(map(folder.read, made))
        if step in (PACKS, VOTES):
            done = done or labeled
        elif step == RELEASE:
            done = _is_released(folder) and is_current(folder)
        if not done or todo(folder, step):
            return step
    return None


def _is_released(folder: Folder) -> bool:
    return (folder.root / "release" / "set.json").is_file()


def _done(folder: Folder, step: Step) -> str:
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
    return "in release/" if _is_released(folder) else "none released"


def _counted(values: Iterable[str], unit: str = "") -> str:
    """`5 (3 full, 2 masked)`; `0` for none."""
    counts = Counter(values)
    each = ", ".join(f"{count} {value}" for value, count in counts.items())
    return f"{counts.total()}{unit}{f' ({each})' if each else ''}"


def _dropped(lines: Sequence[object], left: Sequence[object]) -> str:
    return f", {len(lines) - len(left)} dropped" if len(lines) > len(left) else ""
